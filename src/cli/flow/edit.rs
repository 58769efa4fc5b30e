//! `migrate` and `format`: what changes documents.

use std::io::Write;
use std::path::PathBuf;

use super::files::{File, read_all, replace};
use super::{CliError, Outcome};
use crate::flow::block::{Located, issues, unreadable};
use crate::flow::format;
use crate::flow::migrate::migrate as hop;
use crate::flow::reader::{Document, read};
use crate::report::{self, Finding, Format};

/// The document of a file, or the findings of one that cannot be read.
fn document(file: &File) -> Result<Document<'_>, Vec<Finding>> {
    let text = file.text().map_err(|finding| vec![*finding])?;
    let place = |located: Vec<Located>| -> Vec<Finding> {
        located.into_iter().map(|located| file.finding(text, located)).collect()
    };
    let document = read(text).map_err(|error| place(vec![unreadable(text, &error)]))?;
    if !document.defects.is_empty() {
        return Err(place(issues(&document, &document.defects)));
    }
    if !document.root.is_object() {
        let issue = crate::flow::issue::Issue::new("", "must be object");
        return Err(place(issues(&document, &[issue])));
    }
    Ok(document)
}

fn one_or_written(files: &[File], write: bool, verb: &str) -> Result<(), CliError> {
    if !write && files.len() > 1 {
        let message =
            format!("{verb} prints one document, and {} were given: add --write", files.len());
        return Err(CliError::Usage(message));
    }
    if write && files.iter().any(|file| file.path.is_none()) {
        return Err(CliError::Usage("--write cannot change standard input".to_owned()));
    }
    Ok(())
}

/// The document of a file; `None` when it cannot be read and `stderr` says why.
fn document_or_report<'f>(
    file: &'f File,
    stderr: &mut dyn Write,
) -> Result<Option<Document<'f>>, CliError> {
    match document(file) {
        Ok(document) => Ok(Some(document)),
        Err(findings) => {
            report::write(Format::Human, &findings, stderr)?;
            Ok(None)
        }
    }
}

pub(super) fn migrate(
    paths: &[PathBuf],
    target: u64,
    write: bool,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let files = read_all(paths)?;
    one_or_written(&files, write, "migrate")?;
    let mut outcome = Outcome::Fine;
    for file in &files {
        let Some(document) = document_or_report(file, stderr)? else {
            outcome = Outcome::Findings;
            continue;
        };
        let migration = hop(document.root, target)
            .map_err(|error| CliError::Usage(format!("{}: {error}", file.name)))?;
        for issue in &migration.validation.issues {
            let path = if issue.path.is_empty() { "the document" } else { &issue.path };
            writeln!(stderr, "{}: after migration, {path} {}", file.name, issue.message)?;
            outcome = Outcome::Findings;
        }
        let text = format::format(&migration.document);
        match &file.path {
            Some(path) if write => {
                if migration.applied.is_empty() {
                    writeln!(stderr, "{}: already version {}", file.name, migration.to)?;
                } else {
                    replace(path, &text)?;
                    writeln!(stderr, "{}: {}", file.name, migration.applied.join(", "))?;
                }
            }
            _ => stdout.write_all(text.as_bytes())?,
        }
    }
    Ok(outcome)
}

pub(super) fn format(
    paths: &[PathBuf],
    write: bool,
    check: bool,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, CliError> {
    let files = read_all(paths)?;
    if !check {
        one_or_written(&files, write, "format")?;
    }
    let mut outcome = Outcome::Fine;
    for file in &files {
        let Some(document) = document_or_report(file, stderr)? else {
            outcome = Outcome::Findings;
            continue;
        };
        let text = format::format(&document.root);
        let is_same = text == document.text;
        match &file.path {
            _ if check && is_same => {}
            _ if check => {
                writeln!(stdout, "{}", file.name)?;
                outcome = Outcome::Findings;
            }
            Some(path) if write => {
                if !is_same {
                    replace(path, &text)?;
                    writeln!(stderr, "{}: laid out", file.name)?;
                }
            }
            _ => stdout.write_all(text.as_bytes())?,
        }
    }
    Ok(outcome)
}
