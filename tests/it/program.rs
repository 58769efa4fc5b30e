//! The real program over its real pipes: start it, write lines, wait for answers, close, look at the exit.
//!
//! Every answer is checked on the way in: it must be one line of JSON and satisfy the schema of its revision. Nothing
//! here sleeps; a wait is for a line or for the end of a pipe, with a generous limit.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::schemas::Conversation;

/// Longest wait for anything that has no limit of its own.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// The program under test.
pub(crate) const BINARY: &str = env!("CARGO_BIN_EXE_botmesh-docs");

/// A command for the program that nothing of this machine's settings reaches: its caches go below `home`.
pub(crate) fn command(home: &Path) -> Command {
    command_through(&[], home)
}

/// The same, started by another program that takes a command line at its end.
pub(crate) fn command_through(prefix: &[&str], home: &Path) -> Command {
    let mut words = prefix.iter().chain([&BINARY]);
    let mut command = Command::new(words.next().expect("there is the program itself"));
    command.args(words);
    for name in [
        "BOTMESH_DOCS_DIR",
        "BOTWA_DOCS_DIR",
        "BOTMESH_STATE_DIR",
        "RUST_LOG",
        "RUST_BACKTRACE",
        "COLUMNS",
        "NO_COLOR",
        "CLICOLOR_FORCE",
    ] {
        command.env_remove(name);
    }
    command.env("HOME", home).env("XDG_CACHE_HOME", home.join("cache"));
    command
}

/// What the thread at the program's standard output is to read. When the asker is gone it closes the pipe.
enum Ask {
    Line,
    Everything,
}

/// A running program.
pub(crate) struct Program {
    child: Child,
    stdin: Option<ChildStdin>,
    asks: Option<Sender<Ask>>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<String>,
    stderr_seen: String,
    unclaimed: Vec<Value>,
    conversation: Conversation,
    _home: Option<TempDir>,
}

impl Program {
    /// Starts the program in the folder `cwd`.
    pub(crate) fn start<A: AsRef<OsStr>>(cwd: &Path, args: &[A], env: &[(String, String)]) -> Self {
        let home = tempfile::tempdir().expect("a temporary folder");
        let mut command = command(home.path());
        command.args(args).envs(env.iter().cloned());
        Self::spawn_with(command, cwd, Some(home))
    }

    /// Starts a command made with [`command`] in the folder `cwd`.
    pub(crate) fn spawn(command: Command, cwd: &Path) -> Self {
        Self::spawn_with(command, cwd, None)
    }

    fn spawn_with(mut command: Command, cwd: &Path, home: Option<TempDir>) -> Self {
        let mut child = command
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let (asks, asked) = mpsc::channel();
        let (line_seen, lines) = mpsc::channel();
        let stdout = child.stdout.take().expect("piped");
        thread::spawn(move || read_stdout(stdout, &asked, &line_seen));
        let (text_seen, stderr) = mpsc::channel();
        let pipe = child.stderr.take().expect("piped");
        thread::spawn(move || read_stderr(pipe, &text_seen));
        Self {
            stdin: child.stdin.take(),
            child,
            asks: Some(asks),
            lines,
            stderr,
            stderr_seen: String::new(),
            unclaimed: Vec::new(),
            conversation: Conversation::default(),
            _home: home,
        }
    }

