//! Mermaid's language, written so that every label comes back from the parsers of versions 9 to 12 as it went in.

use std::fmt::Write;

use super::{Direction, Graph, GraphNode, NodeType, encode};
use crate::flow::model::Kind;

pub(super) fn write(graph: &Graph, direction: Direction) -> String {
    let mut out = format!("flowchart {}", direction.name());
    for (at, nodes) in graph.nodes.iter().enumerate() {
        let indent = if at == 0 { "  " } else { "    " };
        if at > 0 {
            let flow = &graph.flows[at];
            line(&mut out, "  ", &format!("subgraph G{}[\"{}\"]", encode(flow), escape(flow)));
        }
        for node in nodes {
            line(&mut out, indent, &shape(node));
        }
        if at > 0 {
            line(&mut out, "  ", "end");
        }
    }
    for node in &graph.missing {
        line(&mut out, "  ", &shape(node));
    }
    for edge in &graph.edges {
        let arrow = if edge.is_dotted() { "-.->" } else { "-->" };
        let label = escape(&edge.label);
        let text = if label.is_empty() {
            format!("{} {arrow} {}", edge.from, edge.to)
        } else {
            format!("{} {arrow}|\"{label}\"| {}", edge.from, edge.to)
        };
        line(&mut out, "  ", &text);
    }
    out
}

fn line(out: &mut String, indent: &str, text: &str) {
    // Writing into a `String` cannot fail.
    let _ = write!(out, "\n{indent}{text}");
}

fn shape(node: &GraphNode) -> String {
    let (open, close) = match node.of {
        NodeType::Entry | NodeType::Exit | NodeType::Step(Kind::End) => ("([\"", "\"])"),
        NodeType::Flow | NodeType::Step(Kind::Call) => ("[[\"", "\"]]"),
        NodeType::Step(Kind::Say | Kind::Media) => ("[\"", "\"]"),
        NodeType::Step(Kind::Ask | Kind::Choice) => ("[/\"", "\"/]"),
        NodeType::Step(Kind::Set | Kind::Wait | Kind::Action | Kind::Emit) => ("(\"", "\")"),
        NodeType::Step(Kind::Branch | Kind::Switch) => ("{\"", "\"}"),
        NodeType::Step(Kind::Goto) => (">\"", "\"]"),
        NodeType::Step(Kind::Handoff) => ("[\\\"", "\"/]"),
    };
    format!("{}{open}{}{close}", node.id, escape(&node.label))
}

/// Quotes, backticks, `%%{…}%%`, tags and list markers all mean something inside a Mermaid label; as `#code;` they do
/// not.
fn escape(label: &str) -> String {
    let mut out = String::with_capacity(label.len());
    // Only digits before it make `.` or `)` a list marker.
    let mut after_digits = false;
    for (at, c) in label.chars().enumerate() {
        let is_marker =
            (at == 0 && matches!(c, '-' | '+')) || (after_digits && matches!(c, '.' | ')'));
        after_digits = c.is_ascii_digit() && (at == 0 || after_digits);
        match c {
            '\n' => out.push_str("<br/>"),
            '\0'..='\u{1f}' | '\u{80}'..='\u{9f}' | '\u{2028}' | '\u{2029}' => {}
            c if !c.is_ascii() => out.push(c),
            c if !is_marker && (c.is_ascii_alphanumeric() || " .,!?'()/:+-=@".contains(c)) => {
                out.push(c);
            }
            c => {
                // Writing into a `String` cannot fail.
                let _ = write!(out, "#{};", u32::from(c));
            }
        }
    }
    out
}
