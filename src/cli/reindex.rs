//! `reindex`: reads the whole tree, reports what is wrong with it, and writes the index.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::docs_args::{TreeArgs, failure};
use super::written::{WriteArgs, Written, write};
use super::{Failure, Outcome, baseline};
use crate::check::{Checker, Input};
use crate::diagnostics::StandardError;
use crate::docs;
use crate::report::{self, Finding, Format, Severity};
use crate::tools::count;

const EXAMPLES: &str = "Examples:
  botmesh-docs reindex docs
  botmesh-docs reindex docs --index .index --full
  botmesh-docs reindex docs --check=warning --format github
  botmesh-docs reindex docs --digest";

/// Bring the written index up to date, and check the docs
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReindexArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` or the settings name it
    dir: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
    /// Check links, anchors, translations, flows and more; fail (exit 1) on findings at least this bad
    #[arg(
        long,
        value_name = "LEVEL",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "error"
    )]
    check: Option<Level>,
    /// How findings are written
    #[arg(long, value_enum, default_value_t, requires = "check")]
    format: Format,
    /// Accept the findings that this file lists
    #[arg(long, value_name = "FILE", requires = "check")]
    baseline: Option<PathBuf>,
    /// Write a file that accepts what is found now
    #[arg(long, value_name = "FILE", requires = "check", conflicts_with = "baseline")]
    write_baseline: Option<PathBuf>,
    /// Print one hash of all that answers depend on: equal docs, equal hash, on any machine
    #[arg(long, conflicts_with = "check")]
    digest: bool,
    #[command(flatten)]
    tree: TreeArgs,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Level {
    Error,
    Warning,
    Info,
}

impl From<Level> for Severity {
    fn from(level: Level) -> Self {
        match level {
            Level::Error => Self::Error,
            Level::Warning => Self::Warning,
            Level::Info => Self::Info,
        }
    }
}

pub(super) fn run(args: &ReindexArgs) -> Result<Outcome, Failure> {
    let docs = args.tree.docs(args.dir.as_deref(), args.write.index.as_deref())?;
    let folder = docs.required_folder("name it: `botmesh-docs reindex DIR`")?;
    let written = write(&folder, &docs, args.write.full)?;
    if args.check.is_none() {
        for problem in &written.changes.problems {
            // Standard error that nobody reads does not stop the work.
            let _ = docs::report(problem, &mut StandardError);
        }
    }
    let _ = write!(StandardError, "{}", written.report());
    if args.digest {
        let digest = written.snapshot.digest().map_err(|error| failure(&error))?;
        return Ok(format!("{digest}\n").into());
    }
    let Some(level) = args.check else {
        return Ok(format!("{}\n", summary(&written)).into());
    };
    let mut findings = check(&written, level.into(), &folder)?;
    if let Some(file) = &args.write_baseline {
        baseline::write(file, &findings)?;
        let n = count(findings.len(), "finding");
        let _ = writeln!(StandardError, "note: {n} accepted from now on: `{}`", file.display());
        findings.clear();
    }
    if let Some(file) = &args.baseline {
        let n_gone = baseline::accept(file, &mut findings)?;
        if n_gone > 0 {
            let gone = count(n_gone, "accepted finding");
            let help = "write the file anew with `--write-baseline`";
            let _ = writeln!(StandardError, "note: no longer found: {gone}\n  help: {help}");
        }
    }
    let mut out = Vec::new();
    report::write(args.format, &findings, &mut out).expect("memory takes everything");
    let mut text = String::from_utf8(out).expect("findings are text");
    let nothing = if findings.is_empty() { ": nothing found" } else { "" };
    let summary = format!("{}{nothing}\n", summary(&written));
    match args.format {
        Format::Human => text.push_str(&summary),
        _ => {
            let _ = write!(StandardError, "{summary}");
        }
    }
    Ok(Outcome { text, has_findings: !findings.is_empty() })
}

/// The findings, with paths as they are seen from where the check runs.
fn check(written: &Written, least: Severity, folder: &Path) -> Result<Vec<Finding>, Failure> {
    let input = Input {
        snapshot: &written.snapshot,
        problems: &written.changes.problems,
        root: written.tree.root(),
        dialect: written.tree.dialect(),
        default_lang: &written.tree.rules().default_lang,
        least,
    };
    let mut findings = Checker::default().check(&input).map_err(|error| failure(&error))?;
    let prefix = shown_folder(folder);
    for finding in &mut findings {
        finding.path = match finding.path.as_str() {
            "." if !prefix.is_empty() => prefix.trim_end_matches('/').to_owned(),
            path => format!("{prefix}{path}"),
        };
    }
    Ok(findings)
}

/// The docs folder as annotations name it: from the working folder, when it is below; else not at all.
fn shown_folder(folder: &Path) -> String {
    let below = match std::env::current_dir() {
        Ok(current) if folder.is_absolute() => folder.strip_prefix(current).ok(),
        _ => Some(folder).filter(|folder| folder.is_relative()),
    };
    let parts = below.into_iter().flat_map(Path::components);
    let names: Vec<String> = parts
        .filter(|part| *part != std::path::Component::CurDir)
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    names.iter().fold(String::new(), |path, name| path + name + "/")
}

fn summary(written: &Written) -> String {
    let (snapshot, problems) = (&written.snapshot, &written.changes.problems);
    let languages: Vec<String> =
        snapshot.languages().map(|(code, n)| format!("{code} {n}")).collect();
    let mut summary = format!(
        "{} in {}",
        count(snapshot.n_sections(), "section"),
        count(snapshot.n_pages(), "page")
    );
    if !languages.is_empty() {
        summary = format!("{summary} ({})", languages.join(", "));
    }
    if !problems.is_empty() {
        summary = format!("{summary}, {}", count(problems.len(), "problem"));
    }
    summary
}
