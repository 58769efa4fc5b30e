//! What the docs tools share: arguments, limits, errors.

use std::sync::Arc;

use botmesh_index::error::IndexError;
use botmesh_index::lookup::LookupError;
use botmesh_index::snapshot::Snapshot;
use serde_json::{Map, Value};

use super::{Arguments, Context};
use crate::error::{ErrorCode, ToolError};

/// Most bytes of text in a reply when the settings say nothing: clients refuse or cut replies of about 25,000 tokens.
pub const MAX_REPLY_BYTES: usize = 32_768;

/// A lower bound would leave no room for a hit and the way to the rest.
pub const MIN_REPLY_BYTES: usize = 4_096;

/// Titles and headings beyond this are cut: a page may put a whole line of megabytes into one.
const MAX_NAME_CHARS: usize = 240;

/// Longer anchors are no use: `docs_page` takes paths of up to 1,024 characters.
pub(super) const MAX_ANCHOR_BYTES: usize = 512;

/// The snapshot that a call is answered from.
pub(super) fn snapshot(context: &Context) -> Result<Arc<Snapshot>, ToolError> {
    match &context.docs {
        Some(docs) => docs.snapshot(&context.closing),
        None => Err(ToolError::new(ErrorCode::Unavailable, "this server has no docs")
            .with_hint("start it with `--docs DIR`")),
    }
}

/// A text argument; a blank one is none.
pub(super) fn text<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// A whole number, also when it is written `8.0`.
pub(super) fn number(arguments: &Arguments, name: &str) -> Option<u64> {
    let value = arguments.get(name)?;
    let whole = |number: &f64| number.fract() == 0.0 && *number >= 0.0;
    value.as_u64().or_else(|| value.as_f64().filter(whole).map(|number| number as u64))
}

/// A title or heading of bearable length.
pub(super) fn name(text: &str) -> String {
    if text.len() <= MAX_NAME_CHARS {
        return text.to_owned();
    }
    let mut name: String = text.chars().take(MAX_NAME_CHARS).collect();
    if name.len() < text.len() {
        name.push('…');
    }
    name
}

/// An anchor that `docs_page` would take, or none.
pub(super) fn anchor(text: &str) -> &str {
    if text.len() <= MAX_ANCHOR_BYTES { text } else { "" }
}

/// Adds `translations` when there are any.
pub(super) fn add_translations(value: &mut Value, translations: &[String]) {
    if !translations.is_empty() {
        value["translations"] = translations.iter().map(String::as_str).collect();
    }
}

/// A value as a reply shows it.
pub(super) fn shown(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("a value is JSON")
}

/// `1 section`, `2 sections`.
pub fn count(n: usize, what: &str) -> String {
    let plural = if n == 1 { "" } else { "s" };
    format!("{n} {what}{plural}")
}

/// How many members of each language: `{"en": 12, "es": 10}`.
pub(super) fn counts<'a>(languages: impl Iterator<Item = (&'a str, u32)>) -> Value {
    Value::Object(languages.map(|(code, n)| (code.to_owned(), n.into())).collect::<Map<_, _>>())
}

/// An error of a look-up as a tool answers it.
pub(super) fn lookup_error(error: &LookupError) -> ToolError {
    let code = match error {
        LookupError::BadPath { .. } => ErrorCode::InvalidArgument,
        LookupError::NoPage { .. } | LookupError::NoSection { .. } => ErrorCode::NotFound,
        _ => ErrorCode::Internal,
    };
    let unaided = match error {
        LookupError::NoPage { .. } => Some("docs_outline lists the pages"),
        LookupError::NoSection { .. } => Some("docs_outline with this path lists its anchors"),
        _ => None,
    };
    let hint = error.hint().or(unaided.map(str::to_owned));
    let error = ToolError::new(code, error.to_string());
    match hint {
        Some(hint) => error.with_hint(hint),
        None => error,
    }
}

/// An error of a search as a tool answers it.
pub(super) fn index_error(error: &IndexError) -> ToolError {
    match error {
        IndexError::BadGlob { .. } => ToolError::new(ErrorCode::InvalidArgument, error.to_string())
            .with_hint("give a folder (`guide/`) or a glob (`**/flow*.md`)"),
        _ => ToolError::new(ErrorCode::Internal, error.to_string()),
    }
}
