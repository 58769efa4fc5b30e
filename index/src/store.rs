//! The index in a folder: opened read-only by anyone, written by one at a time.
//!
//! `meta.json` is replaced in one rename at each commit, and names all that belongs to the commit: tantivy's segments and
//! our [`Manifest`]. So a reader sees one commit or the other, and a writer that dies leaves the last one as it was.

use std::collections::{BTreeSet, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime};

use serde_json::Value;
use tantivy::Directory as _;
use tantivy::directory::MmapDirectory;

use crate::error::IndexError;
use crate::manifest::{Manifest, Rules};
use crate::overlay::Overlay;
use crate::snapshot::Snapshot;
use crate::tree::DocsTree;
use crate::update::{Changes, Progress, Touched, compare};
use crate::writer::{Fields, Index, schema};

/// The file that a commit replaces.
const META: &str = "meta.json";
/// Tantivy's list of the files that it made.
const MANAGED: &str = ".managed.json";
/// Held, with the number of its process inside, by whoever writes.
const LOCK: &str = ".writer.lock";
/// Says to back-up tools, and to us, whose folder this is.
const TAG: &str = "CACHEDIR.TAG";
const TAG_TEXT: &str = "Signature: 8a477f597d28d172789f06886806bc55
# An index of botmesh-docs. Delete the folder when you like: `botmesh-docs reindex` makes it anew.
";

/// A commit may replace the files that a reader is about to open: so often it looks again.
const MAX_LOOKS: usize = 10;
/// Whoever asks for the holder of the lock holds it for a moment; a writer outlasts that.
const LOCK_TRIES: usize = 10;
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A snapshot on disk, opened: all its files are held, so whatever happens to the folder does not matter to it.
pub struct Stored {
    pub(crate) index: tantivy::Index,
    pub(crate) fields: Fields,
    pub(crate) manifest: Manifest,
    snapshot: Snapshot,
}

impl Stored {
    /// Opens what was last committed to a folder: no lock is taken and nothing is written. `None` when there is nothing.
    ///
    /// # Errors
    /// [`IndexError::Unusable`]: it was written by another version, or is damaged. Every byte was checked.
    pub fn open(folder: &Path) -> Result<Option<Self>, IndexError> {
        let mut looks = 0;
        loop {
            looks += 1;
            let meta = match fs::read(folder.join(META)) {
                Ok(meta) => meta,
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(error) => {
                    return Err(unusable(&format!("it cannot be read: {}", error.kind())));
                }
            };
            // Tantivy trusts its files: what the checksums do not cover may make it panic.
            let opened = std::panic::catch_unwind(|| Self::open_commit(folder, &meta))
                .unwrap_or_else(|_| Err(unusable("it is damaged")));
            let is_last = || fs::read(folder.join(META)).is_ok_and(|now| now == meta);
            match opened {
                Err(_) if looks < MAX_LOOKS && !is_last() => {}
                other => return other.map(Some),
            }
        }
    }

    fn open_commit(folder: &Path, meta: &[u8]) -> Result<Self, IndexError> {
        let damaged = |_| unusable("it is damaged");
        let mut meta: Value =
            serde_json::from_slice(meta).map_err(|_| unusable("it is damaged"))?;
        let payload = meta.get_mut("payload").map(Value::take);
        let payload = payload.as_ref().and_then(Value::as_str).unwrap_or_default();
        let manifest = Manifest::decode(payload).map_err(unusable)?;
        let disk = MmapDirectory::open(folder).map_err(|_| unusable("it cannot be read"))?;
        let overlay = Overlay::default();
        overlay.atomic_write(Path::new(META), meta.to_string().as_bytes()).map_err(damaged)?;
        let files = tantivy::Index::open(overlay.clone()).and_then(|index| index.load_metas());
        let files = files.map_err(|_| unusable("it is damaged"))?.list_segment_files();
        let files: BTreeSet<PathBuf> = files.into_iter().collect();
        let mut held: Vec<PathBuf> = Vec::new();
        for path in files {
            // The list names files that a segment may have.
            if let Ok(file) = disk.get_file_handle(&path) {
                overlay.lay_under(path.clone(), file);
                held.push(path);
            }
        }
        let held = serde_json::to_vec(&held).map_err(|_| unusable("it is damaged"))?;
        overlay.atomic_write(Path::new(MANAGED), &held).map_err(damaged)?;
        let index = tantivy::Index::open(overlay).map_err(|_| unusable("it is damaged"))?;
        if !index.validate_checksum().is_ok_and(|damaged| damaged.is_empty()) {
            return Err(unusable("it is damaged"));
        }
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err(unusable("it was written by another version"));
        }
        let snapshot =
            Snapshot::open(&index, fields, 1, None).map_err(|_| unusable("it is damaged"))?;
        if snapshot.n_pages() != manifest.pages.len()
            || snapshot.n_sections() != manifest.n_sections()
        {
            return Err(unusable("it is damaged"));
        }
        Ok(Self { index, fields, manifest, snapshot })
    }

    /// The rules of the tree that the snapshot was made from.
    pub fn rules(&self) -> &Rules {
        &self.manifest.rules
    }

    /// The snapshot as it was written.
    pub fn into_snapshot(self) -> Snapshot {
        self.snapshot
    }

    pub(crate) fn into_parts(self) -> (tantivy::Index, Fields, Manifest, Snapshot) {
        (self.index, self.fields, self.manifest, self.snapshot)
    }
}

