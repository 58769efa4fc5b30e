//! `docs_page`: the Markdown of a page, or of one section with its subsections.

use botmesh_index::passage::{Cut, Passage};
use botmesh_index::snapshot::Snapshot;
use serde_json::{Value, json};

use super::docs;
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::{ErrorCode, ToolError};
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "docs_page",
    title: "Read a docs page or section",
    description: "Read the Markdown of a page, or of one section with its subsections, as docs_search or docs_outline \
        name it: \"guide/flows.md#steps\". Prefer a section: it is shorter. A long text is cut between blocks; go on \
        with from_line = page.next_line.",
    input_schema: r#"{
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "Page below the docs root; may carry #anchor"},
            "section": {"type": "string", "maxLength": 1024, "description": "Anchor or heading, instead of #anchor"},
            "from_line": {"type": "integer", "minimum": 1, "description": "Line of the page to begin at"},
            "max_chars": {"type": "integer", "minimum": 1, "maximum": 32768}
        },
        "required": ["path"],
        "additionalProperties": false
    }"#,
    output_schema: r#"{
        "type": "object",
        "properties": {
            "path": {"type": "string"}, "title": {"type": "string"}, "lang": {"type": "string"},
            "anchor": {"type": "string"}, "lines": {"type": "array"},
            "markdown": {"type": "string"},
            "page": {"type": "object", "properties": {"truncated": {"type": "boolean"},
                "next_line": {"type": "integer"}}},
            "error": {"type": "object"}
        }
    }"#,
    scope: Scope::DocsRead,
    is_read_only: true,
    run,
};

/// Room for the note at the end of a text that was cut, and over HTTP for the names of the request.
const NOTE_BYTES: usize = 256;

/// A cut is not made shorter than this: what stands beside the Markdown is.
const MIN_CUT_BYTES: usize = 1_024;

fn run(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let snapshot = docs::snapshot(context)?;
    let path = docs::text(arguments, "path").unwrap_or_default();
    let passage = passage(&snapshot, path, docs::text(arguments, "section"))?;
    let max_chars =
        docs::number(arguments, "max_chars").map_or(context.max_reply_bytes, |n| n as usize);
    let from_line =
        docs::number(arguments, "from_line").map(|n| u32::try_from(n).unwrap_or(u32::MAX));
    let most = context.max_reply_bytes - NOTE_BYTES;
    let mut max_bytes = most;
    let (cut, value) = loop {
        let Some(cut) = passage.cut(from_line, max_chars.max(1), max_bytes) else {
            let (from_line, last_line) = (from_line.unwrap_or(0), passage.lines.1);
            let message =
                format!("`from_line` {from_line} is past the end: the last line is {last_line}");
            return Err(ToolError::new(ErrorCode::InvalidArgument, message));
        };
        let value = page_value(&passage, &cut);
        // As JSON, which is the text over HTTP, line ends and quotes take two bytes.
        let n_bytes = value.to_string().len();
        if n_bytes <= most || max_bytes <= MIN_CUT_BYTES {
            break (cut, value);
        }
        max_bytes = (max_bytes * most / n_bytes).clamp(MIN_CUT_BYTES, max_bytes - 1);
    };
    let text = format!("{}{}", cut.markdown, note(&passage, &cut));
    Ok(ToolReply { value, text: Some(text) })
}

/// The page or section that a path and perhaps a section name.
///
/// # Errors
/// There is none, or the path cannot name one.
pub fn passage(
    snapshot: &Snapshot,
    path: &str,
    section: Option<&str>,
) -> Result<Passage, ToolError> {
    snapshot.passage(path, section).map_err(|error| docs::lookup_error(&error))
}

/// The passage as one value: what `docs_page` replies and `page --json` prints.
pub fn page_value(passage: &Passage, cut: &Cut<'_>) -> Value {
    let mut value = json!({
        "path": passage.path,
        "title": docs::name(&passage.title),
        "lang": passage.lang,
    });
    if let Some(anchor) = &passage.anchor {
        value["anchor"] = docs::anchor(anchor).into();
    }
    value["lines"] = json!([cut.lines.0, cut.lines.1]);
    value["markdown"] = cut.markdown.into();
    docs::add_translations(&mut value, &passage.translations);
    value["page"] = json!({ "truncated": cut.is_truncated });
    if cut.is_truncated {
        value["page"]["last_line"] = passage.lines.1.into();
    }
    if let Some(next_line) = cut.next_line {
        value["page"]["next_line"] = next_line.into();
    }
    value
}

/// For clients that see the text alone: that it was cut, and how to get the rest. A comment, so the text stays Markdown.
fn note(passage: &Passage, cut: &Cut<'_>) -> String {
    let last_line = passage.lines.1;
    match cut.next_line {
        Some(next) => {
            format!("\n<!-- cut: lines {next} to {last_line} follow with from_line {next} -->\n")
        }
        None if cut.is_truncated => {
            format!("\n<!-- cut inside line {last_line}, the last one -->\n")
        }
        None => String::new(),
    }
}
