//! The stdio transport: a reader, a worker, and the end of both.
//!
//! The reader answers everything but tool calls at once, so that a client's `ping` or `initialize` never waits for a
//! call that waits for the first index. The worker runs the calls in the order in which they came. The thread that
//! called [`serve`] waits for the end: of input, which leaves [`TOOL_GRACE`] to the calls in flight, or of output,
//! which ends the server at once and quietly. A thread that is blocked in a read or in a tool then ends with the process.

use std::cell::Cell;
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use super::envelope::{Fault, Reply};
use super::frame::{Frame, Frames, MAX_LINE_CHARS};
use super::output::Output;
use super::queue::{Job, Queue};
use super::session::{Answer, Call, Received, Server, Session, Step, Transport};

/// How long after the end of input calls may wait for the first index. Small trees are indexed by then, so a client
/// that writes its calls and closes its end still gets real answers.
pub const TOOL_GRACE: Duration = Duration::from_secs(1);

/// How long after the end of input calls may run at all; the rest is then answered as `unavailable`.
const RUN_GRACE: Duration = Duration::from_millis(1_600);

/// When the server ends at the latest, counted from the end of input: within the two seconds that clients allow.
const LAST_GRACE: Duration = Duration::from_millis(1_850);

const READ_BYTES: usize = 64 * 1024;

/// Why the server ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Nothing more comes in.
    Input,
    /// All calls are answered.
    Work,
    /// Nobody reads what goes out.
    Output,
}

/// Serves one client until its input ends or its output is closed.
///
/// # Errors
/// A thread cannot be started.
pub fn serve(
    server: Server,
    input: impl Read + Send + 'static,
    output: impl Write + Send + 'static,
) -> io::Result<()> {
    let server = Arc::new(server);
    let output = Arc::new(Output::new(output));
    let queue = Arc::new(Queue::default());
    let (ends, ended) = mpsc::channel();
    spawn("mcp-worker", {
        let (server, queue) = (Arc::clone(&server), Arc::clone(&queue));
        let (output, ends) = (Arc::clone(&output), ends.clone());
        move || work(&server, &queue, &output, &ends)
    })?;
    spawn("mcp-reader", {
        let (server, queue, output) =
            (Arc::clone(&server), Arc::clone(&queue), Arc::clone(&output));
        move || read(&server, input, &queue, &output, &ends)
    })?;
    finish(&server, &queue, &output, &ended)
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(run).map(drop)
}

fn read<W: Write>(
    server: &Server,
    mut input: impl Read,
    queue: &Queue,
    output: &Output<W>,
    ends: &Sender<End>,
) {
    let mut session = Session::default();
    let mut frames = Frames::default();
    let mut buffer = vec![0; READ_BYTES];
    // Shared with the closure, which the loop must be able to ask between two calls.
    let is_read = Cell::new(true);
    let mut take = |frame: Frame| {
        if is_read.get() {
            is_read.set(accept(server, &mut session, frame, queue, output));
        }
    };
    while is_read.get() {
        match input.read(&mut buffer) {
            Ok(0) => break,
            Ok(n_bytes) => frames.push(&buffer[..n_bytes], &mut take),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                tracing::warn!(%error, "standard input cannot be read: taken as its end");
                break;
            }
        }
    }
    frames.finish(&mut take);
    queue.close();
    // A send fails when the server has already ended for another reason.
    let _ = ends.send(if is_read.get() { End::Input } else { End::Output });
}

/// Carries out one frame. False when nobody reads the answers.
fn accept<W: Write>(
    server: &Server,
    session: &mut Session,
    frame: Frame,
    queue: &Queue,
    output: &Output<W>,
) -> bool {
    let received = match frame {
        Frame::Line(line) => server.receive(session, Transport::Stdio, &line),
        Frame::TooLong => refused(Fault::too_long(MAX_LINE_CHARS)),
        Frame::NotUtf8 => refused(Fault::not_utf8()),
    };
    let (steps, is_batch) = match received {
        Received::One(step) => (vec![step], false),
        Received::Batch(steps) => (steps, true),
    };
    for step in &steps {
        if let Step::Cancel(id) = step {
            tracing::debug!(?id, "cancelled");
            queue.cancel(id);
        }
    }
    let job = Job::new(steps, is_batch);
    if job.has_calls() {
        queue.push(job);
        return true;
    }
    send(&job, output, Call::unavailable)
}

fn refused(fault: Fault) -> Received {
    Received::One(Step::Reply(Reply::refusal(None, fault)))
}

/// Sends a job's answers; `run` answers its calls. False when nobody reads them.
fn send<W: Write>(job: &Job, output: &Output<W>, run: impl Fn(&Call) -> Reply) -> bool {
    let replies = job.answers(run);
    if job.is_batch() && !replies.is_empty() {
        return output.send(&Answer::Batch(replies));
    }
    replies.iter().all(|reply| output.send(reply))
}

fn work<W: Write>(server: &Server, queue: &Queue, output: &Output<W>, ends: &Sender<End>) {
    while let Some(job) = queue.next() {
        if !send(&job, output, |call| call.run(server.context())) {
            let _ = ends.send(End::Output);
            return;
        }
    }
    let _ = ends.send(End::Work);
}

/// Waits for the end, then gives the calls in flight their time.
fn finish<W: Write + Send + 'static>(
    server: &Server,
    queue: &Queue,
    output: &Arc<Output<W>>,
    ended: &Receiver<End>,
) -> io::Result<()> {
    // Without a sender both threads are gone.
    if ended.recv() != Ok(End::Input) {
        server.context().closing.close();
        return Ok(());
    }
    let end_of_input = Instant::now();
    let until = |grace: Duration| (end_of_input + grace).saturating_duration_since(Instant::now());
    let is_over = |waited: Result<End, RecvTimeoutError>| waited != Err(RecvTimeoutError::Timeout);
    if is_over(ended.recv_timeout(until(TOOL_GRACE))) {
        return Ok(());
    }
    server.context().closing.close();
    if is_over(ended.recv_timeout(until(RUN_GRACE))) {
        return Ok(());
    }
    // The worker is in a tool, or in a write that nobody reads: what it has not answered is answered here, on a thread
    // of its own that may block in its turn.
    let jobs = queue.abandon();
    let (said, is_said) = mpsc::channel();
    let output = Arc::clone(output);
    spawn("mcp-last-words", move || {
        for job in jobs {
            send(&job, &output, Call::unavailable);
        }
        let _ = said.send(End::Work);
    })?;
    let _ = is_said.recv_timeout(until(LAST_GRACE));
    Ok(())
}

#[cfg(test)]
mod tests;
