//! What a schema cannot say: ids, targets, locales, bounds that depend on each other, reserved names, totals.

use std::collections::HashMap;

use super::{Draft, Near};
use crate::flow::digest::canonical;
use crate::flow::json::{Json, Node};
use crate::flow::model::{Flow, Kind, Step};
use crate::flow::pointer::{join, join_index};
use crate::flow::schema::limit;

/// Names that a flow may read and never write.
pub(super) const RESERVED: [&str; 3] = ["contact", "message", "flow"];

/// Everything wrong with a document that satisfies the schema.
pub(super) fn faults(flow: &Flow<'_>, may_be_large: bool) -> Vec<Draft> {
    let mut found = Vec::new();
    check_totals(flow, may_be_large, &mut found);
    check_variables(flow, &mut found);
    for (_, name, path) in flow.writes() {
        check_reserved(name, path, &mut found);
    }
    if let Some(id) = flow.root.str_of("entry") {
        check_target(flow, id, "/entry".to_owned(), &mut found);
    }
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for (at, step) in flow.steps.iter().enumerate() {
        let first = *ids.entry(step.id).or_insert(at);
        if first != at {
            let message = unique("step", step.id, &flow.steps[first].path);
            found.push(Draft::new(join(&step.path, "id"), message));
        }
        for exit in &step.exits {
            if let Some(id) = exit.goto {
                check_target(flow, id, join(&exit.path, "goto"), &mut found);
            }
        }
        match step.kind {
            Kind::Goto => {
                let id = step.node.str_of("to").unwrap_or_default();
                check_target(flow, id, join(&step.path, "to"), &mut found);
            }
            Kind::Choice => check_options(step, &mut found),
            Kind::Ask => check_bounds(step, &mut found),
            _ => {}
        }
        for (text, path) in texts(step) {
            check_locales(flow, text, &path, &mut found);
        }
    }
    found
}

