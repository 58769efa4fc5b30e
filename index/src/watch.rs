//! Says when to look at a docs folder again. The one file with a clock.
//!
//! Events of the file system only mark what may have changed; the tree, compared by content, is the truth. So a lost or
//! false event costs a look, never a wrong answer: the folder is looked at again now and then even when nothing comes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind};
use notify::{ErrorKind, Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::stamp::Stamp;
use crate::tree::has_md_extension;
use crate::update::Touched;

/// A save is several events, a few milliseconds apart: the docs are looked at when so long nothing more came.
pub const QUIET: Duration = Duration::from_millis(20);
/// And after this time at the latest, so that a checkout of thousands of files shows in steps.
pub const LONGEST_WAIT: Duration = Duration::from_millis(200);
/// How often the root itself is looked at: nobody tells when a folder above it is renamed.
const ROOT_EVERY: Duration = Duration::from_secs(1);
/// How often the whole tree is looked at although nothing came: some mounts send no events and do not say so.
const LOOK_AGAIN_EVERY: Duration = Duration::from_secs(30);
/// How often the tree is looked at when there are no events to wait for.
pub const POLL_EVERY: Duration = Duration::from_secs(1);
/// Looking at the tree without being told to may take one part in so many of the time.
const IDLE_SHARE: u32 = 20;
/// With more marked pages than this, stamps alone say which to read.
const MAX_TOUCHED: usize = 10_000;

/// How changes are noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Watch {
    /// By events of the file system, or by looking every second when there are none to be had.
    #[default]
    Events,
    /// By looking every second.
    Poll,
    /// Not at all.
    Off,
}

/// Why a folder cannot be watched by events.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The system gives no more watches.
    #[error("the system's limit of watches is reached")]
    Limit,
    /// The system gives none here.
    #[error("the system gives no watches: {0}")]
    Unavailable(String),
}

/// What the events have said since the last look.
#[derive(Debug, Default)]
struct Marks {
    /// Pages, below the root.
    touched: Touched,
    /// A folder came, went or was renamed, or events were lost: the watches are to be made anew.
    folders_moved: bool,
    /// When the first and the last of them came.
    span: Option<(Instant, Instant)>,
    /// The folders that are watched, below the root.
    folders: BTreeSet<String>,
}

/// Marks, and a bell for who waits for them.
#[derive(Debug, Default)]
struct Inbox {
    marks: Mutex<Marks>,
    came: Condvar,
}

/// Watches one docs folder.
#[derive(Debug)]
pub struct Watcher {
    root: PathBuf,
    by_events: bool,
    inbox: Arc<Inbox>,
    events: Option<Events>,
    /// What the root was when it was last looked at.
    root_seen: Option<RootStamp>,
    last_look: Instant,
    /// How long the last look took.
    look_took: Duration,
}

/// The system's watcher and the folders it watches.
#[derive(Debug)]
struct Events {
    watcher: RecommendedWatcher,
    real_root: PathBuf,
}

/// A folder may be replaced by another of its name.
type RootStamp = (PathBuf, u64);

impl Watcher {
    /// A watcher of `root`. With [`Watch::Events`] there are none until [`Self::follow`].
    pub fn new(root: &Path, watch: Watch) -> Self {
        Self {
            root: root.to_owned(),
            by_events: watch == Watch::Events,
            inbox: Arc::default(),
            events: None,
            root_seen: root_stamp(root),
            last_look: Instant::now(),
            look_took: Duration::ZERO,
        }
    }

    /// Watches just these folders (below the root, the root being the empty path). True when any is newly watched: what
    /// happened in it before is unknown, so the tree is to be looked at once more.
    ///
    /// # Errors
    /// There are no watches to be had: from now on [`Self::wait`] looks every second.
    pub fn follow(&mut self, folders: &[String]) -> Result<bool, WatchError> {
        if !self.by_events {
            return Ok(false);
        }
        let followed = self.try_follow(folders);
        if followed.is_err() {
            self.events = None;
            self.by_events = false;
        }
        followed
    }

    fn try_follow(&mut self, folders: &[String]) -> Result<bool, WatchError> {
        // Without its root there is nothing to watch; `wait` looks for it.
        let Ok(real_root) = fs::canonicalize(&self.root) else {
            self.events = None;
            return Ok(false);
        };
        let wanted: BTreeSet<String> = folders.iter().cloned().collect();
        let watched = self.inbox.lock().folders.clone();
        // A watch stays with a folder that is renamed, and goes with one that is replaced: start afresh.
        let is_kept = self.events.as_ref().is_some_and(|events| events.real_root == real_root)
            && watched.is_subset(&wanted);
        let (mut events, new) = match self.events.take() {
            Some(events) if is_kept => (events, wanted.difference(&watched).collect::<Vec<_>>()),
            _ => (Events::new(&self.inbox, real_root)?, wanted.iter().collect()),
        };
        // Known before they are watched: their first event may tell that they are gone.
        self.inbox.lock().folders.clone_from(&wanted);
        for folder in &new {
            match events.watch(folder) {
                // It went in the meantime; the look that follows finds that out.
                Err(WatchError::Unavailable(_)) if !events.real_root.join(folder).is_dir() => {}
                other => other?,
            }
        }
        self.events = Some(events);
        Ok(!new.is_empty())
    }

    /// Waits until the tree is worth a look and gives the pages that were marked.
    pub fn wait(&mut self) -> Touched {
        let touched = if self.by_events { self.wait_for_events() } else { self.wait_for_time() };
        self.last_look = Instant::now();
        self.root_seen = root_stamp(&self.root);
        touched
    }

