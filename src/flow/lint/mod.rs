//! What is risky in a valid document: rules with stable codes, each at the smallest place that shows the risk.
//!
//! [`facts`] is what the rules ask about a flow, [`reads`] what it reads, [`assigned`] which variables surely have a
//! value where, [`constant`] which conditions can only go one way. The rules themselves: [`variables`], [`paths`],
//! [`texts`], [`channels`], [`options`], [`cases`], [`actions`], [`subflows`].

mod actions;
mod assigned;
mod cases;
mod channels;
mod constant;
mod facts;
mod options;
mod paths;
mod reads;
mod rules;
mod subflows;
mod texts;
mod variables;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub use rules::{RULES, Rule, Severity};

use super::json::Node;
use super::model::Flow;
use super::pointer::{compare, join_index};
use super::schema::limit;
use crate::suggest;
use facts::Facts;

/// One finding.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The rule's code.
    pub code: &'static str,
    /// How bad it is.
    pub severity: Severity,
    /// The id of the flow.
    pub flow: String,
    /// Position of the flow: 0 is the document, n the n-th subflow.
    pub flow_index: usize,
    /// Pointer within that flow's document.
    pub path: String,
    /// The id of the nearest enclosing step.
    pub step: Option<String>,
    /// What is risky here.
    pub message: String,
    /// What to do, where a guess is safe enough to show.
    pub hint: Option<String>,
    /// An RFC 6902 patch, where one edit surely repairs.
    pub fix: Option<Value>,
}

impl Diagnostic {
    /// `{ code, severity, flow, path, step?, message, hint?, fix? }`.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("code".into(), json!(self.code));
        value.insert("severity".into(), json!(self.severity.name()));
        value.insert("flow".into(), json!(self.flow));
        value.insert("path".into(), json!(self.path));
        if let Some(step) = &self.step {
            value.insert("step".into(), json!(step));
        }
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

/// All findings of a document and its subflows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lint {
    /// The findings in order: the document, then the subflows; in each by path, then code. At most `maxDiagnostics`.
    pub diagnostics: Vec<Diagnostic>,
    /// Findings by severity, those that were cut off included.
    pub counts: BTreeMap<Severity, usize>,
    /// Findings that the documents asked to leave out, by code.
    pub suppressed: BTreeMap<&'static str, usize>,
    /// How many findings were cut off.
    pub n_omitted: usize,
}

/// Sizes of the drawing, for the rule that warns of drawings that viewers refuse.
#[derive(Clone, Copy, Debug, Default)]
pub struct Drawing {
    /// Characters of the Mermaid text.
    pub n_chars: usize,
    /// Edges.
    pub n_edges: usize,
}

/// Lints a valid document. `subflows` is what was passed, `None` when nothing was: then a missing flow is no finding.
pub fn lint(document: &Flow<'_>, subflows: Option<&[Flow<'_>]>, drawing: Drawing) -> Lint {
    let flows: Vec<&Flow<'_>> =
        std::iter::once(document).chain(subflows.unwrap_or_default()).collect();
    let facts: Vec<Facts<'_, '_>> = facts::gather(&flows);
    let mut all: Vec<Draft> = Vec::new();
    for (index, facts) in facts.iter().enumerate() {
        let mut found = Findings { flow_index: index, drafts: &mut all };
        variables::lint(facts, &mut found);
        paths::lint(facts, index == 0, &mut found);
        texts::lint(facts, &mut found);
        channels::lint(facts, &mut found);
        options::lint(facts, &facts::keywords(&flows), &mut found);
        cases::lint(facts, &mut found);
        actions::lint(facts, &mut found);
        if index == 0 && (drawing.n_chars > 50_000 || drawing.n_edges > 500) {
            let Drawing { n_chars, n_edges } = drawing;
            found.add(
                "graph-too-large",
                None,
                String::new(),
                format!(
                    "the drawing has {n_chars} characters and {n_edges} edges; Mermaid draws up to 50000 and 500"
                ),
            );
        }
    }
    subflows::lint(&facts, subflows.is_some(), &mut all);
    finish(&flows, &facts, all)
}

/// A finding before advice is looked for.
#[derive(Debug)]
pub(super) struct Draft {
    code: &'static str,
    flow_index: usize,
    step: Option<usize>,
    path: String,
    message: String,
    near: Option<(String, Near)>,
    fix: Option<Value>,
}

