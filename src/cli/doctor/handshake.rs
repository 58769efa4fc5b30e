//! A session with this program as a client has it: started as a process, asked over its pipes, closed.

use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Check, DoctorArgs, Health};
use crate::tools::count;

/// The first answer may wait for the first index.
const FIRST_ANSWER: Duration = Duration::from_mins(1);
/// Clients take a server for hung that is still there so long after its input has ended.
const EXIT: Duration = Duration::from_secs(2);

pub(super) fn check(docs: &Path, args: &DoctorArgs) -> Check {
    match talk(docs, args) {
        Ok(message) => Check::new("server", Health::Fine, message),
        Err(reason) => Check::new("server", Health::Fault, reason)
            .with_help("start it by hand to see more: `botmesh-docs serve --docs DIR`"),
    }
}

fn talk(docs: &Path, args: &DoctorArgs) -> Result<String, String> {
    let unstarted = |error: std::io::Error| format!("cannot be started: {}", error.kind());
    let mut command = Command::new(std::env::current_exe().map_err(unstarted)?);
    command.arg("serve").arg("--docs").arg(docs).arg("--no-watch");
    for (flag, path) in [("--index", args.index.as_deref()), ("--config", args.tree.config.file())]
    {
        if let Some(path) = path {
            command.arg(flag).arg(path);
        }
    }
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Session::start(command.spawn().map_err(unstarted)?)?;
    let start = Instant::now();
    let hello =
        server.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "botmesh-docs doctor", "version": env!("CARGO_PKG_VERSION") },
    } }))?;
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let tools = server.ask(&json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list" }))?;
    let found =
        server.ask(&json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {
        "name": "docs_outline", "arguments": { "limit": 1 },
    } }))?;
    if found["isError"] == true {
        return Err(format!("docs_outline fails: {}", found["content"][0]["text"]));
    }
    let took = start.elapsed().as_secs_f64();
    server.close()?;
    let revision = hello["protocolVersion"].as_str().unwrap_or("no revision").to_owned();
    let n_tools = tools["tools"].as_array().map_or(0, Vec::len);
    let n_tools = count(n_tools, "tool");
    Ok(format!(
        "speaks MCP {revision}, offers {n_tools}, answers from the docs, in {took:.2} s, and ends in time"
    ))
}

/// A running server.
struct Session {
    server: Child,
    lines: Receiver<String>,
}

impl Session {
    fn start(mut server: Child) -> Result<Self, String> {
        let output = server.stdout.take().ok_or("it has no output")?;
        let (seen, lines) = mpsc::channel();
        thread::spawn(move || read_lines(output, &seen));
        Ok(Self { server, lines })
    }

    fn send(&mut self, message: &Value) -> Result<(), String> {
        let input = self.server.stdin.as_mut().ok_or("its input is closed")?;
        writeln!(input, "{message}").map_err(|error| format!("does not read: {}", error.kind()))
    }

    /// Sends a request and gives the result in its answer.
    fn ask(&mut self, request: &Value) -> Result<Value, String> {
        self.send(request)?;
        let method = &request["method"];
        let line = self
            .lines
            .recv_timeout(FIRST_ANSWER)
            .map_err(|_| format!("does not answer {method}"))?;
        let mut answer: Value = serde_json::from_str(&line)
            .map_err(|_| format!("answers {method} with something that is not JSON"))?;
        if answer["id"] != request["id"] || !answer["result"].is_object() {
            return Err(format!("answers {method} with {answer}"));
        }
        Ok(answer["result"].take())
    }

    /// Closes its input and waits for its end.
    fn close(mut self) -> Result<(), String> {
        drop(self.server.stdin.take());
        let closed = Instant::now();
        // The reader ends with the output of the server, which ends with the server.
        if let Ok(line) = self.lines.recv_timeout(EXIT) {
            return Err(format!("says without being asked: {line}"));
        }
        let status = self.server.try_wait().map_err(|error| error.kind().to_string())?;
        match status
            .or_else(|| if closed.elapsed() < EXIT { self.server.wait().ok() } else { None })
        {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("ends with {status}")),
            None => Err("does not end when its input does".to_owned()),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // One that has ended is not there to be killed.
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn read_lines(output: impl Read, seen: &mpsc::Sender<String>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        if seen.send(line).is_err() {
            return;
        }
    }
}
