//! Workflow commands of GitHub Actions: they show up at the line in a pull request.

use std::io::{self, Write};

use super::{Finding, Severity};

pub(super) fn write(findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    for finding in findings {
        let command = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let mut message = finding.message.clone();
        if let Some(hint) = &finding.hint {
            message = format!("{message} ({hint})");
        }
        writeln!(
            out,
            "::{command} file={},line={},col={},endColumn={},title={}::{}",
            property(&finding.path),
            finding.line,
            finding.column,
            finding.end_column,
            property(&finding.code),
            data(&message)
        )?;
    }
    Ok(())
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
