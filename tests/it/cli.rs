//! The cases of `tests/cases/cli/`: exit status and what is said where.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::{folder, program};

#[test]
fn cases() {
    let mut failures = Vec::new();
    for (name, case) in folder::cases("cli") {
        for (at, run) in case["runs"].as_array().expect("runs").iter().enumerate() {
            if run["needs"] == "not_root" && folder::is_root() {
                folder::skip(&format!("{name}: run {at}"));
                continue;
            }
            if let Err(fault) = check(run) {
                failures.push(format!("{name}: run {at}: {}: {fault}", run["args"]));
            }
        }
    }
    folder::report(&failures);
}

fn check(run: &Value) -> Result<(), String> {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    folder::make(fresh.path(), &run["tree"]);
    if let Some(mode) = run["index_dir_mode"].as_str() {
        let index = fresh.path().join("idx");
        fs::create_dir(&index).expect("a new folder");
        folder::set_mode(&index, mode);
    }
    let args: Vec<&str> =
        run["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let start = || -> Output {
        let mut command = program::command(fresh.path());
        command.args(&args).current_dir(fresh.path()).output().expect("it runs")
    };
    let first = start();
    let stderr = String::from_utf8_lossy(&first.stderr);
    let wanted = run["exit_code"].as_i64().unwrap_or_default();
    if first.status.code().map(i64::from) != Some(wanted) {
        return Err(format!("{}: {stderr}", first.status));
    }
    for part in run["stderr_has"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !stderr.contains(part) {
            return Err(format!("{part:?} is not in {stderr:?}"));
        }
    }
    if stderr.contains(&*fresh.path().to_string_lossy()) {
        return Err(format!("an absolute path: {stderr}"));
    }
    if run["twice"] == true && start().stdout != first.stdout {
        return Err("the second run says something else".to_owned());
    }
    Ok(())
}
