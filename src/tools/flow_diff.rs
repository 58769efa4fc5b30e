//! `flow_diff`: what changed between two documents.

use super::flow::{Source, invalid};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
use crate::flow::diff::diff;
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "flow_diff",
    title: "Compare two flows",
    description: "What changed from left to right, step by step: added, removed, moved and edited steps, and changes outside steps. Steps are matched by id; moving is not changing. Works on invalid and old documents too.",
    input_schema: r#"{"type":"object","properties":{"left":{"type":["object","string"],"description":"The document before"},"right":{"type":["object","string"],"description":"The document after"}},"required":["left","right"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"changed":{"type":"boolean"},"metadata":{"type":"array","items":{"type":"object"}},"added":{"type":"array","items":{"type":"object"}},"removed":{"type":"array","items":{"type":"object"}},"changedSteps":{"type":"array","items":{"type":"object"}},"before":{"type":"string"},"after":{"type":"string"},"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run,
};

fn run(_: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let left = Source::argument(arguments, "left");
    let right = Source::argument(arguments, "right");
    match (left.open(TOOL.name, "left"), right.open(TOOL.name, "right")) {
        (Ok(left), Ok(right)) => Ok(diff(&left.root, &right.root).to_value().into()),
        (Err(Err(error)), _) | (_, Err(Err(error))) => Err(error),
        (left, right) => {
            let issues = |opened: Result<_, Result<Vec<_>, ToolError>>| match opened {
                Err(Ok(issues)) => issues,
                _ => Vec::new(),
            };
            Ok(invalid(vec![
                ("/left".to_owned(), issues(left)),
                ("/right".to_owned(), issues(right)),
            ]))
        }
    }
}
