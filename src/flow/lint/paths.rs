//! Rules on the way through a flow: unreachable steps, loops, ends, jumps.

use serde_json::json;

use super::Findings;
use super::facts::Facts;
use crate::flow::model::{EdgeKind, Flow, Kind};
use crate::flow::pointer::join;

pub(super) fn lint(facts: &Facts<'_, '_>, is_document: bool, found: &mut Findings<'_>) {
    unreachable(facts, found);
    let n_before = found.drafts.len();
    loops(facts, found);
    let has_endless = found.drafts[n_before..].iter().any(|draft| draft.code == "infinite-loop");
    never_ends(facts, has_endless, found);
    if is_document {
        dead_ends(facts, found);
    }
    jumps(facts, found);
    nesting(facts.flow, found);
}

fn unreachable(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    for block in &facts.flow.blocks {
        if block.owner.is_some_and(|owner| !facts.reachable[owner]) {
            continue;
        }
        let mut follows_reachable = true;
        for step in &block.steps {
            let is_reachable = facts.reachable[*step];
            if !is_reachable && follows_reachable {
                let path = facts.flow.steps[*step].path.clone();
                let message = "nothing leads to this step";
                found.add("unreachable-step", Some(*step), path, message);
            }
            follows_reachable = is_reachable;
        }
    }
}

/// Cycles are the strongly connected components of the reachable graph minus the steps that wait for the user.
fn loops(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    let n_steps = facts.flow.steps.len();
    let is_inside = |step: usize| facts.reachable[step] && !facts.is_input[step];
    let next: Vec<Vec<usize>> = (0..n_steps)
        .map(|step| {
            if !is_inside(step) {
                return Vec::new();
            }
            let targets = facts.edges[step].iter().filter_map(|edge| edge.to);
            targets.filter(|to| is_inside(*to)).collect()
        })
        .collect();
    for members in components(&next) {
        let [first, ..] = members[..] else { continue };
        if !is_inside(first) || (members.len() == 1 && !next[first].contains(&first)) {
            continue;
        }
        let is_member = |step: &usize| members.binary_search(step).is_ok();
        let leaves = members
            .iter()
            .flat_map(|step| &facts.edges[*step])
            .any(|edge| edge.to.is_none_or(|to| !is_member(&to)));
        let path = facts.flow.steps[first].path.clone();
        let ids: Vec<&str> =
            members.iter().take(5).map(|step| facts.flow.steps[*step].id).collect();
        let more = if members.len() > ids.len() { ", …" } else { "" };
        let ids = format!("{}{more}", ids.join(", "));
        if !leaves {
            let message = format!("these steps repeat for ever without waiting for anybody: {ids}");
            found.add("infinite-loop", Some(first), path, message);
        } else if !members.iter().any(|step| facts.flow.steps[*step].kind == Kind::Wait) {
            let message =
                format!("these steps may repeat without waiting for input or time: {ids}");
            found.add("loop-without-input", Some(first), path, message);
        }
    }
}

/// Strongly connected components (Tarjan, without recursion), each sorted.
pub(super) fn components(next: &[Vec<usize>]) -> Vec<Vec<usize>> {
    const NEW: usize = usize::MAX;
    let mut order = vec![NEW; next.len()];
    let mut low = vec![0; next.len()];
    let mut is_open = vec![false; next.len()];
    let mut open = Vec::new();
    let mut count = 0;
    let mut found = Vec::new();
    for root in 0..next.len() {
        if order[root] != NEW {
            continue;
        }
        let mut calls = vec![(root, 0)];
        while let Some((node, at)) = calls.pop() {
            if at == 0 {
                order[node] = count;
                low[node] = count;
                count += 1;
                open.push(node);
                is_open[node] = true;
            }
            if let Some(to) = next[node].get(at) {
                calls.push((node, at + 1));
                if order[*to] == NEW {
                    calls.push((*to, 0));
                } else if is_open[*to] {
                    low[node] = low[node].min(order[*to]);
                }
                continue;
            }
            if low[node] == order[node] {
                let mut members = Vec::new();
                while let Some(member) = open.pop() {
                    is_open[member] = false;
                    members.push(member);
                    if member == node {
                        break;
                    }
                }
                members.sort_unstable();
                found.push(members);
            }
            if let Some((parent, _)) = calls.last() {
                low[*parent] = low[*parent].min(low[node]);
            }
        }
    }
    found
}

