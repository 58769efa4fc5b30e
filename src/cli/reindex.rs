//! `reindex`: reads the whole tree, reports what is wrong with it, and writes the index.

use std::fs;
use std::path::{Path, PathBuf};

use botmesh_index::writer::Index;
use clap::Args;

use super::docs_args::{Built, build, folder};
use super::{Failure, Outcome, reason};
use crate::diagnostics::StandardError;
use crate::docs;
use crate::tools::count;

const EXAMPLES: &str = "Examples:
  botmesh-docs reindex docs
  botmesh-docs reindex docs --index .index";

/// Read all pages, report their problems, and write the index
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReindexArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` names it
    dir: Option<PathBuf>,
    /// Where to write the index; without it the pages are only read
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
}

pub(super) fn run(args: &ReindexArgs) -> Result<Outcome, Failure> {
    let folder = folder(args.dir.clone(), "name it: `botmesh-docs reindex DIR`")?;
    let Built { index, snapshot, problems } = build(&folder)?;
    for problem in &problems {
        // Standard error that nobody reads does not stop the work.
        let _ = docs::report(problem, &mut StandardError);
    }
    if let Some(dir) = &args.index {
        write(&index, dir)?;
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

/// Makes the index folder ready. The index itself is not kept there yet; a folder that could not hold it is refused.
fn write(_index: &Index, dir: &Path) -> Result<(), Failure> {
    let probe = dir.join(".botmesh-docs-probe");
    fs::create_dir_all(dir)
        .and_then(|()| fs::write(&probe, ""))
        .and_then(|()| fs::remove_file(&probe))
        .map_err(|error| {
            let (dir, reason) = (dir.display(), reason(&error));
            Failure::new(format!("index folder cannot be written: `{dir}`: {reason}"))
                .with_help("name a folder that you may write to with `--index DIR`")
        })
}
