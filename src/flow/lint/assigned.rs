//! Which variables surely have a value where: forward analysis, intersection over incoming edges.

use std::collections::{HashMap, HashSet};

use super::facts::Facts;
use super::reads::conditions;
use crate::flow::json::Node;
use crate::flow::model::{Edge, EdgeKind, Kind};
use crate::flow::text::base_name;

/// For each read, in order: whether some path from the entry leaves the variable without a value.
pub(super) fn maybe_unset(facts: &Facts<'_, '_>) -> Vec<bool> {
    let mut names: HashMap<&str, usize> = HashMap::new();
    for read in &facts.reads {
        if !read.is_guarded && is_tracked(facts, read.name()) {
            let next = names.len();
            names.entry(read.name()).or_insert(next);
        }
    }
    let states = solve(facts, &names);
    facts
        .reads
        .iter()
        .map(|read| match (names.get(read.name()), &states[read.step]) {
            (Some(bit), Some(state)) => !read.is_guarded && !state.has(*bit),
            _ => false,
        })
        .collect()
}

/// Whether a variable can be unset at all: inputs and defaults never are.
fn is_tracked(facts: &Facts<'_, '_>, name: &str) -> bool {
    facts.is_known(name)
        && facts.declaration(name).is_none_or(|declaration| {
            !declaration.get("input").and_then(Node::as_bool).unwrap_or(false)
                && declaration.get("default").is_none_or(Node::is_null)
        })
}

#[derive(Clone, PartialEq)]
struct Bits(Vec<u64>);

impl Bits {
    fn has(&self, bit: usize) -> bool {
        self.0[bit / 64] >> (bit % 64) & 1 == 1
    }

    fn put(&mut self, bit: usize, value: bool) {
        let mask = 1 << (bit % 64);
        if value {
            self.0[bit / 64] |= mask;
        } else {
            self.0[bit / 64] &= !mask;
        }
    }

    /// Whether anything was lost.
    fn intersect(&mut self, other: &Self) -> bool {
        let mut has_changed = false;
        for (own, other) in self.0.iter_mut().zip(&other.0) {
            has_changed |= *own & other != *own;
            *own &= other;
        }
        has_changed
    }
}

/// The state on entering each reachable step.
fn solve(facts: &Facts<'_, '_>, names: &HashMap<&str, usize>) -> Vec<Option<Bits>> {
    let n_steps = facts.flow.steps.len();
    let effects: Vec<Vec<Vec<(usize, bool)>>> = (0..n_steps)
        .map(|step| {
            facts.edges[step]
                .iter()
                .map(|edge| {
                    let effects = effects(facts, edge).into_iter();
                    effects
                        .filter_map(|(name, has_value)| Some((*names.get(name)?, has_value)))
                        .collect()
                })
                .collect()
        })
        .collect();
    let mut states: Vec<Option<Bits>> = vec![None; n_steps];
    let Some(entry) = facts.flow.entry() else { return states };
    states[entry] = Some(Bits(vec![0; names.len().div_ceil(64)]));
    let mut open = std::collections::BTreeSet::from([entry]);
    // Document order is close to the order of flow, so most steps are settled in one or two rounds.
    while let Some(step) = open.pop_first() {
        let Some(state) = states[step].clone() else { continue };
        for (edge, effects) in facts.edges[step].iter().zip(&effects[step]) {
            let Some(to) = edge.to else { continue };
            let mut out = state.clone();
            for (bit, has_value) in effects {
                out.put(*bit, *has_value);
            }
            let has_changed = match &mut states[to] {
                Some(known) => known.intersect(&out),
                unknown => {
                    *unknown = Some(out);
                    true
                }
            };
            if has_changed {
                open.insert(to);
            }
        }
    }
    states
}

/// What taking an edge says about variables, in order: name, and whether it has a value afterwards.
fn effects<'d>(facts: &Facts<'_, 'd>, edge: &Edge) -> Vec<(&'d str, bool)> {
    let step = &facts.flow.steps[edge.from];
    let save = || step.node.str_of("save").map(|name| (name, true)).into_iter().collect();
    match (step.kind, edge.kind) {
        (Kind::Ask, EdgeKind::Answer) | (Kind::Choice, EdgeKind::Option) => save(),
        (Kind::Action, EdgeKind::Next) if step.is_awaited() => save(),
        (Kind::Call, EdgeKind::Next) => {
            let saved = step.members("save").iter().map(|member| (&*member.name, true));
            saved.chain(step.node.str_of("outcome").map(|name| (name, true))).collect()
        }
        (Kind::Set, EdgeKind::Next) => step
            .members("assign")
            .iter()
            .map(|member| {
                let literal = member.value.get("literal");
                (&*member.name, !literal.unwrap_or(&member.value).is_null())
            })
            .collect(),
        (Kind::Branch, EdgeKind::Case | EdgeKind::Else) => {
            let taken = edge.exit.filter(|_| edge.kind == EdgeKind::Case);
            let taken = taken.map_or(usize::MAX, |exit| step.exits[exit].index);
            let mut known = Vec::new();
            for (at, (condition, _)) in
                conditions(step).into_iter().enumerate().take(taken.saturating_add(1))
            {
                known.extend(implied(condition, at == taken).into_iter().map(|name| (name, true)));
            }
            known
        }
        (Kind::Switch, EdgeKind::Case) => {
            let case = edge.exit.and_then(|exit| step.exits[exit].node.get("is"));
            let has_null =
                case.is_none_or(|is| is.is_null() || is.items().iter().any(Node::is_null));
            let on = step.node.str_of("on").filter(|on| !has_null && !on.contains('.'));
            on.map(|name| (name, true)).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Names that surely have a value when a condition is `truth`.
pub(super) fn implied<'d>(condition: &'d Node<'d>, truth: bool) -> Vec<&'d str> {
    let op = condition.str_of("op").unwrap_or_default();
    let parts = || condition.get("of").map_or(&[][..], Node::items);
    let value = condition.get("value");
    let operand = value.and_then(|value| value.str_of("var"));
    let is_null = value.is_some_and(Node::is_null);
    let is_constant = value.is_some_and(|value| !value.is_null() && !value.is_object());
    let holds = match (op, truth) {
        ("and", true) | ("or", false) => {
            return parts().iter().flat_map(|part| implied(part, truth)).collect();
        }
        ("and", false) | ("or", true) => {
            let mut sets = parts().iter().map(|part| implied(part, truth));
            let first = sets.next().unwrap_or_default();
            return sets.fold(first, |mut common, set| {
                let set: HashSet<&str> = set.into_iter().collect();
                common.retain(|name| set.contains(name));
                common
            });
        }
        ("not", _) => {
            return condition.get("of").map_or_else(Vec::new, |inner| implied(inner, !truth));
        }
        ("empty", truth) => !truth,
        ("eq", true) | ("ne", false) => is_constant,
        ("eq", false) | ("ne", true) => is_null,
        ("exists" | "lt" | "lte" | "gt" | "gte" | "contains" | "startsWith", truth) => truth,
        ("in", true) => {
            !condition.get("values").map_or(&[][..], Node::items).iter().any(Node::is_null)
        }
        _ => false,
    };
    if !holds {
        return Vec::new();
    }
    // An order needs a value on both sides.
    let operand = operand.filter(|_| matches!(op, "lt" | "lte" | "gt" | "gte"));
    condition.str_of("var").into_iter().chain(operand).map(base_name).collect()
}
