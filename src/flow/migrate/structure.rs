//! Version 1 to 2: cases, exits, options, conditions and placeholders get the shape of today.

use std::borrow::Cow;

use super::walk::{Ids, each_block, has, items, member, rename, set, take};
use crate::flow::json::{Json, Member, Node};
use crate::flow::text::is_reference;

/// The hop.
pub(super) fn migrate(document: &mut Node<'_>) {
    if !has(document, "locales")
        && let Some(locale) = take(document, "locale")
    {
        set(document, "locales", Json::Array(vec![locale]).into());
    }
    if !has(document, "variables")
        && document.get("vars").is_some_and(|vars| vars.is_array() || vars.is_object())
        && let Some(vars) = take(document, "vars")
    {
        set(document, "variables", declarations(vars));
    }
    let mut ids = Ids::of(document);
    if let Some(steps) = items(document, "steps") {
        migrate_block(steps, &mut ids);
    }
    set(document, "version", Node::number(2.0));
}

fn object<'a>(members: Vec<(&'static str, Node<'a>)>) -> Node<'a> {
    Json::Object(members.into_iter().map(|(name, value)| Member::new(name, value)).collect()).into()
}

fn declarations(vars: Node<'_>) -> Node<'_> {
    let any = || object(vec![("type", Node::string("any"))]);
    let members = match vars.json {
        Json::Array(names) => names
            .into_iter()
            .filter_map(|name| match name.json {
                Json::String(name) => Some(Member::new(name, any())),
                _ => None,
            })
            .collect(),
        Json::Object(members) => members
            .into_iter()
            .map(|member| {
                let kind = match member.value.json {
                    Json::Bool(_) => "boolean",
                    Json::Number(_) => "number",
                    Json::String(_) => "string",
                    _ => return Member { value: any(), ..member },
                };
                let value = object(vec![("type", Node::string(kind)), ("default", member.value)]);
                Member { name: member.name, name_span: member.name_span, value }
            })
            .collect(),
        _ => Vec::new(),
    };
    Json::Object(members).into()
}

fn migrate_block(steps: &mut Vec<Node<'_>>, ids: &mut Ids) {
    let mut old = std::mem::take(steps).into_iter().peekable();
    while let Some(mut step) = old.next() {
        let following = old.peek().and_then(|next| next.str_of("id"));
        let inserted = migrate_step(&mut step, following, ids);
        steps.push(step);
        steps.extend(inserted);
    }
}

/// Changes one step and those inside it; gives the `goto` that `next` became.
fn migrate_step<'a>(
    step: &mut Node<'a>,
    following: Option<&str>,
    ids: &mut Ids,
) -> Option<Node<'a>> {
    if !step.is_object() {
        return None;
    }
    let kind = step.str_of("kind").unwrap_or_default().to_owned();
    if kind == "branch" && !has(step, "cases") && has(step, "if") {
        let when = take(step, "if").unwrap_or(Json::Null.into());
        let then = take(step, "then").unwrap_or(Json::Array(Vec::new()).into());
        let case = match then.json {
            Json::String(_) => object(vec![("when", when), ("goto", then)]),
            _ => object(vec![("when", when), ("steps", then)]),
        };
        set(step, "cases", Json::Array(vec![case]).into());
    }
    if kind == "switch"
        && let Some(cases) = member(step, "cases")
        && let Json::Object(members) = &mut cases.json
    {
        let mut members = std::mem::take(members);
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let list = members.into_iter().map(|Member { name, value, .. }| {
            let exit = if matches!(value.json, Json::String(_)) { "goto" } else { "steps" };
            object(vec![("is", Node::string(name)), (exit, value)])
        });
        cases.json = Json::Array(list.collect());
    }
    for case in items(step, "cases").into_iter().flatten() {
        rename(case, "if", "when");
        rename(case, "next", "goto");
        if let Some(when) = member(case, "when") {
            migrate_condition(when);
        }
    }
    rename(step, "fallback", "onInvalid");
    for name in ["else", "default", "onInvalid"] {
        if let Some(exit) = member(step, name) {
            migrate_exit(exit);
        }
    }
    migrate_options(step);
    migrate_members(step, &kind);
    migrate_placeholders(step);
    let goto = migrate_next(step, &kind, following, ids);
    each_block(step, |block| migrate_block(block, ids));
    goto
}

fn migrate_exit(exit: &mut Node<'_>) {
    let name = match exit.json {
        Json::Array(_) => "steps",
        Json::String(_) => "goto",
        _ => return,
    };
    let value = std::mem::replace(&mut exit.json, Json::Null);
    exit.json = Json::Object(vec![Member::new(name, value.into())]);
}

fn migrate_options(step: &mut Node<'_>) {
    for (at, option) in items(step, "options").into_iter().flatten().enumerate() {
        let position = (at + 1).to_string();
        if let Json::String(label) = &option.json {
            let label = Node::string(label.clone());
            *option = object(vec![("id", Node::string(position)), ("label", label)]);
            continue;
        }
        rename(option, "title", "label");
        rename(option, "value", "id");
        rename(option, "next", "goto");
        match option.get("id").map(|id| id.json.clone()) {
            None => set(option, "id", Node::string(position)),
            Some(Json::Number(number)) => {
                let mut id = String::new();
                crate::flow::digest::write_number(number, &mut id);
                set(option, "id", Node::string(id));
            }
            Some(_) => {}
        }
    }
}

