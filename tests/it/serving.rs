//! The HTTP server as its owner starts it: where it listens, whom it asks, and what its log holds.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};

use serde_json::{Value, json};

use crate::program::PATIENCE;
use crate::{folder, program};

const QUERY: &str = "xylophone";

/// A server that listens, and what it says.
struct Server {
    child: Child,
    stderr: BufReader<ChildStderr>,
    said: String,
    address: String,
}

impl Server {
    fn start(cwd: &Path, args: &[&str]) -> Self {
        let mut command = program::command(cwd);
        command.args([&["serve", "--docs", "docs"], args].concat()).current_dir(cwd);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let mut stderr = BufReader::new(child.stderr.take().expect("piped"));
        let mut said = String::new();
        let address = loop {
            let mut line = String::new();
            let n_bytes = stderr.read_line(&mut line).expect("UTF-8");
            said.push_str(&line);
            assert!(n_bytes > 0, "it ended: {said}");
            if let Some(url) = line.trim().strip_prefix("serving MCP at http://") {
                break url.trim_end_matches("/mcp").to_owned();
            }
        };
        Self { child, stderr, said, address }
    }

    /// Sends a request and gives the whole answer.
    fn send(&self, head: &str, body: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a limit");
        let (host, n_bytes) = (&self.address, body.len());
        let request = format!(
            "{head}\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {n_bytes}\r\n\r\n{body}"
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    fn search(&self) -> String {
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "docs_search", "arguments": { "query": QUERY },
        } });
        let head = "POST /mcp HTTP/1.1\r\nContent-Type: application/json\r\nX-Request-ID: mine-1";
        self.send(head, &call.to_string())
    }

    /// Ends the server and gives all that it said.
    fn finish(mut self) -> String {
        self.child.kill().expect("it runs");
        self.stderr.read_to_string(&mut self.said).expect("UTF-8");
        self.child.wait().expect("an end");
        self.said
    }
}

fn tree() -> tempfile::TempDir {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let page = format!("# Music\n\nThe {QUERY} is made of wood.\n");
    folder::make(fresh.path(), &json!([{ "path": "docs/a.md", "text": page }]));
    fresh
}

#[test]
fn the_log_holds_queries_only_when_asked_for() {
    let fresh = tree();
    for (flags, has_query, is_json) in [
        (&[][..], false, false),
        (&["--log-queries"], true, false),
        (&["--log-format", "json"], false, true),
        (&["--log-format", "json", "--log-queries"], true, true),
    ] {
        let http = ["--http", "127.0.0.1:0", "--insecure-no-auth"];
        let server = Server::start(fresh.path(), &[&http[..], flags].concat());
        let answer = server.search();
        assert!(answer.contains("wood") && answer.contains("mine-1"), "{flags:?}: {answer}");
        let said = server.finish();
        assert_eq!(said.contains(QUERY), has_query, "{flags:?}: {said}");
        let lines: Vec<&str> = said.lines().filter(|line| line.contains("mine-1")).collect();
        assert!(!lines.is_empty(), "{flags:?}: {said}");
        for line in lines {
            let value = serde_json::from_str::<Value>(line).ok();
            assert_eq!(value.is_some(), is_json, "{flags:?}: {line}");
            assert!(value.is_none_or(|value| value["request_id"] == "mine-1"), "{line}");
        }
    }
}

#[test]
fn settings_say_where_and_a_flag_says_whether() {
    let fresh = tree();
    folder::make(
        fresh.path(),
        &json!([{ "path": "botmesh-docs.toml", "text": "[http]\naddr = \"127.0.0.1:0\"\n[mcp]\nserver_card = false\n" }]),
    );
    let server = Server::start(fresh.path(), &["--http", "--insecure-no-auth"]);
    let card = server.send("GET /mcp/server-card HTTP/1.1", "");
    assert!(card.starts_with("HTTP/1.1 404"), "{card}");
    let page = server.send("GET /service/web/settings/mcp HTTP/1.1", "");
    assert!(page.starts_with("HTTP/1.1 404"), "no tokens, no page for them: {page}");
    server.finish();
    // Without the flag the same folder is served over the pipe.
    crate::docs_tools::DocsServer::start(fresh.path(), "docs").finish();
}

#[test]
fn whom_it_asks() {
    let fresh = tree();
    for (args, expected) in [
        (&["--http", "127.0.0.1:0"][..], "error: the HTTP server needs tokens"),
        (
            &["--http", "0.0.0.0:0", "--insecure-no-auth"],
            "error: `--insecure-no-auth` serves loopback only, not 0.0.0.0:0",
        ),
    ] {
        let mut command = program::command(fresh.path());
        let args = [&["serve", "--docs", "docs"], args].concat();
        let output = command.args(args).current_dir(fresh.path()).output().expect("it runs");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.starts_with(expected), "{said}");
    }
    // Without any token it may start, says so, and lets nobody in.
    let server = Server::start(fresh.path(), &["--http", "127.0.0.1:0", "--state", "st"]);
    assert!(server.search().starts_with("HTTP/1.1 401"));
    let said = server.finish();
    assert!(said.starts_with("warning: no token is accepted yet\n"), "{said}");
}