fn unusable(why: &str) -> IndexError {
    IndexError::Unusable(why.to_owned())
}

/// What a writer found in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No index yet.
    Nothing,
    /// The last commit, which is built upon, or replaced at once when all pages are to be read.
    Snapshot,
    /// An index that cannot be used, and why. It is made anew.
    Unusable(String),
}

/// Which pages a writer reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// Those that changed.
    Changed,
    /// All of them, into an index without a past.
    Full,
}

/// The index in a folder, held for writing. What it holds stays visible to readers until [`Self::update`] commits.
pub struct Store {
    folder: PathBuf,
    index: Index,
    manifest: Manifest,
    found: Found,
    // Last: it is let go when the index is closed.
    _lock: WriterLock,
}

impl Store {
    /// Opens the index in a folder, made when it is not there.
    ///
    /// # Errors
    /// Another process writes it, the folder cannot be written, or it holds other things than an index of ours.
    pub fn open(folder: &Path, extent: Extent) -> Result<Self, IndexError> {
        let lock = WriterLock::take(folder)?;
        let stored = Stored::open(folder);
        let (found, manifest, kept) = match stored {
            Ok(Some(stored)) => {
                let files = stored.index.load_metas()?.list_segment_files();
                (Found::Snapshot, Some(stored.manifest), Some(files))
            }
            Ok(None) => (Found::Nothing, None, None),
            Err(error) => (Found::Unusable(error.reason()), None, None),
        };
        sweep(folder, kept.as_ref()).map_err(|reason| write_error(folder, reason))?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
        let index = Index::builder(schema).open_or_create(directory);
        let index = Index::with(index.map_err(|error| engine(folder, error))?, fields, 1)
            .map_err(|error| in_folder(folder, error))?;
        let mut store = Self {
            folder: folder.to_owned(),
            index,
            manifest: Manifest::empty(Rules::default()),
            found,
            _lock: lock,
        };
        match manifest.filter(|_| extent == Extent::Changed) {
            Some(manifest) => store.manifest = manifest,
            None => store.index.clear()?,
        }
        Ok(store)
    }

    /// What was in the folder.
    pub fn found(&self) -> &Found {
        &self.found
    }

    /// Brings the index up to date with a tree and commits, when there is something to commit.
    ///
    /// # Errors
    /// The folder cannot be written, such as when the disk is full: the last commit is as it was.
    pub fn update(
        &mut self,
        tree: &DocsTree,
        started: SystemTime,
        threads: usize,
        progress: &Progress<'_>,
    ) -> Result<(Snapshot, Changes), IndexError> {
        let result = self.write(tree, started, threads, progress);
        result.map_err(|error| in_folder(&self.folder, self.index.first_cause(error)))
    }

    fn write(
        &mut self,
        tree: &DocsTree,
        started: SystemTime,
        threads: usize,
        progress: &Progress<'_>,
    ) -> Result<(Snapshot, Changes), IndexError> {
        let is_new = self.manifest.pages.is_empty();
        let comparison = compare(&self.manifest, Some(tree), &Touched::default());
        let (mut changes, delta) =
            comparison.apply(&self.manifest, &self.index, started, threads, progress)?;
        self.manifest.absorb(delta, &mut changes);
        if is_new || changes.touch_the_manifest {
            self.index.commit_with(&self.manifest.encode())?;
            self.index.compact()?;
        }
        Ok((self.index.snapshot(None)?, changes))
    }
}

/// An error of the index library, in which a full disk and the like are named as such.
fn engine(folder: &Path, error: tantivy::TantivyError) -> IndexError {
    in_folder(folder, IndexError::Engine(error))
}

