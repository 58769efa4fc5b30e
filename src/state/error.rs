//! What can go wrong with a state folder, in words for its owner.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

/// Why the state cannot be used. Paths are as the user gave them.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The folder cannot be made or read.
    #[error("state folder cannot be used: `{}`: {reason}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        reason: io::Error,
    },
    /// The file in it is of another program, or damaged.
    #[error("state cannot be read: `{}`: {reason}", file.display())]
    Unusable {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A later version of this program wrote it.
    #[error("state is of a newer version: `{}`: format {found}, and this program knows {known}", file.display())]
    Newer {
        /// The file.
        file: PathBuf,
        /// Its format.
        found: i64,
        /// The newest format that this program reads.
        known: i64,
    },
    /// Another process held it for longer than anyone should.
    #[error("state is busy: `{}`: another process is writing it", file.display())]
    Busy {
        /// The file.
        file: PathBuf,
    },
    /// A token of this name is there and not revoked.
    #[error("a token of this name exists: `{name}`")]
    NameTaken {
        /// The name.
        name: String,
    },
    /// The name cannot be a token's.
    #[error(
        "a token's name has 1 to {} letters, digits or `-_.`, and begins with none of these signs",
        super::tokens::MAX_NAME_CHARS
    )]
    BadName,
    /// The system has no random numbers.
    #[error("no random numbers: {0}")]
    NoRandom(getrandom::Error),
    /// Anything else the database says.
    #[error("state cannot be read or written: `{}`: {reason}", file.display())]
    Database {
        /// The file.
        file: PathBuf,
        /// What the database says.
        reason: String,
    },
}

impl StateError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Folder { .. } => "name a folder that you may write to with `--state DIR`",
            Self::Unusable { .. } => {
                "restore a copy, or name another folder with `--state DIR` and make new tokens"
            }
            Self::Newer { .. } => "use the newer program, or another folder with `--state DIR`",
            Self::Busy { .. } => "try again when it is done",
            Self::NameTaken { .. } => {
                "revoke it first with `botmesh-docs token revoke`, or choose another name"
            }
            Self::BadName => "choose a name like `ci` or `ana-laptop`",
            Self::NoRandom(_) | Self::Database { .. } => "try again",
        }
    }

    /// An error of the database as one of ours.
    pub(super) fn of(file: &Path, error: &rusqlite::Error) -> Self {
        let file = file.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase) => Self::Unusable { file, reason: "it is no database" },
            Some(ErrorCode::DatabaseCorrupt) => Self::Unusable { file, reason: "it is damaged" },
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Self::Busy { file },
            _ => Self::Database { file, reason: error.to_string() },
        }
    }
}
