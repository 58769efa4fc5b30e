//! Search, build, memory and the way over a pipe, against stock tantivy and `SQLite` FTS5 over the same sections, in one
//! run.
//!
//! `cargo bench --bench search -- [DOCS_DIR QUERIES.jsonl CORPUS]`; without arguments the corpora beside the project are
//! used, and a missing one is said to be skipped. Prints ratios: absolute times depend on the machine.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use botmesh_index::page::Page;
use botmesh_index::search::Query;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::writer::Index;
use stock::Stock;

mod fts5;
mod memory;
mod served;
mod stock;

const ROUNDS: usize = 30;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, which, docs] = args.as_slice()
        && flag == memory::FLAG
    {
        return memory::report(which, Path::new(docs));
    }
    if let [docs, queries, corpus] = args.as_slice() {
        return compare("given", Path::new(docs), Path::new(queries), corpus);
    }
    let shared = std::env::var_os("BOTMESH_SHARED")
        .map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let queries = shared.join("eval/dev.jsonl");
    for (name, docs, corpus) in [
        ("S", "corpora/vitepress/docs", "vitepress"),
        ("M", "corpora/kubernetes/docs", "kubernetes"),
    ] {
        let docs = shared.join(docs);
        if docs.is_dir() && queries.is_file() {
            compare(name, &docs, &queries, corpus);
        } else {
            println!("{name}: skipped, its corpus is not beside the project");
        }
    }
}

fn compare(name: &str, docs: &Path, queries: &Path, corpus: &str) {
    let queries: Vec<String> = std::fs::read_to_string(queries)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|query| query["corpus"] == corpus)
        .map(|query| query["query"].as_str().unwrap().to_owned())
        .collect();
    let pages = read_pages(docs);
    let read = cpu(|| {
        drop(read_pages(docs));
    })
    .0;
    let (ours_build, ours) = cpu(|| build(&pages));
    let (stock_build, stock) = cpu(|| Stock::build(&pages));
    let search = |text: &String| {
        ours.search(&Query { text: text.clone(), limit: 8, ..Query::default() }).unwrap().hits.len()
    };
    let ours_times = times(&queries, search);
    let stock_times = times(&queries, |text| stock.search(text));
    println!("{name}: {} sections, {} queries, {ROUNDS} rounds", ours.n_sections(), queries.len());
    for (label, share) in [("p50", 50), ("p90", 90), ("p99", 99)] {
        let (ours, stock) = (at(&ours_times, share), at(&stock_times, share));
        println!("  search {label}: {ours:.3} ms, stock {stock:.3} ms, ratio {:.2}", ours / stock);
    }
    let ratio = (read + ours_build).as_secs_f64() / (read + stock_build).as_secs_f64();
    println!(
        "  build, CPU with reading and splitting: {:?}, stock {:?}, ratio {ratio:.2}",
        read + ours_build,
        read + stock_build
    );
    fts5::compare(&pages, &queries, &ours_times);
    served::compare(docs, &queries, &ours_times);
    memory::compare(docs);
}

fn read_pages(docs: &Path) -> Vec<Page> {
    let tree = DocsTree::open(docs, &TreeOptions::default()).unwrap();
    tree.scan().paths.iter().filter_map(|path| tree.read_page(path).0).collect()
}

fn build(pages: &[Page]) -> Snapshot {
    let mut index = Index::in_memory(1).unwrap();
    for page in pages {
        index.put(page).unwrap();
    }
    index.commit().unwrap()
}

/// A percentile of ascending times, in milliseconds.
fn at(times: &[Duration], share: usize) -> f64 {
    times[(times.len() * share / 100).min(times.len() - 1)].as_secs_f64() * 1e3
}

fn times<T>(queries: &[String], search: impl Fn(&String) -> T) -> Vec<Duration> {
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        for query in queries {
            let start = Instant::now();
            std::hint::black_box(search(query));
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    times.sort_unstable();
    times
}

/// The CPU time of all threads, by the kernel's count; wall time where there is none.
fn cpu<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let before = ticks();
    let start = Instant::now();
    let result = work();
    let wall = start.elapsed();
    let spent =
        ticks().zip(before).map(|(after, before)| Duration::from_millis((after - before) * 10));
    (spent.unwrap_or(wall), result)
}

/// User and system time in hundredths of a second: fields 14 and 15 of `/proc/self/stat`.
fn ticks() -> Option<u64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    Some(fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?)
}