fn in_folder(folder: &Path, error: IndexError) -> IndexError {
    match error.io_kind() {
        Some(kind) => IndexError::Folder { folder: folder.to_owned(), reason: kind.into() },
        None => error,
    }
}

fn write_error(folder: &Path, reason: io::Error) -> IndexError {
    IndexError::Folder { folder: folder.to_owned(), reason }
}

/// Removes what a writer that died left behind: half-written replacements, and the files of segments but for those in
/// `kept`, which are all that the commit names; without one, all files of tantivy's. Files that are none of ours stay.
///
/// Tantivy itself would stumble over some: it calls a file by its commit, and the next one has the same number.
fn sweep(folder: &Path, kept: Option<&HashSet<PathBuf>>) -> io::Result<()> {
    let mut managed = vec![META.to_owned()];
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_kept = kept.is_some_and(|kept| kept.contains(Path::new(&name)));
        let is_meta = matches!(name.as_str(), META | MANAGED);
        if name.starts_with(".tmp")
            || (is_meta && kept.is_none())
            || (is_segment_file(&name) && !is_kept)
        {
            fs::remove_file(entry.path())?;
        } else if is_kept {
            managed.push(name);
        }
    }
    if kept.is_some() {
        fs::write(folder.join(MANAGED), serde_json::to_vec(&managed)?)?;
    }
    Ok(())
}

/// Tantivy's files of a segment are called by its number in hexadecimal.
fn is_segment_file(name: &str) -> bool {
    name.split_once('.')
        .is_some_and(|(id, _)| id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

/// The right to write an index: ends with the process that holds it, however that ends.
struct WriterLock {
    _file: File,
}

impl WriterLock {
    /// Makes the folder when it is not there, and takes its lock.
    fn take(folder: &Path) -> Result<Self, IndexError> {
        let failed = |reason| write_error(folder, reason);
        fs::create_dir_all(folder).map_err(failed)?;
        claim(folder)?;
        let options =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).clone();
        let mut file = options.open(folder.join(LOCK)).map_err(failed)?;
        for attempt in 1.. {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if attempt < LOCK_TRIES => thread::sleep(LOCK_PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(IndexError::Locked { by: process_in(&mut file) });
                }
                Err(TryLockError::Error(reason)) => return Err(failed(reason)),
            }
        }
        let owner = format!("{}\n", std::process::id());
        file.set_len(0)
            .and_then(|()| file.rewind())
            .and_then(|()| file.write_all(owner.as_bytes()))
            .map_err(failed)?;
        Ok(Self { _file: file })
    }
}

/// Marks a folder as ours, if it is: new or empty, marked before, or holding an index.
fn claim(folder: &Path) -> Result<(), IndexError> {
    let failed = |reason| write_error(folder, reason);
    let tag = folder.join(TAG);
    if tag.exists() {
        return Ok(());
    }
    let foreign = fs::read_dir(folder)
        .map_err(failed)?
        .filter_map(Result::ok)
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .find(|name| name != LOCK);
    if let Some(name) = foreign
        && !matches!(Stored::open(folder), Ok(Some(_)))
        && !tag.exists()
    {
        return Err(IndexError::NotAnIndex { folder: folder.to_owned(), name });
    }
    fs::write(tag, TAG_TEXT).map_err(failed)
}

/// The number of the process that has written itself into a lock.
fn process_in(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.rewind().and_then(|()| file.read_to_string(&mut text)).ok()?;
    text.trim().parse().ok()
}

/// Whether someone writes an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writing {
    /// Nobody does.
    Nobody,
    /// A process does; its number, when it has said it.
    Process(Option<u32>),
}

/// Who writes the index in a folder, as far as this machine knows.
pub fn who_writes(folder: &Path) -> Writing {
    let Ok(mut file) = File::open(folder.join(LOCK)) else { return Writing::Nobody };
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => Writing::Process(process_in(&mut file)),
        _ => Writing::Nobody,
    }
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stored").field("snapshot", &self.snapshot).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Store").field("found", &self.found).finish_non_exhaustive()
    }
}

/// The snapshot of a folder, for whoever answers from it as it is.
///
/// # Errors
/// There is none, or it cannot be used.
pub fn open_snapshot(folder: &Path) -> Result<Arc<Snapshot>, IndexError> {
    match Stored::open(folder)? {
        Some(stored) => Ok(Arc::new(stored.into_snapshot())),
        None => Err(unusable("there is no index in the folder")),
    }
}
