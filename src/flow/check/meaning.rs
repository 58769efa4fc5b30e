//! What a schema cannot say: ids, targets, locales, bounds that depend on each other, reserved names, totals.

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
    flow.each_write(|at, name, member, key| {
        if RESERVED.contains(&name) {
            let path = join(&flow.steps[at].path, member);
            check_reserved(name, key.map_or(path.clone(), |key| join(&path, key)), &mut found);
        }
    });
    if let Some(id) = flow.root.str_of("entry") {
        check_target(flow, id, || "/entry".to_owned(), &mut found);
    }
    for (at, step) in flow.steps.iter().enumerate() {
        let first = flow.find(step.id).unwrap_or(at);
        if first != at {
            let message = unique("step", step.id, &flow.steps[first].path);
            found.push(Draft::new(join(&step.path, "id"), message));
        }
        for exit in &step.exits {
            if let Some(id) = exit.goto {
                check_target(flow, id, || join(&exit.path(&step.path), "goto"), &mut found);
            }
        }
        match step.kind {
            Kind::Goto => {
                let id = step.node.str_of("to").unwrap_or_default();
                check_target(flow, id, || join(&step.path, "to"), &mut found);
            }
            Kind::Choice => check_options(step, &mut found),
            Kind::Ask => check_bounds(step, &mut found),
            _ => {}
        }
        each_text(step, |text, place| {
            if !is_localized(flow, text) {
                check_locales(flow, text, &place.pointer(step), &mut found);
            }
        });
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

fn check_target(flow: &Flow<'_>, id: &str, path: impl FnOnce() -> String, found: &mut Vec<Draft>) {
    if flow.find(id).is_none() {
        let message = format!("must be the id of a step: {} is not defined", quoted(id));
        found.push(Draft::new(path(), message).near(id, Near::Steps));
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
    // At most fifty, so comparing is cheaper than hashing.
    let options = step.node.get("options").map_or(&[][..], Node::items);
    for (at, option) in options.iter().enumerate() {
        let id = option.str_of("id").unwrap_or_default();
        let first = options[..at].iter().position(|earlier| earlier.str_of("id") == Some(id));
        if let Some(first) = first {
            let path = join(&step.path, "options");
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

/// Whether a text has nothing wrong with its locales: nearly always, and then no pointer is needed.
fn is_localized(flow: &Flow<'_>, text: &Node<'_>) -> bool {
    !text.is_object()
        || (text.members().iter().all(|member| flow.locales.contains(&&*member.name))
            && flow.locales.first().is_some_and(|default| text.get(default).is_some()))
}

fn check_locales(flow: &Flow<'_>, text: &Node<'_>, path: &str, found: &mut Vec<Draft>) {
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

/// Where a text stands in its step.
#[derive(Clone, Copy)]
enum TextPlace {
    Member(&'static str),
    Option(usize, &'static str),
}

impl TextPlace {
    fn pointer(self, step: &Step<'_>) -> String {
        match self {
            Self::Member(name) => join(&step.path, name),
            Self::Option(at, name) => join(&join_index(&join(&step.path, "options"), at), name),
        }
    }
}

fn each_text<'d>(step: &Step<'d>, mut visit: impl FnMut(&'d Node<'d>, TextPlace)) {
    let names: &[&str] = match step.kind {
        Kind::Say | Kind::Handoff => &["text"],
        Kind::Media => &["caption"],
        Kind::Ask => &["text", "invalid"],
        Kind::Choice => &["text", "button", "invalid"],
        _ => &[],
    };
    for name in names {
        if let Some(text) = step.node.get(name) {
            visit(text, TextPlace::Member(name));
        }
    }
    if step.kind == Kind::Choice {
        let options = step.node.get("options").map_or(&[][..], Node::items);
        for (at, option) in options.iter().enumerate() {
            for name in ["label", "description"] {
                if let Some(text) = option.get(name) {
                    visit(text, TextPlace::Option(at, name));
                }
            }
        }
    }
}

/// The localizable texts of a step, with their pointers.
pub(in crate::flow) fn texts<'d>(step: &Step<'d>) -> Vec<(&'d Node<'d>, String)> {
    let mut texts = Vec::new();
    each_text(step, |text, place| texts.push((text, place.pointer(step))));
    texts
}
