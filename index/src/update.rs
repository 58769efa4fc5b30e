//! Brings an index up to date with its tree: which pages are to be looked at, which of them are others now.
//!
//! Stamps only say where to look; a page is read again when its bytes have another hash.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use crate::error::{IndexError, Problem};
use crate::manifest::{Manifest, PageFacts, Rules, hash};
use crate::stamp::Stamp;
use crate::tree::{DocsTree, Scan};
use crate::writer::Index;

/// Fewer pages are read before threads for them would have started.
const MIN_PAGES_FOR_THREADS: usize = 64;

/// Told, from any thread, how many pages of how many are done: first that none is.
pub type Progress<'a> = dyn Fn(usize, usize) + Sync + 'a;

/// Paths of pages that are looked at whatever their stamps say.
pub type Touched = BTreeSet<String>;

/// How a tree differs from a manifest at first sight.
pub(crate) struct Comparison<'a> {
    tree: Option<&'a DocsTree>,
    scan: Scan,
    suspects: Vec<String>,
    removed: Vec<String>,
    /// The rules of reading changed: every page is another page.
    is_reread: bool,
}

/// What became of a page that was looked at.
enum Look {
    /// The same bytes; its stamp may be new.
    Same(Option<Stamp>),
    Changed(PageFacts),
    /// It is no page any more; why, unless it has simply gone.
    Gone(Option<Problem>),
}

/// What has become other.
#[derive(Clone, Debug, Default)]
pub struct Changes {
    /// Pages that were not in the index.
    pub added: usize,
    /// Pages with other content.
    pub changed: usize,
    /// Pages that are gone.
    pub removed: usize,
    /// Pages whose files were read.
    pub n_read: usize,
    /// All problems of the tree, also of pages that did not change, by path.
    pub problems: Vec<Problem>,
    /// The folders that hold the tree, below the root, the root itself first.
    pub folders: Vec<String>,
    /// Whether the manifest says anything new, such as the stamp of a page with the same content.
    pub(crate) touch_the_manifest: bool,
}

impl Changes {
    /// Whether any answer may be another than before.
    pub fn is_empty(&self) -> bool {
        self.added + self.changed + self.removed == 0
    }
}

/// What a manifest has to take in when the index has committed the pages.
pub(crate) struct Delta {
    rules: Option<Rules>,
    looks: Vec<(String, Look)>,
    removed: Vec<String>,
}

/// Compares a tree with a manifest by walking it and looking at stamps. Without a tree there are no pages.
pub(crate) fn compare<'a>(
    manifest: &Manifest,
    tree: Option<&'a DocsTree>,
    touched: &Touched,
) -> Comparison<'a> {
    let scan = tree.map(DocsTree::scan).unwrap_or_default();
    let is_reread = tree.is_some_and(|tree| !manifest.reads_like(tree));
    let is_known = |path: &&String| {
        let known = manifest.pages.get(*path).and_then(|page| page.stamp);
        !is_reread
            && known.is_some()
            && !touched.contains(*path)
            && known == tree.and_then(|tree| tree.stamp(path))
    };
    let suspects = scan.paths.iter().filter(|path| !is_known(path)).cloned().collect();
    let removed = manifest
        .pages
        .keys()
        .filter(|path| scan.paths.binary_search(path).is_err())
        .cloned()
        .collect();
    Comparison { tree, scan, suspects, removed, is_reread }
}

