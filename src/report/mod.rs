//! Findings of checks, for people, programs, GitHub and code scanners: one small file a format.
//!
//! A [`Finding`] knows its place and carries its excerpt, so a format needs neither disk nor document.

mod github;
mod human;
mod json;
mod sarif;

use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::Range;

use sha2::{Digest, Sha256};

use crate::flow::block::Located;
use crate::flow::lint;

/// How bad a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth a look.
    Info,
    /// Will annoy or surprise somebody.
    Warning,
    /// Is wrong.
    Error,
}

impl Severity {
    /// `error`, `warning` or `info`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Finding {
    /// A stable code; the rule.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// The file, relative to where the check runs, with `/`.
    pub path: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// 1-based, in characters, one past the last; on the same line.
    pub end_column: usize,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The place within the file that survives edits elsewhere, such as `flow#/steps/0`.
    pub place: Option<String>,
    /// What the fingerprint is made of besides the code: names, not positions.
    pub identity: String,
    /// The line and the bytes in it that are meant.
    pub excerpt: Option<Excerpt>,
}

/// A line of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The line, cut around the place when it is long.
    pub text: String,
    /// The bytes that are meant.
    pub span: Range<usize>,
}

impl Finding {
    /// A finding at bytes `span` of `source`, the text of the file; line 1 of the text is line `first_line` of the file.
    pub fn at(
        code: impl Into<String>,
        severity: Severity,
        path: impl Into<String>,
        message: impl Into<String>,
        source: &str,
        span: Range<usize>,
        first_line: usize,
    ) -> Self {
        let (line, column) = crate::flow::reader::position(source, span.start);
        let (excerpt, n_chars) = excerpt(source, &span);
        Self {
            code: code.into(),
            severity,
            path: path.into(),
            line: line + first_line - 1,
            column,
            end_column: column + n_chars.max(1),
            message: message.into(),
            hint: None,
            place: None,
            identity: String::new(),
            excerpt: Some(excerpt),
        }
    }

    /// The finding of a flow in `source`; line 1 of the text is line `first_line` of the file.
    pub fn of_flow(path: &str, source: &str, located: Located, first_line: usize) -> Self {
        let severity = match located.severity {
            lint::Severity::Error => Severity::Error,
            lint::Severity::Warning => Severity::Warning,
            lint::Severity::Info => Severity::Info,
        };
        let (code, message) = (located.code, located.message);
        let mut finding = Self::at(code, severity, path, message, source, located.span, first_line);
        finding.hint = located.hint;
        finding.place = Some(format!("{}#{}", located.flow, located.pointer));
        finding.identity = located.identity;
        finding
    }

    /// The same, with what to do.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same, told apart from others of its rule in the file by a name.
    #[must_use]
    pub fn with_identity(mut self, name: &str) -> Self {
        self.identity = format!("{}\n{name}", self.path);
        self
    }

    /// Stays the same when lines move: 32 hex digits of the code and the names around the place.
    pub fn fingerprint(&self) -> String {
        let hash = Sha256::digest(format!("{}\n{}", self.code, self.identity).as_bytes());
        hash.iter().take(16).fold(String::new(), |mut hex, byte| {
            // Writing into a `String` cannot fail.
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }
}

/// The line around a place, and how many characters of it are meant.
fn excerpt(source: &str, span: &Range<usize>) -> (Excerpt, usize) {
    const MAX_BYTES: usize = 200; // a document on one line must not fill the screen
    const BEFORE: usize = 60;
    let boundary = |mut at: usize| {
        while !source.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let start = boundary(span.start.min(source.len()));
    let is_end = |c: char| c == '\n' || c == '\r';
    let line_start = source[..start].rfind(is_end).map_or(0, |at| at + 1);
    let line_end = source[start..].find(is_end).map_or(source.len(), |at| start + at);
    let end = boundary(span.end.clamp(start, line_end));
    let from = if start - line_start > BEFORE && line_end - line_start > MAX_BYTES {
        boundary(start - BEFORE)
    } else {
        line_start
    };
    let to = boundary(line_end.min(from + MAX_BYTES));
    let to = to.max(start);
    let end = end.min(to);
    let excerpt = Excerpt { text: source[from..to].to_owned(), span: start - from..end - from };
    (excerpt, source[start..end].chars().count())
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Like a compiler, with the line under a caret.
    #[default]
    Human,
    /// One JSON object.
    Json,
    /// Annotations of GitHub Actions.
    Github,
    /// SARIF 2.1.0, for code scanning.
    Sarif,
}

/// Writes findings; styles are always written, and streams that take none strip them.
pub fn write(format: Format, findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    match format {
        Format::Human => human::write(findings, out),
        Format::Json => json::write(findings, out),
        Format::Github => github::write(findings, out),
        Format::Sarif => sarif::write(findings, out),
    }
}

/// Counts of errors, warnings and infos.
pub fn counts(findings: &[Finding]) -> [(Severity, usize); 3] {
    [Severity::Error, Severity::Warning, Severity::Info].map(|severity| {
        (severity, findings.iter().filter(|finding| finding.severity == severity).count())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Finding {
        let source = "{\n  \"text\": 42\n}\n";
        let mut finding = Finding::at(
            "flow/invalid",
            Severity::Error,
            "a b.flow.json",
            "must be string, 50%",
            source,
            12..14,
            1,
        );
        finding.hint = Some("quote it".to_owned());
        finding.identity = "x\na\n/text".to_owned();
        finding
    }

    fn written(format: Format) -> String {
        let mut out = Vec::new();
        write(format, &[sample()], &mut out).expect("a vector takes everything");
        anstream::adapter::strip_str(&String::from_utf8(out).expect("UTF-8")).to_string()
    }

    #[test]
    fn people_see_the_line_under_a_caret() {
        let text = written(Format::Human);
        assert!(text.contains("error[flow/invalid]: must be string, 50%"), "{text}");
        assert!(text.contains("a b.flow.json:2:11"), "{text}");
        assert!(text.contains("\"text\": 42") && text.contains("^^"), "{text}");
        assert!(text.contains("quote it") && text.contains("1 error"), "{text}");
    }

    #[test]
    fn annotations_are_escaped() {
        assert_eq!(
            written(Format::Github),
            "::error file=a b.flow.json,line=2,col=11,endColumn=13,title=flow/invalid::must be string, 50%25 (quote it)\n"
        );
    }

    #[test]
    fn scanners_get_a_fingerprint_that_survives_moved_lines() {
        let sarif: serde_json::Value = serde_json::from_str(&written(Format::Sarif)).expect("JSON");
        let result = &sarif["runs"][0]["results"][0];
        let location = &result["locations"][0]["physicalLocation"];
        assert_eq!(location["artifactLocation"]["uri"], "a%20b.flow.json");
        assert_eq!(location["region"]["startColumn"], 11);
        let mut moved = sample();
        moved.line += 7;
        let fingerprint = &result["partialFingerprints"]["botmeshDocs/v1"];
        assert_eq!(fingerprint, &serde_json::json!(moved.fingerprint()));
    }

    #[test]
    fn long_lines_are_cut_around_the_place() {
        let source = format!("{}é{}", "x".repeat(5_000), "y".repeat(5_000));
        let finding = Finding::at("c", Severity::Info, "p", "m", &source, 5_000..5_002, 1);
        let excerpt = finding.excerpt.expect("an excerpt");
        assert!(excerpt.text.len() <= 200);
        assert_eq!(&excerpt.text[excerpt.span], "é");
        assert_eq!((finding.line, finding.column, finding.end_column), (1, 5_001, 5_002));
    }
}
