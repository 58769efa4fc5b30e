//! `flow_validate`: whether a flow document is right.

use super::flow::{Source, open};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
use crate::flow::check::{summary, validate};
use crate::flow::model::Flow;
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "flow_validate",
    title: "Validate a flow",
    description: "Check a bot's flow document (JSON object, or a string holding one). Every issue has a JSON Pointer, a message and often a hint. Use it after each edit, before flow_analyze. An invalid document is a normal answer.",
    input_schema: r#"{"type":"object","properties":{"document":{"type":["object","string"],"description":"The flow document"}},"required":["document"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"omitted":{"type":"integer"},"summary":{"type":"object"},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run,
};

fn run(_: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let source = Source::argument(arguments, "document");
    let document = open!(source, TOOL.name, "document");
    let validation = validate(&document);
    let mut value = validation.to_value();
    if validation.is_valid() {
        value["summary"] = summary(&Flow::new(&document.root));
    }
    Ok(value.into())
}
