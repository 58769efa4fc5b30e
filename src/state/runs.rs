//! Runs of stored flows: what was run, with what, and what came of it.

use rusqlite::{OptionalExtension as _, Row, params};
use serde_json::Value;

use super::{State, StateError, random_hex};
use crate::moment::Moment;

/// So many runs are kept; the oldest go first. A run is a few kilobytes, so the file stays below a hundred megabytes.
pub const MAX_RUNS: u32 = 10_000;

const ID_BYTES: usize = 8;

/// A finished run, about to be recorded.
#[derive(Clone, Copy, Debug)]
pub struct NewRun<'a> {
    /// Name of the stored flow.
    pub flow: &'a str,
    /// Digest of its document at the time.
    pub digest: &'a str,
    /// When it ended.
    pub finished: Moment,
    /// What it was given.
    pub request: &'a Value,
    /// What came of it.
    pub result: &'a Value,
}

/// What a list says of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// Its number: later runs have higher ones.
    pub number: u64,
    /// Its id.
    pub id: String,
    /// Name of the stored flow.
    pub flow: String,
    /// Digest of its document at the time.
    pub digest: String,
    /// When it ended.
    pub finished: Moment,
    /// How it ended: `ended`, `waiting`, `handed-off`, `step-limit` or `subflow-missing`.
    pub status: String,
}

/// A recorded run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// What a list says of it.
    pub summary: RunSummary,
    /// What it was given.
    pub request: Value,
    /// What came of it.
    pub result: Value,
}

const COLUMNS: &str = "number, id, flow, digest, finished, result ->> 'status'";

/// The runs of a state folder.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'s> {
    state: &'s State,
}

impl<'s> Runs<'s> {
    pub(super) fn of(state: &'s State) -> Self {
        Self { state }
    }

    /// Records a run and gives its id. When this returns, the run is on the disk. Runs beyond [`MAX_RUNS`] are dropped.
    ///
    /// # Errors
    /// The state cannot be written.
    pub fn record(&self, run: NewRun<'_>) -> Result<String, StateError> {
        let id = format!("run_{}", random_hex::<ID_BYTES>()?);
        let (request, result) = (run.request.to_string(), run.result.to_string());
        let mut connection = self.state.connection();
        let mut write = || -> Result<(), rusqlite::Error> {
            let transaction = connection.transaction()?;
            transaction.execute(
                "INSERT INTO runs (id, flow, digest, finished, request, result) \
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![id, run.flow, run.digest, run.finished.seconds, request, result],
            )?;
            transaction.execute(
                "DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - ?1",
                [MAX_RUNS],
            )?;
            transaction.commit()
        };
        write().map_err(|error| self.state.fail(&error))?;
        Ok(id)
    }

    /// The run with this id.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn get(&self, id: &str) -> Result<Option<Run>, StateError> {
        let select = format!("SELECT {COLUMNS}, request, result FROM runs WHERE id = ?1");
        let run = |row: &Row<'_>| -> rusqlite::Result<Run> {
            let value = |at| -> rusqlite::Result<Value> {
                let text: String = row.get(at)?;
                serde_json::from_str(&text).map_err(|error| {
                    rusqlite::Error::FromSqlConversionFailure(
                        at,
                        rusqlite::types::Type::Text,
                        error.into(),
                    )
                })
            };
            Ok(Run { summary: summary(row)?, request: value(6)?, result: value(7)? })
        };
        let connection = self.state.connection();
        connection.query_row(&select, [id], run).optional().map_err(|error| self.state.fail(&error))
    }

    /// The latest runs first: of one flow or of all, below a number or from the top, at most `limit`.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn list(
        &self,
        flow: Option<&str>,
        below: Option<u64>,
        limit: usize,
    ) -> Result<Vec<RunSummary>, StateError> {
        let select = format!(
            "SELECT {COLUMNS} FROM runs WHERE (?1 IS NULL OR flow = ?1) AND (?2 IS NULL OR number < ?2) \
            ORDER BY number DESC LIMIT ?3"
        );
        let below = below.map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let connection = self.state.connection();
        let read = || -> Result<Vec<RunSummary>, rusqlite::Error> {
            let mut statement = connection.prepare_cached(&select)?;
            statement.query_map(params![flow, below, limit], summary)?.collect()
        };
        read().map_err(|error| self.state.fail(&error))
    }
}

fn summary(row: &Row<'_>) -> rusqlite::Result<RunSummary> {
    let number: i64 = row.get(0)?;
    Ok(RunSummary {
        number: u64::try_from(number).unwrap_or_default(),
        id: row.get(1)?,
        flow: row.get(2)?,
        digest: row.get(3)?,
        finished: Moment { seconds: row.get(4)? },
        status: row.get::<_, Option<String>>(5)?.unwrap_or_default(),
    })
}
