//! The written index of a docs folder, brought up to date.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use botmesh_index::DocsTree;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::store::{Extent, Found, Store};
use botmesh_index::update::Changes;
use clap::Args;

use super::Failure;
use super::docs_args::{DocsSettings, failure, indexing};
use super::progress::with_bar;
use crate::cache::IndexFolder;
use crate::docs;
use crate::tools::count;

/// Where the index is written, and from what.
#[derive(Clone, Debug, Args)]
pub(super) struct WriteArgs {
    /// Where to write the index; without it a folder for this tree in your cache folder
    #[arg(long, value_name = "DIR")]
    pub(super) index: Option<PathBuf>,
    /// Read all pages, not only those that changed
    #[arg(long)]
    pub(super) full: bool,
}

/// An index that was brought up to date.
pub(super) struct Written {
    pub(super) snapshot: Snapshot,
    pub(super) changes: Changes,
    pub(super) tree: DocsTree,
    found: Found,
    is_full: bool,
    folder: IndexFolder,
    took: Duration,
}

/// Brings the index of a docs folder up to date.
pub(super) fn write(
    docs: &Path,
    settings: &DocsSettings,
    is_full: bool,
) -> Result<Written, Failure> {
    let (start, started) = (Instant::now(), SystemTime::now());
    let tree = docs::open(docs, &settings.options).map_err(|error| failure(&error))?;
    let folder = match &settings.index {
        Some(path) => IndexFolder::given(path),
        None => IndexFolder::of_tree(docs).ok_or_else(|| {
            Failure::new("you have no cache folder").with_help("name a folder with `--index DIR`")
        })?,
    };
    let extent = if is_full { Extent::Full } else { Extent::Changed };
    let written = with_bar(&indexing(docs), |progress| {
        let mut store = Store::open(&folder.path, extent)?;
        let found = store.found().clone();
        let (snapshot, changes) = store.update(&tree, started, docs::threads(), progress)?;
        Ok((snapshot, changes, found))
    });
    let (snapshot, changes, found) = written.map_err(|error| failure(&folder.name_in(error)))?;
    Ok(Written { snapshot, changes, tree, found, is_full, folder, took: start.elapsed() })
}

impl Written {
    /// What was done, in a line or two for standard error.
    pub(super) fn report(&self) -> String {
        let Self { changes, folder, .. } = self;
        let what = match &self.found {
            Found::Snapshot if changes.is_empty() => "index is up to date",
            Found::Snapshot if !self.is_full => "index updated",
            _ => "index written",
        };
        let (changed, seconds) = (what_changed(changes), self.took.as_secs_f64());
        let line = format!("{what}: `{}`: {changed}, in {seconds:.2} s\n", folder.shown);
        match &self.found {
            Found::Unusable(why) => {
                format!("note: index made anew: `{}`: {why}\n{line}", folder.shown)
            }
            _ => line,
        }
    }
}

/// `2 pages added, 1 page removed`.
pub(super) fn what_changed(changes: &Changes) -> String {
    let parts: Vec<String> =
        [(changes.added, "added"), (changes.changed, "changed"), (changes.removed, "removed")]
            .into_iter()
            .filter(|(n, _)| *n > 0)
            .map(|(n, what)| format!("{} {what}", count(n, "page")))
            .collect();
    if parts.is_empty() { "no page changed".to_owned() } else { parts.join(", ") }
}
