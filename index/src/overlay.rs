//! A directory of tantivy's whose files were all opened at its start and whose changes stay in memory.
//!
//! So one writer serves an index in memory, and a snapshot on disk that is brought up to date without being written. What
//! happens to the files on disk afterwards does not matter: they are held open.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, RamDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// Read-only files below, memory above. Clones share both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Overlay {
    base: Arc<RwLock<BTreeMap<PathBuf, Arc<dyn FileHandle>>>>,
    memory: RamDirectory,
    locks: Arc<Locks>,
}

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

impl Overlay {
    /// Adds a file that is open already.
    pub(crate) fn lay_under(&self, path: PathBuf, file: Arc<dyn FileHandle>) {
        self.base.write().unwrap_or_else(PoisonError::into_inner).insert(path, file);
    }

    fn below(&self, path: &Path) -> Option<Arc<dyn FileHandle>> {
        self.base.read().unwrap_or_else(PoisonError::into_inner).get(path).cloned()
    }
}

impl Directory for Overlay {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.below(path) {
            Some(file) => Ok(file),
            None => self.memory.get_file_handle(path),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match self.base.write().unwrap_or_else(PoisonError::into_inner).remove(path) {
            Some(_) => Ok(()),
            None => self.memory.delete(path),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.below(path).is_some() || self.memory.exists(path)?)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        if self.below(path).is_some() {
            return Err(OpenWriteError::FileAlreadyExists(path.to_owned()));
        }
        self.memory.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.memory.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.memory.atomic_write(path, bytes)
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
