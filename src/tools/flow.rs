//! The flow tools: thin shells that read arguments, ask [`crate::flow`], and shape the answer.

use serde_json::{Value, json};

use super::arguments::{nesting_error, parts};
use super::{Arguments, Tool, ToolReply};
use super::{
    flow_analyze, flow_diff, flow_digest, flow_migrate, flow_schema, flow_simulate, flow_validate,
};
use crate::error::ToolError;
use crate::flow::check::Validation;
use crate::flow::issue::Issue;
use crate::flow::reader::{self, Document, ReadError};

/// Every flow tool, in the order of `tools/list`.
pub const FLOW_TOOLS: &[Tool] = &[
    flow_validate::TOOL,
    flow_analyze::TOOL,
    flow_migrate::TOOL,
    flow_diff::TOOL,
    flow_digest::TOOL,
    flow_schema::SCHEMA,
    flow_schema::EXAMPLE,
    flow_simulate::TOOL,
];

/// The text of a document: the argument itself, or what the string that was given holds.
pub(super) enum Source {
    Text(String),
    /// The string that was given holds a lone surrogate: there is no text.
    IllFormed,
}

impl Source {
    fn of(raw: &str) -> Self {
        if !raw.starts_with('"') {
            return Self::Text(raw.to_owned());
        }
        match reader::read(raw) {
            Ok(outer) if outer.defects.is_empty() => {
                Self::Text(outer.root.as_str().unwrap_or_default().to_owned())
            }
            _ => Self::IllFormed,
        }
    }

    /// The document argument of that name.
    pub(super) fn argument(arguments: &Arguments, name: &str) -> Self {
        Self::of(arguments.raw(name).unwrap_or("null"))
    }

    /// The documents of a list; `None` when the argument is absent.
    pub(super) fn list(arguments: &Arguments, name: &str) -> Option<Vec<Self>> {
        let raw = arguments.raw(name)?;
        Some(parts(raw).into_iter().map(|item| Self::of(item.get())).collect())
    }

    /// Reads the document. `Err(Ok(issues))` is an answer, `Err(Err(error))` a wrong call.
    pub(super) fn open(
        &self,
        tool: &str,
        argument: &str,
    ) -> Result<Document<'_>, Result<Vec<Issue>, ToolError>> {
        let Self::Text(text) = self else {
            return Err(Ok(vec![Issue::new("", "must be well-formed Unicode")]));
        };
        match reader::read(text) {
            Ok(document) if !document.defects.is_empty() => Err(Ok(document.defects)),
            Ok(document) if !document.root.is_object() => {
                Err(Ok(vec![Issue::new("", "must be object")]))
            }
            Ok(document) => Ok(document),
            Err(ReadError::TooDeep { .. }) => Err(Err(nesting_error(tool, argument))),
            Err(error) => Err(Ok(vec![Issue::new("", format!("must be JSON: {error}"))])),
        }
    }
}

/// `{ valid: false, issues }` with every path under `base`.
pub(super) fn invalid(documents: Vec<(String, Vec<Issue>)>) -> ToolReply {
    let issues = documents.into_iter().flat_map(|(base, issues)| {
        issues.into_iter().map(move |mut issue| {
            issue.path.insert_str(0, &base);
            issue
        })
    });
    Validation::of_issues(issues.collect()).to_value().into()
}

/// Opens one document, or answers what is wrong with it.
macro_rules! open {
    ($source:expr, $tool:expr, $argument:expr) => {
        match $source.open($tool, $argument) {
            Ok(document) => document,
            Err(Ok(issues)) => {
                return Ok($crate::tools::flow::invalid(vec![(String::new(), issues)]));
            }
            Err(Err(error)) => return Err(error),
        }
    };
}
pub(super) use open;

/// Opens a document and its subflows; what cannot be read is answered with all its issues.
#[expect(clippy::type_complexity, reason = "three ways out, each used at once by both callers")]
pub(super) fn open_all<'s>(
    tool: &str,
    document: &'s Source,
    subflows: Option<&'s [Source]>,
) -> Result<Result<(Document<'s>, Option<Vec<Document<'s>>>), ToolReply>, ToolError> {
    let mut faults = Vec::new();
    let mut take = |opened, base: String| match opened {
        Ok(document) => Ok(Some(document)),
        Err(Ok(issues)) => {
            faults.push((base, issues));
            Ok(None)
        }
        Err(Err(error)) => Err(error),
    };
    let document = take(document.open(tool, "document"), String::new())?;
    let mut opened = Vec::new();
    for (at, subflow) in subflows.unwrap_or_default().iter().enumerate() {
        let base = format!("/subflows/{at}");
        opened.extend(take(subflow.open(tool, &format!("subflows[{at}]")), base)?);
    }
    match document {
        Some(document) if faults.is_empty() => Ok(Ok((document, subflows.map(|_| opened)))),
        _ => Ok(Err(invalid(faults))),
    }
}

/// The word of an argument with an `enum`.
pub(super) fn word<'a>(arguments: &'a Arguments, name: &str) -> Option<&'a str> {
    arguments.get(name).and_then(Value::as_str)
}

/// An empty object, for handlers that take nothing.
pub(super) fn nothing() -> Value {
    json!({})
}
