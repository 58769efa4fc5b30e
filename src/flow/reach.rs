//! The shortest script of replies that gets to a step, as far as the drawing tells.
//!
//! Conditions are not solved: what a way assumes of them is part of the answer.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::json::Node;
use super::model::{Edge, EdgeKind, Flow, Step};

/// `{ step, reachable, inputs?, path?, assumes? }` for a valid document.
pub fn reach(root: &Node<'_>, id: &str) -> Value {
    let flow = Flow::new(root);
    let Some(target) = flow.find(id) else {
        let near = crate::suggest::nearest(id, flow.steps.iter().map(|step| step.id));
        let mut value = json!({ "step": id, "reachable": false, "message": "no step has this id" });
        if let Some(near) = near {
            value["hint"] = json!(crate::suggest::hint(near));
        }
        return value;
    };
    let Some(edges) = shortest(&flow, target) else {
        return json!({ "step": id, "reachable": false, "message": "nothing leads to this step" });
    };
    let mut inputs: Vec<Value> = Vec::new();
    let mut assumes = Vec::new();
    let mut path: Vec<&str> = Vec::new();
    for edge in &edges {
        let step = &flow.steps[edge.from];
        path.push(step.id);
        inputs.extend(replies(step, edge));
        let what = match edge.kind {
            EdgeKind::Case => {
                let case = edge.exit.map_or(0, |exit| step.exits[exit].index);
                format!("{} takes case {case}", step.id)
            }
            EdgeKind::Else => format!("{} takes else", step.id),
            EdgeKind::Default => format!("{} takes default", step.id),
            EdgeKind::Error => format!("the handler of {} fails", step.id),
            _ => continue,
        };
        assumes.push(what);
    }
    path.push(flow.steps[target].id);
    json!({ "step": id, "reachable": true, "inputs": inputs, "path": path, "assumes": assumes })
}

/// The edges of a way with the fewest replies.
fn shortest(flow: &Flow<'_>, target: usize) -> Option<Vec<Edge>> {
    let entry = flow.entry()?;
    let mut best: Vec<Option<(usize, Option<Edge>)>> = vec![None; flow.steps.len()];
    let mut is_done = vec![false; flow.steps.len()];
    best[entry] = Some((0, None));
    // Replies cost, everything else is free. Costs are small, so buckets by cost are enough.
    let mut open: std::collections::BTreeMap<usize, VecDeque<usize>> =
        std::collections::BTreeMap::from([(0, VecDeque::from([entry]))]);
    while let Some(mut bucket) = open.first_entry() {
        let cost = *bucket.key();
        let Some(at) = bucket.get_mut().pop_front() else {
            bucket.remove();
            continue;
        };
        if std::mem::replace(&mut is_done[at], true) {
            continue;
        }
        if at == target {
            break;
        }
        for edge in flow.edges_of(at) {
            let Some(to) = edge.to else { continue };
            let next = cost + replies(&flow.steps[at], &edge).len();
            if best[to].is_none_or(|(known, _)| next < known) {
                best[to] = Some((next, Some(edge)));
                open.entry(next).or_default().push_back(to);
            }
        }
    }
    let mut edges = Vec::new();
    let mut at = target;
    while let (_, Some(edge)) = best[at]? {
        edges.push(edge);
        at = edge.from;
    }
    edges.reverse();
    Some(edges)
}

/// The replies that make a step take an edge.
fn replies(step: &Step<'_>, edge: &Edge) -> Vec<Value> {
    match edge.kind {
        EdgeKind::Option => {
            let option = edge.exit.map(|exit| step.exits[exit].node);
            vec![json!(option.and_then(|option| option.str_of("id")))]
        }
        EdgeKind::Answer => vec![sample(step)],
        EdgeKind::Timeout => vec![json!({ "timeout": true })],
        EdgeKind::Invalid => {
            let retries = step.node.get("retries").and_then(Node::as_number).unwrap_or(2.0);
            vec![json!(""); retries as usize + 1]
        }
        _ => Vec::new(),
    }
}

/// A reply that the step accepts.
fn sample(step: &Step<'_>) -> Value {
    let bound = |name: &str| step.node.get(name).and_then(Node::as_number);
    let number = bound("min").or(bound("max")).unwrap_or(1.0);
    match step.node.str_of("expect").unwrap_or("text") {
        "integer" => json!(format!("{}", number.ceil())),
        "number" => json!(format!("{number}")),
        "boolean" => json!("yes"),
        "email" => json!("ana@example.com"),
        "phone" => json!("+34600123456"),
        "date" => json!("2027-03-15"),
        "time" => json!("10:30"),
        "url" => json!("https://example.com"),
        media @ ("image" | "audio" | "document" | "location" | "contact") => {
            json!({ "type": media })
        }
        _ => {
            let least = bound("min").unwrap_or(0.0).clamp(0.0, 1000.0) as usize;
            let most = bound("max").unwrap_or(4.0).clamp(1.0, 1000.0) as usize;
            json!("text".chars().cycle().take(least.max(most.min(4))).collect::<String>())
        }
    }
}
