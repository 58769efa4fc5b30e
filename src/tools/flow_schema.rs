//! `flow_schema` and `flow_example`: how documents are written.

use serde_json::{Value, json};

use super::flow::nothing;
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::{ErrorCode, ToolError};
use crate::flow::schema;
use crate::scope::Scope;

pub(super) const SCHEMA: Tool = Tool {
    name: "flow_schema",
    title: "Schema of flows",
    description: "The JSON Schema (draft 2020-12) of flow documents, all limits, and the kinds of step. Read it before writing a flow.",
    input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"schema":{"type":"object"},"limits":{"type":"object"},"stepKinds":{"type":"array","items":{"type":"string"}},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run: |_: &Context, _: &Arguments| {
        Ok(ToolReply::from(json!({
            "schema": schema::schema(),
            "limits": schema::limits(),
            "stepKinds": schema::step_kinds(),
        })))
    },
};

pub(super) const EXAMPLE: Tool = Tool {
    name: "flow_example",
    title: "Example flow",
    description: "A complete bilingual flow document that uses every kind of step, validates and lints clean. A good start for a new flow.",
    input_schema: r#"{"type":"object","properties":{},"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"document":{"type":"object"},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run: |_: &Context, _: &Arguments| {
        let document: Value = serde_json::from_str(schema::EXAMPLE).map_err(|_| {
            ToolError::new(ErrorCode::Internal, "the embedded example cannot be read")
        })?;
        let mut reply = nothing();
        reply["document"] = document;
        Ok(ToolReply::from(reply))
    },
};
