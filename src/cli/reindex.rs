//! `reindex`: reads the whole tree, reports what is wrong with it, and writes the index.

use std::path::PathBuf;

use botmesh_index::writer::Index;
use clap::Args;

use super::docs_args::{Built, TreeArgs, build, build_into, folder};
use super::{Failure, Outcome};
use crate::diagnostics::StandardError;
use crate::docs;
use crate::tools::count;

const EXAMPLES: &str = "Examples:
  botmesh-docs reindex docs
  botmesh-docs reindex docs --index .index
  botmesh-docs search --index .index exact words";

/// Read all pages, report their problems, and write the index
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReindexArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` names it
    dir: Option<PathBuf>,
    /// Where to write the index, for `search --index`; without it the pages are only read
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArgs,
}

pub(super) fn run(args: &ReindexArgs) -> Result<Outcome, Failure> {
    let folder = folder(args.dir.clone(), "name it: `botmesh-docs reindex DIR`")?;
    let Built { snapshot, problems } = match &args.index {
        Some(dir) => build_into(&folder, &args.tree, || Index::in_folder(dir, 1))?,
        None => build(&folder, &args.tree)?,
    };
    for problem in &problems {
        // Standard error that nobody reads does not stop the work.
        let _ = docs::report(problem, &mut StandardError);
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
