//! Peak memory of a process that reads a tree and indexes it, ours and stock.

use std::path::Path;
use std::process::Command;

use crate::stock::Stock;
use crate::{build, read_pages};

/// Makes the bench measure one index, in a process of its own, and print its peak in KiB.
pub(crate) const FLAG: &str = "--peak-memory";

pub(crate) fn compare(docs: &Path) {
    let peak = |which: &str| -> Option<u64> {
        let program = std::env::current_exe().ok()?;
        let run = Command::new(program).args([FLAG, which]).arg(docs).output().ok()?;
        String::from_utf8(run.stdout).ok()?.trim().parse().ok()
    };
    match (peak("ours"), peak("stock")) {
        (Some(ours), Some(stock)) => println!(
            "  peak memory: {} MiB, stock {} MiB, ratio {:.2}",
            ours / 1024,
            stock / 1024,
            ours as f64 / stock as f64
        ),
        _ => println!("  peak memory: skipped, the system does not tell it"),
    }
}

pub(crate) fn report(which: &str, docs: &Path) {
    let pages = read_pages(docs);
    let kept = match which {
        "ours" => build(&pages).n_sections(),
        _ => Stock::build(&pages).search("a"),
    };
    std::hint::black_box(kept);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    println!("{}", peak.unwrap_or_default().trim().trim_end_matches(" kB"));
}
