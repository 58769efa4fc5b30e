//! `flow_migrate`: brings an old document to a newer version of the format.

use serde_json::Value;

use super::flow::{Source, open};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::{ErrorCode, ToolError};
use crate::flow::migrate::{CURRENT, migrate};
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "flow_migrate",
    title: "Migrate a flow",
    description: "Upgrade a flow document of format version 0 or 1. Answers the new document, the hops applied, and what flow_validate then says. Nothing it does not know is dropped.",
    input_schema: r#"{"type":"object","properties":{"document":{"type":["object","string"],"description":"The flow document"},"target":{"type":"integer","minimum":0,"maximum":2,"description":"Version to reach (2)"}},"required":["document"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"document":{"type":"object"},"from":{"type":"integer"},"to":{"type":"integer"},"applied":{"type":"array","items":{"type":"string"}},"issues":{"type":"array","items":{"type":"object"}},"omitted":{"type":"integer"},"valid":{"type":"boolean"},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run,
};

fn run(_: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let source = Source::argument(arguments, "document");
    let document = open!(source, TOOL.name, "document");
    let target = arguments.get("target").and_then(Value::as_f64).map_or(CURRENT, |n| n as u64);
    let migration = migrate(document.root, target)
        .map_err(|error| ToolError::new(ErrorCode::InvalidArgument, error.to_string()))?;
    Ok(migration.to_value().into())
}
