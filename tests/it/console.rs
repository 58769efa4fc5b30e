//! The command line, word for word: `tests/cases/console/*.txt`, run in that folder.
//!
//! `$ arguments` is a command (words in single quotes stay together), then comes what it writes: lines of standard output
//! as they are, lines of standard error after `! `, and `? status` when that is not 0. `UPDATE=1` writes it anew: look at
//! the difference as at code.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{folder, program};

#[test]
fn sessions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/console");
    let mut files: Vec<PathBuf> = fs::read_dir(&root)
        .expect("the folder of sessions")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no sessions");
    let update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
    let mut failures = Vec::new();
    for file in files {
        let wanted = fs::read_to_string(&file).expect("a session");
        let commands = wanted.lines().filter_map(|line| line.strip_prefix("$ "));
        let seen: Vec<String> =
            commands.map(|line| format!("$ {line}\n{}", run(&root, line))).collect();
        let seen = seen.join("\n");
        if update {
            fs::write(&file, seen).expect("a session can be written");
        } else if seen != wanted {
            let at = seen
                .lines()
                .zip(wanted.lines())
                .take_while(|(seen, wanted)| seen == wanted)
                .count();
            let line = |text: &str| text.lines().nth(at).unwrap_or("(end)").to_owned();
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            let (wanted, seen) = (line(&wanted), line(&seen));
            failures.push(format!("{name}:{}:\n  wanted {wanted}\n  seen   {seen}", at + 1));
        }
    }
    folder::report(&failures);
}

fn run(cwd: &Path, line: &str) -> String {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = program::command(home.path());
    let output = command.args(words(line)).current_dir(cwd).output().expect("it runs");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(!stdout.contains('\x1b') && !stderr.contains('\x1b'), "{line}: styles in a pipe");
    let mut text = stdout;
    for line in stderr.lines() {
        text.push_str(format!("! {}", without_chance(line)).trim_end());
        text.push('\n');
    }
    match output.status.code() {
        Some(0) => {}
        code => text.push_str(&format!("? {code:?}\n").replace("Some(", "").replace(')', "")),
    }
    text
}

/// The line without what differs from run to run and from machine to machine: a time at its end, and the hash of the
/// docs folder in the name of its index.
fn without_chance(line: &str) -> String {
    const INDEX: &str = "/botmesh-docs/console-docs-";
    let mut line = line.to_owned();
    if let Some(at) = line.find(INDEX).map(|at| at + INDEX.len()) {
        line.replace_range(at..at + 16, "HASH");
    }
    match line.strip_suffix(" s").and_then(|line| line.rsplit_once(", in ")) {
        Some((done, seconds)) if seconds.parse::<f64>().is_ok() => format!("{done}, in TIME"),
        _ => line,
    }
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in line.split('\'').enumerate() {
        if at % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}
