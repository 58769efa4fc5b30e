//! Reads documents and writes them back whole or not at all.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use super::CliError;
use crate::flow::block::Located;
use crate::report::{Finding, Severity};

/// Larger files are no flow documents: the canonical form ends at 1 MiB.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// One file that was given.
pub(super) struct File {
    /// As shown to people.
    pub(super) name: String,
    /// Where it is; none for standard input.
    pub(super) path: Option<PathBuf>,
    /// The text without a byte-order mark, or the offset of the first byte that is no UTF-8.
    pub(super) text: Result<String, String>,
}

impl File {
    /// The text, or the finding that it is none.
    pub(super) fn text(&self) -> Result<&str, Box<Finding>> {
        self.text.as_deref().map_err(|reason| {
            Box::new(Finding {
                code: "flow/invalid".to_owned(),
                severity: Severity::Error,
                path: self.name.clone(),
                line: 1,
                column: 1,
                end_column: 2,
                message: reason.clone(),
                hint: Some("save it as UTF-8".to_owned()),
                place: None,
                identity: String::new(),
                excerpt: None,
            })
        })
    }

    /// The text of a file that must have one.
    pub(super) fn required_text(&self) -> Result<&str, CliError> {
        self.text
            .as_deref()
            .map_err(|reason| CliError::Read { path: self.name.clone(), reason: reason.clone() })
    }

    /// A finding of the flow library as one of the report.
    pub(super) fn finding(&self, text: &str, located: Located) -> Finding {
        Finding::of_flow(&self.name, text, located, 1)
    }
}

/// Reads files, folders (every `*.flow.json` below, sorted) and `-`; each once.
pub(super) fn read_all(paths: &[PathBuf]) -> Result<Vec<File>, CliError> {
    let mut seen = BTreeSet::new();
    let mut files = Vec::new();
    for path in paths {
        if path.as_os_str() != "-" && path.is_dir() {
            let mut found = BTreeSet::new();
            walk(path, &mut found)?;
            if found.is_empty() {
                let message = format!("no *.flow.json in `{}`", shown(path));
                return Err(CliError::Usage(message));
            }
            for path in found {
                if seen.insert(path.clone()) {
                    files.push(read(&path)?);
                }
            }
        } else if seen.insert(path.clone()) {
            files.push(read(path)?);
        }
    }
    Ok(files)
}

fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<(), CliError> {
    let fail = |error: io::Error| CliError::Read { path: shown(folder), reason: reason(&error) };
    for entry in fs::read_dir(folder).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let path = entry.path();
        // A link to a folder is not followed: it may lead out of the tree, or around in it.
        if entry.file_type().map_err(fail)?.is_dir() {
            walk(&path, found)?;
        } else if path.to_string_lossy().ends_with(".flow.json") && path.is_file() {
            found.insert(path);
        }
    }
    Ok(())
}

/// Reads one file, or standard input for `-`.
pub(super) fn read(path: &Path) -> Result<File, CliError> {
    let fail = |error: io::Error| CliError::Read { path: shown(path), reason: reason(&error) };
    let is_stdin = path.as_os_str() == "-";
    let mut bytes = Vec::new();
    if is_stdin {
        io::stdin().lock().take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    } else {
        if path.is_dir() {
            let reason = "it is a folder".to_owned();
            return Err(CliError::Read { path: shown(path), reason });
        }
        let file = fs::File::open(path).map_err(fail)?;
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(fail)?;
    }
    let text = if bytes.len() as u64 > MAX_BYTES {
        Err(format!("must NOT be larger than {} MiB", MAX_BYTES / (1024 * 1024)))
    } else {
        let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        String::from_utf8(bytes.split_off(start)).map_err(|error| {
            let at = error.utf8_error().valid_up_to() + start;
            format!("must be UTF-8: byte {at} is not")
        })
    };
    let name = if is_stdin { "<stdin>".to_owned() } else { shown(path) };
    Ok(File { name, path: (!is_stdin).then(|| path.to_owned()), text })
}

/// A path as people and GitHub write it.
pub(super) fn shown(path: &Path) -> String {
    let text = path.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
    text.strip_prefix("./").map_or(text.clone(), str::to_owned)
}

fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

/// Replaces a file by another text: written beside it and renamed over it, so that a crash leaves the old one or the new
/// one.
pub(super) fn replace(path: &Path, text: &str) -> Result<(), CliError> {
    let fail = |error: io::Error| CliError::Write { path: shown(path), reason: reason(&error) };
    // What is renamed is the file itself, not a link to it.
    let target = fs::canonicalize(path).or_else(|error| match error.kind() {
        io::ErrorKind::NotFound => Ok(path.to_owned()),
        _ => Err(error),
    });
    let target = target.map_err(fail)?;
    let mut name = target.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let beside = target.with_file_name(name);
    let written = fs::File::create(&beside).and_then(|mut file| {
        if let Ok(metadata) = fs::metadata(&target) {
            file.set_permissions(metadata.permissions())?;
        }
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &target)
    });
    written.map_err(|error| {
        // Nothing more can be done about the temporary file when even this fails.
        let _ = fs::remove_file(&beside);
        fail(error)
    })
}
