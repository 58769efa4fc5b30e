//! The steps of a `.proc.json` case.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

use crate::program::{PATIENCE, Program};

/// Runs a case in `folder`.
pub(crate) fn run(folder: &TempDir, case: &Value) -> Result<(), String> {
    let mut program = None;
    for step in case["steps"].as_array().expect("a case has steps") {
        run_step(folder.path(), &mut program, step).map_err(|fault| format!("{step}: {fault}"))?;
    }
    Ok(())
}

fn run_step(folder: &Path, slot: &mut Option<Program>, step: &Value) -> Result<(), String> {
    let operation = step["op"].as_str().expect("a step has an operation");
    match operation {
        "start" => *slot = Some(start(folder, step)),
        "make_tree" => make_tree(folder, &step["tree"]),
        "make_docs" => make_docs(folder, step),
        "write" => write(folder, step),
        "wait" => thread::sleep(Duration::from_millis(number(step, "ms").expect("a time"))),
        _ => {
            let program = slot.as_mut().ok_or("nothing was started")?;
            return talk(program, operation, step);
        }
    }
    Ok(())
}

fn talk(program: &mut Program, operation: &str, step: &Value) -> Result<(), String> {
    let within = number(step, "within_ms").map_or(PATIENCE, Duration::from_millis);
    match operation {
        "send" => {
            for _ in 0..number(step, "times").unwrap_or(1) {
                program.send(step["line"].as_str().expect("a line"));
            }
            Ok(())
        }
        "send_many" => {
            program.read_on();
            for line in step["lines"].as_array().expect("lines") {
                program.send(line.as_str().expect("a line"));
            }
            Ok(())
        }
        "expect_id" => {
            let answer = program.expect_id(&step["id"], within)?;
            check_answer(&answer, step)
        }
        "expect_ids" => {
            for id in step["ids"].as_array().expect("ids") {
                program.expect_id(id, within)?;
            }
            Ok(())
        }
        "close_stdout" => {
            program.close_stdout();
            Ok(())
        }
        "close_stdin" => {
            program.read_on();
            program.close_stdin();
            Ok(())
        }
        "expect_exit" => expect_exit(program, within, step),
        // Each line is checked where it is read: this reads them all.
        "expect_stdout_only_json" => program.rest(within).map(drop),
        "expect_stderr_has" => {
            let wanted = step["text"].as_str().expect("a text");
            let said = program.stderr();
            if said.contains(wanted) { Ok(()) } else { Err(format!("standard error: {said:?}")) }
        }
        other => panic!("no such operation: {other}"),
    }
}

fn check_answer(answer: &Value, step: &Value) -> Result<(), String> {
    let text = answer.to_string();
    if let Some(most) = number(step, "line_bytes_max")
        && text.len() as u64 > most
    {
        return Err(format!("the answer has {} bytes", text.len()));
    }
    for part in step["result_has"].as_array().into_iter().flatten() {
        let part = part.as_str().expect("a text");
        if !answer["result"].to_string().contains(part) {
            return Err(format!("{part:?} is not in {text}"));
        }
    }
    Ok(())
}

fn expect_exit(program: &mut Program, within: Duration, step: &Value) -> Result<(), String> {
    let status = program.expect_exit(within)?;
    let code = step["code"].as_i64().unwrap_or_default();
    if status.code().map(i64::from) != Some(code) {
        return Err(format!("{status}: {}", program.stderr()));
    }
    for part in step["stderr_not_has"].as_array().into_iter().flatten() {
        let part = part.as_str().expect("a text");
        if program.stderr().contains(part) {
            return Err(format!("standard error: {}", program.stderr()));
        }
    }
    Ok(())
}

fn start(folder: &Path, step: &Value) -> Program {
    let args: Vec<&str> =
        step["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let members = step["env"].as_object().into_iter().flatten();
    let env: Vec<(String, String)> = members
        .map(|(name, value)| (name.clone(), value.as_str().expect("a text").to_owned()))
        .collect();
    // An absolute folder stands for itself.
    Program::start(&folder.join(step["cwd"].as_str().unwrap_or("")), &args, &env)
}

fn make_tree(folder: &Path, tree: &Value) {
    for entry in tree.as_array().expect("a tree is a list") {
        write(folder, entry);
    }
}

fn write(folder: &Path, entry: &Value) {
    let path = folder.join(entry["path"].as_str().expect("a path"));
    fs::create_dir_all(path.parent().expect("a folder")).expect("a new folder");
    let bytes = match entry["hex"].as_str() {
        Some(hex) => unhex(hex),
        None => entry["text"].as_str().expect("text or hex").as_bytes().to_vec(),
    };
    fs::write(path, bytes).expect("a new file");
}

fn make_docs(folder: &Path, step: &Value) {
    const FILLER: &str = "pagina de relleno con palabras corrientes\n";
    let folder = folder.join(step["dir"].as_str().unwrap_or("docs"));
    fs::create_dir_all(&folder).expect("a new folder");
    let n_bytes = number(step, "page_kb").unwrap_or(1) as usize * 1024;
    for i in 0..number(step, "pages").expect("a count") {
        let mut text = format!("# Pagina {i}\n\npagina_{i} pagina\n");
        let n_fillers = n_bytes.saturating_sub(text.len()) / FILLER.len();
        text.push_str(&FILLER.repeat(n_fillers));
        fs::write(folder.join(format!("page-{i}.md")), text).expect("a new page");
    }
}

/// The bytes that `hex` spells.
pub(crate) fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().map(|digit| digit.to_digit(16).expect("a digit")).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

fn number(step: &Value, name: &str) -> Option<u64> {
    step[name].as_u64()
}
