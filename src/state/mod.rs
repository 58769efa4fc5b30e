//! What the server keeps: tokens and runs, in one `SQLite` file below the folder that the user named.
//!
//! Several processes may have it open: a server and the `token` verbs. Writes are short transactions in a write-ahead log,
//! synced to the disk before they are reported as done. [`tokens`] says who may call, [`runs`] what was run.

mod error;
pub mod runs;
pub mod tokens;

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use botmesh_index::digest::hex;
use rusqlite::{Connection, OpenFlags, TransactionBehavior};

pub use error::StateError;
pub use runs::Runs;
pub use tokens::Tokens;

/// Names the state folder when no flag does.
pub const FOLDER_VARIABLE: &str = "BOTMESH_STATE_DIR";

const FILE: &str = "botmesh-docs.db";

/// Marks the file as ours: `bmds` in ASCII.
const APPLICATION_ID: i64 = 0x626d_6473;

/// Number of the tables' form. A file with a higher one is refused.
const FORMAT: i64 = 1;

/// Writers hold the file for milliseconds; whoever waits so long waits for a process that hangs.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

const TABLES: &str = "
CREATE TABLE tokens (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    scopes TEXT NOT NULL,
    hash BLOB NOT NULL,
    created INTEGER NOT NULL,
    last_used INTEGER,
    expires INTEGER,
    revoked INTEGER
) STRICT;
CREATE UNIQUE INDEX token_names ON tokens (name) WHERE revoked IS NULL;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    flow TEXT NOT NULL,
    digest TEXT NOT NULL,
    finished INTEGER NOT NULL,
    request TEXT NOT NULL,
    result TEXT NOT NULL
) STRICT;
CREATE INDEX run_flows ON runs (flow, number);
";

/// An open state folder.
#[derive(Debug)]
pub struct State {
    connection: Mutex<Connection>,
    file: PathBuf,
}

impl State {
    /// Opens the state in `folder`; makes it when it is not there.
    ///
    /// # Errors
    /// The folder cannot be made, or its file is damaged, of another program, or of a newer version.
    pub fn open(folder: &Path) -> Result<Self, StateError> {
        let unusable = |reason: io::Error| StateError::Folder { folder: folder.to_owned(), reason };
        make_private_folder(folder).map_err(unusable)?;
        let file = folder.join(FILE);
        make_private_file(&file).map_err(unusable)?;
        let connection = connect(&file)?;
        Ok(Self { connection: Mutex::new(connection), file })
    }

    /// The tokens.
    pub fn tokens(&self) -> Tokens<'_> {
        Tokens::of(self)
    }

    /// The recorded runs.
    pub fn runs(&self) -> Runs<'_> {
        Runs::of(self)
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, error: &rusqlite::Error) -> StateError {
        StateError::of(&self.file, error)
    }
}

fn connect(file: &Path) -> Result<Connection, StateError> {
    let fail = |error: rusqlite::Error| StateError::of(file, &error);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(fail)?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(fail)?;
    // Looks into the file before anything is written to it.
    let found = |connection: &Connection| -> Result<(i64, i64, i64), rusqlite::Error> {
        let number = |sql: &str| connection.query_row(sql, [], |row| row.get(0));
        Ok((
            number("SELECT count(*) FROM sqlite_schema")?,
            number("PRAGMA application_id")?,
            number("PRAGMA user_version")?,
        ))
    };
    let (n_tables, application, _) = found(&connection).map_err(fail)?;
    if n_tables > 0 && application != APPLICATION_ID {
        let reason = "another program wrote it";
        return Err(StateError::Unusable { file: file.to_owned(), reason });
    }
    connection.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
    // Two processes may find the file empty; one of them makes the tables.
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(fail)?;
    let (n_tables, _, format) = found(&transaction).map_err(fail)?;
    if n_tables == 0 {
        transaction.execute_batch(TABLES).map_err(fail)?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(fail)?;
        transaction.pragma_update(None, "user_version", FORMAT).map_err(fail)?;
    } else if format > FORMAT {
        return Err(StateError::Newer { file: file.to_owned(), found: format, known: FORMAT });
    }
    transaction.commit().map_err(fail)?;
    Ok(connection)
}

/// Makes a folder that only its owner may enter. One that is there stays as it is: the file in it is private anyway.
fn make_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Makes the file before the database does, so that it and the logs beside it, which take after it, are private.
fn make_private_file(file: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(false).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(file).map(drop)
}

/// So many random bytes, as hexadecimal digits.
fn random_hex<const N: usize>() -> Result<String, StateError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(StateError::NoRandom)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests;
