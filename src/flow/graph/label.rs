//! What is written on nodes and edges.

use crate::flow::digest::canonical;
use crate::flow::json::Node;
use crate::flow::model::{Edge, EdgeKind, Flow, Kind, Step};

const MAX_CHARS: usize = 40;

/// Blanks collapsed, cut to 40 characters.
pub(super) fn part(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= MAX_CHARS {
        return text;
    }
    text.chars().take(MAX_CHARS - 1).chain(['…']).collect()
}

/// Two lines: the label or id, then the kind and an excerpt.
pub(super) fn of_step(flow: &Flow<'_>, step: &Step<'_>) -> String {
    let title = part(step.node.str_of("label").unwrap_or(step.id));
    let member = |name: &str| step.node.str_of(name).unwrap_or_default().to_owned();
    let excerpt = match step.kind {
        Kind::Say | Kind::Ask | Kind::Choice => {
            step.node.get("text").map(|text| flow.default_text(text).to_owned()).unwrap_or_default()
        }
        Kind::Media => member("media"),
        Kind::Set => {
            let mut names: Vec<&str> =
                step.members("assign").iter().map(|member| &*member.name).collect();
            names.sort_unstable();
            names.join(", ")
        }
        Kind::Branch => String::new(),
        Kind::Switch => member("on"),
        Kind::Goto => member("to"),
        Kind::Call => member("flow"),
        Kind::Wait => step
            .node
            .get("seconds")
            .map(|seconds| format!("{}s", canonical(seconds)))
            .unwrap_or_default(),
        Kind::Action => member("handler"),
        Kind::Handoff => member("queue"),
        Kind::Emit => member("event"),
        Kind::End => member("outcome"),
    };
    let kind = step.kind.name();
    match part(&excerpt) {
        excerpt if excerpt.is_empty() => format!("{title}\n{kind}"),
        excerpt => format!("{title}\n{kind}: {excerpt}"),
    }
}

/// Empty when nothing needs to be said.
pub(super) fn of_edge(flow: &Flow<'_>, step: &Step<'_>, edge: &Edge) -> String {
    let node = edge.exit.map(|exit| step.exits[exit].node);
    let text = match edge.kind {
        EdgeKind::Next | EdgeKind::Answer | EdgeKind::Goto => return String::new(),
        EdgeKind::End if step.kind == Kind::Handoff => "handoff".to_owned(),
        EdgeKind::End => step.node.str_of("outcome").unwrap_or_default().to_owned(),
        EdgeKind::Option => node
            .and_then(|option| option.get("label"))
            .map(|label| flow.default_text(label).to_owned())
            .unwrap_or_default(),
        EdgeKind::Case => match node.and_then(|case| case.get("when")) {
            Some(condition) => condition_text(condition),
            None => node.and_then(|case| case.get("is")).map(is_text).unwrap_or_default(),
        },
        EdgeKind::Else => "else".to_owned(),
        EdgeKind::Default => "default".to_owned(),
        EdgeKind::Invalid => "invalid".to_owned(),
        EdgeKind::Timeout => "timeout".to_owned(),
        EdgeKind::Error => "error".to_owned(),
    };
    part(&text)
}

fn is_text(is: &Node<'_>) -> String {
    if is.is_array() {
        is.items().iter().map(canonical).collect::<Vec<_>>().join(" | ")
    } else {
        canonical(is)
    }
}

/// A condition as people write it.
fn condition_text(condition: &Node<'_>) -> String {
    let op = condition.str_of("op").unwrap_or_default();
    let name = condition.str_of("var").unwrap_or_default();
    let value = || {
        condition.get("value").map_or_else(String::new, |value| match value.str_of("var") {
            Some(name) => name.to_owned(),
            None => canonical(value),
        })
    };
    let sign = match op {
        "and" | "or" => {
            let parts = condition.get("of").map_or(&[][..], Node::items);
            let texts: Vec<String> = parts.iter().map(grouped).collect();
            return texts.join(&format!(" {op} "));
        }
        "not" => {
            return condition
                .get("of")
                .map_or_else(String::new, |inner| format!("not {}", grouped(inner)));
        }
        "exists" | "empty" => return format!("{op} {name}"),
        "in" => {
            let values = condition.get("values").map(canonical).unwrap_or_default();
            return format!("{name} in {values}");
        }
        "eq" => "==",
        "ne" => "!=",
        "lt" => "<",
        "lte" => "<=",
        "gt" => ">",
        "gte" => ">=",
        other => other,
    };
    format!("{name} {sign} {}", value())
}

/// In parentheses when it joins several.
fn grouped(condition: &Node<'_>) -> String {
    let text = condition_text(condition);
    match condition.str_of("op") {
        Some("and" | "or") => format!("({text})"),
        _ => text,
    }
}
