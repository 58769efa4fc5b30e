//! `flow_digest`: the identity of a document.

use serde_json::json;

use super::flow::{Source, open};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
use crate::flow::digest::{digest, version};
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "flow_digest",
    title: "Digest of a flow",
    description: "SHA-256 of the document's canonical JSON (RFC 8785): equal documents have equal digests whatever their key order, spacing or number spelling. Works on invalid and old documents too.",
    input_schema: r#"{"type":"object","properties":{"document":{"type":["object","string"],"description":"The flow document"}},"required":["document"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"digest":{"type":"string"},"version":{"type":["integer","null"]},"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run,
};

fn run(_: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let source = Source::argument(arguments, "document");
    let document = open!(source, TOOL.name, "document");
    let root = &document.root;
    Ok(json!({ "digest": digest(root), "version": version(root) }).into())
}