    /// Says that the look that [`Self::wait`] called for is over, so that looks without events keep to their share.
    pub fn looked(&mut self) {
        self.look_took = self.last_look.elapsed();
    }

    fn wait_for_time(&mut self) -> Touched {
        std::thread::sleep(POLL_EVERY.max(self.look_took * IDLE_SHARE));
        Touched::new()
    }

    fn wait_for_events(&mut self) -> Touched {
        let mut marks = self.inbox.lock();
        loop {
            let now = Instant::now();
            if let Some((first, last)) = marks.span {
                let due = (last + QUIET).min(first + LONGEST_WAIT);
                let Some(left) = due.checked_duration_since(now).filter(|left| !left.is_zero())
                else {
                    break;
                };
                marks = self.inbox.wait(marks, left);
                continue;
            }
            let again = LOOK_AGAIN_EVERY.max(self.look_took * IDLE_SHARE);
            if now.duration_since(self.last_look) >= again {
                break;
            }
            if root_stamp(&self.root) != self.root_seen {
                marks.folders_moved = true;
                break;
            }
            marks = self.inbox.wait(marks, ROOT_EVERY);
        }
        marks.span = None;
        let touched = std::mem::take(&mut marks.touched);
        let folders_moved = std::mem::take(&mut marks.folders_moved);
        drop(marks);
        if folders_moved {
            self.events = None;
        }
        touched
    }
}

impl Events {
    fn new(inbox: &Arc<Inbox>, real_root: PathBuf) -> Result<Self, WatchError> {
        let (inbox, root) = (Arc::clone(inbox), real_root.clone());
        let watcher = notify::recommended_watcher(move |event| inbox.take(&root, event));
        Ok(Self { watcher: watcher.map_err(|error| why(&error))?, real_root })
    }

    #[cfg(target_os = "linux")]
    fn watch(&mut self, folder: &str) -> Result<(), WatchError> {
        // One by one: left-out folders such as node_modules would cost thousands of watches.
        let folder = self.real_root.join(folder);
        self.watcher.watch(&folder, RecursiveMode::NonRecursive).map_err(|error| why(&error))
    }

    #[cfg(not(target_os = "linux"))]
    fn watch(&mut self, folder: &str) -> Result<(), WatchError> {
        if !folder.is_empty() {
            return Ok(());
        }
        self.watcher.watch(&self.real_root, RecursiveMode::Recursive).map_err(|error| why(&error))
    }
}

impl Inbox {
    fn lock(&self) -> MutexGuard<'_, Marks> {
        self.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, marks: MutexGuard<'a, Marks>, at_most: Duration) -> MutexGuard<'a, Marks> {
        self.came.wait_timeout(marks, at_most).unwrap_or_else(PoisonError::into_inner).0
    }

    /// Marks what an event speaks of.
    fn take(&self, root: &Path, event: notify::Result<Event>) {
        let mut marks = self.lock();
        let is_marked = match event {
            Ok(event) if !event.need_rescan() => marks.note(root, &event),
            // Events were lost.
            _ => {
                marks.folders_moved = true;
                true
            }
        };
        if !is_marked {
            return;
        }
        let now = Instant::now();
        marks.span = Some((marks.span.map_or(now, |(first, _)| first), now));
        self.came.notify_one();
    }
}

impl Marks {
    /// Whether the event may be about a page.
    fn note(&mut self, root: &Path, event: &Event) -> bool {
        // Our own reading makes events too.
        let is_access = matches!(event.kind, EventKind::Access(kind)
            if kind != AccessKind::Close(AccessMode::Write));
        if is_access {
            return false;
        }
        let is_rename = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)));
        let is_folder_event = matches!(event.kind, EventKind::Create(kind) if kind != CreateKind::File)
            || matches!(event.kind, EventKind::Remove(kind) if kind != RemoveKind::File);
        let mut is_marked = false;
        for path in &event.paths {
            let Ok(below) = path.strip_prefix(root) else { continue };
            let below = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
            let is_folder = self.folders.contains(&below);
            if is_folder || is_folder_event || (is_rename && path.is_dir()) {
                is_marked = true;
                self.folders_moved |= is_folder_event || is_rename;
            }
            // Editors write beside a page before they put it in its place.
            if has_md_extension(Path::new(&below)) {
                is_marked = true;
                if self.touched.len() < MAX_TOUCHED {
                    self.touched.insert(below);
                }
            }
        }
        is_marked
    }
}

/// Which folder a name stands for just now.
fn root_stamp(root: &Path) -> Option<RootStamp> {
    let real = fs::canonicalize(root).ok()?;
    let metadata = fs::metadata(&real).ok().filter(fs::Metadata::is_dir)?;
    Some((real, Stamp::of(&metadata).file_number()))
}

fn why(error: &notify::Error) -> WatchError {
    // EMFILE: the limit of inotify instances of a user.
    const TOO_MANY_INSTANCES: i32 = 24;
    match &error.kind {
        ErrorKind::MaxFilesWatch => WatchError::Limit,
        ErrorKind::Io(io) if io.raw_os_error() == Some(TOO_MANY_INSTANCES) => WatchError::Limit,
        ErrorKind::Io(io) => WatchError::Unavailable(io.kind().to_string()),
        _ => WatchError::Unavailable("not supported here".to_owned()),
    }
}
