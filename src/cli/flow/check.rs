//! `validate` and `analyze`.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::files::{File, read_all, replace};
use super::{CliError, Deny, Outcome};
use crate::flow::block::{diagnostics, issues, unreadable};
use crate::flow::check;
use crate::flow::graph::{Direction, Graph};
use crate::flow::lint::{self, Drawing};
use crate::flow::model::Flow;
use crate::flow::reader::{Document, read};
use crate::flow::schema::limit;
use crate::report::{self, Finding, Format, Severity, counts};

/// A file with its valid document, or with what is wrong with it.
struct Checked<'t> {
    file: &'t File,
    text: &'t str,
    document: Option<Document<'t>>,
    findings: Vec<Finding>,
}

fn check_all(files: &[File]) -> Vec<Checked<'_>> {
    files
        .iter()
        .map(|file| {
            let mut checked = Checked { file, text: "", document: None, findings: Vec::new() };
            match file.text() {
                Err(finding) => checked.findings.push(*finding),
                Ok(text) => {
                    checked.text = text;
                    match read(text) {
                        Err(error) => {
                            let located = unreadable(text, &error);
                            checked.findings.push(file.finding(text, located));
                        }
                        Ok(document) => {
                            let validation = check::validate(&document);
                            let located = issues(&document, &validation.issues).into_iter();
                            checked.findings = located.map(|l| file.finding(text, l)).collect();
                            checked.document = validation.is_valid().then_some(document);
                        }
                    }
                }
            }
            checked
        })
        .collect()
}

fn finish(
    findings: &[Finding],
    n_files: usize,
    format: Format,
    least: Severity,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, CliError> {
    report::write(format, findings, stdout)?;
    if format == Format::Human && findings.is_empty() {
        let plural = if n_files == 1 { "" } else { "s" };
        writeln!(stderr, "{n_files} flow{plural} checked: nothing found")?;
    }
    let fails = counts(findings).iter().any(|(severity, count)| *severity >= least && *count > 0);
    Ok(Outcome::of(fails))
}

pub(super) fn validate(
    paths: &[PathBuf],
    format: Format,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let files = read_all(paths)?;
    let findings: Vec<Finding> =
        check_all(&files).into_iter().flat_map(|checked| checked.findings).collect();
    finish(&findings, files.len(), format, Severity::Error, stdout, stderr)
}

pub(super) fn analyze(
    paths: &[PathBuf],
    subflow_paths: &[PathBuf],
    format: Format,
    deny: Option<Deny>,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let (files, subflow_files) = (read_all(paths)?, read_all_subflows(subflow_paths)?);
    let mut checked = check_all(&files);
    let mut given = check_all(&subflow_files);
    refuse_repeated_ids(checked.iter_mut().chain(&mut given));
    let is_closed = files.len() + subflow_files.len() > 1 || !subflow_paths.is_empty();
    let flows: Vec<Option<Flow<'_>>> = checked
        .iter()
        .chain(&given)
        .map(|checked| checked.document.as_ref().map(|document| Flow::new(&document.root)))
        .collect();
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (at, flow) in flows.iter().enumerate() {
        if let Some(flow) = flow {
            by_id.entry(flow.id).or_insert(at);
        }
    }
    let mut is_called = vec![false; flows.len()];
    for (at, flow) in flows.iter().enumerate() {
        for (_, id, member) in flow.iter().flat_map(Flow::references) {
            if let Some(callee) = by_id.get(id).filter(|callee| member == "flow" && **callee != at)
            {
                is_called[*callee] = true;
            }
        }
    }
    let mut findings = Vec::new();
    for (at, checked) in checked.iter().enumerate() {
        findings.extend(checked.findings.iter().cloned());
        let (Some(document), Some(flow)) = (&checked.document, &flows[at]) else { continue };
        let subflows = reached(at, &flows, &by_id)?;
        let graph = Graph::new(flow, &subflows);
        let drawing = Drawing {
            n_chars: graph.mermaid(Direction::TopDown).chars().count(),
            n_edges: graph.size().1,
        };
        let lint = lint::lint(flow, is_closed.then_some(&subflows[..]), drawing);
        let mut own = lint.diagnostics;
        // Each file speaks for itself, and the end of a flow that another one calls is no dead end.
        own.retain(|found| found.flow_index == 0 && !(is_called[at] && found.code == "dead-end"));
        let located = diagnostics(document, &own).into_iter();
        findings.extend(located.map(|located| checked.file.finding(checked.text, located)));
    }
    findings.extend(given.into_iter().flat_map(|checked| checked.findings));
    let least = match deny {
        None => Severity::Error,
        Some(Deny::Warning) => Severity::Warning,
        Some(Deny::Info) => Severity::Info,
    };
    finish(&findings, files.len(), format, least, stdout, stderr)
}

fn read_all_subflows(paths: &[PathBuf]) -> Result<Vec<File>, CliError> {
    let files = read_all(paths)?;
    let most = limit("maxSubflows");
    if files.len() > most {
        let message = format!("{} subflows given: at most {most} are taken", files.len());
        return Err(CliError::Usage(message));
    }
    Ok(files)
}

fn refuse_repeated_ids<'c, 't: 'c>(all: impl Iterator<Item = &'c mut Checked<'t>>) {
    let mut first: HashMap<String, String> = HashMap::new();
    for checked in all {
        let Some(document) = &checked.document else { continue };
        let id = document.root.str_of("id").unwrap_or_default().to_owned();
        if let Some(earlier) = first.get(&id) {
            let message = format!(
                "must be unique: flow id {} is already used in {earlier}",
                serde_json::Value::from(id)
            );
            let issue = crate::flow::issue::Issue::new("/id", message);
            let located = issues(document, &[issue]).into_iter();
            let findings = located.map(|located| checked.file.finding(checked.text, located));
            checked.findings.extend(findings);
        } else {
            first.insert(id, checked.file.name.clone());
        }
    }
}

