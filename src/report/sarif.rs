//! SARIF 2.1.0, for code scanning.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Write};

use serde_json::{Value, json};

use super::{Finding, Severity};

pub(super) fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let codes: BTreeSet<&str> = findings.iter().map(|finding| &*finding.code).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let rules: Vec<Value> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<Value> = findings.iter().map(|finding| result(finding, &codes)).collect();
    let log = json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": {
                "driver": {
                    "name": "botmesh-docs",
                    "version": env!("CARGO_PKG_VERSION"),
                    "informationUri": env!("CARGO_PKG_REPOSITORY"),
                    "rules": rules,
                }
            },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    writeln!(out, "{log:#}")
}

fn result(finding: &Finding, codes: &[&str]) -> Value {
    let level = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    };
    let text = match &finding.hint {
        Some(hint) => format!("{}; {hint}", finding.message),
        None => finding.message.clone(),
    };
    let mut location = json!({
        "physicalLocation": {
            "artifactLocation": { "uri": uri(&finding.path) },
            "region": {
                "startLine": finding.line,
                "startColumn": finding.column,
                "endColumn": finding.end_column,
            },
        },
    });
    if let Some(place) = &finding.place {
        location["logicalLocations"] = json!([{ "fullyQualifiedName": place }]);
    }
    json!({
        "ruleId": finding.code,
        "ruleIndex": codes.iter().position(|code| *code == finding.code),
        "level": level,
        "message": { "text": text },
        "locations": [location],
        "partialFingerprints": { "botmeshDocs/v1": finding.fingerprint() },
    })
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    path.bytes().fold(String::new(), |mut uri, byte| {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            // Writing into a `String` cannot fail.
            let _ = write!(uri, "%{byte:02X}");
        }
        uri
    })
}
