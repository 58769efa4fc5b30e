//! What can go wrong with a tree or an index. A bad page is never an error: it is a [`Problem`].

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Why a tree or an index cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The docs root is not there, or is no folder.
    #[error("docs folder not found: `{}`", .0.display())]
    RootNotFound(PathBuf),
    /// The docs root is a file.
    #[error("not a folder: `{}`", .0.display())]
    RootNotAFolder(PathBuf),
    /// A glob of `--include`, `--exclude` or `--path` cannot be read.
    #[error("bad glob `{glob}`: {reason}")]
    BadGlob {
        /// As given.
        glob: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The index folder cannot be made or written.
    #[error("index folder cannot be written: `{}`: {}", folder.display(), reason.kind())]
    Folder {
        /// As given.
        folder: PathBuf,
        /// What the system says.
        #[source]
        reason: std::io::Error,
    },
    /// The folder given for an index holds something else.
    #[error("folder holds something else than an index: `{}`: `{name}`", folder.display())]
    NotAnIndex {
        /// As given.
        folder: PathBuf,
        /// Something in it.
        name: String,
    },
    /// Another process writes this index.
    #[error("another process is writing this index{}", by.map(|id| format!(": process {id}")).unwrap_or_default())]
    Locked {
        /// Its number, when it has said it.
        by: Option<u32>,
    },
    /// The index was written by another version, or is damaged.
    #[error("index is not usable: {0}")]
    Unusable(String),
    /// The index library failed.
    #[error("index: {0}")]
    Engine(#[from] tantivy::TantivyError),
}

impl IndexError {
    /// Why, without what: the words after `index is not usable`.
    pub fn reason(&self) -> String {
        match self {
            Self::Unusable(why) => why.clone(),
            other => other.to_string(),
        }
    }

    /// What the system refused, when it was the system.
    pub(crate) fn io_kind(&self) -> Option<std::io::ErrorKind> {
        use tantivy::directory::error::{LockError, OpenReadError, OpenWriteError};
        let Self::Engine(engine) = self else { return None };
        match engine {
            tantivy::TantivyError::IoError(error)
            | tantivy::TantivyError::OpenReadError(OpenReadError::IoError {
                io_error: error,
                ..
            })
            | tantivy::TantivyError::OpenWriteError(OpenWriteError::IoError {
                io_error: error,
                ..
            })
            | tantivy::TantivyError::LockFailure(LockError::IoError(error), _) => {
                Some(error.kind())
            }
            _ => None,
        }
    }
}

/// Something a page's author or the operator should know. The page is indexed as well as it can be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    /// Path below the docs root, `/` between parts.
    pub path: String,
    /// Stable name of the kind of problem.
    pub code: ProblemCode,
    /// What is wrong, in a few words.
    pub message: String,
}

/// The kinds of [`Problem`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ProblemCode {
    /// Bytes that are not UTF-8 were replaced.
    NotUtf8,
    /// The front matter cannot be read; its text is not used.
    FrontMatter,
    /// The page is over the size limit and was left out.
    TooLarge,
    /// A link, pipe, device or folder that is called like a page was left out.
    NotAFile,
    /// The file or folder cannot be read.
    Unreadable,
    /// The name is not UTF-8, so no link or query could name it.
    NameNotUtf8,
    /// A folder of generated output or internal notes was left out.
    ExcludedFolder,
}

impl ProblemCode {
    /// The name users see.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NotUtf8 => "not-utf8",
            Self::FrontMatter => "front-matter",
            Self::TooLarge => "too-large",
            Self::NotAFile => "not-a-file",
            Self::Unreadable => "unreadable",
            Self::NameNotUtf8 => "name-not-utf8",
            Self::ExcludedFolder => "excluded-folder",
        }
    }

    /// What to do about it.
    pub fn help(self) -> &'static str {
        match self {
            Self::NotUtf8 => "save the page as UTF-8",
            Self::FrontMatter => "correct the block between the `---` lines",
            Self::TooLarge => "split the page, or leave it out with `--exclude`",
            Self::NotAFile => "put a regular file in its place",
            Self::Unreadable => "check its permissions",
            Self::NameNotUtf8 => "rename the file",
            Self::ExcludedFolder => "bring it back with `--include`",
        }
    }
}
