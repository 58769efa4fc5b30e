//! Flow documents: every case on disk, through the tools as a client calls them.

use std::fs;
use std::path::{Path, PathBuf};

use botmesh_docs::error::ToolError;
use botmesh_docs::tools::{self, Arguments, Context};
use serde_json::{Value, json};

mod cli;
mod json_cases;
mod manual;
mod properties;

fn cases(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/flow").join(folder)
}

/// Names of the cases of a folder, sorted.
fn names(folder: &str) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(cases(folder))
        .expect("the folder of cases is committed")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".expected.json").map(str::to_owned))
        .collect();
    names.sort();
    assert!(!names.is_empty(), "{folder} holds cases");
    names
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn expected(folder: &str, name: &str) -> Value {
    serde_json::from_str(&text(&cases(folder).join(format!("{name}.expected.json"))))
        .expect("expectations are JSON")
}

fn call_text(tool: &str, arguments: &str) -> Result<Value, ToolError> {
    let context = Context::default();
    let tool = tools::catalogue(&context)
        .into_iter()
        .find(|known| known.name == tool)
        .unwrap_or_else(|| panic!("no tool {tool}"));
    let arguments = Arguments::parse(arguments).expect("the arguments are an object");
    tools::call(&context, tool, &arguments).map(|reply| reply.value)
}

fn call(tool: &str, arguments: &Value) -> Value {
    call_text(tool, &arguments.to_string()).unwrap_or_else(|error| panic!("{tool}: {error}"))
}

/// Calls a tool with a document as it is written on disk, once as an object and once as a string: both must agree.
fn call_both(tool: &str, document: &str, more: &str) -> Value {
    let object = call_text(tool, &format!("{{\"document\":{document}{more}}}"));
    let string = call_text(tool, &format!("{{\"document\":{}{more}}}", json!(document)));
    let object = object.unwrap_or_else(|error| panic!("{tool}: {error}"));
    let string = string.unwrap_or_else(|error| panic!("{tool}: {error}"));
    assert_eq!(object, string, "an object and a string holding it");
    object
}

