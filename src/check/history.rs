//! When pages were last changed, by git: a page that changed after its translation.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use super::{Rule, Site, found};
use crate::report::Finding;

/// The hash mark of a commit's line in git's output, which no path begins with.
const COMMIT: char = '\u{1}';

/// Translations that are older than what they translate. Without git, or outside a repository, there are none.
pub(super) fn stale(site: &Site<'_>, root: &Path) -> Vec<Finding> {
    if site.twins.values().all(Vec::is_empty) {
        return Vec::new();
    }
    let Some(times) = times(root) else { return Vec::new() };
    let mut findings = Vec::new();
    for (path, facts) in &site.pages {
        let Some(source) = super::translations::source(site, path) else { continue };
        let (Some((theirs, their_day)), Some((ours, our_day))) =
            (times.get(source), times.get(*path))
        else {
            continue;
        };
        if theirs > ours {
            let message = format!("`{source}` changed on {their_day}, this page on {our_day}");
            let hint = "see what changed there, and bring this page up to date";
            let finding = found(Rule::StaleTranslation, facts, &(0..0), message);
            findings.push(finding.with_hint(hint).with_identity(""));
        }
    }
    findings
}

/// Seconds and day of the last commit of each file below the folder.
fn times(root: &Path) -> Option<BTreeMap<String, (i64, String)>> {
    let format = format!("--format={COMMIT}%ct %cs");
    let output = Command::new("git")
        .args(["-c", "core.fsmonitor=false", "-c", "log.showSignature=false", "-C"])
        .arg(root)
        .args(["log", "-z", "--no-renames", "--name-only", "--relative", &format, "--", "."])
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    let mut times = BTreeMap::new();
    let mut commit: Option<(i64, String)> = None;
    for part in text.split('\0') {
        let part = part.trim_start_matches('\n');
        if let Some(line) = part.strip_prefix(COMMIT) {
            let (seconds, rest) = line.split_once(' ')?;
            let day = rest.lines().next().unwrap_or_default();
            commit = Some((seconds.parse().ok()?, day.to_owned()));
        } else if let Some(commit) = commit.as_ref().filter(|_| !part.is_empty()) {
            // The newest commit comes first.
            times.entry(part.to_owned()).or_insert_with(|| commit.clone());
        }
    }
    Some(times)
}
