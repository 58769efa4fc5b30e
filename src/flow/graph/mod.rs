//! The drawing of a flow and the flows it refers to: nodes and edges, as JSON or as Mermaid.
//!
//! Ids depend on step ids only, so inserting a step changes no other line of the drawing.

mod label;
mod mermaid;

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::model::{EdgeKind, Flow, Kind};

/// Where the drawing grows to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// Top down.
    #[default]
    TopDown,
    /// Left to right.
    LeftRight,
    /// Top to bottom: the other name of top down.
    TopBottom,
    /// Right to left.
    RightLeft,
    /// Bottom to top.
    BottomTop,
}

impl Direction {
    /// All directions.
    pub const ALL: [Self; 5] =
        [Self::TopDown, Self::LeftRight, Self::TopBottom, Self::RightLeft, Self::BottomTop];

    /// The two letters of Mermaid.
    pub fn name(self) -> &'static str {
        match self {
            Self::TopDown => "TD",
            Self::LeftRight => "LR",
            Self::TopBottom => "TB",
            Self::RightLeft => "RL",
            Self::BottomTop => "BT",
        }
    }

    /// The direction of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.name() == name)
    }
}

/// What a node stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum NodeType {
    Entry,
    Step(Kind),
    Exit,
    Flow,
}

#[derive(Clone, Debug)]
struct GraphNode {
    id: String,
    of: NodeType,
    flow: String,
    step: Option<String>,
    path: Option<String>,
    label: String,
}

#[derive(Clone, Debug)]
struct GraphEdge {
    from: String,
    to: String,
    of: &'static str,
    label: String,
}

/// A drawing.
#[derive(Clone, Debug)]
pub struct Graph {
    flows: Vec<String>,
    /// Nodes of each flow drawn; the first is the document's.
    nodes: Vec<Vec<GraphNode>>,
    /// Flows that were not given.
    missing: Vec<GraphNode>,
    edges: Vec<GraphEdge>,
}

impl Graph {
    /// Draws a valid document and those subflows that it leads to.
    pub fn new(document: &Flow<'_>, subflows: &[Flow<'_>]) -> Self {
        let drawn = drawn(document, subflows);
        let mut entries: HashMap<&str, String> = HashMap::new();
        for (at, flow) in drawn.iter().enumerate().rev() {
            entries.insert(flow.id, Ids::of(flow, at == 0).entry());
        }
        let mut graph = Self {
            flows: drawn.iter().map(|flow| flow.id.to_owned()).collect(),
            nodes: Vec::new(),
            missing: Vec::new(),
            edges: Vec::new(),
        };
        for (at, flow) in drawn.iter().enumerate() {
            graph.add_flow(flow, &Ids::of(flow, at == 0), &mut entries);
        }
        graph
    }

    /// Counts of nodes and edges.
    pub fn size(&self) -> (usize, usize) {
        let n_nodes = self.nodes.iter().map(Vec::len).sum::<usize>() + self.missing.len();
        (n_nodes, self.edges.len())
    }

    /// The drawing in Mermaid's language.
    pub fn mermaid(&self, direction: Direction) -> String {
        mermaid::write(self, direction)
    }

    /// `{ direction, flows, nodes, edges }`.
    pub fn to_value(&self, direction: Direction) -> Value {
        let nodes: Vec<Value> =
            self.nodes.iter().flatten().chain(&self.missing).map(GraphNode::to_value).collect();
        let edges: Vec<Value> = self.edges.iter().map(GraphEdge::to_value).collect();
        json!({
            "direction": direction.name(),
            "flows": self.flows,
            "nodes": nodes,
            "edges": edges,
        })
    }

    fn add_flow<'d>(&mut self, flow: &Flow<'d>, ids: &Ids, entries: &mut HashMap<&'d str, String>) {
        let node = |id, of, label: String| GraphNode {
            id,
            of,
            flow: flow.id.to_owned(),
            step: None,
            path: None,
            label,
        };
        let mut nodes = vec![node(ids.entry(), NodeType::Entry, "start".to_owned())];
        let step_ids: Vec<String> = flow.steps.iter().map(|step| ids.step(step.id)).collect();
        for (step, id) in flow.steps.iter().zip(&step_ids) {
            let mut node = node(id.clone(), NodeType::Step(step.kind), label::of_step(flow, step));
            node.step = Some(step.id.to_owned());
            node.path = Some(step.path.clone());
            nodes.push(node);
        }
        nodes.push(node(ids.exit(), NodeType::Exit, "end".to_owned()));
        self.nodes.push(nodes);
        let target = |to: Option<usize>| to.map_or_else(|| ids.exit(), |to| step_ids[to].clone());
        if let Some(entry) = flow.entry() {
            self.edges.push(GraphEdge {
                from: ids.entry(),
                to: step_ids[entry].clone(),
                of: "entry",
                label: String::new(),
            });
        }
        for (at, step) in flow.steps.iter().enumerate() {
            for edge in flow.edges_of(at) {
                let label = label::of_edge(flow, step, &edge);
                let of = edge_type(edge.kind);
                let from = step_ids[at].clone();
                self.edges.push(GraphEdge { from, to: target(edge.to), of, label });
            }
            let (member, of) = match step.kind {
                Kind::Call => ("flow", "call"),
                Kind::Action => ("starts", "starts"),
                _ => continue,
            };
            let Some(id) = step.node.str_of(member) else { continue };
            let to = entries.entry(id).or_insert_with(|| {
                let node_id = format!("M{}", encode(id));
                self.missing.push(GraphNode {
                    id: node_id.clone(),
                    of: NodeType::Flow,
                    flow: id.to_owned(),
                    step: None,
                    path: None,
                    label: format!("{}\nnot provided", label::part(id)),
                });
                node_id
            });
            let from = step_ids[at].clone();
            self.edges.push(GraphEdge { from, to: to.clone(), of, label: of.to_owned() });
        }
    }
}