fn migrate_members(step: &mut Node<'_>, kind: &str) {
    if kind == "ask" {
        rename(step, "validate", "expect");
    }
    if matches!(kind, "ask" | "choice") {
        rename(step, "error", "invalid");
        rename(step, "attempts", "retries");
        if let Some(timeout) = member(step, "timeout")
            && let Json::Number(seconds) = timeout.json
        {
            *timeout = object(vec![("seconds", Node::number(seconds))]);
        }
    }
    if kind == "wait"
        && !has(step, "seconds")
        && let Some(ms) = step.get("ms").and_then(Node::as_number)
    {
        rename(step, "ms", "seconds");
        set(step, "seconds", Node::number((ms / 1000.0).ceil().max(1.0)));
    }
    if kind == "say"
        && let Some(text) = member(step, "text")
        && let Json::Array(lines) = &text.json
        && let Some(lines) = lines.iter().map(Node::as_str).collect::<Option<Vec<_>>>()
    {
        *text = Node::string(lines.join("\n"));
    }
}

/// `{name}` becomes `{{name}}` in everything that is a template.
fn migrate_placeholders(step: &mut Node<'_>) {
    for name in ["text", "caption", "invalid", "summary"] {
        if let Some(text) = member(step, name) {
            each_text(text);
        }
    }
    for option in items(step, "options").into_iter().flatten() {
        for name in ["label", "description"] {
            if let Some(text) = member(option, name) {
                each_text(text);
            }
        }
    }
    for name in ["assign", "with", "data", "output"] {
        if let Some(Json::Object(members)) = member(step, name).map(|values| &mut values.json) {
            for member in members {
                if let Json::String(text) = &mut member.value.json {
                    double_braces(text);
                }
            }
        }
    }
}

fn each_text(text: &mut Node<'_>) {
    match &mut text.json {
        Json::String(text) => double_braces(text),
        Json::Object(members) => {
            for member in members {
                if let Json::String(text) = &mut member.value.json {
                    double_braces(text);
                }
            }
        }
        _ => {}
    }
}

fn double_braces(text: &mut Cow<'_, str>) {
    let mut out = String::new();
    let mut copied = 0;
    let bytes = text.as_bytes();
    for (open, _) in text.match_indices('{') {
        let Some(len) = text[open + 1..].find(['{', '}']) else { break };
        let close = open + 1 + len;
        let has_neighbour = (open > 0 && matches!(bytes[open - 1], b'{' | b'}'))
            || matches!(bytes.get(close + 1), Some(b'{' | b'}'));
        if bytes[close] == b'}' && !has_neighbour && is_reference(&text[open + 1..close]) {
            out.push_str(&text[copied..open]);
            out.push('{');
            out.push_str(&text[open..=close]);
            out.push('}');
            copied = close + 1;
        }
    }
    if copied > 0 {
        out.push_str(&text[copied..]);
        *text = Cow::Owned(out);
    }
}

fn migrate_next<'a>(
    step: &mut Node<'a>,
    kind: &str,
    following: Option<&str>,
    ids: &mut Ids,
) -> Option<Node<'a>> {
    let next = step.str_of("next")?.to_owned();
    take(step, "next");
    if following == Some(&next) || matches!(kind, "goto" | "end") {
        return None;
    }
    if kind == "handoff" {
        set(step, "resume", Json::Bool(true).into());
    }
    let base = step.str_of("id").map_or_else(|| "next".to_owned(), |id| format!("{id}-next"));
    let id = Node::string(ids.fresh(&base));
    Some(object(vec![("id", id), ("kind", Node::string("goto")), ("to", Node::string(next))]))
}

/// `[var, op, value]`, `{and: […]}`, `{or: […]}` and `{not: …}` become objects told apart by `op`, inside out.
fn migrate_condition(condition: &mut Node<'_>) {
    let has_op = has(condition, "op");
    match &mut condition.json {
        Json::Array(parts) => {
            let name = parts.first().and_then(Node::as_str).map(str::to_owned);
            let sign = parts.get(1).and_then(Node::as_str).map(str::to_owned);
            let (Some(name), Some(sign)) = (name, sign) else { return };
            let value = if parts.len() > 2 { Some(parts.swap_remove(2)) } else { None };
            let op = match &*sign {
                "==" => "eq",
                "!=" => "ne",
                "<" => "lt",
                "<=" => "lte",
                ">" => "gt",
                ">=" => "gte",
                "in" | "contains" | "exists" => &*sign,
                _ => {
                    if let Some(value) = value {
                        parts.push(value);
                        let last = parts.len() - 1;
                        parts.swap(2, last);
                    }
                    return;
                }
            };
            let is_negated =
                op == "exists" && value.as_ref().and_then(Node::as_bool) == Some(false);
            let mut members =
                vec![("op", Node::string(op.to_owned())), ("var", Node::string(name))];
            if op != "exists" {
                let member = if op == "in" { "values" } else { "value" };
                members.extend(value.map(|value| (member, value)));
            }
            *condition = object(members);
            if is_negated {
                let inner = std::mem::replace(condition, Json::Null.into());
                *condition = object(vec![("op", Node::string("not")), ("of", inner)]);
            }
        }
        Json::Object(_) if !has_op => {
            for (old, op) in [("and", "and"), ("or", "or"), ("not", "not")] {
                let Some(mut of) = take(condition, old) else { continue };
                match &mut of.json {
                    Json::Array(parts) if op != "not" => {
                        parts.iter_mut().for_each(migrate_condition);
                    }
                    _ => migrate_condition(&mut of),
                }
                set(condition, "op", Node::string(op));
                set(condition, "of", of);
                break;
            }
        }
        Json::Object(_) => {
            if let Some(of) = member(condition, "of") {
                match &mut of.json {
                    Json::Array(parts)
                        if !matches!(
                            parts.first().map(|part| &part.json),
                            Some(Json::String(_))
                        ) =>
                    {
                        parts.iter_mut().for_each(migrate_condition);
                    }
                    _ => migrate_condition(of),
                }
            }
        }
        _ => {}
    }
}
