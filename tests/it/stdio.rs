//! The cases of `tests/cases/stdio/`, all of them, against the real program.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::Program;
use crate::{matcher, steps};

/// Between two pieces of input. It asserts nothing: it makes it likely that the pieces arrive as such.
const PAUSE: Duration = Duration::from_millis(2);

const FOLDER: &str = "tests/cases/stdio";

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(FOLDER);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    let mut n_cases = 0;
    let mut failures = Vec::new();
    for file in files {
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        let outcome = if let Some(case) = name.strip_suffix(".expected.jsonl") {
            run_input(&folder, case)
        } else if name.ends_with(".proc.json") {
            steps::run(&fresh_folder(&folder), &read_json(&file))
        } else {
            continue;
        };
        n_cases += 1;
        if let Err(fault) = outcome {
            failures.push(format!("{name}: {fault}"));
        }
    }
    assert!(n_cases > 0, "no case in {FOLDER}");
    assert!(
        failures.is_empty(),
        "{} of {n_cases} failed:\n{}",
        failures.len(),
        failures.join("\n")
    );
}

/// A folder of its own for each case, with the small docs tree in it.
fn fresh_folder(cases: &Path) -> TempDir {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    copy_tree(&cases.join("docs"), &fresh.path().join("docs"));
    fresh
}

/// Copies a folder.
pub(crate) fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a new folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("a type").is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("a copy");
        }
    }
}

fn read_json(file: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(file).expect("a file")).expect("a case is JSON")
}

fn run_input(folder: &Path, name: &str) -> Result<(), String> {
    let expected = fs::read_to_string(folder.join(format!("{name}.expected.jsonl")))
        .map_err(|error| error.to_string())?;
    let mut skeletons: Vec<Value> = expected
        .lines()
        .map(|line| serde_json::from_str(line).expect("a skeleton is JSON"))
        .collect();
    let case = skeletons.remove(0)["$case"].take();
    let input = input(folder, name);
    let fresh = fresh_folder(folder);
    let args: Vec<&str> = list(&case["args"]).iter().filter_map(Value::as_str).collect();
    let mut program = Program::start(fresh.path(), &args, &[]);
    let within = Duration::from_millis(case["exit_within_ms"].as_u64().unwrap_or(5000));
    program.read_on();
    program.note(&input);
    for piece in pieces(&input, &case) {
        program.write(piece);
        thread::sleep(PAUSE);
    }
    program.close_stdin();
    let answers = program.rest(within)?;
    let status = program.expect_exit(within)?;
    let code = case["exit_code"].as_i64().unwrap_or_default();
    if status.code().map(i64::from) != Some(code) {
        return Err(format!("{status}: {}", program.stderr()));
    }
    compare(&skeletons, &answers, list(&case["extra_allowed"]))
}

fn compare(skeletons: &[Value], answers: &[Value], allowed: &[Value]) -> Result<(), String> {
    let shown = || json!(answers).to_string().chars().take(2000).collect::<String>();
    let free = matcher::pair(skeletons, answers)
        .map_err(|missing| format!("no answer fits {}: {}", skeletons[missing], shown()))?;
    for position in free {
        let answer = &answers[position];
        if !allowed.iter().any(|skeleton| matcher::matches(skeleton, Some(answer))) {
            return Err(format!("one answer too many: {answer}"));
        }
    }
    Ok(())
}

fn input(folder: &Path, name: &str) -> Vec<u8> {
    let raw = folder.join(format!("{name}.in"));
    if raw.exists() {
        return fs::read(raw).expect("an input");
    }
    let case = read_json(&folder.join(format!("{name}.in.json")));
    let mut bytes = Vec::new();
    for part in list(&case["parts"]) {
        if let Some(text) = part["text"].as_str() {
            bytes.extend_from_slice(text.as_bytes());
        } else if let Some(unit) = part["repeat"].as_str() {
            let times = part["times"].as_u64().expect("a count");
            bytes.extend(unit.repeat(times as usize).as_bytes());
        } else {
            bytes.extend(steps::unhex(part["hex"].as_str().expect("text, repeat or hex")));
        }
    }
    bytes
}

fn pieces<'a>(input: &'a [u8], case: &Value) -> Vec<&'a [u8]> {
    if let Some(every) = case["split_every"].as_u64() {
        return input.chunks(every as usize).collect();
    }
    let cuts = list(&case["split_at"]).iter().map(|cut| cut.as_u64().expect("a place") as usize);
    let mut pieces = Vec::new();
    let mut start = 0;
    for cut in cuts.chain([input.len()]) {
        pieces.push(&input[start..cut]);
        start = cut;
    }
    pieces
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

#[test]
fn standard_output_stays_clean_whatever_happens() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(folder.path().join("bad")).expect("a folder");
    fs::write(folder.path().join("bad/a.md"), b"# \xc3\x28\n").expect("a file");
    fs::write(folder.path().join("not-a-folder"), "x").expect("a file");
    for docs in ["bad", "not-a-folder", "missing"] {
        for filter in ["trace", "no=such=filter[", ""] {
            let env = [("RUST_LOG".to_owned(), filter.to_owned())];
            let mut program = Program::start(folder.path(), &["--docs", docs], &env);
            program.send("{oops");
            assert_eq!(program.next(crate::program::PATIENCE).map(|one| one.is_some()), Ok(true));
            let list = program.ask(&json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }));
            assert!(list["result"]["tools"].is_array(), "{docs} {filter}: {list}");
            program.finish();
        }
    }
}

#[test]
fn a_closed_standard_error_is_survived() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut child = crate::program::command(folder.path())
        .env("RUST_LOG", "trace")
        .args(["--docs", "missing"])
        .current_dir(folder.path())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(writer)
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("piped");
    let ping = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    std::io::Write::write_all(&mut stdin, ping.repeat(50).as_bytes()).expect("the program reads");
    drop(stdin);
    let output = child.wait_with_output().expect("an exit");
    assert!(output.status.success(), "{}", output.status);
    let answers = String::from_utf8(output.stdout).expect("UTF-8");
    assert_eq!(answers.lines().count(), 50);
}
