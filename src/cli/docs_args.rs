//! The docs folder of a verb, read and indexed while the caller waits.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use botmesh_index::error::IndexError;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::store;
use botmesh_index::tree::TreeOptions;
use botmesh_index::watch::Watch;
use clap::Args;

use super::Failure;
use super::progress::with_bar;
use crate::docs::{self, Source};

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
    /// Index that `reindex --index DIR` wrote; without `--docs` it answers with the docs as they were then
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArgs,
}

impl DocsArgs {
    /// Where the folder really is, for links on a terminal; `None` for a written index.
    pub(super) fn real_folder(&self) -> Option<PathBuf> {
        if self.answers_from_index_alone().is_some() {
            return None;
        }
        std::fs::canonicalize(docs::folder(self.docs.clone())?).ok()
    }

    /// The folder as it was given.
    fn folder(&self) -> Result<PathBuf, Failure> {
        folder(self.docs.clone(), "pass `--docs DIR`, or set `BOTMESH_DOCS_DIR`")
    }

    fn answers_from_index_alone(&self) -> Option<&Path> {
        self.index.as_deref().filter(|_| self.docs.is_none())
    }

    /// A snapshot of the folder as it is now, or the one that was written.
    pub(super) fn snapshot(&self) -> Result<Arc<Snapshot>, Failure> {
        if let Some(index) = self.answers_from_index_alone() {
            return written(index);
        }
        read(&self.folder()?, &self.tree, self.index.clone())
    }
}

/// The snapshot in a folder, as it was written.
pub(super) fn written(index: &Path) -> Result<Arc<Snapshot>, Failure> {
    store::open_snapshot(index).map_err(|error| {
        let message = format!("index cannot be read: `{}`: {}", index.display(), error.reason());
        Failure::new(message).with_help("write it with `botmesh-docs reindex DIR --index DIR`")
    })
}

/// The folder of a flag or of the environment.
pub(super) fn folder(given: Option<PathBuf>, help: &str) -> Result<PathBuf, Failure> {
    docs::folder(given).ok_or_else(|| Failure::new("docs folder not given").with_help(help))
}

/// Reads a folder, with the help of a written index: the given one, or the one in the user's cache folder.
pub(super) fn read(
    folder: &Path,
    tree: &TreeArgs,
    index: Option<PathBuf>,
) -> Result<Arc<Snapshot>, Failure> {
    let source =
        Source { folder: folder.to_owned(), options: tree.options(), index, watch: Watch::Off };
    let read = with_bar(&indexing(folder), |progress| docs::read(&source, progress));
    read.map_err(|error| failure(&error))
}

/// What is done to a folder, for a progress bar.
pub(super) fn indexing(folder: &Path) -> String {
    format!("indexing `{}`", folder.display())
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
        IndexError::Folder { reason, .. } if reason.kind() == ErrorKind::StorageFull => failure
            .with_help(
                "make room, or name another folder with `--index DIR`; the index is as it was",
            ),
        IndexError::Folder { .. } => {
            failure.with_help("name a folder that you may write to with `--index DIR`")
        }
        IndexError::NotAnIndex { .. } => {
            failure.with_help("name an empty folder, or a new one, with `--index DIR`")
        }
        IndexError::Locked { .. } => failure.with_help("wait until it is done"),
        _ => failure,
    }
}
