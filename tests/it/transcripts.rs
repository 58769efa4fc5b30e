//! Whole sessions, word for word: `tests/transcripts/*.jsonl`.
//!
//! `# text` is a comment, `$ arguments` the command line (before anything is sent), `> line` what the client sends,
//! `< line` the answer that must follow. The folder of the command is the repository's root. `UPDATE=1` writes the
//! answers anew: look at the difference as at code.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::program::{PATIENCE, Program};

#[test]
fn sessions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("tests/transcripts"))
        .expect("the folder of transcripts")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no transcripts");
    let update = std::env::var_os("UPDATE").is_some_and(|value| value == "1");
    let mut failures = Vec::new();
    for file in files {
        let wanted = fs::read_to_string(&file).expect("a transcript");
        let seen = replay(root, &wanted);
        if update {
            fs::write(&file, seen).expect("a transcript can be written");
            continue;
        }
        if let Some((wanted, seen)) = first_difference(&wanted, &seen) {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            failures.push(format!("{name}:\n  wanted {wanted}\n  seen   {seen}"));
        }
    }
    assert!(failures.is_empty(), "UPDATE=1 writes them anew\n{}", failures.join("\n"));
}

fn first_difference<'a>(wanted: &'a str, seen: &'a str) -> Option<(&'a str, &'a str)> {
    const END: &str = "(end)";
    let n_lines = wanted.lines().count().max(seen.lines().count());
    let at = |text: &'a str, line: usize| text.lines().nth(line).unwrap_or(END);
    (0..n_lines)
        .map(|line| (at(wanted, line), at(seen, line)))
        .find(|(wanted, seen)| wanted != seen)
}

/// The transcript with the answers that come now.
fn replay(root: &Path, transcript: &str) -> String {
    let arguments = transcript.lines().find_map(|line| line.strip_prefix("$ "));
    let arguments: Vec<&str> = arguments.unwrap_or("").split_whitespace().collect();
    let mut program = Program::start(root, &arguments, &[]);
    let mut seen = String::new();
    for line in transcript.lines().filter(|line| !line.starts_with("< ")) {
        seen.push_str(line);
        seen.push('\n');
        let Some(message) = line.strip_prefix("> ") else { continue };
        program.send(message);
        if wants_answer(message) {
            let answer = program.next(PATIENCE).unwrap_or_else(|fault| panic!("{line}: {fault}"));
            let answer = answer.unwrap_or_else(|| panic!("{line}: the output has ended"));
            writeln!(seen, "< {answer}").expect("a string can be written to");
        }
    }
    program.finish();
    seen
}

fn wants_answer(message: &str) -> bool {
    let is_request = |one: &Value| one.get("method").is_some() == one.get("id").is_some();
    match serde_json::from_str::<Value>(message) {
        Err(_) => true,
        Ok(Value::Array(all)) => all.is_empty() || all.iter().any(is_request),
        Ok(one) => is_request(&one),
    }
}