    /// Writes one line. A program that no longer reads is no fault here: its answers or its exit tell.
    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Writes bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.note(bytes);
        self.write(bytes);
    }

    /// Notes what is about to be written, in whole lines.
    pub(crate) fn note(&mut self, bytes: &[u8]) {
        self.conversation.sent(bytes);
    }

    /// Writes bytes that were noted before, and need not be whole lines.
    pub(crate) fn write(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("standard input is open");
        let _ = stdin.write_all(bytes).and_then(|()| stdin.flush());
    }

    /// Reads answers from now on, so that many can be asked for before one is looked at.
    pub(crate) fn read_on(&mut self) {
        if let Some(asks) = &self.asks {
            let _ = asks.send(Ask::Everything);
        }
    }

    /// The next answer, in the order of their coming; `None` when the program has closed its end.
    pub(crate) fn next(&mut self, within: Duration) -> Result<Option<Value>, String> {
        if !self.unclaimed.is_empty() {
            return Ok(Some(self.unclaimed.remove(0)));
        }
        self.receive(within)
    }

    /// The answer under `id`, whatever comes before it.
    pub(crate) fn expect_id(&mut self, id: &Value, within: Duration) -> Result<Value, String> {
        let deadline = Instant::now() + within;
        let mut seen = std::mem::take(&mut self.unclaimed);
        loop {
            if let Some(position) = seen.iter().position(|answer| answer.get("id") == Some(id)) {
                let answer = seen.remove(position);
                self.unclaimed = seen;
                return Ok(answer);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            match self.receive(left)? {
                Some(answer) => seen.push(answer),
                None => return Err(format!("no answer under id {id}: the output has ended")),
            }
        }
    }

    /// Sends a request and gives its answer.
    pub(crate) fn ask(&mut self, request: &Value) -> Value {
        self.send(&request.to_string());
        self.expect_id(&request["id"], PATIENCE)
            .unwrap_or_else(|fault| panic!("{request}: {fault}"))
    }

    fn receive(&mut self, within: Duration) -> Result<Option<Value>, String> {
        if let Some(asks) = &self.asks {
            let _ = asks.send(Ask::Line);
        }
        let line = match self.lines.recv_timeout(within) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Err(format!("no answer within {within:?}")),
            Err(RecvTimeoutError::Disconnected) => return Ok(None),
        };
        let text = String::from_utf8_lossy(&line);
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(format!("the last line has no line feed: {text}"));
        };
        let answer: Value = serde_json::from_slice(line)
            .map_err(|error| format!("a line of standard output is not JSON: {error}: {text}"))?;
        self.conversation.check(&answer)?;
        Ok(Some(answer))
    }

    /// Closes the program's standard input.
    pub(crate) fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// Stops reading: from here on the program writes into a broken pipe.
    pub(crate) fn close_stdout(&mut self) {
        self.asks = None;
    }

    /// All further answers, to the end of output.
    pub(crate) fn rest(&mut self, within: Duration) -> Result<Vec<Value>, String> {
        let deadline = Instant::now() + within;
        self.read_on();
        let mut answers = std::mem::take(&mut self.unclaimed);
        while let Some(answer) = self.receive(deadline.saturating_duration_since(Instant::now()))? {
            answers.push(answer);
        }
        Ok(answers)
    }

    /// Waits for the exit.
    pub(crate) fn expect_exit(&mut self, within: Duration) -> Result<ExitStatus, String> {
        let deadline = Instant::now() + within;
        loop {
            match self.stderr.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(text) => self.stderr_seen.push_str(&text),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => return Err(format!("no exit within {within:?}")),
            }
        }
        self.child.wait().map_err(|error| error.to_string())
    }

    /// What the program has said on standard error; all of it after its exit.
    pub(crate) fn stderr(&mut self) -> &str {
        self.stderr_seen.extend(self.stderr.try_iter());
        &self.stderr_seen
    }

    /// Ends the session as a client does; the exit must be clean, and nothing may be left unread.
    pub(crate) fn finish(mut self) -> String {
        self.close_stdin();
        let rest = self.rest(PATIENCE).expect("clean output to the end");
        assert_eq!(rest, Vec::<Value>::new(), "answers that nobody waited for");
        let status = self.expect_exit(PATIENCE).expect("an exit");
        let stderr = self.stderr().to_owned();
        assert!(status.success(), "{status}: {stderr}");
        stderr
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Ends a program that a failed test leaves behind; one that has ended is not there to be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_stdout(pipe: impl Read, asked: &Receiver<Ask>, seen: &Sender<Vec<u8>>) {
    let mut pipe = BufReader::new(pipe);
    let mut next_line = || {
        let mut line = Vec::new();
        let is_line = pipe.read_until(b'\n', &mut line).is_ok_and(|n_bytes| n_bytes > 0);
        is_line && seen.send(line).is_ok()
    };
    while let Ok(ask) = asked.recv() {
        match ask {
            Ask::Line if next_line() => {}
            Ask::Everything if next_line() => while next_line() {},
            _ => return,
        }
    }
}

fn read_stderr(mut pipe: impl Read, seen: &Sender<String>) {
    let mut bytes = [0; 4096];
    while let Ok(n_bytes) = pipe.read(&mut bytes)
        && n_bytes > 0
    {
        let _ = seen.send(String::from_utf8_lossy(&bytes[..n_bytes]).into_owned());
    }
}
