//! What the rules ask about a flow, computed once.

use std::collections::{HashMap, HashSet};

use super::reads::{Read, reads};
use crate::flow::json::{Member, Node};
use crate::flow::model::{Edge, Flow, Kind};
use crate::flow::text::fold;

/// One flow and what is known about it.
pub(super) struct Facts<'f, 'd> {
    pub(super) flow: &'f Flow<'d>,
    /// Edges of each step.
    pub(super) edges: Vec<Vec<Edge>>,
    /// Whether the entry leads to each step.
    pub(super) reachable: Vec<bool>,
    /// Whether each step waits for the user.
    pub(super) is_input: Vec<bool>,
    /// Steps that something jumps to.
    pub(super) jumped_to: HashSet<usize>,
    /// Names that steps write, with step and pointer.
    pub(super) writes: Vec<(usize, &'d str, String)>,
    /// What is read where.
    pub(super) reads: Vec<Read<'d>>,
    declared: HashMap<&'d str, &'d Node<'d>>,
    written: HashSet<&'d str>,
    channels: Vec<&'d str>,
}

impl<'d> Facts<'_, 'd> {
    /// The declaration of a variable.
    pub(super) fn declaration(&self, name: &str) -> Option<&'d Node<'d>> {
        self.declared.get(name).copied()
    }

    /// The declarations in the order of the document.
    pub(super) fn declarations(&self) -> &'d [Member<'d>] {
        self.flow.root.get("variables").map_or(&[], Node::members)
    }

    /// Whether anything declares or writes a variable.
    pub(super) fn is_known(&self, name: &str) -> bool {
        self.declared.contains_key(name) || self.written.contains(name)
    }

    /// Names that may be read, sorted: the order of members must not decide which one is suggested.
    pub(super) fn known_names(&self) -> Vec<&str> {
        let declared = self.declarations().iter().map(|member| &*member.name);
        let mut names: Vec<&str> =
            declared.chain(self.writes.iter().map(|(_, name, _)| *name)).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Whether the flow is for that channel; `whatsapp` when it does not say.
    pub(super) fn is_on(&self, channel: &str) -> bool {
        if self.channels.is_empty() {
            channel == "whatsapp"
        } else {
            self.channels.contains(&channel)
        }
    }
}

/// The facts of all flows given; the first is the document.
pub(super) fn gather<'f, 'd>(flows: &[&'f Flow<'d>]) -> Vec<Facts<'f, 'd>> {
    let mut all: Vec<Facts<'f, 'd>> = flows.iter().map(|flow| facts(flow)).collect();
    for (facts, is_input) in all.iter_mut().zip(inputs(flows)) {
        facts.is_input = is_input;
    }
    all
}

fn facts<'f, 'd>(flow: &'f Flow<'d>) -> Facts<'f, 'd> {
    let edges: Vec<Vec<Edge>> = (0..flow.steps.len()).map(|step| flow.edges_of(step)).collect();
    let mut reachable = vec![false; flow.steps.len()];
    let mut open: Vec<usize> = flow.entry().into_iter().collect();
    while let Some(step) = open.pop() {
        if !std::mem::replace(&mut reachable[step], true) {
            open.extend(edges[step].iter().filter_map(|edge| edge.to));
        }
    }
    let mut jumped_to: HashSet<usize> =
        flow.root.str_of("entry").and(flow.entry()).into_iter().collect();
    for step in &flow.steps {
        let own = step.node.str_of("to").filter(|_| step.kind == Kind::Goto);
        let targets = step.exits.iter().filter_map(|exit| exit.goto).chain(own);
        jumped_to.extend(targets.filter_map(|id| flow.find(id)));
    }
    let declared = flow.root.get("variables").map_or(&[][..], Node::members);
    let writes = flow.writes();
    let channels = flow.root.get("channels").map_or(&[][..], Node::items);
    Facts {
        flow,
        reads: reads(flow),
        reachable,
        is_input: Vec::new(),
        jumped_to,
        declared: declared.iter().map(|member| (&*member.name, &member.value)).collect(),
        written: writes.iter().map(|(_, name, _)| *name).collect(),
        writes,
        channels: channels.iter().filter_map(Node::as_str).collect(),
        edges,
    }
}

/// Which steps wait for the user: `ask`, `choice`, `handoff` that resumes, and `call` unless its flow is known and can
/// run without waiting.
fn inputs(flows: &[&Flow<'_>]) -> Vec<Vec<bool>> {
    let by_id: HashMap<&str, usize> =
        flows.iter().enumerate().rev().map(|(at, flow)| (flow.id, at)).collect();
    // Grows until nothing changes: a flow that only waits for itself never runs through.
    let mut runs_through = vec![false; flows.len()];
    loop {
        let waits: Vec<Vec<bool>> = flows
            .iter()
            .map(|flow| {
                let waits = |step: &crate::flow::model::Step<'_>| match step.kind {
                    Kind::Ask | Kind::Choice => true,
                    Kind::Handoff => step.flag("resume"),
                    Kind::Call => step
                        .node
                        .str_of("flow")
                        .and_then(|id| by_id.get(id))
                        .is_none_or(|callee| !runs_through[*callee]),
                    _ => false,
                };
                flow.steps.iter().map(waits).collect()
            })
            .collect();
        let mut has_changed = false;
        for (at, flow) in flows.iter().enumerate() {
            if !runs_through[at] && reaches_end(flow, &waits[at]) {
                runs_through[at] = true;
                has_changed = true;
            }
        }
        if !has_changed {
            return waits;
        }
    }
}

fn reaches_end(flow: &Flow<'_>, waits: &[bool]) -> bool {
    let mut seen = vec![false; flow.steps.len()];
    let mut open: Vec<usize> = flow.entry().into_iter().collect();
    while let Some(step) = open.pop() {
        if waits[step] || std::mem::replace(&mut seen[step], true) {
            continue;
        }
        for edge in flow.edges_of(step) {
            match edge.to {
                None => return true,
                Some(to) => open.push(to),
            }
        }
    }
    false
}

/// Folded keywords of all flows.
pub(super) fn keywords(flows: &[&Flow<'_>]) -> HashSet<String> {
    let keywords = |flow: &&Flow<'_>| -> Vec<String> {
        let list = flow.root.get("keywords").map_or(&[][..], Node::items);
        list.iter().filter_map(Node::as_str).map(fold).collect()
    };
    flows.iter().flat_map(keywords).collect()
}
