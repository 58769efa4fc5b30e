//! Calls that wait for the worker, in the order in which they came.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::envelope::{Id, Reply};
use super::session::{Call, Step};

/// Most jobs that wait. Past it the reader stops reading until the worker has caught up.
const MAX_JOBS: usize = 1024;

/// Most bytes that waiting jobs hold together; a job alone may be larger.
const MAX_BYTES: usize = 64 * 1024 * 1024;

/// A part of a job.
#[derive(Debug)]
enum Part {
    /// Already answered.
    Ready(Reply),
    /// To be run.
    Call { call: Call, cancelled: AtomicBool },
}

/// A message, or a batch, and whether it has been answered.
#[derive(Debug)]
pub(super) struct Job {
    parts: Vec<Part>,
    is_batch: bool,
    answered: AtomicBool,
}

impl Job {
    /// The job for these steps; a `Cancel` is not part of it.
    pub(super) fn new(steps: Vec<Step>, is_batch: bool) -> Self {
        let parts = steps.into_iter().filter_map(|step| match step {
            Step::Silent | Step::Cancel(_) => None,
            Step::Reply(reply) => Some(Part::Ready(reply)),
            Step::Call(call) => Some(Part::Call { call, cancelled: AtomicBool::new(false) }),
        });
        Self { parts: parts.collect(), is_batch, answered: AtomicBool::new(false) }
    }

    /// Whether it holds a call.
    pub(super) fn has_calls(&self) -> bool {
        self.parts.iter().any(|part| matches!(part, Part::Call { .. }))
    }

    /// Whether its answers form one array.
    pub(super) fn is_batch(&self) -> bool {
        self.is_batch
    }

    /// Its answers, calls answered by `run`. Nothing for a call that was cancelled before or meanwhile, and nothing at
    /// all when someone else has answered the job meanwhile.
    pub(super) fn answers(&self, run: impl Fn(&Call) -> Reply) -> Vec<Reply> {
        let is_cancelled = |part: &Part| match part {
            Part::Ready(_) => false,
            Part::Call { cancelled, .. } => cancelled.load(Ordering::Acquire),
        };
        let mut replies = Vec::with_capacity(self.parts.len());
        for part in self.parts.iter().filter(|part| !is_cancelled(part)) {
            match part {
                Part::Ready(reply) => replies.push((part, reply.clone())),
                Part::Call { call, .. } => replies.push((part, run(call))),
            }
        }
        if self.answered.swap(true, Ordering::AcqRel) {
            return Vec::new();
        }
        let kept = replies.into_iter().filter(|(part, _)| !is_cancelled(part));
        kept.map(|(_, reply)| reply).collect()
    }

    fn cancel(&self, id: &Id) {
        for part in &self.parts {
            if let Part::Call { call, cancelled } = part
                && call.id() == id
            {
                cancelled.store(true, Ordering::Release);
            }
        }
    }

    fn n_bytes(&self) -> usize {
        let bytes = self.parts.iter().map(|part| match part {
            Part::Ready(_) => 0,
            Part::Call { call, .. } => call.n_bytes(),
        });
        bytes.sum()
    }
}

/// The queue between the reader and the worker.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    waiting: VecDeque<Arc<Job>>,
    n_bytes: usize,
    /// What the worker is at, kept so that it can be cancelled, or answered by someone else at the end.
    running: Option<Arc<Job>>,
    closed: bool,
}

impl Queue {
    /// Adds a job; waits while the queue is full.
    pub(super) fn push(&self, job: Job) {
        let n_bytes = job.n_bytes();
        let mut state = self.lock();
        while !state.waiting.is_empty()
            && (state.waiting.len() >= MAX_JOBS || state.n_bytes + n_bytes > MAX_BYTES)
        {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.n_bytes += n_bytes;
        state.waiting.push_back(Arc::new(job));
        self.changed.notify_all();
    }

    /// The next job, which is the running one until the next call; `None` at the end.
    pub(super) fn next(&self) -> Option<Arc<Job>> {
        let mut state = self.lock();
        state.running = None;
        loop {
            if let Some(job) = state.waiting.pop_front() {
                state.n_bytes -= job.n_bytes();
                state.running = Some(Arc::clone(&job));
                self.changed.notify_all();
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// No more jobs will be added.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Drops the answers of all calls with this id that are not sent yet.
    pub(super) fn cancel(&self, id: &Id) {
        let state = self.lock();
        for job in state.running.iter().chain(&state.waiting) {
            job.cancel(id);
        }
    }

    /// Takes every job that is not finished, the running one first.
    pub(super) fn abandon(&self) -> Vec<Arc<Job>> {
        let mut state = self.lock();
        state.n_bytes = 0;
        let running = state.running.take();
        running.into_iter().chain(std::mem::take(&mut state.waiting)).collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
