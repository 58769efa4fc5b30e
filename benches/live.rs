//! The index that lives, as users meet it: starts, incremental runs, saves and searches of the real program.
//!
//! `cargo bench --bench live -- [DOCS_DIR QUERIES.jsonl CORPUS]`; without arguments the M corpus beside the project is
//! used, and a missing one is said to be skipped. Prints ratios of one run: absolute times depend on the machine.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const BINARY: &str = env!("CARGO_BIN_EXE_botmesh-docs");
const ROUNDS: usize = 7;
const SAVES: usize = 200;
const SEARCHES_A_SECOND: u32 = 50;
const IDLE: Duration = Duration::from_secs(10);
const EDITS: usize = 5_000;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let shared = std::env::var_os("BOTMESH_SHARED")
        .map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let (docs, queries, corpus) = match args.as_slice() {
        [docs, queries, corpus] => (docs.into(), queries.into(), corpus.clone()),
        _ => (
            shared.join("corpora/kubernetes/docs"),
            shared.join("eval/dev.jsonl"),
            "kubernetes".to_owned(),
        ),
    };
    if !docs.is_dir() || !queries.is_file() {
        return println!("skipped, its corpus is not beside the project");
    }
    let queries: Vec<String> = fs::read_to_string(queries)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap())
        .filter(|query| query["corpus"] == corpus.as_str())
        .map(|query| query["query"].as_str().unwrap().to_owned())
        .collect();
    let home = tempfile::tempdir().unwrap();
    let copy = home.path().join("docs");
    let pages = copy_pages(&docs, &copy);
    println!("{} pages of {}, {} queries", pages.len(), docs.display(), queries.len());
    // What was just written is read again: see `stamp.rs`.
    thread::sleep(Duration::from_secs(3));
    starts(home.path(), &queries[0]);
    runs(home.path(), &pages);
    saves(home.path(), &pages, &queries);
    memory(home.path(), &pages, &queries);
}

fn copy_pages(from: &Path, to: &Path) -> Vec<PathBuf> {
    let mut pages = Vec::new();
    let mut folders = vec![from.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                let copy = to.join(path.strip_prefix(from).unwrap());
                fs::create_dir_all(copy.parent().unwrap()).unwrap();
                fs::copy(&path, &copy).unwrap();
                pages.push(copy);
            }
        }
    }
    pages.sort();
    pages
}

fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(BINARY);
    command.args(args).current_dir(home).env("XDG_CACHE_HOME", home.join("cache"));
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// The median time of a run; the end of what it started does not count.
fn median<T>(mut run: impl FnMut() -> T) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let started = run();
            let took = start.elapsed();
            drop(started);
            took
        })
        .collect();
    times.sort();
    times[ROUNDS / 2]
}

fn say(what: &str, time: Duration, of: Duration) {
    println!("  {what}: {time:.1?}, 1/{:.0} of {of:.1?}", of.as_secs_f64() / time.as_secs_f64());
}

fn starts(home: &Path, query: &str) {
    let search = |args: &[&str]| assert!(command(home, args).status().unwrap().success());
    let scratch = median(|| search(&["search", "--docs", "docs", query]));
    search(&["reindex", "docs", "--index", "idx"]);
    let fresh = median(|| search(&["search", "--docs", "docs", "--index", "idx", query]));
    println!("start to first answer, median of {ROUNDS}");
    say("command, fresh snapshot, of building", fresh, scratch);
    let serve = |args: &[&str]| {
        let server = Server::start(home, args);
        server.call("docs_search", &json!({ "query": query }));
        server
    };
    let scratch = median(|| serve(&["--docs", "docs", "--index", "none"]));
    let fresh = median(|| serve(&["--docs", "docs", "--index", "idx"]));
    say("server, fresh snapshot, of building", fresh, scratch);
}

fn runs(home: &Path, pages: &[PathBuf]) {
    let run = |args: &[&str]| assert!(command(home, args).status().unwrap().success());
    let full = median(|| run(&["reindex", "docs", "--index", "idx", "--full"]));
    let unchanged = median(|| run(&["reindex", "docs", "--index", "idx"]));
    let mut round = 0;
    let ten = median(|| {
        for page in pages.iter().step_by(pages.len() / 10).take(10) {
            append(page, &format!("\nround {round}\n"));
        }
        round += 1;
        run(&["reindex", "docs", "--index", "idx"]);
    });
    println!("reindex, median of {ROUNDS}");
    say("nothing changed, of full", unchanged, full);
    say("10 pages changed, of full", ten, full);
}

fn append(page: &Path, text: &str) {
    let mut bytes = fs::read(page).unwrap();
    bytes.extend(text.bytes());
    fs::write(page, bytes).unwrap();
}

