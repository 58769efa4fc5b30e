//! The peer: the same sections in `MiniSearch`, behind the TypeScript SDK's server.

use std::fs::File;
use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use botmesh_index::tree::{DocsTree, TreeOptions};
use serde_json::json;

use crate::Running;
use crate::client::{Round, load};

/// One round on the peer; `None` without Node.
pub(crate) fn measure(
    docs: &Path,
    queries: &[String],
    connections: usize,
    time: Duration,
) -> Option<Round> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/peers/minisearch");
    if !folder.join("node_modules").is_dir() {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund", "--silent"]).current_dir(&folder);
        if !npm.status().is_ok_and(|status| status.success()) {
            return None;
        }
    }
    let home = tempfile::tempdir().unwrap();
    let sections = home.path().join("sections.jsonl");
    write_sections(docs, &sections);
    let mut node = Command::new("node");
    node.arg("server.mjs").arg(&sections).current_dir(&folder).stdout(Stdio::piped());
    let mut child = node.spawn().ok()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let running = Running(child);
    let port = line.trim().parse().unwrap();
    load(port, queries, connections, Duration::from_secs(1));
    let round = load(port, queries, connections, time);
    drop(running);
    Some(round)
}

fn write_sections(docs: &Path, file: &Path) {
    let tree = DocsTree::open(docs, &TreeOptions::default()).unwrap();
    let mut out = BufWriter::new(File::create(file).unwrap());
    for path in tree.scan().paths {
        let Some(page) = tree.read_page(&path).0 else { continue };
        for section in &page.sections {
            let line = json!({
                "path": page.path, "title": page.title, "heading": section.heading,
                "anchor": section.anchor, "text": section.text,
            });
            writeln!(out, "{line}").unwrap();
        }
    }
}
