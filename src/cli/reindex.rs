//! `reindex`: reads the whole tree, reports what is wrong with it, and writes the index.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;

use super::docs_args::{TreeArgs, failure, folder};
use super::written::{WriteArgs, write};
use super::{Failure, Outcome};
use crate::diagnostics::StandardError;
use crate::docs;
use crate::tools::count;

const EXAMPLES: &str = "Examples:
  botmesh-docs reindex docs
  botmesh-docs reindex docs --index .index --full
  botmesh-docs reindex docs --digest";

/// Bring the written index up to date and report problems of the pages
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReindexArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` names it
    dir: Option<PathBuf>,
    #[command(flatten)]
    write: WriteArgs,
    /// Print one hash of all that answers depend on: equal docs, equal hash, on any machine
    #[arg(long)]
    digest: bool,
    #[command(flatten)]
    tree: TreeArgs,
}

pub(super) fn run(args: &ReindexArgs) -> Result<Outcome, Failure> {
    let folder = folder(args.dir.clone(), "name it: `botmesh-docs reindex DIR`")?;
    let written = write(&folder, &args.tree, &args.write)?;
    let (snapshot, problems) = (&written.snapshot, &written.changes.problems);
    for problem in problems {
        // Standard error that nobody reads does not stop the work.
        let _ = docs::report(problem, &mut StandardError);
    }
    let _ = write!(StandardError, "{}", written.report());
    if args.digest {
        let digest = snapshot.digest().map_err(|error| failure(&error))?;
        return Ok(format!("{digest}\n").into());
    }
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
    Ok(format!("{summary}\n").into())
}
