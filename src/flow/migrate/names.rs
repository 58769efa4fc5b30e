//! Version 0 to 1: members and kinds get the names of today.

use super::walk::{Ids, each_block, has, items, rename, set};
use crate::flow::json::{Json, Node};

/// The hop.
pub(super) fn migrate(document: &mut Node<'_>) {
    rename(document, "title", "name");
    rename(document, "start", "entry");
    rename(document, "lang", "locale");
    if !has(document, "id") {
        let id = document.str_of("name").map(slug).filter(|id| !id.is_empty());
        set(document, "id", Node::string(id.unwrap_or_else(|| "flow".to_owned())));
    }
    // Names first: a renamed member may hold steps whose ids count as taken.
    if let Some(steps) = items(document, "steps") {
        rename_all(steps);
    }
    let mut ids = Ids::of(document);
    let mut count = 0;
    if let Some(steps) = items(document, "steps") {
        number(steps, &mut ids, &mut count);
    }
    set(document, "version", Node::number(1.0));
}

/// Runs outside `[A-Za-z0-9]` as `-`, trimmed, lower case, at most 64.
fn slug(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = words.collect::<Vec<_>>().join("-").to_ascii_lowercase();
    id.truncate(64);
    id
}

fn rename_all(steps: &mut [Node<'_>]) {
    for step in steps {
        if !has(step, "kind") {
            rename_step(step);
        }
        each_block(step, |block| rename_all(block));
    }
}

fn number(steps: &mut [Node<'_>], ids: &mut Ids, count: &mut usize) {
    for step in steps.iter_mut().filter(|step| step.is_object()) {
        *count += 1;
        if !has(step, "id") {
            let id = ids.fresh(&format!("step-{count}"));
            set(step, "id", Node::string(id));
        }
        each_block(step, |block| number(block, ids, count));
    }
}

fn rename_step(step: &mut Node<'_>) {
    let Some(Json::String(old)) = step.get("type").map(|node| node.json.clone()) else { return };
    let (kind, renamed): (&'static str, &[(&str, &'static str)]) = match &*old {
        "text" | "message" => ("say", &[("message", "text"), ("body", "text")]),
        "image" | "video" | "audio" | "document" | "sticker" | "file" => {
            ("media", &[("src", "url")])
        }
        "question" | "input" => {
            ("ask", &[("question", "text"), ("message", "text"), ("body", "text"), ("var", "save")])
        }
        "menu" | "buttons" | "list" => (
            "choice",
            &[("message", "text"), ("body", "text"), ("choices", "options"), ("var", "save")],
        ),
        "assign" => ("set", &[("values", "assign")]),
        "if" => ("branch", &[]),
        "case" => ("switch", &[("var", "on")]),
        "jump" => ("goto", &[("target", "to")]),
        "flow" | "subflow" => ("call", &[("name", "flow")]),
        "delay" | "sleep" => ("wait", &[]),
        "fn" | "function" | "handler" => ("action", &[("fn", "handler"), ("name", "handler")]),
        "agent" | "human" => ("handoff", &[("message", "text"), ("department", "queue")]),
        "event" | "track" => ("emit", &[("name", "event")]),
        "stop" | "finish" | "exit" => ("end", &[("result", "outcome")]),
        _ => {
            rename(step, "type", "kind");
            return;
        }
    };
    rename(step, "type", "kind");
    set(step, "kind", Node::string(kind));
    let default = match (kind, &*old) {
        ("media", "file") => Some(("media", "document".into())),
        ("media", _) => Some(("media", old.clone())),
        ("choice", "buttons" | "list") => Some(("display", old.clone())),
        _ => None,
    };
    if let Some((name, value)) = default
        && !has(step, name)
    {
        set(step, name, Node::string(value));
    }
    for (from, to) in renamed {
        rename(step, from, to);
    }
}
