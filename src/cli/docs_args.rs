//! The docs folder of a verb, read and indexed while the caller waits.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use botmesh_index::anchor::Dialect;
use botmesh_index::error::IndexError;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::store;
use botmesh_index::tree::TreeOptions;
use botmesh_index::watch::Watch;
use clap::Args;

use super::Failure;
use super::progress::with_bar;
use crate::config::{Config, Flags, Value};
use crate::docs::{self, Source};

/// Where settings are read from besides the command line.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct ConfigArg {
    /// Settings file; without it `botmesh-docs.toml` in this folder, if it is there
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl ConfigArg {
    /// The settings of this run, with what flags say.
    pub(super) fn load(&self, flags: Flags) -> Result<Config, Failure> {
        Config::load(self.config.as_deref(), flags).map_err(|error| {
            let failure = Failure::new(error.to_string());
            match error.help() {
                Some(help) => failure.with_help(help),
                None => failure,
            }
        })
    }

    /// The file that the user named.
    pub(super) fn file(&self) -> Option<&Path> {
        self.config.as_deref()
    }
}

/// Which pages of a docs folder count.
#[derive(Clone, Debug, Default, Args)]
pub(super) struct TreeArgs {
    /// Leave out pages that match; may be given again
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
    /// Keep pages that match although a rule leaves them out; may be given again
    #[arg(long, value_name = "GLOB")]
    include: Vec<String>,
    #[command(flatten)]
    pub(super) config: ConfigArg,
}

impl TreeArgs {
    /// What the flags say, with a docs folder and an index that a verb takes in its own way.
    pub(super) fn flags(&self, docs: Option<&Path>, index: Option<&Path>) -> Flags {
        let lists = [("docs.exclude", &self.exclude), ("docs.include", &self.include)];
        let lists = lists
            .into_iter()
            .filter(|(_, globs)| !globs.is_empty())
            .map(|(key, globs)| (key, Value::List(globs.clone())));
        folder_flags(docs, index).into_iter().chain(lists).collect()
    }

    /// The docs that flags and settings name.
    pub(super) fn docs(
        &self,
        docs: Option<&Path>,
        index: Option<&Path>,
    ) -> Result<DocsSettings, Failure> {
        Ok(DocsSettings::of(&self.config.load(self.flags(docs, index))?))
    }
}

/// What flags say of a docs folder and its index.
pub(super) fn folder_flags(docs: Option<&Path>, index: Option<&Path>) -> Flags {
    let folders = [("docs.dir", docs), ("docs.index", index)];
    let text = |path: &Path| Value::Text(path.to_string_lossy().into_owned());
    folders.into_iter().filter_map(|(key, path)| Some((key, text(path?)))).collect()
}

/// The docs that settings name.
#[derive(Clone, Debug)]
pub(super) struct DocsSettings {
    /// The docs folder.
    pub(super) folder: Option<PathBuf>,
    /// The folder of the written index.
    pub(super) index: Option<PathBuf>,
    /// The rules of the tree.
    pub(super) options: TreeOptions,
    /// How changes are noticed.
    pub(super) watch: Watch,
}

impl DocsSettings {
    /// Takes them out of all settings.
    pub(super) fn of(config: &Config) -> Self {
        let anchors = match config.text("docs.anchors") {
            Some("github") => Some(Dialect::GitHub),
            Some("vitepress") => Some(Dialect::VitePress),
            _ => None,
        };
        let watch = match config.text("docs.watch") {
            Some("off") => Watch::Off,
            Some("poll") => Watch::Poll,
            _ => Watch::Events,
        };
        let list = |key| config.list(key).to_vec();
        let (exclude, include) = (list("docs.exclude"), list("docs.include"));
        Self {
            folder: config.folder("docs.dir"),
            index: config.folder("docs.index"),
            options: TreeOptions { exclude, include, anchors, ..TreeOptions::default() },
            watch,
        }
    }

    /// The docs folder, or what to do without one.
    pub(super) fn required_folder(&self, help: &str) -> Result<PathBuf, Failure> {
        let missing = || Failure::new("docs folder not given").with_help(help);
        self.folder.clone().ok_or_else(missing)
    }
}

/// Which docs a verb reads.
#[derive(Clone, Debug, Args)]
pub(super) struct DocsArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` or the settings name it
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Index that `reindex --index DIR` wrote; without `--docs` it answers with the docs as they were then
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArgs,
}

impl DocsArgs {
    /// The snapshot to answer from: of the folder as it is now, or the one that was written. With it comes where the
    /// folder really is, for links on a terminal.
    pub(super) fn snapshot(&self) -> Result<(Arc<Snapshot>, Option<PathBuf>), Failure> {
        let docs = self.tree.docs(self.docs.as_deref(), self.index.as_deref())?;
        let is_index_asked = self.index.is_some() && self.docs.is_none();
        if let Some(index) =
            docs.index.as_deref().filter(|_| is_index_asked || docs.folder.is_none())
        {
            return Ok((written(index)?, None));
        }
        let folder = docs.required_folder(NAME_DOCS)?;
        let real = std::fs::canonicalize(&folder).ok();
        Ok((read(&folder, docs.options, docs.index)?, real))
    }
}

/// What to do without a docs folder.
pub(super) const NAME_DOCS: &str = "pass `--docs DIR`, set `BOTMESH_DOCS_DIR`, or write `dir` under `[docs]` in `botmesh-docs.toml`";

/// The snapshot in a folder, as it was written.
pub(super) fn written(index: &Path) -> Result<Arc<Snapshot>, Failure> {
    store::open_snapshot(index).map_err(|error| {
        let message = format!("index cannot be read: `{}`: {}", index.display(), error.reason());
        Failure::new(message).with_help("write it with `botmesh-docs reindex DIR --index DIR`")
    })
}

/// Reads a folder, with the help of a written index: the given one, or the one in the user's cache folder.
pub(super) fn read(
    folder: &Path,
    options: TreeOptions,
    index: Option<PathBuf>,
) -> Result<Arc<Snapshot>, Failure> {
    let source = Source { folder: folder.to_owned(), options, index, watch: Watch::Off };
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