/// Only what the contract fixes: sentences and advice may improve.
fn only(list: &Value, names: &[&str]) -> Value {
    let pick = |item: &Value| -> Value {
        names
            .iter()
            .map(|name| ((*name).to_owned(), item[*name].clone()))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    list.as_array().map_or(Value::Null, |list| list.iter().map(pick).collect())
}

const ISSUE: &[&str] = &["path", "message"];
const DIAGNOSTIC: &[&str] = &["code", "severity", "flow", "path"];

fn subflows(folder: &str, name: &str) -> String {
    let path = cases(folder).join(format!("{name}.subflows.json"));
    if path.exists() { format!(",\"subflows\":{}", text(&path)) } else { String::new() }
}

#[test]
fn valid_documents() {
    for name in names("valid") {
        let document = text(&cases("valid").join(format!("{name}.json")));
        let expected = expected("valid", &name);
        let validated = call_both("flow_validate", &document, "");
        assert_eq!(validated["issues"], json!([]), "{name}");
        assert_eq!(validated["summary"], expected["summary"], "{name}");
        let digest = call_both("flow_digest", &document, "");
        assert_eq!(digest["digest"], expected["digest"], "{name}");
        assert_eq!(digest["version"], expected["version"], "{name}");
        let subflows = subflows("valid", &name);
        let analysis = call_both("flow_analyze", &document, &subflows);
        assert_eq!(
            only(&analysis["diagnostics"], DIAGNOSTIC),
            only(&expected["diagnostics"], DIAGNOSTIC),
            "{name}"
        );
        assert_eq!(analysis["mermaid"], expected["mermaid"], "{name}");
        let drawn =
            call_both("flow_analyze", &document, &format!("{subflows},\"format\":\"json\""));
        let count = |list: &str| json!(drawn["graph"][list].as_array().map(Vec::len));
        assert_eq!(count("nodes"), expected["nodes"], "{name}");
        assert_eq!(count("edges"), expected["edges"], "{name}");
        if let Some(graph) = expected.get("graph") {
            assert_eq!(drawn["graph"], *graph, "{name}");
        }
    }
}

#[test]
fn invalid_documents() {
    for name in names("invalid") {
        let document = text(&cases("invalid").join(format!("{name}.json")));
        let expected = expected("invalid", &name);
        let validated = call_both("flow_validate", &document, "");
        assert_eq!(validated["valid"], json!(false), "{name}");
        assert_eq!(only(&validated["issues"], ISSUE), expected["issues"], "{name}");
        for (path, hint) in expected["beyond"]["hints"].as_object().into_iter().flatten() {
            let issues = validated["issues"].as_array().expect("issues are a list");
            let issue = issues.iter().find(|issue| issue["path"] == json!(path));
            assert_eq!(issue.map(|issue| &issue["hint"]), Some(hint), "{name} {path}");
        }
        let digest = call_both("flow_digest", &document, "");
        match expected.get("digest") {
            Some(expected_digest) => {
                assert_eq!(digest["digest"], *expected_digest, "{name}");
                assert_eq!(digest["version"], expected["version"], "{name}");
            }
            None => assert_eq!(digest["valid"], json!(false), "{name}"),
        }
        let analysis = call_both("flow_analyze", &document, "");
        assert_eq!(only(&analysis["issues"], ISSUE), expected["issues"], "{name}");
        assert_eq!(analysis.get("mermaid"), None, "{name}");
    }
}

#[test]
fn lint_rules() {
    for name in names("lint") {
        let document = text(&cases("lint").join(format!("{name}.json")));
        let expected = expected("lint", &name);
        let analysis = call_both("flow_analyze", &document, &subflows("lint", &name));
        assert_eq!(
            only(&analysis["diagnostics"], DIAGNOSTIC),
            only(&expected["diagnostics"], DIAGNOSTIC),
            "{name}"
        );
        let digest = call_both("flow_digest", &document, "");
        assert_eq!(digest["digest"], expected["digest"], "{name}");
    }
}

fn check_results(folder: &str, tool: &str) {
    for name in names(folder) {
        let arguments = text(&cases(folder).join(format!("{name}.json")));
        let expected = expected(folder, &name);
        let answer = call_text(tool, &arguments);
        if expected["isError"] == json!(true) {
            let message = answer.map_err(|error| error.message);
            assert_eq!(message.err(), expected["text"].as_str().map(str::to_owned), "{name}");
            continue;
        }
        let mut answer = answer.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut result = expected["result"].clone();
        for value in [&mut answer, &mut result] {
            for (list, members) in [("diagnostics", DIAGNOSTIC), ("issues", ISSUE)] {
                if value.get(list).is_some() {
                    value[list] = only(&value[list], members);
                }
            }
        }
        assert_eq!(answer, result, "{folder}/{name}");
    }
}

#[test]
fn analyses() {
    check_results("analyze", "flow_analyze");
}

#[test]
fn migrations() {
    check_results("migrate", "flow_migrate");
}

#[test]
fn differences() {
    check_results("diff", "flow_diff");
}

#[test]
fn simulations() {
    check_results("simulate", "flow_simulate");
}

#[test]
fn wrong_calls_get_one_sentence() {
    let cases: Value = serde_json::from_str(&text(&cases("request-errors.json"))).expect("JSON");
    for case in cases.as_array().expect("a list") {
        let tool = case["tool"].as_str().expect("a tool");
        let answer = call_text(tool, &case["arguments"].to_string());
        let message = answer.map_err(|error| error.message).err();
        assert_eq!(message.as_deref(), case["text"].as_str(), "{case}");
    }
}

#[test]
fn the_deepest_document_is_accepted() {
    let case: Value = serde_json::from_str(&text(&cases("depth-64-ok.json"))).expect("JSON");
    let answer = call_both("flow_validate", &case["arguments"]["document"].to_string(), "");
    assert_eq!(answer["valid"], json!(true));
}

#[test]
fn the_example_is_a_model() {
    let example = call("flow_example", &json!({}));
    let document = &example["document"];
    let analysis = call("flow_analyze", &json!({ "document": document }));
    assert_eq!(analysis["diagnostics"], json!([]));
    let kinds = call("flow_schema", &json!({}))["stepKinds"].clone();
    let used: Vec<_> = analysis["summary"]["kinds"].as_object().expect("counts").keys().collect();
    assert_eq!(json!(used), kinds, "every kind is used");
    let subflow: Value =
        serde_json::from_str(&text(&cases("valid/subflow-verify-identity.json"))).expect("JSON");
    let run = call(
        "flow_simulate",
        &json!({
            "document": document,
            "subflows": [subflow],
            "inputs": ["Ana", "lab", "0421"],
            "handlers": { "identity.check": [{ "value": true }], "calendar.next-slot": [{ "value": { "date": "2027-03-15" } }] },
        }),
    );
    assert_eq!(run["status"], json!("ended"), "{run:#}");
}

#[test]
fn schemas_of_tools_suit_strict_clients() {
    let context = Context::default();
    let mut bytes = 0;
    for tool in tools::catalogue(&context) {
        let input: Value = serde_json::from_str(tool.input_schema).expect("input schemas are JSON");
        let output: Value =
            serde_json::from_str(tool.output_schema).expect("output schemas are JSON");
        bytes += tool.input_schema.len() + tool.output_schema.len() + tool.description.len();
        assert_eq!(input["type"], json!("object"), "{}", tool.name);
        assert!(input["properties"].is_object(), "{}", tool.name);
        assert_eq!(input["additionalProperties"], json!(false), "{}", tool.name);
        assert_eq!(output["type"], json!("object"), "{}", tool.name);
        assert_eq!(output.get("required"), None, "{}", tool.name);
        for schema in [&input, &output] {
            for union in ["oneOf", "anyOf", "allOf"] {
                assert_eq!(schema.get(union), None, "{}", tool.name);
            }
            let properties = schema["properties"].as_object().expect("properties");
            assert!(properties.values().all(Value::is_object), "{}", tool.name);
        }
    }
    assert!(bytes < 9_000, "{bytes} bytes for the flow tools");
}
