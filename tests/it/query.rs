//! The cases of `tests/cases/query/`, through `docs_search` over a pipe.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::docs_tools::DocsServer;
use crate::folder;

/// More than any case expects.
const LIMIT: u64 = 25;

#[test]
fn cases() {
    let mut failures = Vec::new();
    for (name, case) in folder::cases("query") {
        for _ in 0..case["repeat"].as_u64().unwrap_or(1) {
            run(&name, &case, &mut failures);
        }
    }
    failures.dedup();
    folder::report(&failures);
}

fn run(name: &str, case: &Value, failures: &mut Vec<String>) {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    std::fs::create_dir(fresh.path().join("docs")).expect("a new folder");
    folder::make(&fresh.path().join("docs"), &case["corpus"]);
    let mut server = DocsServer::start(fresh.path(), "docs");
    let mut earlier: BTreeMap<String, Value> = BTreeMap::new();
    for asked in case["queries"].as_array().expect("queries") {
        let query = query(asked);
        let expect = &asked["expect"];
        let called = server.call("docs_search", &json!({ "query": query, "limit": LIMIT }));
        let shown: String = query.chars().take(60).collect();
        let mut fail = |what: String| failures.push(format!("{name}: {shown:?}: {what}"));
        if called.is_error {
            if expect["error"] != "any" {
                fail(called.text.clone());
            }
        } else if let Err(fault) = check(expect, &called.value["results"], &earlier) {
            fail(fault);
        }
        let most = expect["max_ms"].as_u64().map(Duration::from_millis);
        if most.is_some_and(|most| called.took > most) {
            fail(format!("took {:?}", called.took));
        }
        if expect["then_ping"] == true {
            server.ping();
        }
        earlier.insert(query, called.value["results"].clone());
    }
    server.finish();
}

fn query(asked: &Value) -> String {
    if let Some(query) = asked["query"].as_str() {
        return query.to_owned();
    }
    let parts = &asked["query_gen"];
    if let Some(n) = parts["numbers"].as_u64() {
        let numbers: Vec<String> = (0..n).map(|number| number.to_string()).collect();
        return numbers.join(parts["join"].as_str().unwrap_or(" "));
    }
    let unit = parts["repeat"].as_str().expect("a text to repeat");
    let times = parts["times"].as_u64().expect("a count") as usize;
    format!("{}{}", unit.repeat(times), parts["then"].as_str().unwrap_or_default())
}

fn check(expect: &Value, results: &Value, earlier: &BTreeMap<String, Value>) -> Result<(), String> {
    let hits = results.as_array().ok_or("no results")?;
    let paths: Vec<&str> = hits.iter().filter_map(|hit| hit["path"].as_str()).collect();
    let must = |fine: bool, what: &str| {
        if fine { Ok(()) } else { Err(format!("{what}: {paths:?}")) }
    };
    let names = |key: &str| expect[key].as_array().into_iter().flatten().filter_map(Value::as_str);
    if let Some(first) = expect["first"].as_object() {
        must(paths.first().copied() == first["path"].as_str(), "first")?;
        let heading = first.get("heading").is_none_or(|heading| hits[0]["heading"] == *heading);
        must(heading, "heading")?;
    }
    for path in names("includes") {
        must(paths.contains(&path), "includes")?;
    }
    for path in names("excludes") {
        must(!paths.contains(&path), "excludes")?;
    }
    for pair in expect["before"].as_array().into_iter().flatten() {
        let at = |path: &Value| paths.iter().position(|found| Some(*found) == path.as_str());
        let (first, second) = (at(&pair[0]), at(&pair[1]));
        must(first.is_some() && second.is_none_or(|second| first < Some(second)), "before")?;
    }
    if expect["order"].is_array() {
        must(names("order").eq(paths.iter().copied()), "order")?;
    }
    must(expect["count"].as_u64().is_none_or(|n| paths.len() as u64 == n), "count")?;
    must(expect["max_results"].as_u64().is_none_or(|n| paths.len() as u64 <= n), "max_results")?;
    if let Some(query) = expect["same_results_as"].as_str() {
        let known = earlier.get(query).and_then(Value::as_array).ok_or("asked before")?;
        let known: Vec<_> = known.iter().map(|hit| (&hit["path"], &hit["heading"])).collect();
        let seen: Vec<_> = hits.iter().map(|hit| (&hit["path"], &hit["heading"])).collect();
        must(known == seen, "same_results_as")?;
    }
    for hit in hits {
        let snippet = hit["snippet"].as_str().ok_or("no snippet")?;
        must(!snippet.contains('\u{fffd}'), "a snippet is cut inside a character")?;
    }
    Ok(())
}