/// Where the word that was meant may be found.
#[derive(Clone, Copy, Debug)]
enum Near {
    Variables,
    Flows,
    Codes,
}

/// Where rules put what they find in one flow.
struct Findings<'v> {
    flow_index: usize,
    drafts: &'v mut Vec<Draft>,
}

impl Findings<'_> {
    fn add(
        &mut self,
        code: &'static str,
        step: Option<usize>,
        path: String,
        message: impl Into<String>,
    ) -> &mut Draft {
        self.drafts.push(Draft {
            code,
            flow_index: self.flow_index,
            step,
            path,
            message: message.into(),
            near: None,
            fix: None,
        });
        self.drafts.last_mut().expect("one was just added")
    }
}

fn finish(flows: &[&Flow<'_>], facts: &[Facts<'_, '_>], mut drafts: Vec<Draft>) -> Lint {
    let mut lint = Lint::default();
    let ignored: Vec<Vec<&str>> =
        flows.iter().enumerate().map(|(at, flow)| ignored_codes(at, flow, &mut drafts)).collect();
    drafts.sort_by(|a, b| {
        a.flow_index
            .cmp(&b.flow_index)
            .then_with(|| compare(&a.path, &b.path))
            .then_with(|| a.code.cmp(b.code))
    });
    drafts.dedup_by(|a, b| a.flow_index == b.flow_index && a.path == b.path && a.code == b.code);
    drafts.retain(|draft| {
        let is_ignored = ignored[draft.flow_index].contains(&draft.code)
            && rules::severity(draft.code) != Severity::Error;
        if is_ignored {
            *lint.suppressed.entry(draft.code).or_default() += 1;
        }
        !is_ignored
    });
    for severity in [Severity::Error, Severity::Warning, Severity::Info] {
        let count = drafts.iter().filter(|draft| rules::severity(draft.code) == severity).count();
        lint.counts.insert(severity, count);
    }
    lint.n_omitted = drafts.len().saturating_sub(limit("maxDiagnostics"));
    drafts.truncate(limit("maxDiagnostics"));
    lint.diagnostics =
        drafts.into_iter().map(|draft| advise(flows, &facts[draft.flow_index], draft)).collect();
    lint
}

/// The codes in `metadata.lintIgnore`; one that no rule has is a finding itself.
fn ignored_codes<'d>(flow_index: usize, flow: &Flow<'d>, drafts: &mut Vec<Draft>) -> Vec<&'d str> {
    let list = flow.root.get("metadata").and_then(|metadata| metadata.get("lintIgnore"));
    let mut codes = Vec::new();
    for (at, item) in list.map_or(&[][..], Node::items).iter().enumerate() {
        let Some(code) = item.as_str() else { continue };
        codes.push(code);
        if RULES.iter().all(|rule| rule.code != code) {
            let message = format!("no rule has the code {}", Value::from(code));
            let path = join_index("/metadata/lintIgnore", at);
            let mut found = Findings { flow_index, drafts };
            found.add("unknown-lint-code", None, path, message).near =
                Some((code.to_owned(), Near::Codes));
        }
    }
    codes
}

fn advise(flows: &[&Flow<'_>], facts: &Facts<'_, '_>, draft: Draft) -> Diagnostic {
    let flow = flows[draft.flow_index];
    let word = draft.near.as_ref().and_then(|(given, near)| match near {
        Near::Variables => suggest::nearest(given, facts.known_names()),
        Near::Flows => suggest::nearest(given, flows.iter().map(|flow| flow.id)),
        Near::Codes => suggest::nearest(given, RULES.iter().map(|rule| rule.code)),
    });
    let fix = draft.fix.or_else(|| {
        let (given, _) = draft.near.as_ref()?;
        let current = flow.root.at(&draft.path)?.as_str()?;
        // Only a whole value is replaced: inside a text, the word may mean something else.
        (current == given).then(|| {
            word.map(|word| json!([{ "op": "replace", "path": draft.path, "value": word }]))
        })?
    });
    Diagnostic {
        code: draft.code,
        severity: rules::severity(draft.code),
        flow: flow.id.to_owned(),
        flow_index: draft.flow_index,
        step: draft.step.map(|step| flow.steps[step].id.to_owned()),
        path: draft.path,
        message: draft.message,
        hint: word.map(suggest::hint),
        fix,
    }
}
