//! The cases of `tests/cases/paths/`: what is served, what is refused, and that nothing leaks.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::docs_tools::{Called, DocsServer};
use crate::{folder, program};

#[test]
fn cases() {
    let mut failures = Vec::new();
    for (name, case) in folder::cases("paths") {
        if case["needs"] == "not_root" && folder::is_root() {
            folder::skip(&name);
            continue;
        }
        run(&name, &case, &mut failures);
    }
    folder::report(&failures);
}

fn run(name: &str, case: &Value, failures: &mut Vec<String>) {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    folder::make(fresh.path(), &case["tree"]);
    let root = case["root"].as_str().expect("a root");
    let real = fs::canonicalize(fresh.path().join(root)).expect("the root");
    let real = real.to_str().expect("UTF-8");
    let started = Instant::now();
    let mut server = DocsServer::start(fresh.path(), root);
    server.call("docs_search", &json!({ "query": "x" }));
    let most = case["index_within_ms"].as_u64().map(Duration::from_millis);
    if most.is_some_and(|most| started.elapsed() > most) {
        failures.push(format!("{name}: indexed in {:?}", started.elapsed()));
    }
    for call in case["calls"].as_array().expect("calls") {
        let arguments = arguments(call, real);
        let called = server.call(call["tool"].as_str().expect("a tool"), &arguments);
        if let Err(fault) = check(call, &arguments, &called, real) {
            let text: String = called.text.chars().take(200).collect();
            failures.push(format!("{name}: {arguments}: {fault}: {text:?}"));
        }
    }
    let stderr = server.finish();
    if stderr.contains(real) {
        failures.push(format!("{name}: an absolute path on standard error: {stderr}"));
    }
    if let Some(code) = case["reindex_exit_code"].as_i64() {
        let seen = reindex(fresh.path(), root);
        if seen != Some(code) {
            failures.push(format!("{name}: reindex ends with {seen:?}"));
        }
    }
    for entry in case["tree"].as_array().into_iter().flatten() {
        // So that the folder can be removed.
        if entry["dir_mode"].is_string() {
            let path = fresh.path().join(entry["path"].as_str().expect("a path"));
            folder::set_mode(path.parent().expect("a folder"), "755");
        }
    }
}

fn reindex(cwd: &Path, root: &str) -> Option<i64> {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = program::command(home.path());
    let output = command.args(["reindex", root]).current_dir(cwd).output().expect("it runs");
    output.status.code().map(i64::from)
}

fn arguments(call: &Value, root: &str) -> Value {
    let mut arguments = call["arguments"].clone();
    for value in arguments.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
        if let Some(text) = value.as_str() {
            *value = text.replace("{ROOT_ABS}", root).into();
        }
    }
    for (name, parts) in call["arguments_gen"].as_object().into_iter().flatten() {
        let unit = parts["repeat"].as_str().expect("a text to repeat");
        let times = parts["times"].as_u64().expect("a count") as usize;
        let then = parts["then"].as_str().unwrap_or_default();
        arguments[name] = format!("{}{then}", unit.repeat(times)).into();
    }
    arguments
}

fn check(call: &Value, arguments: &Value, called: &Called, root: &str) -> Result<(), String> {
    let whole = format!("{}{}", called.text, called.value);
    for secret in ["SECRETO", root, "/etc/"] {
        let was_asked_for =
            call["tool"] == "docs_search" && call["arguments"].to_string().contains(secret);
        if whole.contains(secret) && !was_asked_for {
            return Err(format!("{secret} is said"));
        }
    }
    let most = call["within_ms"].as_u64().unwrap_or(1000);
    if called.took > Duration::from_millis(most) {
        return Err(format!("took {:?}", called.took));
    }
    let expected = call["expect"].as_str().expect("an outcome");
    if !expected.split("_or_").any(|outcome| fits(outcome, arguments, called)) {
        return Err(format!("not {expected}"));
    }
    for part in ["text_has", "message_has"].iter().filter_map(|key| call[key].as_str()) {
        if !called.text.contains(part) {
            return Err(format!("{part:?} is not said"));
        }
    }
    if let Some(wanted) = call["paths"].as_array() {
        let wanted: BTreeSet<&str> = wanted.iter().filter_map(Value::as_str).collect();
        let hits = called.value["results"].as_array().ok_or("no results")?;
        let found: BTreeSet<&str> = hits.iter().filter_map(|hit| hit["path"].as_str()).collect();
        if found != wanted {
            return Err(format!("found {found:?}"));
        }
    }
    Ok(())
}

fn fits(outcome: &str, arguments: &Value, called: &Called) -> bool {
    match outcome {
        "page" | "results" => !called.is_error,
        "refused" => called.is_error,
        "not_found" => {
            let path = arguments["path"].as_str().unwrap_or_default();
            called.is_error && called.text.contains("not found") && called.text.contains(path)
        }
        other => panic!("no such outcome: {other}"),
    }
}
