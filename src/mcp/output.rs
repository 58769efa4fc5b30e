//! The one owner of standard output in server mode.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::Serialize;

/// Writes messages, one a line and each in one piece, from any thread.
///
/// Once a write fails the reader is gone: nothing more is written, and nothing is said about it.
#[derive(Debug)]
pub(super) struct Output<W> {
    sink: Mutex<W>,
    broken: AtomicBool,
}

impl<W: Write> Output<W> {
    pub(super) fn new(sink: W) -> Self {
        Self { sink: Mutex::new(sink), broken: AtomicBool::new(false) }
    }

    /// Writes one message. False when nobody reads any more.
    pub(super) fn send(&self, message: &impl Serialize) -> bool {
        let mut line = match serde_json::to_vec(message) {
            Ok(line) => line,
            Err(error) => {
                tracing::error!(%error, "answer could not be written as JSON");
                return true;
            }
        };
        line.push(b'\n');
        if self.broken.load(Ordering::Relaxed) {
            return false;
        }
        if let Err(error) = self.write(&line) {
            self.broken.store(true, Ordering::Relaxed);
            tracing::debug!(%error, "standard output is closed");
            return false;
        }
        true
    }

    fn write(&self, line: &[u8]) -> io::Result<()> {
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.write_all(line)?;
        sink.flush()
    }
}
