//! The transport over in-memory pipes: what needs a tool that waits, and so no real one.

use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Write};
use std::thread::{self, JoinHandle};

use serde_json::Value;

use super::serve;
use crate::error::{ErrorCode, ToolError};
use crate::mcp::session::Server;
use crate::scope::Scope;
use crate::tools::{Context, Tool};

/// Waits until the server closes, as a search does whose index never comes.
static WAIT: Tool = Tool {
    name: "docs_wait",
    title: "Wait",
    description: "Waits.",
    input_schema: r#"{"type":"object"}"#,
    output_schema: r#"{"type":"object"}"#,
    scope: Scope::DocsRead,
    is_read_only: true,
    run: |context, _| match context.closing.wait_for(|| None::<()>) {
        Some(()) => unreachable!("there is nothing to find"),
        None => Err(ToolError::new(ErrorCode::Unavailable, "the index is not ready")),
    },
};

/// Never ends.
static HANG: Tool = Tool {
    name: "docs_hang",
    scope: Scope::DocsRead,
    run: |_, _| {
        loop {
            thread::park();
        }
    },
    ..WAIT
};

struct Client {
    input: Option<PipeWriter>,
    output: Option<BufReader<PipeReader>>,
    server: JoinHandle<io::Result<()>>,
}

impl Client {
    fn start() -> Self {
        let (from_client, input) = io::pipe().expect("a pipe");
        let (output, to_client) = io::pipe().expect("a pipe");
        let server = Server::with_tools(Context::default(), vec![&WAIT, &HANG]);
        let server = thread::spawn(move || serve(server, from_client, to_client));
        Self { input: Some(input), output: Some(BufReader::new(output)), server }
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("not closed yet");
        writeln!(input, "{line}").expect("the server reads");
    }

    fn call(&mut self, id: u32, tool: &str) {
        let params = format!(r#"{{"name":"{tool}"}}"#);
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#
        ));
    }

    fn ping(&mut self, id: u32) {
        self.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    }

    fn next(&mut self) -> Value {
        let mut line = String::new();
        let output = self.output.as_mut().expect("not closed yet");
        output.read_line(&mut line).expect("the server writes UTF-8");
        serde_json::from_str(&line).unwrap_or(Value::Null)
    }

    /// Ends the input and gives what is still answered, as `id:code` or `id:text`.
    fn end(mut self) -> Vec<String> {
        self.input = None;
        self.server.join().expect("no panic").expect("no error");
        // The hung threads still hold the pipe, so its end is not seen: read what is there.
        let mut seen = Vec::new();
        let mut output = self.output.take().expect("not closed yet");
        let mut bytes = output.fill_buf().expect("something was answered");
        let mut line = String::new();
        while bytes.read_line(&mut line).expect("UTF-8") > 0 {
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            let text = answer["result"]["content"][0]["text"].as_str().unwrap_or("no text");
            seen.push(format!("{}:{text}", answer["id"]));
            line.clear();
        }
        seen
    }
}

#[test]
fn a_ping_is_answered_while_a_call_waits() {
    let mut client = Client::start();
    client.call(1, "docs_wait");
    client.ping(2);
    assert_eq!(client.next()["id"], 2);
    assert_eq!(client.end(), ["1:the index is not ready"]);
}

#[test]
fn a_cancelled_call_is_not_answered_running_or_queued() {
    let mut client = Client::start();
    for id in 1..=3 {
        client.call(id, "docs_wait");
    }
    for id in [1, 3, 99] {
        let params = format!(r#"{{"requestId":{id}}}"#);
        client.send(&format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#
        ));
    }
    client.ping(4);
    assert_eq!(client.next()["id"], 4);
    assert_eq!(client.end(), ["2:the index is not ready"]);
}

#[test]
fn a_batch_waits_for_its_calls() {
    let mut client = Client::start();
    client.send(
        r#"[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"docs_wait"}},
            {"jsonrpc":"2.0","id":2,"method":"ping"}]"#
            .replace('\n', " ")
            .as_str(),
    );
    client.ping(3);
    assert_eq!(client.next()["id"], 3);
    client.input = None;
    let batch = client.next();
    assert_eq!((&batch[0]["id"], &batch[1]["id"]), (&1.into(), &2.into()));
}

#[test]
fn a_call_that_never_ends_is_answered_at_the_end() {
    let mut client = Client::start();
    client.call(1, "docs_hang");
    client.call(2, "docs_wait");
    let hint = "start the server again, then repeat the call";
    let expected = [("1", "docs_hang"), ("2", "docs_wait")]
        .map(|(id, tool)| format!("{id}:{tool} did not run: the server is shutting down\n{hint}"));
    assert_eq!(client.end(), expected);
}

#[test]
fn a_reader_that_goes_away_ends_the_server() {
    let mut client = Client::start();
    client.output = None;
    client.ping(1);
    client.server.join().expect("no panic").expect("no error");
}
