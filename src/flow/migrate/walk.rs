//! Edits on objects, and the order in which steps are visited.

use std::collections::HashSet;

use crate::flow::json::{Json, Member, Node};

/// Members of a step that hold one exit.
pub(super) const SINGLE_EXITS: [&str; 5] = ["else", "default", "onInvalid", "timeout", "onError"];

/// The member as something to change.
pub(super) fn member<'m, 'a>(node: &'m mut Node<'a>, name: &str) -> Option<&'m mut Node<'a>> {
    let Json::Object(members) = &mut node.json else { return None };
    members.iter_mut().find(|member| member.name == name).map(|member| &mut member.value)
}

/// Whether the member is there.
pub(super) fn has(node: &Node<'_>, name: &str) -> bool {
    node.get(name).is_some()
}

/// Sets a member, in place when it is there.
pub(super) fn set<'a>(node: &mut Node<'a>, name: &'static str, value: Node<'a>) {
    if let Some(old) = member(node, name) {
        *old = value;
    } else if let Json::Object(members) = &mut node.json {
        members.push(Member::new(name, value));
    }
}

/// Takes a member out.
pub(super) fn take<'a>(node: &mut Node<'a>, name: &str) -> Option<Node<'a>> {
    let Json::Object(members) = &mut node.json else { return None };
    let at = members.iter().position(|member| member.name == name)?;
    Some(members.remove(at).value)
}

/// `from` becomes `to`, unless `to` is there: then `from` stays and is reported later.
pub(super) fn rename(node: &mut Node<'_>, from: &str, to: &'static str) {
    if has(node, to) {
        return;
    }
    if let Json::Object(members) = &mut node.json
        && let Some(member) = members.iter_mut().find(|member| member.name == from)
    {
        member.name = to.into();
    }
}

/// The items of an array member, to change.
pub(super) fn items<'m, 'a>(node: &'m mut Node<'a>, name: &str) -> Option<&'m mut Vec<Node<'a>>> {
    match &mut member(node, name)?.json {
        Json::Array(items) => Some(items),
        _ => None,
    }
}

/// Visits the blocks right inside a step in the order of the format: the legacy arrays, then the slots.
pub(super) fn each_block<'a>(step: &mut Node<'a>, mut visit: impl FnMut(&mut Vec<Node<'a>>)) {
    for name in ["then", "else", "fallback", "default"] {
        if let Some(block) = items(step, name) {
            visit(block);
        }
    }
    for exit in items(step, "options").into_iter().flatten() {
        if let Some(block) = items(exit, "steps") {
            visit(block);
        }
    }
    match member(step, "cases").map(|cases| &mut cases.json) {
        Some(Json::Array(cases)) => {
            for case in cases {
                if let Some(block) = items(case, "steps") {
                    visit(block);
                }
            }
        }
        Some(Json::Object(cases)) => {
            let mut sorted: Vec<&mut Member<'a>> = cases.iter_mut().collect();
            sorted.sort_by(|a, b| a.name.cmp(&b.name));
            for case in sorted {
                if let Json::Array(block) = &mut case.value.json {
                    visit(block);
                }
            }
        }
        _ => {}
    }
    for name in SINGLE_EXITS {
        if let Some(block) = member(step, name).and_then(|exit| items(exit, "steps")) {
            visit(block);
        }
    }
}

/// Ids that are taken, and new ones that are not.
#[derive(Default)]
pub(super) struct Ids(HashSet<String>);

impl Ids {
    /// The ids of all steps.
    pub(super) fn of(document: &mut Node<'_>) -> Self {
        let mut ids = Self::default();
        if let Some(steps) = items(document, "steps") {
            ids.collect(steps);
        }
        ids
    }

    fn collect(&mut self, steps: &mut [Node<'_>]) {
        for step in steps {
            if let Some(id) = step.str_of("id") {
                self.0.insert(id.to_owned());
            }
            each_block(step, |block| self.collect(block));
        }
    }

    /// `base`, or `base-2`, `base-3`, … when it is taken.
    pub(super) fn fresh(&mut self, base: &str) -> String {
        let mut id = base.to_owned();
        let mut count = 1;
        while !self.0.insert(id.clone()) {
            count += 1;
            id = format!("{base}-{count}");
        }
        id
    }
}
