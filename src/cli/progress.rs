//! A progress bar, on a terminal, for work that takes its time.

use std::io::IsTerminal as _;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use botmesh_index::update::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Shorter work shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// Does some work on pages; `what` says what is done, and to which folder.
pub(super) fn with_bar<T>(what: &str, work: impl FnOnce(&Progress<'_>) -> T) -> T {
    if !std::io::stderr().is_terminal() {
        return work(&|_, _| ());
    }
    let start = Instant::now();
    let shown: OnceLock<ProgressBar> = OnceLock::new();
    let result = work(&|done, all| {
        if start.elapsed() >= PATIENCE {
            shown.get_or_init(|| bar(what, all)).set_position(done as u64);
        }
    });
    if let Some(bar) = shown.get() {
        bar.finish_and_clear();
    }
    result
}

fn bar(what: &str, all: usize) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(Some(all as u64), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{msg} {wide_bar} {pos}/{len} pages, {eta} left");
    if let Ok(style) = style {
        bar.set_style(style.progress_chars("━━─"));
    }
    bar.set_message(what.to_owned());
    bar
}
