//! Whether a document is right: reading, version, schema, meaning, each only if all before it found nothing.
//!
//! [`rules`] is the schema compiled, [`violations`] what breaks it, [`meaning`] what a schema cannot say.

mod meaning;
mod rules;
mod violations;

use serde_json::{Map, Value, json};

pub(super) use meaning::{fits, texts};

use super::issue::{self, Issue};
use super::json::{Json, Node};
use super::model::{Flow, Kind};
use super::pointer;
use super::reader::Document;
use super::schema::limit;
use crate::suggest;

/// What a validation found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validation {
    /// The issues in order, at most `maxIssues`.
    pub issues: Vec<Issue>,
    /// How many more there are.
    pub n_omitted: usize,
}

impl Validation {
    /// Whether the document is right.
    pub fn is_valid(&self) -> bool {
        self.issues.is_empty()
    }

    /// `{ valid, issues, omitted? }`.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("valid".into(), json!(self.is_valid()));
        value.insert("issues".into(), self.issues.iter().map(Issue::to_value).collect());
        if self.n_omitted > 0 {
            value.insert("omitted".into(), json!(self.n_omitted));
        }
        Value::Object(value)
    }

    /// The issues of several documents as one list, in order, cut at `maxIssues`.
    pub fn of_issues(mut issues: Vec<Issue>) -> Self {
        issue::arrange(&mut issues);
        let n_omitted = issues.len().saturating_sub(limit("maxIssues"));
        issues.truncate(limit("maxIssues"));
        Self { issues, n_omitted }
    }
}

/// Validates a document: all four stages.
pub fn validate(document: &Document<'_>) -> Validation {
    if !document.defects.is_empty() {
        return Validation::of_issues(document.defects.clone());
    }
    // Without exponents the canonical form is never longer than the text, so most documents need no measuring.
    let may_be_large = document.has_exponent || document.text.len() > limit("maxDocumentBytes");
    validate_value(&document.root, may_be_large)
}

/// Validates a value that stands in no text, such as the result of a migration.
pub fn validate_node(root: &Node<'_>) -> Validation {
    validate_value(root, true)
}

fn validate_value(root: &Node<'_>, may_be_large: bool) -> Validation {
    if let Some(issue) = check_version(root) {
        return Validation { issues: vec![issue], n_omitted: 0 };
    }
    let mut drafts = violations::violations(root);
    if drafts.is_empty() {
        let flow = Flow::new(root);
        drafts = meaning::faults(&flow, may_be_large);
        return finish(root, Some(&flow), drafts);
    }
    finish(root, None, drafts)
}

/// The issue of a value that is no document of the current version.
fn check_version(root: &Node<'_>) -> Option<Issue> {
    if !root.is_object() {
        return Some(Issue::new("", "must be object"));
    }
    let (path, message, number) = match root.get("version").map(|version| &version.json) {
        None => ("", "must have required property 'version'", Some(0.0)),
        Some(Json::Number(2.0)) => return None,
        Some(Json::Number(number)) => ("/version", "must be equal to constant: 2", Some(*number)),
        Some(_) => ("/version", "must be equal to constant: 2", None),
    };
    let mut issue = Issue::new(path, message);
    if let Some(number @ (0.0 | 1.0)) = number {
        issue.hint = Some(format!("read as version {number}; flow_migrate upgrades it"));
    }
    Some(issue)
}

/// An issue whose advice is looked for only if it is shown: the search costs more than the check.
#[derive(Debug)]
struct Draft {
    path: String,
    message: String,
    near: Option<(String, Near)>,
}

/// Where the word that was meant may be found.
#[derive(Debug)]
enum Near {
    /// Among the members that the schema knows here.
    Members(&'static rules::Rules),
    /// Among the words of an `enum`.
    Words(&'static rules::Rules),
    /// Among the ids of the steps.
    Steps,
    /// Among the declared locales.
    Locales,
}

impl Draft {
    fn new(path: impl Into<String>, message: impl Into<String>) -> Self {
        Self { path: path.into(), message: message.into(), near: None }
    }

    fn near(mut self, given: &str, near: Near) -> Self {
        self.near = Some((given.to_owned(), near));
        self
    }
}

fn finish(root: &Node<'_>, flow: Option<&Flow<'_>>, mut drafts: Vec<Draft>) -> Validation {
    drafts
        .sort_by(|a, b| pointer::compare(&a.path, &b.path).then_with(|| a.message.cmp(&b.message)));
    drafts.dedup_by(|a, b| a.path == b.path && a.message == b.message);
    let n_omitted = drafts.len().saturating_sub(limit("maxIssues"));
    drafts.truncate(limit("maxIssues"));
    let issues = drafts.into_iter().map(|draft| advise(root, flow, draft)).collect();
    Validation { issues, n_omitted }
}

fn advise(root: &Node<'_>, flow: Option<&Flow<'_>>, draft: Draft) -> Issue {
    let mut issue = Issue::new(draft.path, draft.message);
    let Some((given, near)) = draft.near else { return issue };
    let replace =
        |path: &str, word: &str| json!([{ "op": "replace", "path": path, "value": word }]);
    let steps = || flow.into_iter().flat_map(|flow| flow.steps.iter().map(|step| step.id));
    let found = match &near {
        Near::Members(rules) => {
            suggest::nearest(&given, rules.properties.iter().map(|(name, _)| name.as_str()))
        }
        Near::Words(rules) => suggest::nearest(
            &given,
            rules.one_of.iter().flat_map(|(words, _)| words.iter().filter_map(Node::as_str)),
        ),
        Near::Steps => suggest::nearest(&given, steps()),
        Near::Locales => {
            suggest::nearest(&given, flow.into_iter().flat_map(|flow| flow.locales.iter().copied()))
        }
    };
    let Some(word) = found else { return issue };
    issue.hint = Some(suggest::hint(word));
    issue.fix = match near {
        Near::Words(_) | Near::Steps => Some(replace(&issue.path, word)),
        Near::Members(_) | Near::Locales => {
            let parent = issue.path.rsplit_once('/').map_or("", |(parent, _)| parent);
            let is_free = root.at(parent).is_some_and(|node| node.get(word).is_none());
            is_free.then(|| {
                json!([{ "op": "move", "from": issue.path, "path": pointer::join(parent, word) }])
            })
        }
    };
    issue
}

/// `{ id, version, steps, kinds, depth, locales, variables, subflows }` of a valid document.
pub fn summary(flow: &Flow<'_>) -> Value {
    let mut counts = vec![0_usize; Kind::ALL.len()];
    for step in &flow.steps {
        counts[step.kind as usize] += 1;
    }
    let kinds: Map<String, Value> = Kind::ALL
        .iter()
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(kind, count)| (kind.name().to_owned(), json!(count)))
        .collect();
    let declared = flow.root.get("variables").map_or(&[][..], Node::members);
    let mut variables: Vec<String> =
        declared.iter().map(|member| member.name.to_string()).collect();
    variables.extend(flow.writes().into_iter().map(|(_, name, _)| name.to_owned()));
    variables.sort_unstable();
    variables.dedup();
    let mut subflows: Vec<&str> = flow.references().into_iter().map(|(_, id, _)| id).collect();
    subflows.sort_unstable();
    subflows.dedup();
    json!({
        "id": flow.id,
        "version": 2,
        "steps": flow.steps.len(),
        "kinds": kinds,
        "depth": flow.depth(),
        "locales": flow.locales,
        "variables": variables,
        "subflows": subflows,
    })
}
