//! What results look like, by revision.

use serde_json::{Map, Value, json};

use super::era;
use super::http_facts::Trace;
use super::revision::Revision;
use crate::error::ToolError;
use crate::tools::{Tool, ToolReply};

/// Lifetime of what clients may cache: the list of tools does not change while the server runs.
const CACHE_MS: u32 = 3_600_000;

/// Name and version, as every client shows them.
pub(super) fn server_info(revision: Revision) -> Value {
    let mut info = json!({ "name": env!("CARGO_PKG_NAME"), "version": env!("CARGO_PKG_VERSION") });
    if revision.rules().structured {
        info["title"] = "botmesh docs".into();
    }
    info
}

/// The result of `initialize`.
pub(super) fn initialize(revision: Revision, instructions: &str) -> Value {
    let mut result = json!({
        "protocolVersion": revision.name(),
        "capabilities": { "tools": { "listChanged": false } },
        "serverInfo": server_info(revision),
    });
    if !instructions.is_empty() {
        result["instructions"] = instructions.into();
    }
    result
}

/// The result of `server/discover`.
pub(super) fn discover(revision: Revision, instructions: &str) -> Value {
    let mut result = json!({
        "supportedVersions": era::modern_names(),
        "capabilities": { "tools": { "listChanged": false } },
    });
    if !instructions.is_empty() {
        result["instructions"] = instructions.into();
    }
    complete(revision, Caching::Public, result)
}

/// The result of `tools/list`.
pub(super) fn tools_list(
    revision: Revision,
    tools: impl Iterator<Item = &'static Tool>,
    is_private: bool,
) -> Value {
    let tools: Vec<Value> = tools.map(|tool| definition(revision, tool)).collect();
    let caching = if is_private { Caching::Private } else { Caching::Public };
    complete(revision, caching, json!({ "tools": tools }))
}

/// The result of `tools/call`. A failed call is a result, too: its sentence is for the model. Over HTTP the text is the
/// value as JSON, and both name the request.
pub(super) fn tools_call(
    revision: Revision,
    trace: Option<&Trace>,
    reply: Result<ToolReply, ToolError>,
) -> Value {
    let is_error = reply.is_err();
    let (text, value) = match reply {
        reply if trace.is_some() => {
            let mut value = match reply {
                Ok(reply) => reply.value,
                Err(error) => json!({ "error": error.to_value() }),
            };
            value["trace"] = trace.map(Trace::to_value).into();
            (value.to_string(), value)
        }
        Ok(ToolReply { value, text: Some(text) }) => (text, value),
        Ok(ToolReply { value, text: None }) => (format!("{value:#}"), value),
        Err(error) => {
            let hint = error.hint.iter().map(|hint| format!("\n{hint}"));
            let text = std::iter::once(error.message.clone()).chain(hint).collect();
            (text, json!({ "error": error.to_value() }))
        }
    };
    let mut result = json!({ "content": [{ "type": "text" }] });
    result["content"][0]["text"] = text.into();
    if revision.rules().structured {
        result["structuredContent"] = value;
    }
    if is_error {
        result["isError"] = true.into();
    }
    complete(revision, Caching::No, result)
}

#[derive(Clone, Copy)]
enum Caching {
    No,
    Private,
    Public,
}

/// Adds what only a stateless result carries.
fn complete(revision: Revision, caching: Caching, body: Value) -> Value {
    if !revision.rules().modern {
        return body;
    }
    let mut result = Map::new();
    result.insert("resultType".to_owned(), "complete".into());
    if let Value::Object(members) = body {
        result.extend(members);
    }
    let scope = match caching {
        Caching::No => None,
        Caching::Private => Some("private"),
        Caching::Public => Some("public"),
    };
    if let Some(scope) = scope {
        result.insert("ttlMs".to_owned(), CACHE_MS.into());
        result.insert("cacheScope".to_owned(), scope.into());
    }
    let meta = json!({ "io.modelcontextprotocol/serverInfo": server_info(revision) });
    result.insert("_meta".to_owned(), meta);
    result.into()
}

fn definition(revision: Revision, tool: &Tool) -> Value {
    let rules = revision.rules();
    let mut definition = Map::new();
    definition.insert("name".to_owned(), tool.name.into());
    if rules.structured {
        definition.insert("title".to_owned(), tool.title.into());
    }
    definition.insert("description".to_owned(), tool.description.into());
    definition.insert("inputSchema".to_owned(), schema(tool.input_schema));
    if rules.structured {
        definition.insert("outputSchema".to_owned(), schema(tool.output_schema));
    }
    if rules.annotations {
        let annotations = json!({
            "readOnlyHint": tool.is_read_only,
            "destructiveHint": false,
            "idempotentHint": tool.is_read_only,
            "openWorldHint": false,
        });
        definition.insert("annotations".to_owned(), annotations);
    }
    definition.into()
}

/// A schema's literal as a value: the literal may run over several lines, a message may not.
fn schema(literal: &str) -> Value {
    serde_json::from_str(literal).expect("a tool's schemas are JSON literals, read by a test")
}
