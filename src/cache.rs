//! Where the index of a docs folder is when nobody says: below the user's cache folder, one folder a tree.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use botmesh_index::digest::hex;
use botmesh_index::error::IndexError;
use sha2::{Digest as _, Sha256};

/// Hexadecimal digits that tell trees of one name apart.
const HASH_DIGITS: usize = 16;

/// The cache folder of the user, and how a message names it: messages hold no absolute path.
fn user_folder() -> Option<(PathBuf, &'static str)> {
    let set = |name: &str| env::var_os(name).filter(|value: &OsString| !value.is_empty());
    let home = || env::home_dir().filter(|home| home.is_absolute());
    // Relative values are to be ignored: XDG Base Directory Specification 0.8.
    let xdg = set("XDG_CACHE_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
    if let Some(folder) = xdg {
        return Some((folder, "$XDG_CACHE_HOME"));
    }
    if cfg!(windows) {
        return set("LOCALAPPDATA").map(|folder| (folder.into(), "%LOCALAPPDATA%"));
    }
    if cfg!(target_os = "macos") {
        return home().map(|home| (home.join("Library/Caches"), "~/Library/Caches"));
    }
    home().map(|home| (home.join(".cache"), "~/.cache"))
}

/// A folder for an index, and what to call it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexFolder {
    /// Where it is.
    pub path: PathBuf,
    /// How messages name it: as it was given, or from the user's cache folder on.
    pub shown: String,
    /// Whether the user named it.
    pub is_given: bool,
}

impl IndexFolder {
    /// The folder that the user named.
    pub fn given(path: &Path) -> Self {
        Self { path: path.to_owned(), shown: path.display().to_string(), is_given: true }
    }

    /// An error that names the folder as messages do.
    pub fn name_in(&self, error: IndexError) -> IndexError {
        let shown = PathBuf::from(&self.shown);
        match error {
            IndexError::Folder { reason, .. } => IndexError::Folder { folder: shown, reason },
            IndexError::NotAnIndex { name, .. } => IndexError::NotAnIndex { folder: shown, name },
            other => other,
        }
    }

    /// The folder for the tree at `root`; `None` when the user has no cache folder or the root is not there.
    pub fn of_tree(root: &Path) -> Option<Self> {
        let (folder, shown) = user_folder()?;
        let real = std::fs::canonicalize(root).ok()?;
        let hash = Sha256::digest(real.as_os_str().as_encoded_bytes());
        let hash = hex(&hash);
        // The folder's own name is mostly `docs`: the one above it says more.
        let parts = [real.parent().and_then(Path::file_name), real.file_name()];
        let parts: Vec<String> = parts.into_iter().flatten().map(plain).collect();
        let name = format!("{}-{}", parts.join("-"), &hash[..HASH_DIGITS]);
        Some(Self {
            path: folder.join("botmesh-docs").join(&name),
            shown: format!("{shown}/botmesh-docs/{name}"),
            is_given: false,
        })
    }
}

/// A name that every file system takes.
fn plain(name: &std::ffi::OsStr) -> String {
    const MAX_CHARS: usize = 40;
    let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    name.to_string_lossy().chars().map(plain).take(MAX_CHARS).collect()
}
