//! Every read of a variable: in texts, templates, values, conditions and switches.

use std::collections::HashMap;

use super::assigned::implied;
use crate::flow::check::texts;
use crate::flow::json::{Json, Node};
use crate::flow::model::{Flow, Kind, Step};
use crate::flow::pointer::{join, join_index};
use crate::flow::text::{Template, base_name};

/// One read.
#[derive(Clone, Debug)]
pub(super) struct Read<'d> {
    pub(super) step: usize,
    /// The reference: a name with parts.
    pub(super) reference: &'d str,
    /// Pointer of the string or of the `var`.
    pub(super) path: String,
    /// Whether being unset is expected here: a fallback, a presence test, or a guard evaluated before.
    pub(super) is_guarded: bool,
}

impl<'d> Read<'d> {
    pub(super) fn name(&self) -> &'d str {
        base_name(self.reference)
    }
}

/// Variables that surely have a value where a condition is evaluated.
#[derive(Default)]
struct Guards<'d> {
    stack: Vec<&'d str>,
    /// How often each name is on the stack: conditions may be large, so looking must not be linear.
    counts: HashMap<&'d str, usize>,
}

impl<'d> Guards<'d> {
    fn add(&mut self, names: Vec<&'d str>) {
        for name in &names {
            *self.counts.entry(name).or_default() += 1;
        }
        self.stack.extend(names);
    }

    fn cut(&mut self, len: usize) {
        for name in self.stack.drain(len..) {
            if let Some(count) = self.counts.get_mut(name) {
                *count -= 1;
            }
        }
    }

    fn has(&self, name: &str) -> bool {
        self.counts.get(name).is_some_and(|count| *count > 0)
    }
}

/// The reads of a flow, in document order.
pub(super) fn reads<'d>(flow: &Flow<'d>) -> Vec<Read<'d>> {
    let mut reads = Vec::new();
    for (at, step) in flow.steps.iter().enumerate() {
        for (text, path) in templates(step) {
            for (reference, has_fallback) in Template::parse(text).references() {
                reads.push(Read {
                    step: at,
                    reference,
                    path: path.clone(),
                    is_guarded: has_fallback,
                });
            }
        }
        for (value, path) in values(step) {
            if let Some(reference) = value.str_of("var")
                && value.get("literal").is_none()
            {
                reads.push(Read {
                    step: at,
                    reference,
                    path: join(&path, "var"),
                    is_guarded: false,
                });
            }
        }
        if step.kind == Kind::Switch
            && let Some(reference) = step.node.str_of("on")
        {
            reads.push(Read {
                step: at,
                reference,
                path: join(&step.path, "on"),
                is_guarded: false,
            });
        }
        if step.kind == Kind::Branch {
            // A case is looked at only when all before it failed.
            let mut guards = Guards::default();
            for (condition, path) in conditions(step) {
                condition_reads(at, condition, &path, &mut guards, &mut reads);
                guards.add(implied(condition, false));
            }
        }
    }
    reads
}

fn condition_reads<'d>(
    step: usize,
    condition: &'d Node<'d>,
    path: &str,
    guards: &mut Guards<'d>,
    reads: &mut Vec<Read<'d>>,
) {
    let op = condition.str_of("op").unwrap_or_default();
    match op {
        "and" | "or" => {
            let n_guards = guards.stack.len();
            let path = join(path, "of");
            for (at, part) in condition.get("of").map_or(&[][..], Node::items).iter().enumerate() {
                condition_reads(step, part, &join_index(&path, at), guards, reads);
                guards.add(implied(part, op == "and"));
            }
            guards.cut(n_guards);
        }
        "not" => {
            if let Some(inner) = condition.get("of") {
                condition_reads(step, inner, &join(path, "of"), guards, reads);
            }
        }
        _ => {
            let value = condition.get("value");
            let is_presence = matches!(op, "exists" | "empty") || value.is_some_and(Node::is_null);
            let mut add = |reference: &'d str, path: String| {
                let is_guarded = is_presence || guards.has(base_name(reference));
                reads.push(Read { step, reference, path, is_guarded });
            };
            if let Some(reference) = condition.str_of("var") {
                add(reference, join(path, "var"));
            }
            if let Some(reference) = value.and_then(|value| value.str_of("var")) {
                add(reference, join(&join(path, "value"), "var"));
            }
        }
    }
}

/// The conditions of a `branch`, with their pointers.
pub(super) fn conditions<'d>(step: &Step<'d>) -> Vec<(&'d Node<'d>, String)> {
    let path = join(&step.path, "cases");
    let cases = step.node.get("cases").map_or(&[][..], Node::items);
    cases
        .iter()
        .enumerate()
        .filter_map(|(at, case)| Some((case.get("when")?, join(&join_index(&path, at), "when"))))
        .collect()
}

/// The values of a step, with their pointers.
pub(super) fn values<'d>(step: &Step<'d>) -> Vec<(&'d Node<'d>, String)> {
    let name = match step.kind {
        Kind::Set => "assign",
        Kind::Call | Kind::Action => "with",
        Kind::Emit => "data",
        Kind::End => "output",
        _ => return Vec::new(),
    };
    let path = join(&step.path, name);
    let members = step.members(name);
    members.iter().map(|member| (&member.value, join(&path, &member.name))).collect()
}

/// The template strings of a step, with their pointers: every translation, and what else may hold placeholders.
pub(super) fn templates<'d>(step: &Step<'d>) -> Vec<(&'d str, String)> {
    let mut strings = Vec::new();
    for (text, path) in texts(step) {
        match &text.json {
            Json::String(string) => strings.push((&**string, path)),
            _ => strings.extend(
                text.members()
                    .iter()
                    .filter_map(|member| Some((member.value.as_str()?, join(&path, &member.name)))),
            ),
        }
    }
    let names: &[&str] = match step.kind {
        Kind::Media => &["url", "filename"],
        Kind::Handoff => &["summary"],
        _ => &[],
    };
    for name in names {
        if let Some(string) = step.node.str_of(name) {
            strings.push((string, join(&step.path, name)));
        }
    }
    strings
        .extend(values(step).into_iter().filter_map(|(value, path)| Some((value.as_str()?, path))));
    strings
}
