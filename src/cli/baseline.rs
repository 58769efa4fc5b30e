//! A file of accepted findings: what is known does not fail a build, what is new does.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{Failure, reason};
use crate::report::Finding;

/// The file: one entry a finding, in the order of the report, so that changes of it can be read.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct File {
    accepted: Vec<Accepted>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Accepted {
    fingerprint: String,
    code: String,
    path: String,
    message: String,
}

/// Takes out the findings that a file accepts; returns how many of its entries were not found any more.
pub(super) fn accept(file: &Path, findings: &mut Vec<Finding>) -> Result<usize, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::new(format!("baseline cannot be read: `{name}`: {}", reason(&error)))
            .with_help("write it with `--write-baseline FILE`")
    })?;
    let file: File = serde_json::from_str(&text).map_err(|error| {
        Failure::new(format!("baseline cannot be read: `{name}`: {error}"))
            .with_help("write it anew with `--write-baseline FILE`")
    })?;
    let accepted: BTreeSet<String> =
        file.accepted.into_iter().map(|accepted| accepted.fingerprint).collect();
    let mut met = 0;
    findings.retain(|finding| {
        let is_accepted = accepted.contains(&finding.fingerprint());
        met += usize::from(is_accepted);
        !is_accepted
    });
    Ok(accepted.len() - met)
}

/// Writes a file that accepts these findings.
pub(super) fn write(file: &Path, findings: &[Finding]) -> Result<(), Failure> {
    let accepted = findings
        .iter()
        .map(|finding| Accepted {
            fingerprint: finding.fingerprint(),
            code: finding.code.clone(),
            path: finding.path.clone(),
            message: finding.message.clone(),
        })
        .collect();
    let text = serde_json::to_string_pretty(&File { accepted }).expect("it is plain data") + "\n";
    std::fs::write(file, text).map_err(|error| {
        let name = file.display();
        Failure::new(format!("baseline cannot be written: `{name}`: {}", reason(&error)))
    })
}