impl GraphNode {
    fn to_value(&self) -> Value {
        let mut value = Map::new();
        let of = match self.of {
            NodeType::Entry => "entry",
            NodeType::Step(_) => "step",
            NodeType::Exit => "exit",
            NodeType::Flow => "flow",
        };
        value.insert("id".into(), json!(self.id));
        value.insert("type".into(), json!(of));
        value.insert("flow".into(), json!(self.flow));
        if let Some(step) = &self.step {
            value.insert("step".into(), json!(step));
        }
        if let NodeType::Step(kind) = self.of {
            value.insert("kind".into(), json!(kind.name()));
        }
        if let Some(path) = &self.path {
            value.insert("path".into(), json!(path));
        }
        value.insert("label".into(), json!(self.label));
        Value::Object(value)
    }
}

impl GraphEdge {
    fn is_dotted(&self) -> bool {
        matches!(self.of, "call" | "starts")
    }

    fn to_value(&self) -> Value {
        let mut value = json!({ "from": self.from, "to": self.to, "type": self.of });
        if !self.label.is_empty() {
            value["label"] = json!(self.label);
        }
        value
    }
}

fn edge_type(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Next => "next",
        EdgeKind::Answer => "answer",
        EdgeKind::Goto => "goto",
        EdgeKind::End => "end",
        EdgeKind::Option => "option",
        EdgeKind::Case => "case",
        EdgeKind::Else => "else",
        EdgeKind::Default => "default",
        EdgeKind::Invalid => "invalid",
        EdgeKind::Timeout => "timeout",
        EdgeKind::Error => "error",
    }
}

/// The document, then the given flows that references lead to, in argument order.
fn drawn<'f, 'd>(document: &'f Flow<'d>, subflows: &'f [Flow<'d>]) -> Vec<&'f Flow<'d>> {
    let by_id: HashMap<&str, usize> =
        subflows.iter().enumerate().rev().map(|(at, flow)| (flow.id, at)).collect();
    let mut is_reached = vec![false; subflows.len()];
    let mut open = vec![document];
    while let Some(flow) = open.pop() {
        for (_, id, _) in flow.references() {
            if let Some(at) = by_id.get(id)
                && id != document.id
                && !std::mem::replace(&mut is_reached[*at], true)
            {
                open.push(&subflows[*at]);
            }
        }
    }
    let reached = subflows.iter().zip(is_reached).filter(|(_, is_reached)| *is_reached);
    std::iter::once(document).chain(reached.map(|(flow, _)| flow)).collect()
}

/// Ids of nodes: a prefix keeps them from being words of Mermaid.
struct Ids {
    /// The encoded id of a subflow.
    flow: Option<String>,
}

impl Ids {
    fn of(flow: &Flow<'_>, is_document: bool) -> Self {
        Self { flow: (!is_document).then(|| encode(flow.id)) }
    }

    fn entry(&self) -> String {
        self.flow.as_ref().map_or_else(|| "ENTRY".to_owned(), |flow| format!("ENTRY_z{flow}"))
    }

    fn exit(&self) -> String {
        self.flow.as_ref().map_or_else(|| "EXIT".to_owned(), |flow| format!("EXIT_z{flow}"))
    }

    fn step(&self, id: &str) -> String {
        let id = encode(id);
        self.flow.as_ref().map_or_else(|| format!("N{id}"), |flow| format!("N{flow}_z{id}"))
    }
}

/// Any id as letters, digits and `_`, reversibly.
fn encode(id: &str) -> String {
    use std::fmt::Write;

    let mut out = String::with_capacity(id.len());
    for c in id.chars() {
        match c {
            '_' => out.push_str("_u"),
            '-' => out.push_str("_d"),
            '.' => out.push_str("_p"),
            ' ' => out.push_str("_s"),
            c if c.is_ascii_alphanumeric() => out.push(c),
            c => {
                // Writing into a `String` cannot fail.
                let _ = write!(out, "_x{:x}_", u32::from(c));
            }
        }
    }
    out
}
