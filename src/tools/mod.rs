//! The catalogue: every tool's name, schemas, annotations and handler in one table.
//!
//! A handler is a function of its checked arguments and of one [`Context`]; it knows no transport. `tools/list`, the
//! manuals' tests and the command line read the same table.

pub mod arguments;
mod closing;
mod docs;
mod docs_outline;
mod docs_page;
mod docs_search;
pub mod exposure;
pub mod flow;
mod flow_analyze;
mod flow_diff;
mod flow_digest;
mod flow_migrate;
mod flow_schema;
mod flow_simulate;
mod flow_validate;
mod paged;
mod stored;

use std::sync::Arc;

use serde_json::Value;

pub use arguments::Arguments;
pub use closing::Closing;
pub use docs::{MAX_REPLY_BYTES, MIN_REPLY_BYTES, count};
pub use docs_outline::outline_value;
pub use docs_page::{page_value, passage};
pub use docs_search::{Answer, DEFAULT_LIMIT, hint, place, search, search_value};

use crate::docs::DocsHandle;
use crate::error::{ErrorCode, ToolError};
use crate::flows::FlowFolder;
use crate::scope::Scope;
use crate::state::State;

/// What a tool answers: one value, and the text an agent reads when that is not simply the value as JSON.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolReply {
    /// The structured result; always a JSON object.
    pub value: Value,
    /// Text shown instead of `value` as pretty JSON (`docs_page` answers the Markdown itself).
    pub text: Option<String>,
}

impl From<Value> for ToolReply {
    fn from(value: Value) -> Self {
        Self { value, text: None }
    }
}

/// What handlers may see besides their arguments.
#[derive(Clone, Debug)]
pub struct Context {
    /// Ends the waits of tools when the server ends.
    pub closing: Closing,
    /// The docs, when the server has any.
    pub docs: Option<DocsHandle>,
    /// The stored flows, when the server has any.
    pub flows: Option<FlowFolder>,
    /// Tokens and runs, when the server keeps them.
    pub state: Option<Arc<State>>,
    /// At most so many bytes of text in a reply of the docs and of stored flows; at least [`MIN_REPLY_BYTES`].
    pub max_reply_bytes: usize,
}

impl Default for Context {
    fn default() -> Self {
        let max_reply_bytes = MAX_REPLY_BYTES;
        Self { closing: Closing::default(), docs: None, flows: None, state: None, max_reply_bytes }
    }
}

/// One tool.
#[derive(Clone, Debug)]
pub struct Tool {
    /// Name on the wire, `[a-z0-9_]`, at most 40 bytes.
    pub name: &'static str,
    /// Title for people.
    pub title: &'static str,
    /// Tells a model when to use this tool and not another.
    pub description: &'static str,
    /// JSON Schema of the arguments, as literal JSON: its bytes are stable.
    pub input_schema: &'static str,
    /// JSON Schema of the reply, root `"type": "object"`, nothing `required` at its root.
    pub output_schema: &'static str,
    /// What a caller must be allowed to.
    pub scope: Scope,
    /// Whether a call leaves everything as it is. Clients ask people before one that does not.
    pub is_read_only: bool,
    /// Runs the tool on arguments that [`arguments::check`] has accepted.
    pub run: fn(&Context, &Arguments) -> Result<ToolReply, ToolError>,
}

impl Tool {
    /// The part of the product that the tool belongs to: `docs`, `flow`.
    pub fn capability(&self) -> &'static str {
        self.name.split('_').next().unwrap_or_default()
    }

    /// Capability and what is done with it, as settings name it: `docs.search`, `flow.get_run`.
    pub fn operation(&self) -> String {
        self.name.replacen('_', ".", 1)
    }
}

/// The tools that `context` can serve, in the order of `tools/list`.
pub fn catalogue(context: &Context) -> Vec<&'static Tool> {
    let docs = if context.docs.is_some() { DOCS_TOOLS } else { &[] };
    let (reading, running) = match (&context.flows, &context.state) {
        (Some(_), Some(_)) => (stored::READING, stored::RUNNING),
        (Some(_), None) => (stored::READING, &[][..]),
        (None, _) => (&[][..], &[][..]),
    };
    docs.iter().chain(flow::FLOW_TOOLS).chain(reading).chain(running).collect()
}

/// Every tool that some server offers.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    DOCS_TOOLS.iter().chain(flow::FLOW_TOOLS).chain(stored::READING).chain(stored::RUNNING)
}

/// The tools of a docs tree.
static DOCS_TOOLS: &[Tool] = &[docs_search::TOOL, docs_page::TOOL, docs_outline::TOOL];

/// Checks the arguments, then runs the tool. A panic in a handler becomes an `internal` error: the server lives on.
pub fn call(context: &Context, tool: &Tool, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    arguments::check(tool, arguments)?;
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| (tool.run)(context, arguments)))
        .unwrap_or_else(|_| {
            let message = format!("{} failed unexpectedly", tool.name);
            Err(ToolError::new(ErrorCode::Internal, message))
        })
}
