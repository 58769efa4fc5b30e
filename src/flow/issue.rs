//! What is wrong with a document: a place, a sentence, and sometimes what to do about it.

use serde_json::{Map, Value, json};

use super::pointer;

/// One fault of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Issue {
    /// RFC 6901 pointer of the offending value; empty for the document itself.
    pub path: String,
    /// What is wrong, in the words of JSON Schema validators.
    pub message: String,
    /// What to do, where a guess is safe enough to show.
    pub hint: Option<String>,
    /// An RFC 6902 patch, where one edit surely repairs.
    pub fix: Option<Value>,
}

impl Issue {
    /// An issue without advice.
    pub fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), hint: None, fix: None }
    }

    /// `{ path, message, hint?, fix? }`.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("path".into(), json!(self.path));
        value.insert("message".into(), json!(self.message));
        if let Some(hint) = &self.hint {
            value.insert("hint".into(), json!(hint));
        }
        if let Some(fix) = &self.fix {
            value.insert("fix".into(), fix.clone());
        }
        Value::Object(value)
    }
}

/// Sorts by path, then message; equal pairs once.
pub(super) fn arrange(issues: &mut Vec<Issue>) {
    issues
        .sort_by(|a, b| pointer::compare(&a.path, &b.path).then_with(|| a.message.cmp(&b.message)));
    issues.dedup_by(|a, b| a.path == b.path && a.message == b.message);
}
