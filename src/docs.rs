//! The docs that a process serves: which folder, the snapshot that follows it in the background, and what its pages'
//! authors should know.

use std::collections::BTreeSet;
use std::io::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;

use botmesh_index::error::{IndexError, Problem, ProblemCode};
use botmesh_index::live::Live;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::store::Stored;
use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::update::{Changes, Progress, Touched};
use botmesh_index::watch::{Watch, Watcher};

use crate::cache::IndexFolder;
use crate::diagnostics::StandardError;
use crate::error::{ErrorCode, ToolError};
use crate::tools::Closing;

/// More threads than this wait for the one that writes.
const MAX_THREADS: usize = 8;

/// A server lists at most this many problems at once; `reindex` lists all.
const MAX_PROBLEMS_AT_ONCE: usize = 20;

/// So many pages are read before the first answer; with more that may have changed, a written index answers meanwhile.
const MAX_FIRST_LOOK: usize = 256;

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

/// Which docs, and how they are kept up to date.
#[derive(Clone, Debug)]
pub struct Source {
    /// The docs folder.
    pub folder: PathBuf,
    /// Its rules.
    pub options: TreeOptions,
    /// A folder with a written index; `None` for the one in the user's cache folder, if it is there.
    pub index: Option<PathBuf>,
    /// How changes are noticed.
    pub watch: Watch,
}

impl Source {
    /// Where a written index is looked for.
    pub fn index_folder(&self) -> Option<IndexFolder> {
        match &self.index {
            Some(path) => Some(IndexFolder::given(path)),
            None => IndexFolder::of_tree(&self.folder),
        }
    }

    /// The docs with what a written index knows of them, which may be nothing. An index that cannot be used is reported.
    ///
    /// # Errors
    /// The docs folder is not there or its rules cannot be read.
    pub fn live(&self) -> Result<Live, IndexError> {
        open(&self.folder, &self.options)?;
        let Some(folder) = self.index_folder() else {
            return Live::new(&self.folder, &self.options);
        };
        match Stored::open(&folder.path) {
            Ok(Some(stored)) => return Ok(Live::from_stored(&self.folder, &self.options, stored)),
            Ok(None) if !folder.is_given => {}
            Ok(None) => {
                say("note", "no index there yet", &folder.shown, "the docs are read instead");
            }
            Err(error) => say("warning", "index is not used", &folder.shown, &error.reason()),
        }
        Live::new(&self.folder, &self.options)
    }
}

fn say(level: &str, what: &str, index: &str, why: &str) {
    let help = "write it with `botmesh-docs reindex`";
    let _ = writeln!(StandardError, "{level}: {what}: `{index}`: {why}\n  help: {help}");
}

type LastSnapshot = Result<Arc<Snapshot>, String>;

/// The docs as the tools see them: nothing until the first complete snapshot, then always the last one.
#[derive(Clone, Debug)]
pub struct DocsHandle {
    current: Arc<Mutex<Option<LastSnapshot>>>,
}

impl DocsHandle {
    /// Docs that are there already and stay as they are.
    pub fn ready(snapshot: Arc<Snapshot>) -> Self {
        Self { current: Arc::new(Mutex::new(Some(Ok(snapshot)))) }
    }