/// The flows that references lead to from one, in the order given.
fn reached<'d>(
    from: usize,
    flows: &[Option<Flow<'d>>],
    by_id: &HashMap<&str, usize>,
) -> Result<Vec<Flow<'d>>, CliError> {
    let mut is_reached = vec![false; flows.len()];
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if std::mem::replace(&mut is_reached[at], true) {
            continue;
        }
        let references = flows[at].iter().flat_map(Flow::references);
        open.extend(references.filter_map(|(_, id, _)| by_id.get(id)));
    }
    is_reached[from] = false;
    let found = flows.iter().zip(&is_reached).filter(|(_, is_reached)| **is_reached);
    let found: Vec<Flow<'d>> = found.filter_map(|(flow, _)| flow.clone()).collect();
    let most = limit("maxSubflows");
    if found.len() > most {
        let id = flows[from].as_ref().map_or("", |flow| flow.id);
        let message = format!("`{id}` leads to {} flows: at most {most} are taken", found.len());
        return Err(CliError::Usage(message));
    }
    Ok(found)
}

pub(super) fn draw(
    paths: &[PathBuf],
    subflow_paths: &[PathBuf],
    direction: &str,
    output: Option<&Path>,
    format: Format,
    stdout: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let files = read_all(paths)?;
    if files.len() != 1 {
        let message = format!("--mermaid draws one document, and {} were given", files.len());
        return Err(CliError::Usage(message));
    }
    let subflow_files = read_all_subflows(subflow_paths)?;
    let mut checked = check_all(&files);
    let mut given = check_all(&subflow_files);
    refuse_repeated_ids(checked.iter_mut().chain(&mut given));
    let findings: Vec<Finding> =
        checked.iter().chain(&given).flat_map(|checked| checked.findings.clone()).collect();
    let Some(document) = checked[0].document.as_ref().filter(|_| findings.is_empty()) else {
        report::write(format, &findings, stdout)?;
        return Ok(Outcome::Findings);
    };
    let subflows: Vec<Flow<'_>> = given
        .iter()
        .filter_map(|checked| checked.document.as_ref())
        .map(|document| Flow::new(&document.root))
        .collect();
    let graph = Graph::new(&Flow::new(&document.root), &subflows);
    let text = graph.mermaid(Direction::from_name(direction).unwrap_or_default()) + "\n";
    match output {
        Some(path) => replace(path, &text)?,
        None => stdout.write_all(text.as_bytes())?,
    }
    Ok(Outcome::Fine)
}
