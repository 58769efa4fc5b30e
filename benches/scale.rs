//! How building and searching grow with the number of sections: a tree made of the sections of a real one.
//!
//! `cargo bench --bench scale -- [SECTIONS…]`, 10,000 and 100,000 without; 1,000,000 takes some minutes and two gigabytes
//! of disk. The M corpus beside the project gives text and queries. Prints exponents: absolute times depend on the machine.
#![expect(clippy::print_stdout, clippy::unwrap_used, reason = "a bench prints and may stop")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use botmesh_index::search::Query;
use botmesh_index::store::open_snapshot;
use botmesh_index::tree::{DocsTree, TreeOptions};

const BINARY: &str = env!("CARGO_BIN_EXE_botmesh-docs");
const SECTIONS_A_PAGE: usize = 7;
const PAGES_A_FOLDER: usize = 200;
const ROUNDS: usize = 3;

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).filter_map(|arg| arg.parse().ok()).collect();
    let sizes = if sizes.is_empty() { vec![10_000, 100_000] } else { sizes };
    let shared = std::env::var_os("BOTMESH_SHARED")
        .map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let (docs, queries) = (shared.join("corpora/kubernetes/docs"), shared.join("eval/dev.jsonl"));
    if !docs.is_dir() || !queries.is_file() {
        return println!("skipped, its corpus is not beside the project");
    }
    let queries: Vec<String> = fs::read_to_string(queries)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|query| query["corpus"] == "kubernetes")
        .map(|query| query["query"].as_str().unwrap().to_owned())
        .collect();
    let source = Source::read(&docs);
    let measured: Vec<Measured> = sizes.iter().map(|n| measure(&source, &queries, *n)).collect();
    for pair in measured.windows(2) {
        let exponent = |of: fn(&Measured) -> Duration| {
            let growth = of(&pair[1]).as_secs_f64() / of(&pair[0]).as_secs_f64();
            growth.ln() / (pair[1].sections as f64 / pair[0].sections as f64).ln()
        };
        println!(
            "{} to {} sections: exponent of build {:.2}, of search p50 {:.2}, p99 {:.2}",
            pair[0].sections,
            pair[1].sections,
            exponent(|size| size.build),
            exponent(|size| size.p50),
            exponent(|size| size.p99),
        );
    }
}

/// Sections of a real tree by language, heading and body apart.
struct Source {
    headings: [Vec<String>; 2],
    bodies: [Vec<String>; 2],
}

impl Source {
    fn read(docs: &Path) -> Self {
        let tree = DocsTree::open(docs, &TreeOptions::default()).unwrap();
        let mut source =
            Self { headings: [Vec::new(), Vec::new()], bodies: [Vec::new(), Vec::new()] };
        for path in tree.scan().paths {
            let Some(page) = tree.read_page(&path).0 else { continue };
            let lang = usize::from(page.lang == "es");
            for section in &page.sections {
                let text = &page.text[section.bytes.clone()];
                let body = text.split_once('\n').map_or("", |(_, body)| body);
                // A rule or an open fence would swallow the heading that follows here.
                if section.level > 0 && !body.contains("```") && !body.contains("---") {
                    source.headings[lang].push(section.heading.clone());
                    source.bodies[lang].push(body.to_owned());
                }
            }
        }
        source
    }

    /// Writes a tree of `n` sections: headings and bodies of the source, combined anew, and one word of its own each.
    fn write(&self, n: usize, to: &Path) -> u64 {
        let mut seed = 1_u64;
        let mut below = move |below: usize| {
            seed = seed
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (seed >> 33) as usize % below
        };
        let mut bytes = 0;
        for page in 0..n / SECTIONS_A_PAGE {
            let lang = usize::from(page % 5 == 0);
            let folder = to.join(["en", "es"][lang]).join(format!("{}", page / PAGES_A_FOLDER));
            if page % PAGES_A_FOLDER < 5 {
                fs::create_dir_all(&folder).unwrap();
            }
            let mut text = String::new();
            for section in 0..SECTIONS_A_PAGE {
                let heading = &self.headings[lang][below(self.headings[lang].len())];
                let body = &self.bodies[lang][below(self.bodies[lang].len())];
                let level = if section == 0 { "#" } else { "##" };
                let _ = write!(text, "{level} {heading}\n\n{body}\n\nsection{page}x{section}\n\n");
            }
            bytes += text.len() as u64;
            fs::write(folder.join(format!("{page}.md")), text).unwrap();
        }
        bytes
    }
}

struct Measured {
    sections: usize,
    build: Duration,
    p50: Duration,
    p99: Duration,
}

fn measure(source: &Source, queries: &[String], n: usize) -> Measured {
    let home = tempfile::tempdir().unwrap();
    let (docs, index) = (home.path().join("docs"), home.path().join("idx"));
    let text_bytes = source.write(n, &docs);
    let start = Instant::now();
    let child = Command::new(BINARY)
        .args(["reindex", "docs", "--index", "idx"])
        .current_dir(home.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let peak_kib = wait_and_watch(child);
    let build = start.elapsed();
    let files = fs::read_dir(&index).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len());
    let index_bytes: u64 = files.sum();
    let opened = Instant::now();
    let snapshot = open_snapshot(&index).unwrap();
    let open = opened.elapsed();
    let mut times = Vec::new();
    for round in 0..=ROUNDS {
        for query in queries {
            let query = Query { text: query.clone(), limit: 8, ..Query::default() };
            let start = Instant::now();
            snapshot.search(&query).unwrap();
            if round > 0 {
                times.push(start.elapsed());
            }
        }
    }
    times.sort();
    let at = |share: usize| times[(times.len() * share / 100).min(times.len() - 1)];
    let sections = snapshot.n_sections();
    println!(
        "{sections} sections, {} MiB of text: built in {build:.1?} with at most {} MiB of memory; index {:.2} bytes \
         a byte of text, opened and checked in {open:.1?}; search p50 {:.2?}, p99 {:.2?}",
        text_bytes >> 20,
        peak_kib >> 10,
        index_bytes as f64 / text_bytes as f64,
        at(50),
        at(99),
    );
    Measured { sections, build, p50: at(50), p99: at(99) }
}

/// Waits for a process and gives the most memory that it was seen to hold, mapped files included.
fn wait_and_watch(mut child: std::process::Child) -> u64 {
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmHWM:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(child.wait().unwrap().success());
    peak
}
