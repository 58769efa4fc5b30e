#![allow(clippy::all, clippy::print_stdout, clippy::unwrap_used, missing_docs)]
use botmesh_index::search::Query;
use botmesh_index::tree::{DocsTree, TreeOptions};
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let tree = DocsTree::open(std::path::Path::new(&args[1]), &TreeOptions::default()).unwrap();
    let s = botmesh_index::writer::build(&tree, 2).unwrap().1;
    let qs: Vec<String> = std::fs::read_to_string(&args[2]).unwrap().lines().map(|l| serde_json::from_str::<serde_json::Value>(l).unwrap()).filter(|v| v["corpus"] == args[3].as_str()).map(|v| v["query"].as_str().unwrap().to_owned()).collect();
    let mut times = Vec::new();
    for round in 0..args[4].parse().unwrap() {
        for q in &qs {
            let t = Instant::now();
            let r = s.search(&Query { text: q.clone(), limit: 8, ..Query::default() }).unwrap();
            if round > 0 { times.push((t.elapsed(), q, r.total)); }
        }
    }
    times.sort();
    println!("{} sections; p50 {:?} p90 {:?} p99 {:?} worst {:?}", s.n_sections(), times[times.len()/2].0, times[times.len()*9/10].0, times[times.len()*99/100], times.last());
}
