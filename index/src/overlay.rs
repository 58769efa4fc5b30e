//! A directory of tantivy's in memory, over files that were all opened at its start.
//!
//! So one writer serves an index in memory, and a snapshot on disk that is brought up to date without being written. What
//! happens to the files on disk afterwards does not matter: they are held open.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, OwnedBytes, TerminatingWrite, WatchCallback,
    WatchHandle, WritePtr,
};

use crate::memory_file::MemoryFile;

/// Files by name. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    files: Files,
    locks: Arc<Locks>,
}

/// A file that is being written is not there yet.
type Files = Arc<RwLock<BTreeMap<PathBuf, Arc<dyn FileHandle>>>>;

/// The locks that are held, and a bell for who waits.
#[derive(Debug, Default)]
struct Locks {
    held: Mutex<BTreeSet<PathBuf>>,
    released: Condvar,
}

/// Ends a lock when it goes.
struct Held {
    locks: Arc<Locks>,
    path: PathBuf,
}

impl Drop for Held {
    fn drop(&mut self) {
        self.locks.held.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
        self.locks.released.notify_all();
    }
}

/// A file that is there as soon as it is whole.
struct Writing {
    path: PathBuf,
    file: MemoryFile,
    files: Files,
}

impl Write for Writing {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for Writing {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let file = std::mem::take(&mut self.file).finish()?;
        let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
        files.insert(self.path.clone(), Arc::new(file));
        Ok(())
    }
}

impl Overlay {
    /// Adds a file that is open already.
    pub(crate) fn lay_under(&self, path: PathBuf, file: Arc<dyn FileHandle>) {
        self.write().insert(path, file);
    }

    fn read(&self) -> RwLockReadGuard<'_, BTreeMap<PathBuf, Arc<dyn FileHandle>>> {
        self.files.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, BTreeMap<PathBuf, Arc<dyn FileHandle>>> {
        self.files.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Directory for Overlay {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let missing = || OpenReadError::FileDoesNotExist(path.to_owned());
        self.read().get(path).cloned().ok_or_else(missing)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let missing = || DeleteError::FileDoesNotExist(path.to_owned());
        self.write().remove(path).map(drop).ok_or_else(missing)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.read().contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        if self.read().contains_key(path) {
            return Err(OpenWriteError::FileAlreadyExists(path.to_owned()));
        }
        let (path, files) = (path.to_owned(), Arc::clone(&self.files));
        Ok(BufWriter::new(Box::new(Writing { path, file: MemoryFile::default(), files })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let file = self.get_file_handle(path)?;
        let bytes = file.read_bytes(0..file.len());
        let unreadable = |error| OpenReadError::wrap_io_error(error, path.to_owned());
        bytes.map(|bytes| bytes.to_vec()).map_err(unreadable)
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.write().insert(path.to_owned(), Arc::new(OwnedBytes::new(bytes.to_vec())));
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        let mut held = self.locks.held.lock().unwrap_or_else(PoisonError::into_inner);
        while !held.insert(lock.filepath.clone()) {
            if !lock.is_blocking {
                return Err(LockError::LockBusy);
            }
            held = self.locks.released.wait(held).unwrap_or_else(PoisonError::into_inner);
        }
        let held = Held { locks: Arc::clone(&self.locks), path: lock.filepath.clone() };
        Ok(DirectoryLock::from(Box::new(held)))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        // Readers are opened anew after each commit; nobody waits for one.
        Ok(WatchHandle::empty())
    }
}