fn unique(what: &str, id: &str, first: &str) -> String {
    format!("must be unique: {what} id {} is already used at {first}", quoted(id))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

fn check_totals(flow: &Flow<'_>, may_be_large: bool, found: &mut Vec<Draft>) {
    let max_steps = limit("maxSteps");
    if flow.steps.len() > max_steps {
        let message = format!("must NOT have more than {max_steps} steps in total");
        found.push(Draft::new("/steps", message));
    }
    let max_bytes = limit("maxDocumentBytes");
    if may_be_large && canonical(flow.root).len() > max_bytes {
        found.push(Draft::new("", format!("must NOT be larger than {max_bytes} bytes")));
    }
}

fn check_reserved(name: &str, path: String, found: &mut Vec<Draft>) {
    if RESERVED.contains(&name) {
        found.push(Draft::new(path, format!("must NOT be a reserved name: {}", quoted(name))));
    }
}

fn check_target(flow: &Flow<'_>, id: &str, path: String, found: &mut Vec<Draft>) {
    if flow.find(id).is_none() {
        let message = format!("must be the id of a step: {} is not defined", quoted(id));
        found.push(Draft::new(path, message).near(id, Near::Steps));
    }
}

fn check_variables(flow: &Flow<'_>, found: &mut Vec<Draft>) {
    for member in flow.root.get("variables").map_or(&[][..], Node::members) {
        let path = join("/variables", &member.name);
        check_reserved(&member.name, path.clone(), found);
        let kind = member.value.str_of("type").unwrap_or_default();
        let values = member.value.get("enum");
        for (at, value) in values.map_or(&[][..], Node::items).iter().enumerate() {
            check_type(value, kind, join_index(&join(&path, "enum"), at), found);
        }
        let Some(default) = member.value.get("default") else { continue };
        let path = join(&path, "default");
        if let Some(values) = values
            && !values.items().iter().any(|value| value.same(default))
        {
            let words: Vec<String> = values.items().iter().map(canonical).collect();
            let message =
                format!("must be equal to one of the allowed values: {}", words.join(", "));
            found.push(Draft::new(path.clone(), message));
        }
        check_type(default, kind, path, found);
    }
}

fn check_type(value: &Node<'_>, kind: &str, path: String, found: &mut Vec<Draft>) {
    if !fits(value, kind) {
        let word = if kind == "list" { "array" } else { kind };
        found.push(Draft::new(path, format!("must be {word}")));
    }
}

/// Whether a constant is a value of a declared type. Null is: it is a variable without a value.
pub(in crate::flow) fn fits(value: &Node<'_>, kind: &str) -> bool {
    match &value.json {
        Json::Null => true,
        Json::Bool(_) => matches!(kind, "boolean" | "any"),
        Json::Number(number) => {
            matches!(kind, "number" | "any") || (kind == "integer" && number.fract() == 0.0)
        }
        Json::String(_) => matches!(kind, "string" | "any"),
        Json::Array(_) => matches!(kind, "list" | "any"),
        Json::Object(_) => matches!(kind, "object" | "any"),
    }
}

fn check_options(step: &Step<'_>, found: &mut Vec<Draft>) {
    let path = join(&step.path, "options");
    let mut ids: HashMap<&str, usize> = HashMap::new();
    let options = step.node.get("options").map_or(&[][..], Node::items);
    for (at, option) in options.iter().enumerate() {
        let id = option.str_of("id").unwrap_or_default();
        let first = *ids.entry(id).or_insert(at);
        if first != at {
            let message = unique("option", id, &join_index(&path, first));
            found.push(Draft::new(join(&join_index(&path, at), "id"), message));
        }
    }
}

fn check_bounds(step: &Step<'_>, found: &mut Vec<Draft>) {
    let expect = step.node.str_of("expect").unwrap_or("text");
    if !matches!(expect, "text" | "number" | "integer") {
        for name in ["min", "max"] {
            if step.node.get(name).is_some() {
                let message = format!("must NOT be present when expect is {}", quoted(expect));
                found.push(Draft::new(join(&step.path, name), message));
            }
        }
        return;
    }
    let bound = |name| step.node.get(name);
    if let (Some(min), Some(max)) = (bound("min"), bound("max"))
        && min.as_number() > max.as_number()
    {
        let message = format!("must be <= max ({})", canonical(max));
        found.push(Draft::new(join(&step.path, "min"), message));
    }
}

fn check_locales(flow: &Flow<'_>, text: &Node<'_>, path: &str, found: &mut Vec<Draft>) {
    if !text.is_object() {
        return;
    }
    for member in text.members() {
        if !flow.locales.contains(&&*member.name) {
            let message =
                format!("must be a declared locale: {} is not in /locales", quoted(&member.name));
            let draft = Draft::new(join(path, &member.name), message);
            found.push(draft.near(&member.name, Near::Locales));
        }
    }
    if let Some(default) = flow.locales.first()
        && text.get(default).is_none()
    {
        found.push(Draft::new(path, format!("must have required property '{default}'")));
    }
}

/// The localizable texts of a step, with their pointers.
pub(in crate::flow) fn texts<'d>(step: &Step<'d>) -> Vec<(&'d Node<'d>, String)> {
    let names: &[&str] = match step.kind {
        Kind::Say | Kind::Handoff => &["text"],
        Kind::Media => &["caption"],
        Kind::Ask => &["text", "invalid"],
        Kind::Choice => &["text", "button", "invalid"],
        _ => &[],
    };
    let mut texts: Vec<_> = names
        .iter()
        .filter_map(|name| step.node.get(name).map(|text| (text, join(&step.path, name))))
        .collect();
    if step.kind == Kind::Choice {
        let options = step.node.get("options").map_or(&[][..], Node::items);
        for (at, option) in options.iter().enumerate() {
            let path = join_index(&join(&step.path, "options"), at);
            for name in ["label", "description"] {
                if let Some(text) = option.get(name) {
                    texts.push((text, join(&path, name)));
                }
            }
        }
    }
    texts
}