    /// Starts to index and follow docs in a thread of its own, and wakes whoever waits on `closing` for the first
    /// snapshot. The thread ends with the process.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn start(source: Source, closing: &Closing) -> io::Result<Self> {
        let handle = Self { current: Arc::default() };
        let (publisher, closing) = (handle.clone(), closing.clone());
        thread::Builder::new().name("docs-index".to_owned()).spawn(move || {
            let publish = |last: LastSnapshot| {
                *publisher.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(last);
                closing.wake();
            };
            let opened = catch_unwind(|| source.live());
            let opened = opened.unwrap_or_else(|_| Err(IndexError::Unusable(PANICKED.to_owned())));
            match opened {
                Ok(live) => follow(live, source.watch, &publish),
                Err(error) => publish(Err(cannot_index(&error.to_string()))),
            }
        })?;
        Ok(handle)
    }

    /// The last complete snapshot, or why there is none; `None` while the first one is made.
    pub fn peek(&self) -> Option<Result<Arc<Snapshot>, String>> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The last complete snapshot. Waits for the first one, as long as the server lives.
    ///
    /// # Errors
    /// `unavailable` while there is none yet, `internal` when the docs cannot be indexed.
    pub fn snapshot(&self, closing: &Closing) -> Result<Arc<Snapshot>, ToolError> {
        match closing.wait_for(|| self.peek()) {
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

const PANICKED: &str = "indexing failed unexpectedly";

fn cannot_index(reason: &str) -> String {
    let _ = writeln!(StandardError, "error: docs cannot be indexed: {reason}");
    reason.to_owned()
}

/// Publishes a first snapshot, and each that follows for as long as the process lives.
fn follow(mut live: Live, watch: Watch, publish: &(dyn Fn(LastSnapshot) + Sync)) {
    let mut watcher = Watcher::new(live.root(), watch);
    let mut last = live.snapshot().generation();
    let (mut refreshed, mut has_answers) = first_refresh(&mut live, publish);
    let (mut reported, mut folders) = (BTreeSet::new(), Vec::new());
    loop {
        match refreshed {
            Ok(changes) => {
                let now = live.snapshot().generation();
                if now != last || live.tidy().unwrap_or(false) || !has_answers {
                    tracing::info!(snapshot = ?live.snapshot(), ?changes, "docs are indexed");
                    publish(Ok(live.snapshot()));
                    (last, has_answers) = (now, true);
                }
                report_new(&changes.problems, &mut reported);
                folders = changes.folders;
            }
            Err(reason) if has_answers => {
                let help = "answers are from the docs as they were";
                let _ = writeln!(
                    StandardError,
                    "warning: docs cannot be indexed: {reason}\n  help: {help}"
                );
            }
            Err(reason) => return publish(Err(cannot_index(&reason))),
        }
        if watch == Watch::Off {
            return;
        }
        watcher.looked();
        let touched = match watcher.follow(&folders) {
            // What happened before the new watches is found by one more look.
            Ok(true) => Touched::new(),
            Ok(false) => watcher.wait(),
            Err(error) => {
                let help = "they are looked for every second instead, as with `--watch poll`";
                let _ = writeln!(
                    StandardError,
                    "warning: changes are not announced: {error}\n  help: {help}"
                );
                watcher.wait()
            }
        };
        refreshed = refresh(&mut live, &touched, &|_, _| ());
    }
}

/// The first comparison with the tree, and whether a written index answers already: it does while many pages are read.
fn first_refresh(
    live: &mut Live,
    publish: &(dyn Fn(LastSnapshot) + Sync),
) -> (Result<Changes, String>, bool) {
    let written = Some(live.snapshot()).filter(|snapshot| snapshot.generation() > 0);
    let has_answers = AtomicBool::new(false);
    let refreshed = refresh(live, &Touched::new(), &|done, all| {
        if let Some(written) = written.as_ref().filter(|_| done == 0 && all > MAX_FIRST_LOOK) {
            publish(Ok(Arc::clone(written)));
            has_answers.store(true, Ordering::Relaxed);
        }
    });
    (refreshed, has_answers.into_inner())
}

fn refresh(live: &mut Live, touched: &Touched, progress: &Progress<'_>) -> Result<Changes, String> {
    let started = SystemTime::now();
    let refresh = || live.refresh(touched, started, threads(), progress);
    match catch_unwind(AssertUnwindSafe(refresh)) {
        Ok(Ok(changes)) => Ok(changes),
        Ok(Err(error)) => Err(error.to_string()),
        Err(_) => Err(PANICKED.to_owned()),
    }
}

/// The docs as they are now, for a verb that answers once.
///
/// # Errors
/// The docs folder is not there, or the index library fails.
pub fn read(source: &Source, progress: &Progress<'_>) -> Result<Arc<Snapshot>, IndexError> {
    let mut live = source.live()?;
    live.refresh(&Touched::new(), SystemTime::now(), threads(), progress)?;
    Ok(live.snapshot())
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

/// What a server says about its docs: faults that it has not named yet, but not what the rules leave out.
fn report_new(problems: &[Problem], reported: &mut BTreeSet<Problem>) {
    let faults: BTreeSet<Problem> = problems
        .iter()
        .filter(|problem| problem.code != ProblemCode::ExcludedFolder)
        .cloned()
        .collect();
    let new: Vec<&Problem> = faults.difference(reported).collect();
    for problem in new.iter().take(MAX_PROBLEMS_AT_ONCE) {
        let _ = report(problem, &mut StandardError);
    }
    if let Some(n_more) = new.len().checked_sub(MAX_PROBLEMS_AT_ONCE).filter(|n| *n > 0) {
        let _ = writeln!(
            StandardError,
            "warning: {n_more} more problems\n  help: `botmesh-docs reindex` lists them all"
        );
    }
    *reported = faults;
}
