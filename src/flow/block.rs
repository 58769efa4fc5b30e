//! Flow documents inside other texts: fenced `json flow` blocks of a Markdown page, and files.
//!
//! Issues and diagnostics name pointers; a person needs lines. This joins the two.

use std::ops::Range;

use super::analyze::analyze;
use super::check::validate;
use super::issue::Issue;
use super::json::{Json, Node};
use super::lint::{Diagnostic, Severity};
use super::pointer::tokens;
use super::reader::{Document, ReadError, position, read};

/// A finding with the bytes of the text that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// `flow/invalid` for issues, else the rule's code.
    pub code: String,
    /// How bad it is.
    pub severity: Severity,
    /// Pointer of the value.
    pub pointer: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// The id of the flow, when it has one.
    pub flow: String,
    /// Id of the nearest step, and the pointer within it: names that survive moved lines.
    pub identity: String,
    /// Bytes of the text.
    pub span: Range<usize>,
    /// 1-based line in the page or file.
    pub line: usize,
    /// 1-based column, in characters.
    pub column: usize,
}

/// Whether the info string of a fenced block says that it holds a flow: `json` and `flow` are among its words.
pub fn is_flow_block(info: &str) -> bool {
    let mut words = info.split_whitespace();
    words.next() == Some("json") && words.any(|word| word == "flow")
}

/// Checks the text of one fenced block. `first_line` is the 1-based line of the page where the text starts.
///
/// A block is a document by itself: it is validated and linted, and flows it refers to need not be there.
pub fn check_block(text: &str, first_line: usize) -> Vec<Located> {
    let mut located = match read(text) {
        Err(error) => vec![unreadable(text, &error)],
        Ok(document) => match analyze(&document, None) {
            Err(validation) => issues(&document, &validation.issues),
            Ok(analysis) => diagnostics(&document, &analysis.lint.diagnostics),
        },
    };
    for finding in &mut located {
        finding.line += first_line - 1;
    }
    located
}

/// Validates a text without linting it.
pub fn validate_text(text: &str) -> Vec<Located> {
    match read(text) {
        Err(error) => vec![unreadable(text, &error)],
        Ok(document) => issues(&document, &validate(&document).issues),
    }
}

/// The finding of a text that is no document.
pub fn unreadable(text: &str, error: &ReadError) -> Located {
    let (offset, message) = match error {
        ReadError::Syntax { message, offset, .. } => (*offset, format!("must be JSON: {message}")),
        ReadError::TooDeep { offset } => (*offset, error.to_string()),
    };
    let (line, column) = position(text, offset);
    Located {
        code: "flow/invalid".to_owned(),
        severity: Severity::Error,
        pointer: String::new(),
        message,
        hint: None,
        flow: String::new(),
        identity: String::new(),
        span: offset..text[offset..].chars().next().map_or(offset, |c| offset + c.len_utf8()),
        line,
        column,
    }
}

/// Places the issues of a document.
pub fn issues(document: &Document<'_>, issues: &[Issue]) -> Vec<Located> {
    issues
        .iter()
        .map(|issue| {
            let names_member =
                ["must NOT have additional", "property name", "must NOT have duplicate"]
                    .iter()
                    .any(|start| issue.message.starts_with(start));
            let mut located = place(document, &issue.path, names_member);
            located.message.clone_from(&issue.message);
            located.hint.clone_from(&issue.hint);
            located
        })
        .collect()
}

/// Places the diagnostics of a document.
pub fn diagnostics(document: &Document<'_>, diagnostics: &[Diagnostic]) -> Vec<Located> {
    diagnostics
        .iter()
        .map(|diagnostic| {
            let mut located = place(document, &diagnostic.path, false);
            diagnostic.code.clone_into(&mut located.code);
            located.severity = diagnostic.severity;
            located.message.clone_from(&diagnostic.message);
            located.hint.clone_from(&diagnostic.hint);
            located
        })
        .collect()
}

fn place(document: &Document<'_>, pointer: &str, names_member: bool) -> Located {
    let root = &document.root;
    let mut node = root;
    let mut span = root.span;
    let mut name_span = None;
    let mut step = String::new();
    let mut field = String::new();
    for token in tokens(pointer) {
        let next: Option<&Node<'_>> = match &node.json {
            Json::Array(items) => token.parse::<usize>().ok().and_then(|at| items.get(at)),
            Json::Object(members) => members.iter().rev().find(|m| m.name == token).map(|member| {
                name_span = Some(member.name_span);
                &member.value
            }),
            _ => None,
        };
        let Some(next) = next else { break };
        node = next;
        span = node.span;
        super::pointer::push_name(&mut field, &token);
        if let (Some(id), Some(_)) = (node.str_of("id"), node.get("kind")) {
            id.clone_into(&mut step);
            field.clear();
        }
    }
    if let Some(name) = name_span.filter(|_| names_member) {
        span = name;
    }
    let (line, column) = position(document.text, span.start);
    let flow = root.str_of("id").unwrap_or_default().to_owned();
    Located {
        code: "flow/invalid".to_owned(),
        severity: Severity::Error,
        pointer: pointer.to_owned(),
        message: String::new(),
        hint: None,
        identity: format!("{flow}\n{step}\n{field}"),
        flow,
        span: span.start..span.end,
        line,
        column,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_page() {
        let text = "{\r\n  \"version\": 2,\n  \"id\": \"x\",\r  \"steps\": [{\"id\": \"a\", \"kind\": \"say\", \"text\": 42}]\n}\n";
        let found = check_block(text, 101);
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].line, &*found[0].pointer), (104, "/steps/0/text"));
        assert_eq!(&text[found[0].span.clone()], "42");
        assert_eq!(found[0].identity, "x\na\n/text");
        let broken = check_block("{\n  'a': 1\n}", 10);
        assert_eq!((broken[0].line, broken[0].column), (11, 3));
        // The place of a fault is a whole character.
        let broken = check_block("{\"text:: \"¿?\"}", 1);
        assert_eq!(&"{\"text:: \"¿?\"}"[broken[0].span.clone()], "¿");
        assert!(is_flow_block("json flow") && is_flow_block("json flow lint=dead-end"));
        assert!(
            !is_flow_block("json") && !is_flow_block("flow json") && !is_flow_block("json5 flow")
        );
    }
}
