//! The docs of a running process: a snapshot, from disk or from memory, that follows its tree without writing anything.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use crate::error::IndexError;
use crate::manifest::{Manifest, Rules};
use crate::overlay::Overlay;
use crate::snapshot::Snapshot;
use crate::store::Stored;
use crate::tree::{DocsTree, TreeOptions};
use crate::update::{Changes, Progress, Touched, compare};
use crate::writer::{Fields, Index, schema};

/// A docs folder and the index that follows it.
pub struct Live {
    root: PathBuf,
    options: TreeOptions,
    index: tantivy::Index,
    fields: Fields,
    /// Made for the first change: most snapshots from disk are fresh.
    writer: Option<Index>,
    manifest: Manifest,
    snapshot: Arc<Snapshot>,
}

impl Live {
    /// Docs of which nothing is known yet: the first [`Self::refresh`] reads them all.
    pub fn new(root: &Path, options: &TreeOptions) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        let index = Index::builder(schema).open_or_create(Overlay::default())?;
        let manifest = Manifest::empty(Rules::default());
        let snapshot = Snapshot::open(&index, fields, 0, None)?;
        Ok(Self::with(root, options, (index, fields, manifest, snapshot)))
    }

    /// Docs as they were when a snapshot was written.
    pub fn from_stored(root: &Path, options: &TreeOptions, stored: Stored) -> Self {
        Self::with(root, options, stored.into_parts())
    }

    fn with(
        root: &Path,
        options: &TreeOptions,
        parts: (tantivy::Index, Fields, Manifest, Snapshot),
    ) -> Self {
        let (index, fields, manifest, snapshot) = parts;
        Self {
            // Found again when the process changes its folder.
            root: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()),
            options: options.clone(),
            index,
            fields,
            writer: None,
            manifest,
            snapshot: Arc::new(snapshot),
        }
    }

    /// The docs folder, absolute.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The last complete snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    /// Compares the whole tree, looks at the pages in `touched` whatever their stamps say, and makes a new snapshot when
    /// any page is another than before. A docs folder that is not there has no pages.
    ///
    /// # Errors
    /// The index library fails; the snapshot is the one before, and the next call starts over.
    pub fn refresh(
        &mut self,
        touched: &Touched,
        started: SystemTime,
        threads: usize,
        progress: &Progress<'_>,
    ) -> Result<Changes, IndexError> {
        let tree = match DocsTree::open(&self.root, &self.options) {
            Ok(tree) => Some(tree),
            Err(IndexError::RootNotFound(_) | IndexError::RootNotAFolder(_)) => None,
            Err(error) => return Err(error),
        };
        let comparison = compare(&self.manifest, tree.as_ref(), touched);
        let is_first = self.snapshot.generation() == 0;
        if comparison.is_clean() && !is_first {
            return Ok(comparison.nothing(&self.manifest));
        }
        let mut writer = match self.writer.take() {
            Some(writer) => writer,
            None => Index::following(self.index.clone(), self.fields, self.snapshot.generation())?,
        };
        // On an error the writer is dropped, and with it what it has not committed.
        let (mut changes, delta) =
            comparison.apply(&self.manifest, &writer, started, threads, progress)?;
        if is_first || !changes.is_empty() {
            writer.commit_quietly()?;
            self.snapshot = Arc::new(writer.next_snapshot(&self.snapshot)?);
        }
        self.manifest.absorb(delta, &mut changes);
        self.writer = Some(writer);
        Ok(changes)
    }

    /// Lets go of segments that were merged since the last snapshot: the same answers from less memory.
    ///
    /// # Errors
    /// The index library fails; the snapshot is the one before.
    pub fn tidy(&mut self) -> Result<bool, IndexError> {
        let Some(writer) = &self.writer else { return Ok(false) };
        let is_current = self.snapshot.has_segments(&self.index.searchable_segment_ids()?);
        if !is_current {
            self.snapshot = Arc::new(writer.snapshot(Some(&self.snapshot))?);
        }
        Ok(!is_current)
    }
}

impl std::fmt::Debug for Live {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}
