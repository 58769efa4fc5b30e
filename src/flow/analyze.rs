//! A document together with its subflows: validated as one, then drawn and linted.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

use super::check::{self, Validation};
use super::graph::{Direction, Graph};
use super::issue::Issue;
use super::lint::{Drawing, Lint, Severity, lint};
use super::model::Flow;
use super::reader::Document;

/// What is in the answer besides the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// The drawing in Mermaid's language.
    #[default]
    Mermaid,
    /// The drawing as nodes and edges.
    Json,
}

/// A valid document, taken apart.
#[derive(Clone, Debug)]
pub struct Analysis {
    /// `{ id, version, steps, … }`.
    pub summary: Value,
    /// The findings.
    pub lint: Lint,
    /// The drawing.
    pub graph: Graph,
}

/// Validates a document and its subflows: each alone, then that no two have one id.
///
/// Paths of a subflow's issues start with `/subflows/N`.
pub fn validate_all(document: &Document<'_>, subflows: &[Document<'_>]) -> Validation {
    let own = check::validate(document);
    if subflows.is_empty() {
        return own;
    }
    let mut n_omitted = own.n_omitted;
    let mut issues = own.issues;
    for (at, subflow) in subflows.iter().enumerate() {
        let validation = check::validate(subflow);
        n_omitted += validation.n_omitted;
        issues.extend(validation.issues.into_iter().map(|issue| moved(issue, at)));
    }
    if issues.is_empty() {
        issues = repeated_ids(document, subflows);
    }
    let mut all = Validation::of_issues(issues);
    all.n_omitted += n_omitted;
    all
}

fn moved(mut issue: Issue, at: usize) -> Issue {
    let base = format!("/subflows/{at}");
    issue.path.insert_str(0, &base);
    for operation in issue.fix.iter_mut().filter_map(Value::as_array_mut).flatten() {
        for name in ["path", "from"] {
            if let Some(Value::String(path)) = operation.get_mut(name) {
                path.insert_str(0, &base);
            }
        }
    }
    issue
}

fn repeated_ids(document: &Document<'_>, subflows: &[Document<'_>]) -> Vec<Issue> {
    let mut first: HashMap<&str, Option<usize>> = HashMap::new();
    first.insert(document.root.str_of("id").unwrap_or_default(), None);
    let mut issues = Vec::new();
    for (at, subflow) in subflows.iter().enumerate() {
        let id = subflow.root.str_of("id").unwrap_or_default();
        let place = match first.get(id) {
            None => {
                first.insert(id, Some(at));
                continue;
            }
            Some(None) => "by the document".to_owned(),
            Some(Some(earlier)) => format!("at /subflows/{earlier}"),
        };
        let id = Value::from(id);
        let message = format!("must be unique: flow id {id} is already used {place}");
        issues.push(Issue::new(format!("/subflows/{at}/id"), message));
    }
    issues
}

/// Validates, then draws and lints. `subflows` is `None` when none were passed, which is not the same as an empty list:
/// only a list makes a flow that is not in it a finding.
pub fn analyze(
    document: &Document<'_>,
    subflows: Option<&[Document<'_>]>,
) -> Result<Analysis, Validation> {
    let validation = validate_all(document, subflows.unwrap_or_default());
    if !validation.is_valid() {
        return Err(validation);
    }
    let flow = Flow::new(&document.root);
    let flows: Option<Vec<Flow<'_>>> =
        subflows.map(|subflows| subflows.iter().map(|subflow| Flow::new(&subflow.root)).collect());
    let graph = Graph::new(&flow, flows.as_deref().unwrap_or_default());
    let drawing = Drawing {
        n_chars: graph.mermaid(Direction::TopDown).chars().count(),
        n_edges: graph.size().1,
    };
    let lint = lint(&flow, flows.as_deref(), drawing);
    Ok(Analysis { summary: check::summary(&flow), lint, graph })
}

impl Analysis {
    /// `{ valid, issues, summary, diagnostics, counts, suppressed?, omitted?, mermaid | graph }`.
    pub fn to_value(&self, format: Format, direction: Direction) -> Value {
        let mut value = Map::new();
        value.insert("valid".into(), json!(true));
        value.insert("issues".into(), json!([]));
        value.insert("summary".into(), self.summary.clone());
        let diagnostics = self.lint.diagnostics.iter().map(super::lint::Diagnostic::to_value);
        value.insert("diagnostics".into(), diagnostics.collect());
        let count = |severity| self.lint.counts.get(&severity).copied().unwrap_or_default();
        value.insert(
            "counts".into(),
            json!({
                "error": count(Severity::Error),
                "warning": count(Severity::Warning),
                "info": count(Severity::Info),
            }),
        );
        if !self.lint.suppressed.is_empty() {
            value.insert("suppressed".into(), json!(self.lint.suppressed));
        }
        if self.lint.n_omitted > 0 {
            value.insert("omitted".into(), json!(self.lint.n_omitted));
        }
        match format {
            Format::Mermaid => value.insert("mermaid".into(), json!(self.graph.mermaid(direction))),
            Format::Json => value.insert("graph".into(), self.graph.to_value(direction)),
        };
        Value::Object(value)
    }
}
