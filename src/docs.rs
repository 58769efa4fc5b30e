//! The docs that a process serves: which folder, its first snapshot in the background, and what its pages' authors
//! should know.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use botmesh_index::error::{IndexError, Problem, ProblemCode};
use botmesh_index::snapshot::Snapshot;
use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::writer;

use crate::diagnostics::StandardError;
use crate::error::{ErrorCode, ToolError};
use crate::tools::Closing;

/// Names the docs folder when no flag does; the second is its old name.
pub const FOLDER_VARIABLES: [&str; 2] = ["BOTMESH_DOCS_DIR", "BOTWA_DOCS_DIR"];

/// More threads than this wait for the one that writes.
const MAX_THREADS: usize = 8;

/// A server lists at most this many problems at its start; `reindex` lists all.
const MAX_PROBLEMS_AT_START: usize = 20;

/// The docs folder: the flag's, else the environment's. An empty variable is none.
pub fn folder(flag: Option<PathBuf>) -> Option<PathBuf> {
    let named = |name: &&str| std::env::var_os(name).filter(|value| !value.is_empty());
    flag.or_else(|| FOLDER_VARIABLES.iter().find_map(named).map(PathBuf::from))
}

/// Opens a docs folder.
///
/// # Errors
/// The folder is not there, or is no folder.
pub fn open(folder: &Path, options: &TreeOptions) -> Result<DocsTree, IndexError> {
    DocsTree::open(folder, options)
}

/// Threads to build an index with.
pub fn threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

type FirstSnapshot = Result<Arc<Snapshot>, String>;

/// The docs as the tools see them: nothing until the first complete snapshot, which is built in the background.
#[derive(Clone, Debug)]
pub struct DocsHandle {
    current: Arc<Mutex<Option<FirstSnapshot>>>,
}

impl DocsHandle {
    /// Docs that are there already.
    pub fn ready(snapshot: Snapshot) -> Self {
        Self { current: Arc::new(Mutex::new(Some(Ok(Arc::new(snapshot))))) }
    }

    /// Starts to index `tree` in a thread of its own, and wakes whoever waits on `closing` when it is done.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(tree: DocsTree, closing: &Closing) -> io::Result<Self> {
        let handle = Self { current: Arc::default() };
        let (current, closing) = (Arc::clone(&handle.current), closing.clone());
        thread::Builder::new().name("docs-index".to_owned()).spawn(move || {
            let built = std::panic::catch_unwind(|| writer::build(&tree, threads()));
            let first = match built {
                Ok(Ok((_, snapshot, problems))) => {
                    report_at_start(&problems);
                    tracing::info!(?snapshot, "docs are indexed");
                    Ok(Arc::new(snapshot))
                }
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("indexing failed unexpectedly".to_owned()),
            };
            if let Err(reason) = &first {
                let _ = writeln!(StandardError, "error: docs cannot be indexed: {reason}");
            }
            *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(first);
            closing.wake();
        })?;
        Ok(handle)
    }

    /// The last complete snapshot. Waits for the first one, as long as the server lives.
    ///
    /// # Errors
    /// `unavailable` while there is none yet, `internal` when the docs cannot be indexed.
    pub fn snapshot(&self, closing: &Closing) -> Result<Arc<Snapshot>, ToolError> {
        let look = || self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        match closing.wait_for(look) {
            Some(Ok(snapshot)) => Ok(snapshot),
            Some(Err(reason)) => {
                let message = format!("docs cannot be indexed: {reason}");
                Err(ToolError::new(ErrorCode::Internal, message))
            }
            None => Err(ToolError::new(ErrorCode::Unavailable, "the index is still being built")
                .with_hint("repeat the call in a moment")),
        }
    }
}

/// Writes a problem as users read it: `warning: what: where: why` and what to do about it.
///
/// # Errors
/// `out` cannot be written.
pub fn report(problem: &Problem, out: &mut dyn io::Write) -> io::Result<()> {
    let (level, what) = match problem.code {
        ProblemCode::NotUtf8 => ("warning", "page read with replacements"),
        ProblemCode::FrontMatter => ("warning", "front matter cannot be read"),
        ProblemCode::ExcludedFolder => ("note", "folder left out"),
        _ => ("warning", "page skipped"),
    };
    let why = problem
        .message
        .strip_prefix(what)
        .map_or(problem.message.as_str(), |why| why.strip_prefix(": ").unwrap_or(why));
    let path = if problem.path.is_empty() { "." } else { problem.path.as_str() };
    writeln!(out, "{level}: {what}: `{path}`: {why}\n  help: {}", problem.code.help())
}

/// What a server says about its docs: their faults, but not what the rules leave out.
fn report_at_start(problems: &[Problem]) {
    let faults: Vec<&Problem> =
        problems.iter().filter(|problem| problem.code != ProblemCode::ExcludedFolder).collect();
    for problem in faults.iter().take(MAX_PROBLEMS_AT_START) {
        let _ = report(problem, &mut StandardError);
    }
    if let Some(n_more) = faults.len().checked_sub(MAX_PROBLEMS_AT_START).filter(|n| *n > 0) {
        let _ = writeln!(
            StandardError,
            "warning: {n_more} more problems\n  help: `botmesh-docs reindex` lists them all"
        );
    }
}
