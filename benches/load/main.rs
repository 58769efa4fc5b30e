//! A team on one server: 64 connections in a closed loop, against the same search served by Node, the TypeScript SDK and
//! `MiniSearch` over the same sections, in one run.
//!
//! `cargo bench --bench load -- [SECONDS]`; the M corpus beside the project is used, and a missing one or a missing Node
//! is said to be skipped. The load, the server and the peer share the machine, so only ratios tell.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]

mod client;
mod peer;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use client::{Round, load};
use serde_json::Value;

const CONNECTIONS: usize = 64;
const SECONDS: u64 = 30;
const ROUNDS: usize = 5;

fn main() {
    let seconds = std::env::args().skip(1).find_map(|arg| arg.parse().ok()).unwrap_or(SECONDS);
    let time = Duration::from_secs(seconds);
    let shared = std::env::var_os("BOTMESH_SHARED")
        .map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let (docs, queries) = (shared.join("corpora/kubernetes/docs"), shared.join("eval/dev.jsonl"));
    if !docs.is_dir() || !queries.is_file() {
        return println!("skipped, its corpus is not beside the project");
    }
    let queries = read_queries(&queries);
    println!("{CONNECTIONS} connections, {} queries, {seconds} s a round", queries.len());
    let (server, port) = start(&docs);
    load(port, &queries, CONNECTIONS, Duration::from_secs(1));
    let mut best: Option<Round> = None;
    for round in 1..=ROUNDS {
        let before = resident_mib(server.0.id());
        let done = load(port, &queries, CONNECTIONS, time);
        println!(
            "  round {round}: {done}, {before} MiB before, {} after",
            resident_mib(server.0.id())
        );
        assert_eq!(done.errors, 0, "every request is answered");
        if best.as_ref().is_none_or(|best| done.a_second() > best.a_second()) {
            best = Some(done);
        }
    }
    drop(server);
    let ours = best.unwrap();
    match peer::measure(&docs, &queries, CONNECTIONS, time) {
        Some(peer) => {
            println!("  MiniSearch: {peer}");
            println!("  throughput {:.1} times the peer's", ours.a_second() / peer.a_second());
        }
        None => println!("  MiniSearch: skipped, node and npm are not here"),
    }
}

/// A process that ends with the bench.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(docs: &Path) -> (Running, u16) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_botmesh-docs"))
        .args(["serve", "--http", "127.0.0.1:0", "--insecure-no-auth", "--docs"])
        .arg(docs)
        .env("RUST_LOG", "warn")
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("http://") {
        line.clear();
        stderr.read_line(&mut line).unwrap();
    }
    std::thread::spawn(move || stderr.lines().for_each(drop));
    let port = line.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap();
    (Running(child), port)
}

fn read_queries(file: &Path) -> Vec<String> {
    let text = fs::read_to_string(file).unwrap();
    let queries = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let of_corpus = queries.filter(|query| query["corpus"] == "kubernetes");
    of_corpus.map(|query| query["query"].as_str().unwrap().to_owned()).collect()
}

fn resident_mib(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
}
