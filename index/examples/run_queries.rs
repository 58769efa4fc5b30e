//! Runs the queries of a JSONL file against docs folders: `run_queries QUERIES.jsonl CORPORA_DIR > run.jsonl`.
#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use botmesh_index::search::Query;
use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::writer::build;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let queries: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let mut snapshots = BTreeMap::new();
    let mut times = Vec::new();
    for q in &queries {
        let corpus = q["corpus"].as_str().unwrap().to_owned();
        let snapshot = &snapshots
            .entry(corpus.clone())
            .or_insert_with(|| {
                let tree = DocsTree::open(&Path::new(&args[2]).join(&corpus), &TreeOptions::default()).unwrap();
                let start = Instant::now();
                let built = build(&tree, 2).unwrap();
                eprintln!("{corpus}: {} pages, {} sections, {:?}, {} segs", built.1.n_pages(), built.1.n_sections(), start.elapsed(), 1);
                built
            })
            .1;
        let query = Query { text: q["query"].as_str().unwrap().to_owned(), limit: 10, ..Query::default() };
        snapshot.search(&query).unwrap();
        let start = Instant::now();
        let reply = snapshot.search(&query).unwrap();
        times.push(start.elapsed());
        let hits: Vec<_> = reply.hits.iter().map(|h| serde_json::json!({"path": h.path, "heading": h.heading, "score": h.score})).collect();
        println!("{}", serde_json::json!({"id": q["id"], "lang": reply.query_lang, "results": hits}));
    }
    times.sort();
    eprintln!("p50 {:?} p90 {:?} p99 {:?}", times[times.len() / 2], times[times.len() * 9 / 10], times[times.len() * 99 / 100]);
}
