//! What a `docs_search` over a pipe to the real server adds to the search itself.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{ROUNDS, at};

pub(crate) fn compare(docs: &Path, queries: &[String], ours: &[Duration]) {
    let mut server = Command::new(env!("CARGO_BIN_EXE_botmesh-docs"))
        .arg("--docs")
        .arg(docs)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut input = server.stdin.take().unwrap();
    let mut output = BufReader::new(server.stdout.take().unwrap());
    let mut ask = |id: usize, method: &str, params: Value| {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let line = format!("{message}\n");
        let start = Instant::now();
        input.write_all(line.as_bytes()).unwrap();
        let mut answer = String::new();
        output.read_line(&mut answer).unwrap();
        (start.elapsed(), answer)
    };
    let client = json!({ "name": "bench", "version": "1" });
    let hello =
        json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client });
    ask(0, "initialize", hello);
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        for (i, query) in queries.iter().enumerate() {
            let call = json!({ "name": "docs_search", "arguments": { "query": query } });
            let (time, answer) = ask(1 + round * queries.len() + i, "tools/call", call);
            assert!(answer.contains("\"result\""), "{answer}");
            if round > 0 {
                times.push(time);
            }
        }
    }
    drop(input);
    server.wait().unwrap();
    times.sort_unstable();
    for (label, share) in [("p50", 50), ("p99", 99)] {
        let (ours, served) = (at(ours, share), at(&times, share));
        println!(
            "  over a pipe {label}: {served:.3} ms, {:.3} ms more than in process",
            served - ours
        );
    }
}