fn saves(home: &Path, pages: &[PathBuf], queries: &[String]) {
    let server = Server::start(home, &["--docs", "docs", "--index", "idx"]);
    for query in queries {
        server.call("docs_search", &json!({ "query": query }));
    }
    let is_found = |word: &str| {
        thread::sleep(Duration::from_millis(2));
        let reply = server.call("docs_search", &json!({ "query": word }));
        reply["structuredContent"]["unmatched"] == json!([])
    };
    // Asks as often as the saves do, so that what differs is the saving.
    let ask = || {
        let start = Instant::now();
        while start.elapsed() < IDLE {
            assert!(!is_found("zq0xk"));
        }
    };
    let idle = server.under_load(queries, ask).1;
    let (mut waits, busy) = server.under_load(queries, || {
        (0..SAVES)
            .map(|save| {
                let word = format!("zq{save}xk");
                append(&pages[save * 7 % pages.len()], &format!("\n{word}\n"));
                let saved = Instant::now();
                while !is_found(&word) {}
                saved.elapsed()
            })
            .collect::<Vec<Duration>>()
    });
    waits.sort();
    println!("saves, {SAVES} while {SEARCHES_A_SECOND} searches a second run");
    println!("  save to searchable: p50 {:.1?}, p95 {:.1?}", at(&waits, 50), at(&waits, 95));
    for share in [50, 99] {
        let (busy, idle) = (at(&busy, share), at(&idle, share));
        let ratio = busy.as_secs_f64() / idle.as_secs_f64();
        println!("  search p{share}: {busy:.2?} while indexing, {idle:.2?} idle, ratio {ratio:.2}");
    }
}

fn memory(home: &Path, pages: &[PathBuf], queries: &[String]) {
    let server = Server::start(home, &["--docs", "docs", "--index", "idx"]);
    let ask_all = || {
        for query in queries {
            server.call("docs_search", &json!({ "query": query }));
        }
    };
    ask_all();
    // A first save: the writer is there from the start of the count.
    append(&pages[0], "\nfirst\n");
    thread::sleep(Duration::from_secs(2));
    ask_all();
    let start = server.resident_kib();
    for edit in 0..EDITS {
        let page = &pages[edit * 13 % pages.len()];
        let text = fs::read_to_string(page).unwrap_or_default();
        let text = text.split("\nedit ").next().unwrap_or_default();
        fs::write(page, format!("{text}\nedit {edit}\n")).unwrap();
        thread::sleep(Duration::from_millis(5));
    }
    // The last merges end and what they replaced is let go.
    thread::sleep(Duration::from_secs(35));
    ask_all();
    let end = server.resident_kib();
    println!("memory of the server");
    println!(
        "  {} MiB at the start, {} MiB after {EDITS} edits, ratio {:.2}",
        start >> 10,
        end >> 10,
        end as f64 / start as f64
    );
}

fn at(times: &[Duration], share: usize) -> Duration {
    times[(times.len() * share / 100).min(times.len() - 1)]
}

/// By id: when each came and what it is; and a bell.
type Answers = (Mutex<HashMap<u64, (Instant, Value)>>, Condvar);

/// A server with many calls in flight.
struct Server {
    child: Child,
    input: Mutex<ChildStdin>,
    answers: Arc<Answers>,
    next_id: AtomicU64,
}

impl Server {
    fn start(home: &Path, args: &[&str]) -> Self {
        let mut command = command(home, args);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let answers: Arc<Answers> = Arc::default();
        let shared = Arc::clone(&answers);
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                let came = Instant::now();
                let mut answer: Value = serde_json::from_str(&line).unwrap();
                let id = answer["id"].as_u64().unwrap();
                shared.0.lock().unwrap().insert(id, (came, answer["result"].take()));
                shared.1.notify_all();
            }
        });
        let server = Self { child, input: Mutex::new(input), answers, next_id: AtomicU64::new(1) };
        server.request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "bench", "version": "1" } }),
        );
        server
    }

    fn call(&self, tool: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments })).1
    }

    /// When the answer came, and what it is.
    fn request(&self, method: &str, params: &Value) -> (Instant, Value) {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input.lock().unwrap(), "{request}").unwrap();
        let mut answers = self.answers.0.lock().unwrap();
        loop {
            if let Some(answer) = answers.remove(&id) {
                return answer;
            }
            answers = self.answers.1.wait(answers).unwrap();
        }
    }

    /// Does some work while searches run, and gives their times, ascending.
    fn under_load<T>(&self, queries: &[String], work: impl FnOnce() -> T) -> (T, Vec<Duration>) {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let load = scope.spawn(|| {
                let mut times = Vec::new();
                let mut due = Instant::now();
                for query in queries.iter().cycle() {
                    if is_over.load(Ordering::Relaxed) {
                        break;
                    }
                    thread::sleep(due.saturating_duration_since(Instant::now()));
                    due += Duration::from_secs(1) / SEARCHES_A_SECOND;
                    let sent = Instant::now();
                    let arguments =
                        json!({ "name": "docs_search", "arguments": { "query": query } });
                    times.push(self.request("tools/call", &arguments).0 - sent);
                }
                times.sort();
                times
            });
            let result = work();
            is_over.store(true, Ordering::Relaxed);
            (result, load.join().unwrap())
        })
    }

    /// What the kernel says the server holds of memory.
    fn resident_kib(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
