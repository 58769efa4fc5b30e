//! What came up when pages were read: files that were skipped, text that was replaced, front matter that is no YAML.

use botmesh_index::error::{Problem, ProblemCode};

use crate::report::{Finding, Severity};

pub(super) fn findings(problems: &[Problem]) -> Vec<Finding> {
    problems.iter().map(finding).collect()
}

fn finding(problem: &Problem) -> Finding {
    let severity = match problem.code {
        ProblemCode::ExcludedFolder => Severity::Info,
        _ => Severity::Warning,
    };
    let path = if problem.path.is_empty() { "." } else { &problem.path };
    let message = match problem.code {
        ProblemCode::NotUtf8 | ProblemCode::FrontMatter => problem.message.clone(),
        ProblemCode::ExcludedFolder => format!("folder left out: {}", problem.message),
        _ => format!("page skipped: {}", problem.message),
    };
    let line = problem.message.strip_prefix("line ").and_then(|rest| rest.split(' ').next());
    let mut finding = Finding::at(problem.code.as_str(), severity, path, message, "", 0..0, 1)
        .with_hint(problem.code.help())
        .with_identity("");
    finding.line = line.and_then(|line| line.parse().ok()).unwrap_or(1);
    finding.excerpt = None;
    finding
}
