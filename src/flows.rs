//! Stored flows: the `*.flow.json` below a folder, by name.
//!
//! A name is looked up in the listing of the folder and never becomes part of a path. The folder is read anew at each call,
//! so a saved flow is there at once.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

/// What a stored flow's file ends with; the rest of its path below the folder is the flow's name.
const SUFFIX: &str = ".flow.json";

/// Deeper folders are not looked into: a tree of flows is shallow.
const MAX_LEVELS: usize = 16;

/// A folder with more flows is not one that people keep.
const MAX_FLOWS: usize = 10_000;

/// Larger files are no flow documents: the canonical form ends at 1 MiB.
const MAX_BYTES: u64 = 16 * 1024 * 1024;

/// Why stored flows cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FlowsError {
    /// The folder is not there or cannot be read.
    #[error("folder of flows cannot be read: {}", .0.kind())]
    Folder(io::Error),
    /// There are too many.
    #[error("the folder holds more than {MAX_FLOWS} flows")]
    TooMany,
    /// One of them cannot be read.
    #[error("stored flow cannot be read: `{name}`: {reason}")]
    Flow {
        /// Its name.
        name: String,
        /// Why.
        reason: String,
    },
}

/// A stored flow, found in the listing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name: the path below the folder with `/` and without `.flow.json`.
    pub name: String,
    path: PathBuf,
}

/// A folder of stored flows.
#[derive(Clone, Debug)]
pub struct FlowFolder {
    root: PathBuf,
}

impl FlowFolder {
    /// The folder at `path`.
    ///
    /// # Errors
    /// It is not there, or no folder.
    pub fn open(path: &Path) -> Result<Self, FlowsError> {
        let root = fs::canonicalize(path).map_err(FlowsError::Folder)?;
        if !root.is_dir() {
            return Err(FlowsError::Folder(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Self { root })
    }

    /// All stored flows, by name. Links that lead out of the folder, links to folders, hidden files and folders, names
    /// that are not UTF-8, and what is no plain file are not among them.
    ///
    /// # Errors
    /// The folder cannot be read, or holds too many.
    pub fn list(&self) -> Result<Vec<Entry>, FlowsError> {
        let mut entries = Vec::new();
        self.walk(&self.root, "", MAX_LEVELS, &mut entries)?;
        entries.sort_unstable();
        Ok(entries)
    }

    fn walk(
        &self,
        folder: &Path,
        prefix: &str,
        levels: usize,
        entries: &mut Vec<Entry>,
    ) -> Result<(), FlowsError> {
        for found in fs::read_dir(folder).map_err(FlowsError::Folder)? {
            let found = found.map_err(FlowsError::Folder)?;
            let file_name = found.file_name();
            let Some(file_name) = file_name.to_str().filter(|name| !name.starts_with('.')) else {
                continue;
            };
            let kind = found.file_type().map_err(FlowsError::Folder)?;
            let path = found.path();
            if kind.is_dir() && levels > 1 {
                self.walk(&path, &format!("{prefix}{file_name}/"), levels - 1, entries)?;
            }
            let Some(stem) = file_name.strip_suffix(SUFFIX).filter(|stem| !stem.is_empty()) else {
                continue;
            };
            // What a link leads to is read under its real name, so nothing can be put in its place in between.
            let path = if kind.is_symlink() {
                match fs::canonicalize(&path) {
                    Ok(real) if real.starts_with(&self.root) => real,
                    _ => continue,
                }
            } else {
                path
            };
            if path.is_file() {
                entries.push(Entry { name: format!("{prefix}{stem}"), path });
            }
            if entries.len() > MAX_FLOWS {
                return Err(FlowsError::TooMany);
            }
        }
        Ok(())
    }
}

impl Entry {
    /// The text of the flow, without a byte-order mark.
    ///
    /// # Errors
    /// It is gone, too large, or no UTF-8.
    pub fn text(&self) -> Result<String, FlowsError> {
        let fail = |reason: String| FlowsError::Flow { name: self.name.clone(), reason };
        let file = File::open(&self.path).map_err(|error| fail(error.kind().to_string()))?;
        let mut bytes = Vec::new();
        file.take(MAX_BYTES + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| fail(error.kind().to_string()))?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(fail(format!("it is larger than {} MiB", MAX_BYTES / (1024 * 1024))));
        }
        let start = if bytes.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        String::from_utf8(bytes.split_off(start)).map_err(|_| fail("it is not UTF-8".to_owned()))
    }
}
