//! Rules across flows: calls, inputs and outputs, keywords.

use std::collections::{HashMap, HashSet};

use super::facts::Facts;
use super::paths::components;
use super::{Draft, Findings, Near};
use crate::flow::json::Node;
use crate::flow::model::{Flow, Kind};
use crate::flow::pointer::{join, join_index};
use crate::flow::text::fold;

pub(super) fn lint(all: &[Facts<'_, '_>], is_given: bool, drafts: &mut Vec<Draft>) {
    let by_id: HashMap<&str, usize> =
        all.iter().enumerate().rev().map(|(at, facts)| (facts.flow.id, at)).collect();
    let mut referenced = HashSet::new();
    let mut calls: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
    for (flow_index, facts) in all.iter().enumerate() {
        let mut found = Findings { flow_index, drafts };
        for (step, id, member) in facts.flow.references() {
            let Some(callee) = by_id.get(id).copied() else {
                if is_given {
                    let path = join(&facts.flow.steps[step].path, member);
                    let message = format!("no flow `{id}` was given");
                    found.add("missing-subflow", Some(step), path, message).near =
                        Some((id.to_owned(), Near::Flows));
                }
                continue;
            };
            if callee != flow_index {
                referenced.insert(callee);
            }
            if facts.flow.steps[step].kind == Kind::Call {
                calls[flow_index].push(callee);
                call(facts, step, all[callee].flow, &mut found);
            }
        }
    }
    cycles(all, &by_id, &calls, drafts);
    for (flow_index, facts) in all.iter().enumerate() {
        if flow_index > 0 && !referenced.contains(&flow_index) {
            let message = format!("`{}` was given and nothing refers to it", facts.flow.id);
            let mut found = Findings { flow_index, drafts };
            found.add("unused-subflow", None, String::new(), message);
        }
    }
    keywords(all, drafts);
}

fn call(facts: &Facts<'_, '_>, at: usize, callee: &Flow<'_>, found: &mut Findings<'_>) {
    let step = &facts.flow.steps[at];
    let declarations = callee.root.get("variables").map_or(&[][..], Node::members);
    let flag =
        |node: &Node<'_>, name: &str| node.get(name).and_then(Node::as_bool).unwrap_or(false);
    let with = step.node.get("with");
    let missing: Vec<String> = declarations
        .iter()
        .filter(|member| flag(&member.value, "input"))
        .filter(|member| member.value.get("default").is_none_or(Node::is_null))
        .filter(|member| with.is_none_or(|with| with.get(&member.name).is_none()))
        .map(|member| format!("`{}`", member.name))
        .collect();
    if !missing.is_empty() {
        let message = format!("`{}` needs {}", callee.id, missing.join(", "));
        found.add("subflow-input-missing", Some(at), step.path.clone(), message);
    }
    for member in with.map_or(&[][..], Node::members) {
        let declaration = callee.root.get("variables").and_then(|all| all.get(&member.name));
        if !declaration.is_some_and(|node| flag(node, "input")) {
            let path = join(&join(&step.path, "with"), &member.name);
            let message = format!("`{}` is no input of `{}`", member.name, callee.id);
            found.add("subflow-input-unknown", Some(at), path, message);
        }
    }
    let saved = step.members("save");
    if saved.is_empty() {
        return;
    }
    let ends = callee.steps.iter().filter(|step| step.kind == Kind::End);
    let outputs: HashSet<&str> = declarations
        .iter()
        .filter(|member| flag(&member.value, "output"))
        .map(|member| &*member.name)
        .chain(ends.flat_map(|step| step.members("output")).map(|member| &*member.name))
        .collect();
    for member in saved {
        let output = member.value.as_str().unwrap_or_default();
        if !outputs.contains(output) {
            let path = join(&join(&step.path, "save"), &member.name);
            let message = format!("`{}` gives no output `{output}`", callee.id);
            found.add("subflow-output-unknown", Some(at), path, message);
        }
    }
}

fn cycles(
    all: &[Facts<'_, '_>],
    by_id: &HashMap<&str, usize>,
    calls: &[Vec<usize>],
    drafts: &mut Vec<Draft>,
) {
    for members in components(calls) {
        let first_call = members.iter().find_map(|flow| {
            let flow_facts = &all[*flow];
            flow_facts.flow.references().into_iter().find_map(|(step, id, member)| {
                let callee = by_id.get(id)?;
                (member == "flow" && members.contains(callee)).then_some((*flow, step))
            })
        });
        if let Some((flow_index, step)) = first_call {
            let ids: Vec<&str> = members.iter().map(|flow| all[*flow].flow.id).collect();
            let message = format!("these flows call each other for ever: {}", ids.join(", "));
            let path = join(&all[flow_index].flow.steps[step].path, "flow");
            let mut found = Findings { flow_index, drafts };
            found.add("subflow-cycle", Some(step), path, message);
        }
    }
}

fn keywords(all: &[Facts<'_, '_>], drafts: &mut Vec<Draft>) {
    let mut seen: HashMap<String, &str> = HashMap::new();
    for (flow_index, facts) in all.iter().enumerate() {
        let list = facts.flow.root.get("keywords").map_or(&[][..], Node::items);
        for (at, keyword) in list.iter().enumerate() {
            let folded = fold(keyword.as_str().unwrap_or_default());
            if let Some(first) = seen.get(&folded) {
                let message = format!("`{folded}` already starts `{first}`");
                let mut found = Findings { flow_index, drafts };
                found.add("duplicate-keyword", None, join_index("/keywords", at), message);
            } else {
                seen.insert(folded, facts.flow.id);
            }
        }
    }
}