impl Comparison<'_> {
    /// Whether nothing has to be looked at.
    pub(crate) fn is_clean(&self) -> bool {
        self.suspects.is_empty() && self.removed.is_empty() && !self.is_reread
    }

    /// What there is to say when nothing has to be looked at.
    pub(crate) fn nothing(self, manifest: &Manifest) -> Changes {
        Changes {
            problems: in_order(self.scan.problems.into_iter().chain(manifest.problems())),
            folders: self.scan.folders,
            ..Changes::default()
        }
    }

    /// Reads the suspects with `threads` threads and puts into `index` what changed. The caller commits, and has the
    /// manifest take in what changed.
    ///
    /// `started` is a time before the comparison: what was written about then is looked at again next time.
    pub(crate) fn apply(
        self,
        manifest: &Manifest,
        index: &Index,
        started: SystemTime,
        threads: usize,
        progress: &Progress<'_>,
    ) -> Result<(Changes, Delta), IndexError> {
        let Self { tree, scan, suspects, removed, is_reread } = self;
        progress(0, suspects.len());
        for path in &removed {
            index.remove(path);
        }
        let look = |path: &String| -> Result<Look, IndexError> {
            let Some(tree) = tree else { return Ok(Look::Gone(None)) };
            let file = match tree.read(path) {
                Ok(Some(file)) => file,
                Ok(None) => return Ok(Look::Gone(None)),
                Err(problem) => return Ok(Look::Gone(Some(problem))),
            };
            let stamp = Some(file.stamp).filter(|stamp| stamp.has_settled(started));
            let sha256 = hash(&file.bytes);
            let known = manifest.pages.get(path);
            if known.is_some_and(|known| known.sha256 == sha256) && !is_reread {
                return Ok(Look::Same(stamp));
            }
            let (page, problems) = tree.parse(path, &file.bytes);
            if known.is_some() {
                index.put(&page)?;
            } else {
                index.add(&page)?;
            }
            let problems = problems.into_iter().map(|problem| (problem.code, problem.message));
            let n_sections = page.sections.len() as u32;
            Ok(Look::Changed(PageFacts { sha256, stamp, n_sections, problems: problems.collect() }))
        };
        let looks = in_parallel(&suspects, threads, progress, look)?;
        let mut changes = Changes {
            removed: removed.len(),
            n_read: suspects.len(),
            folders: scan.folders,
            touch_the_manifest: !removed.is_empty() || is_reread,
            ..Changes::default()
        };
        let mut problems = scan.problems;
        for (path, look) in &looks {
            let known = manifest.pages.get(path);
            match look {
                Look::Same(stamp) => {
                    changes.touch_the_manifest |= known.is_some_and(|known| known.stamp != *stamp);
                    continue;
                }
                Look::Changed(_) if known.is_some() => changes.changed += 1,
                Look::Changed(_) => changes.added += 1,
                Look::Gone(problem) => {
                    problems.extend(problem.clone());
                    if known.is_none() {
                        continue;
                    }
                    index.remove(path);
                    changes.removed += 1;
                }
            }
            changes.touch_the_manifest = true;
        }
        let rules = tree.map(|tree| tree.rules().clone());
        changes.touch_the_manifest |= rules.as_ref().is_some_and(|rules| *rules != manifest.rules);
        changes.problems = problems;
        Ok((changes, Delta { rules, looks, removed }))
    }
}

impl Manifest {
    /// Takes in what was put into the index, and completes the problems with those of all pages.
    pub(crate) fn absorb(&mut self, delta: Delta, changes: &mut Changes) {
        self.rules = delta.rules.unwrap_or_else(|| std::mem::take(&mut self.rules));
        for path in delta.removed {
            self.pages.remove(&path);
        }
        for (path, look) in delta.looks {
            match look {
                Look::Same(stamp) => {
                    if let Some(page) = self.pages.get_mut(&path) {
                        page.stamp = stamp;
                    }
                }
                Look::Changed(facts) => {
                    self.pages.insert(path, facts);
                }
                Look::Gone(_) => {
                    self.pages.remove(&path);
                }
            }
        }
        let of_the_walk = std::mem::take(&mut changes.problems);
        changes.problems = in_order(of_the_walk.into_iter().chain(self.problems()));
    }
}

fn in_order(problems: impl Iterator<Item = Problem>) -> Vec<Problem> {
    let mut problems: Vec<Problem> = problems.collect();
    problems.sort_unstable();
    problems.dedup();
    problems
}

/// Calls `work` on every path with `threads` threads; the results come in the order of the paths.
fn in_parallel<T: Send>(
    paths: &[String],
    threads: usize,
    progress: &Progress<'_>,
    work: impl Fn(&String) -> Result<T, IndexError> + Sync,
) -> Result<Vec<(String, T)>, IndexError> {
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let run = || -> Result<Vec<(usize, T)>, IndexError> {
        let mut results = Vec::new();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            let Some(path) = paths.get(i) else { return Ok(results) };
            results.push((i, work(path)?));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1, paths.len());
        }
    };
    let mut results = if threads <= 1 || paths.len() < MIN_PAGES_FOR_THREADS {
        run()?
    } else {
        let shares: Result<Vec<_>, IndexError> = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads.min(paths.len())).map(|_| scope.spawn(run)).collect();
            let join = |worker: thread::ScopedJoinHandle<'_, _>| {
                worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            workers.into_iter().map(join).collect()
        });
        shares?.into_iter().flatten().collect()
    };
    results.sort_unstable_by_key(|(i, _)| *i);
    Ok(results.into_iter().map(|(i, result)| (paths[i].clone(), result)).collect())
}