fn never_ends(facts: &Facts<'_, '_>, has_endless: bool, found: &mut Findings<'_>) {
    let mut reachable = (0..facts.edges.len()).filter(|step| facts.reachable[*step]);
    let ends = reachable.any(|step| facts.edges[step].iter().any(|edge| edge.to.is_none()));
    if !ends && !has_endless {
        found.add("never-ends", None, String::new(), "no path from the entry reaches the end");
    }
}

fn dead_ends(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    for (at, step) in facts.flow.steps.iter().enumerate() {
        for edge in facts.edges[at].iter().filter(|edge| edge.to.is_none()) {
            let path = match (edge.kind, edge.exit) {
                (EdgeKind::Answer, _) => step.path.clone(),
                (EdgeKind::Option, Some(exit)) => step.exits[exit].path(&step.path),
                _ => continue,
            };
            let message = "the user answers and the flow ends without a word";
            found.add("dead-end", Some(at), path, message);
        }
    }
}

fn jumps(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    let flow = facts.flow;
    let mut check =
        |from_block: usize, step: Option<usize>, target: Option<usize>, path: String| {
            let Some(target) = target else { return };
            let into = flow.steps[target].block;
            if !encloses(flow, into, from_block) {
                let message = format!(
                    "jumps into the middle of a block: `{}` is inside {}",
                    flow.steps[target].id, flow.blocks[into].path
                );
                found.add("goto-into-block", step, path, message);
            }
        };
    if flow.root.get("entry").is_some() {
        check(0, None, flow.entry(), "/entry".to_owned());
    }
    for (at, step) in flow.steps.iter().enumerate() {
        if step.kind == Kind::Goto {
            let target = step.node.str_of("to").and_then(|id| flow.find(id));
            check(step.block, Some(at), target, join(&step.path, "to"));
        }
        for exit in &step.exits {
            let target = exit.goto.and_then(|id| flow.find(id));
            check(step.block, Some(at), target, join(&exit.path(&step.path), "goto"));
        }
    }
    for (at, step) in flow.steps.iter().enumerate() {
        let target = step.node.str_of("to").and_then(|id| flow.find(id));
        if step.kind == Kind::Goto && target.is_some() && target == flow.continuation(at) {
            let message = "the flow goes there anyway";
            let draft = found.add("redundant-goto", Some(at), join(&step.path, "to"), message);
            if !facts.jumped_to.contains(&at) {
                draft.fix = Some(json!([{ "op": "remove", "path": step.path }]));
            }
        }
        for exit in &step.exits {
            let block = exit.block.map(|block| &flow.blocks[block]);
            if let Some(block) = block.filter(|block| block.steps.is_empty()) {
                let message = "no steps: the flow goes on after the step that owns them";
                found.add("empty-branch", Some(at), block.path.clone(), message);
            } else if exit.slot == crate::flow::model::Slot::Case
                && exit.block.is_none()
                && exit.goto.is_none()
            {
                let message = "a case that does nothing";
                found.add("empty-branch", Some(at), exit.path(&step.path), message);
            }
        }
    }
}

/// Whether `outer` is `inner` or a block around it.
fn encloses(flow: &Flow<'_>, outer: usize, inner: usize) -> bool {
    let mut block = inner;
    loop {
        if block == outer {
            return true;
        }
        match flow.blocks[block].owner {
            Some(owner) => block = flow.steps[owner].block,
            None => return false,
        }
    }
}

fn nesting(flow: &Flow<'_>, found: &mut Findings<'_>) {
    const TOO_DEEP: usize = 6;
    for block in flow.blocks.iter().filter(|block| block.depth == TOO_DEEP) {
        if let Some(first) = block.steps.first() {
            let message = "blocks are six levels deep here; a subflow reads better";
            let path = flow.steps[*first].path.clone();
            found.add("nesting-too-deep", Some(*first), path, message);
        }
    }
}
