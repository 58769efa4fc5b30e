//! `diff`, `digest`, `schema`, `example` and `simulate`.

use std::io::Write;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::files::{File, read, read_all};
use super::{CliError, Outcome};
use crate::flow::analyze::validate_all;
use crate::flow::block::{issues, unreadable};
use crate::flow::diff::{Change, Diff, diff as compare};
use crate::flow::digest;
use crate::flow::issue::Issue;
use crate::flow::model::Flow;
use crate::flow::reader::{self, Document};
use crate::flow::simulate::{Script, simulate as play};
use crate::report::{self, Finding, Format};

pub(super) fn print(text: &str, stdout: &mut dyn Write) -> Result<Outcome, CliError> {
    stdout.write_all(text.trim_end().as_bytes())?;
    stdout.write_all(b"\n")?;
    Ok(Outcome::Fine)
}

/// The document of a file, valid or not.
fn open(file: &File) -> Result<Document<'_>, Vec<Finding>> {
    let text = file.text().map_err(|finding| vec![*finding])?;
    let document =
        reader::read(text).map_err(|error| vec![file.finding(text, unreadable(text, &error))])?;
    let mut defects = document.defects.clone();
    if !document.root.is_object() {
        defects.push(Issue::new("", "must be object"));
    }
    if defects.is_empty() {
        return Ok(document);
    }
    let located = issues(&document, &defects).into_iter();
    Err(located.map(|located| file.finding(text, located)).collect())
}

pub(super) fn digest(paths: &[PathBuf], stdout: &mut dyn Write) -> Result<Outcome, CliError> {
    let mut outcome = Outcome::Fine;
    for file in read_all(paths)? {
        match open(&file) {
            Ok(document) => writeln!(stdout, "{}  {}", digest::digest(&document.root), file.name)?,
            Err(findings) => {
                report::write(Format::Human, &findings, stdout)?;
                outcome = Outcome::Findings;
            }
        }
    }
    Ok(outcome)
}

pub(super) fn diff(
    left: &Path,
    right: &Path,
    is_json: bool,
    exit_code: bool,
    stdout: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let (left, right) = (read(left)?, read(right)?);
    let (left, right) = match (open(&left), open(&right)) {
        (Ok(left), Ok(right)) => (left, right),
        (left, right) => {
            let findings: Vec<Finding> =
                [left.err(), right.err()].into_iter().flatten().flatten().collect();
            report::write(Format::Human, &findings, stdout)?;
            return Ok(Outcome::Findings);
        }
    };
    let diff = compare(&left.root, &right.root);
    if is_json {
        writeln!(stdout, "{:#}", diff.to_value())?;
    } else {
        review(&diff, stdout)?;
    }
    Ok(Outcome::of(exit_code && diff.changed))
}

/// Reads like a review: what came, what went, what is different.
fn review(diff: &Diff, out: &mut dyn Write) -> Result<(), CliError> {
    const ADDED: Style = AnsiColor::Green.on_default();
    const REMOVED: Style = AnsiColor::Red.on_default();
    const CHANGED: Style = AnsiColor::Yellow.on_default();
    if !diff.changed {
        writeln!(out, "no change")?;
        return Ok(());
    }
    for change in &diff.metadata {
        write_change(change, "", out)?;
    }
    for step in &diff.removed {
        writeln!(
            out,
            "{REMOVED}- step {} ({}) {}{REMOVED:#}",
            step.id,
            word(&step.kind),
            step.path
        )?;
    }
    for step in &diff.added {
        writeln!(out, "{ADDED}+ step {} ({}) {}{ADDED:#}", step.id, word(&step.kind), step.path)?;
    }
    for step in &diff.changed_steps {
        let place = match (&step.from, step.moved) {
            (Some(from), true) => format!("moved {from} → {}", step.path),
            _ => step.path.clone(),
        };
        writeln!(out, "{CHANGED}~ step {} ({}) {place}{CHANGED:#}", step.id, word(&step.kind))?;
        for change in &step.changes {
            write_change(change, "    ", out)?;
        }
    }
    Ok(())
}

fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn write_change(change: &Change, indent: &str, out: &mut dyn Write) -> Result<(), CliError> {
    let path = &change.path;
    match (&change.before, &change.after) {
        _ if change.reordered => writeln!(out, "{indent}{path}: in another order")?,
        (Some(before), Some(after)) => writeln!(out, "{indent}{path}: {before} → {after}")?,
        (None, Some(after)) => writeln!(out, "{indent}{path}: added {after}")?,
        (Some(before), None) => writeln!(out, "{indent}{path}: removed {before}")?,
        (None, None) => {}
    }
    Ok(())
}

/// The script of a file, with replies and locale of the command line on top.
pub(super) fn script(
    inputs: &[String],
    file: Option<&Path>,
    locale: Option<&str>,
) -> Result<Script, CliError> {
    let mut value = json!({});
    if let Some(path) = file {
        let file = read(path)?;
        let text = file.required_text()?;
        let wrong = |reason: String| CliError::Usage(format!("`{}`: {reason}", file.name));
        value =
            serde_json::from_str(text).map_err(|error| wrong(format!("must be JSON: {error}")))?;
        if !value.is_object() {
            return Err(wrong("must be object".to_owned()));
        }
        // The tool's own check, so that a script means the same here and there.
        let mut arguments = value.clone();
        arguments["document"] = json!({});
        let arguments = crate::tools::Arguments::parse(&arguments.to_string())
            .map_err(|error| wrong(error.to_string()))?;
        let tool = crate::tools::flow::FLOW_TOOLS.iter().find(|tool| tool.name == "flow_simulate");
        if let Some(tool) = tool {
            crate::tools::arguments::check(tool, &arguments)
                .map_err(|error| wrong(error.message))?;
        }
    }
    if !inputs.is_empty() {
        value["inputs"] = json!(inputs);
    }
    if let Some(locale) = locale {
        value["locale"] = json!(locale);
    }
    Ok(Script::from_value(&value))
}

pub(super) fn simulate(
    path: &Path,
    subflow_paths: &[PathBuf],
    script: &Script,
    is_json: bool,
    stdout: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let file = read(path)?;
    let subflow_files = read_all(subflow_paths)?;
    let mut findings = Vec::new();
    let mut opened = Vec::new();
    for file in std::iter::once(&file).chain(&subflow_files) {
        match open(file) {
            Ok(document) => opened.push(document),
            Err(found) => findings.extend(found),
        }
    }
    if findings.is_empty() {
        let validation = validate_all(&opened[0], &opened[1..]);
        for issue in validation.issues {
            let (at, issue) = owner(issue);
            let file = std::iter::once(&file).chain(&subflow_files).nth(at);
            let (Some(file), Some(document)) = (file, opened.get(at)) else { continue };
            let located = issues(document, &[issue]).into_iter();
            findings.extend(located.map(|located| file.finding(document.text, located)));
        }
    }
    if !findings.is_empty() {
        report::write(Format::Human, &findings, stdout)?;
        return Ok(Outcome::Findings);
    }
    let flow = Flow::new(&opened[0].root);
    let flows: Vec<Flow<'_>> = opened[1..].iter().map(|other| Flow::new(&other.root)).collect();
    let simulation = play(&flow, &flows, script);
    if is_json {
        writeln!(stdout, "{:#}", simulation.to_value())?;
    } else {
        stdout.write_all(simulation.to_text().as_bytes())?;
    }
    Ok(Outcome::Fine)
}

/// The document of an issue, by position, and the issue with its pointer there.
fn owner(mut issue: Issue) -> (usize, Issue) {
    let Some(rest) = issue.path.strip_prefix("/subflows/") else { return (0, issue) };
    let (number, pointer) = rest
        .split_once('/')
        .map_or((rest, String::new()), |(number, pointer)| (number, format!("/{pointer}")));
    let Ok(number) = number.parse::<usize>() else { return (0, issue) };
    issue.path = pointer;
    (number + 1, issue)
}
