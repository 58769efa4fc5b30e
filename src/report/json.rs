//! One JSON object, for programs.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::{Finding, counts};

pub(super) fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let list: Vec<Value> = findings
        .iter()
        .map(|finding| {
            let mut value = json!({
                "code": finding.code,
                "severity": finding.severity.name(),
                "path": finding.path,
                "line": finding.line,
                "column": finding.column,
                "end_column": finding.end_column,
                "message": finding.message,
            });
            if let Some(hint) = &finding.hint {
                value["hint"] = json!(hint);
            }
            if let Some(place) = &finding.place {
                value["place"] = json!(place);
            }
            value["fingerprint"] = json!(finding.fingerprint());
            value
        })
        .collect();
    let counts: Map<String, Value> = counts(findings)
        .iter()
        .map(|(severity, count)| (severity.name().to_owned(), json!(count)))
        .collect();
    let value = json!({ "findings": list, "counts": counts });
    writeln!(out, "{value:#}")
}
