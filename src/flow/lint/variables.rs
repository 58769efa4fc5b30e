//! Rules on variables: unknown, unset, undeclared, unused, of the wrong type.

use super::assigned::maybe_unset;
use super::facts::Facts;
use super::reads::conditions;
use super::{Findings, Near};
use crate::flow::check::fits;
use crate::flow::digest::canonical;
use crate::flow::json::Node;
use crate::flow::model::{Kind, Step};
use crate::flow::pointer::{join, join_index};
use crate::flow::text::base_name;

/// What the server fills in; readable only.
const SYSTEM: [&str; 8] = [
    "contact.id",
    "contact.name",
    "contact.phone",
    "contact.locale",
    "message.text",
    "message.type",
    "flow.id",
    "flow.name",
];

pub(super) fn is_system(name: &str) -> bool {
    matches!(name, "contact" | "message" | "flow")
}

pub(super) fn lint(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    let maybe_unset = maybe_unset(facts);
    let mut read_names = std::collections::HashSet::new();
    for (read, maybe_unset) in facts.reads.iter().zip(maybe_unset) {
        let name = read.name();
        read_names.insert(name);
        if is_system(name) {
            if !SYSTEM.contains(&read.reference) {
                let message = format!(
                    "`{}` is no system value; there are {}",
                    read.reference,
                    SYSTEM.join(", ")
                );
                found.add("undefined-variable", Some(read.step), read.path.clone(), message);
            }
        } else if !facts.is_known(name) {
            let message = format!("`{name}` is read, and nothing declares or writes it");
            found.add("undefined-variable", Some(read.step), read.path.clone(), message).near =
                Some((name.to_owned(), Near::Variables));
        } else if maybe_unset {
            let message =
                format!("`{name}` may be unset here: some path from the entry does not assign it");
            found.add("maybe-unset-variable", Some(read.step), read.path.clone(), message);
        }
    }
    if facts.flow.root.get("variables").is_some() {
        for (step, name, path) in &facts.writes {
            if facts.declaration(name).is_none() {
                let message = format!("`{name}` is written, and `variables` does not declare it");
                found.add("undeclared-variable", Some(*step), path.clone(), message).near =
                    Some(((*name).to_owned(), Near::Variables));
            }
        }
    }
    for member in facts.declarations() {
        let is_output = member.value.get("output").and_then(Node::as_bool).unwrap_or(false);
        if !is_output && !read_names.contains(&*member.name) {
            let message = format!("`{}` is declared and never read", member.name);
            found.add("unused-variable", None, join("/variables", &member.name), message);
        }
    }
    for (at, step) in facts.flow.steps.iter().enumerate() {
        Types { facts, found: &mut *found, at, step }.check();
    }
}

/// Compares constants and answers of one step with the declared types.
struct Types<'t, 'v, 'f, 'd> {
    facts: &'t Facts<'f, 'd>,
    found: &'t mut Findings<'v>,
    at: usize,
    step: &'t Step<'d>,
}

impl<'d> Types<'_, '_, '_, 'd> {
    /// The declared type of a bare name; nothing for `any`, parts and undeclared names.
    fn declared(&self, reference: &str) -> Option<&'d str> {
        let kind = self.facts.declaration(reference)?.str_of("type")?;
        (kind != "any" && base_name(reference) == reference).then_some(kind)
    }

    fn report(&mut self, path: String, message: String) {
        self.found.add("type-mismatch", Some(self.at), path, message);
    }

    fn check(&mut self) {
        let step = self.step;
        match step.kind {
            Kind::Ask | Kind::Choice => {
                let Some(name) = step.node.str_of("save") else { return };
                let Some(kind) = self.declared(name) else { return };
                let expect = match step.kind {
                    Kind::Ask => step.node.str_of("expect").unwrap_or("text"),
                    _ => "text",
                };
                let answer = match expect {
                    "number" | "integer" | "boolean" => expect,
                    "image" | "audio" | "document" | "location" | "contact" => "object",
                    "any" => return,
                    _ => "string",
                };
                if answer != kind && (answer, kind) != ("integer", "number") {
                    let message =
                        format!("the answer is a {answer}, and `{name}` is declared {kind}");
                    self.report(join(&step.path, "save"), message);
                }
            }
            Kind::Set => {
                for member in step.members("assign") {
                    let path = join(&join(&step.path, "assign"), &member.name);
                    if let Some(literal) = member.value.get("literal") {
                        self.constant(&member.name, literal, join(&path, "literal"));
                    } else if !member.value.is_object() {
                        self.constant(&member.name, &member.value, path);
                    }
                }
            }
            Kind::Switch => {
                let on = step.node.str_of("on").unwrap_or_default();
                for exit in step.exits.iter().filter(|exit| exit.node.get("is").is_some()) {
                    let Some(is) = exit.node.get("is") else { continue };
                    let path = join(&exit.path(&step.path), "is");
                    if is.is_array() {
                        for (at, value) in is.items().iter().enumerate() {
                            self.constant(on, value, join_index(&path, at));
                        }
                    } else {
                        self.constant(on, is, path);
                    }
                }
            }
            Kind::Branch => {
                for (condition, path) in conditions(step) {
                    self.condition(condition, &path);
                }
            }
            _ => {}
        }
    }

    fn constant(&mut self, name: &str, value: &Node<'_>, path: String) {
        if let Some(kind) = self.declared(name)
            && !value.is_null()
            && !fits(value, kind)
        {
            let message = format!("{} is no {kind}, and `{name}` is declared so", canonical(value));
            self.report(path, message);
        }
    }

    fn condition(&mut self, condition: &'d Node<'d>, path: &str) {
        let name = condition.str_of("var").unwrap_or_default();
        let value = condition.get("value");
        match condition.str_of("op").unwrap_or_default() {
            "and" | "or" => {
                let path = join(path, "of");
                let parts = condition.get("of").map_or(&[][..], Node::items);
                for (at, part) in parts.iter().enumerate() {
                    self.condition(part, &join_index(&path, at));
                }
            }
            "not" => {
                if let Some(inner) = condition.get("of") {
                    self.condition(inner, &join(path, "of"));
                }
            }
            "eq" | "ne" => {
                if let Some(value) = value.filter(|value| !value.is_object()) {
                    self.constant(name, value, join(path, "value"));
                }
            }
            "in" => {
                let values = condition.get("values").map_or(&[][..], Node::items);
                for (at, value) in values.iter().enumerate() {
                    self.constant(name, value, join_index(&join(path, "values"), at));
                }
            }
            op @ ("lt" | "lte" | "gt" | "gte") => {
                let (Some(kind), Some(value)) = (self.declared(name), value) else { return };
                let is_number = matches!(kind, "number" | "integer");
                if !is_number && kind != "string" {
                    let message =
                        format!("`{name}` is declared {kind}, which has no order for `{op}`");
                    self.report(join(path, "value"), message);
                } else if !value.is_object() && value.as_number().is_some() != is_number {
                    let message =
                        format!("{} is no {kind}, and `{name}` is declared so", canonical(value));
                    self.report(join(path, "value"), message);
                }
            }
            op @ ("contains" | "startsWith") => {
                let Some(kind) = self.declared(name) else { return };
                if kind != "string" && (kind, op) != ("list", "contains") {
                    let message = format!("`{name}` is declared {kind}, which has no `{op}`");
                    self.report(join(path, "value"), message);
                }
            }
            _ => {}
        }
    }
}
