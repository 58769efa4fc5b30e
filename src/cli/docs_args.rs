//! The docs folder of a verb, read and indexed while the caller waits.

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use botmesh_index::error::{IndexError, Problem};
use botmesh_index::snapshot::Snapshot;
use botmesh_index::tree::TreeOptions;
use botmesh_index::writer::{self, Index};
use clap::Args;

use super::Failure;
use crate::diagnostics::StandardError;
use crate::docs;

/// Work that takes longer says so, on a terminal.
const PATIENCE: Duration = Duration::from_millis(500);

/// Which pages of a docs folder count.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct TreeArgs {
    /// Leave out pages that match; may be given again
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Keep pages that match although a rule leaves them out; may be given again
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
}

impl TreeArgs {
    /// The rules of the tree.
    pub(super) fn options(&self) -> TreeOptions {
        let (exclude, include) = (self.exclude.clone(), self.include.clone());
        TreeOptions { exclude, include, ..TreeOptions::default() }
    }
}

/// Which docs a verb reads.
#[derive(Clone, Debug, Args)]
pub(super) struct DocsArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` names it
    #[arg(long, value_name = "DIR")]
    pub(super) docs: Option<PathBuf>,
    /// Answer from the index that `reindex --index DIR` wrote, with the docs as they were then
    #[arg(long, value_name = "DIR", conflicts_with = "docs")]
    index: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArgs,
}

impl DocsArgs {
    /// Where the folder really is, for links on a terminal; `None` for a written index.
    pub(super) fn real_folder(&self) -> Option<PathBuf> {
        let folder = if self.index.is_none() { docs::folder(self.docs.clone()) } else { None };
        std::fs::canonicalize(folder?).ok()
    }

    /// The folder as it was given.
    fn folder(&self) -> Result<PathBuf, Failure> {
        folder(self.docs.clone(), "pass `--docs DIR`, or set `BOTMESH_DOCS_DIR`")
    }

    /// A snapshot of the folder, or the one that was written.
    pub(super) fn snapshot(&self) -> Result<Snapshot, Failure> {
        if let Some(index) = &self.index {
            return Snapshot::open_folder(index).map_err(|error| {
                let message = format!("index cannot be read: `{}`: {error}", index.display());
                Failure::new(message)
                    .with_help("write it with `botmesh-docs reindex DIR --index DIR`")
            });
        }
        Ok(build(&self.folder()?, &self.tree)?.snapshot)
    }
}

/// The folder of a flag or of the environment.
pub(super) fn folder(given: Option<PathBuf>, help: &str) -> Result<PathBuf, Failure> {
    docs::folder(given).ok_or_else(|| Failure::new("docs folder not given").with_help(help))
}

/// A docs folder that was read.
pub(super) struct Built {
    pub(super) snapshot: Snapshot,
    pub(super) problems: Vec<Problem>,
}

/// Reads and indexes a folder.
pub(super) fn build(folder: &std::path::Path, tree: &TreeArgs) -> Result<Built, Failure> {
    build_into(folder, tree, || Index::in_memory(1))
}

/// Reads a folder into the index that `make` makes, once the folder is known to be there.
pub(super) fn build_into(
    folder: &std::path::Path,
    tree: &TreeArgs,
    make: impl FnOnce() -> Result<Index, IndexError>,
) -> Result<Built, Failure> {
    let tree = docs::open(folder, &tree.options()).map_err(|error| failure(&error))?;
    let what = format!("indexing `{}` …", folder.display());
    let built = with_notice(&what, || writer::fill(make()?, &tree, docs::threads()));
    let (_, snapshot, problems) = built.map_err(|error| failure(&error))?;
    Ok(Built { snapshot, problems })
}

/// An error of the index as the command line says it.
pub(super) fn failure(error: &IndexError) -> Failure {
    let failure = Failure::new(error.to_string());
    match error {
        IndexError::RootNotFound(_) | IndexError::RootNotAFolder(_) => {
            failure.with_help("name the folder that holds the Markdown pages")
        }
        IndexError::BadGlob { .. } => {
            failure.with_help("give a folder (`guide/`) or a glob (`**/flow*.md`)")
        }
        IndexError::Folder { .. } => {
            failure.with_help("name a folder that you may write to with `--index DIR`")
        }
        IndexError::Locked => failure.with_help("wait until it is done"),
        _ => failure,
    }
}

/// Does some work; says on a terminal what it is when it takes its time.
fn with_notice<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work();
    }
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
                let _ = writeln!(StandardError, "{what}");
            }
        });
        let result = work();
        drop(done);
        result
    })
}
