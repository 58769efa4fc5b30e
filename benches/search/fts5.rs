//! `SQLite` FTS5, bm25, over the same sections and queries, by Python's `sqlite3`.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use botmesh_index::page::Page;
use serde_json::json;

use crate::at;

pub(crate) fn compare(pages: &[Page], queries: &[String], ours: &[Duration]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/fts5.py");
    let started =
        Command::new("python3").arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut python) = started else {
        return println!("  FTS5: skipped, there is no python3");
    };
    let sections: Vec<_> = pages
        .iter()
        .flat_map(|page| page.sections.iter().map(move |section| (page, section)))
        .map(|(page, section)| json!([page.path, page.title, section.heading, section.text]))
        .collect();
    let input = json!({ "sections": sections, "queries": queries }).to_string();
    python.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = python.wait_with_output().unwrap();
    let times: Vec<f64> = match serde_json::from_slice(&output.stdout) {
        Ok(times) if output.status.success() => times,
        _ => return println!("  FTS5: skipped, Python's sqlite3 has none"),
    };
    let mut times: Vec<Duration> = times.into_iter().map(Duration::from_secs_f64).collect();
    times.sort_unstable();
    for (label, share) in [("p50", 50), ("p99", 99)] {
        let (ours, fts5) = (at(ours, share), at(&times, share));
        println!("  FTS5 {label}: {fts5:.3} ms, {:.1} times ours", fts5 / ours);
    }
}
