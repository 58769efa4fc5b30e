//! JSON as text: spellings of one value, names that trip scripting languages, junk, depth.

use std::fs;
use std::path::Path;

use botmesh_docs::flow::reader;
use serde_json::{Value, json};

use super::{call, call_text};

/// A document may hold numbers beyond 2^53 only as doubles: an integer literal of that size is refused on purpose
/// (flow format, reading), so that one spelling has no digest here.
const REFUSED_ON_PURPOSE: &str = "{\"n\":1000000000000000000000}";

fn groups() -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/json");
    let mut groups = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(folder)
        .expect("the cases are committed")
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    paths.sort();
    for path in paths {
        let text = fs::read_to_string(&path).expect("a readable case");
        let case: Value = serde_json::from_str(&text).expect("a JSON case");
        for group in case["groups"].as_array().expect("groups") {
            groups.push((path.display().to_string(), group.clone()));
        }
    }
    groups
}

fn digest(document: &str) -> Value {
    call("flow_digest", &json!({ "document": document }))["digest"].clone()
}

fn generated(case: &Value) -> String {
    let times = case["times"].as_u64().expect("a count") as usize;
    let open = case["open"].as_str().expect("an opening").repeat(times);
    let close = case["close"].as_str().expect("a closing").repeat(times);
    format!("{{\"metadata\":{open}{}{close}}}", case["value"].as_str().unwrap_or_default())
}

#[test]
fn every_group_of_documents() {
    let mut seen = 0;
    for (path, group) in groups() {
        let documents = group["documents"].as_array().expect("documents");
        let texts = || documents.iter().filter_map(Value::as_str);
        match group["kind"].as_str() {
            Some("equal") => {
                for text in texts().filter(|text| *text != REFUSED_ON_PURPOSE) {
                    assert_eq!(digest(text), group["sha256"], "{path} {text}");
                }
            }
            Some("different") => {
                let digests: Vec<Value> = texts().map(digest).collect();
                for (at, one) in digests.iter().enumerate() {
                    assert!(one.is_string(), "{path} {at}");
                    assert!(!digests[..at].contains(one), "{path} {at}");
                }
                let pairs = documents.windows(2);
                for pair in pairs {
                    let diff = call("flow_diff", &json!({ "left": pair[0], "right": pair[1] }));
                    assert_eq!(diff["changed"], json!(true), "{path} {pair:?}");
                    assert_ne!(diff["metadata"], json!([]), "{path} {pair:?}");
                }
            }
            Some("accept") => {
                for text in texts() {
                    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
                    assert!(reader::read(text).is_ok(), "{path} {text}");
                }
            }
            Some("refuse") => {
                for text in texts() {
                    let answer = call("flow_validate", &json!({ "document": text }));
                    let message = answer["issues"][0]["message"].as_str().unwrap_or_default();
                    assert!(message.starts_with("must be JSON: "), "{path} {text} {answer}");
                    assert!(
                        message.contains(" at line ") && message.contains(", column "),
                        "{message}"
                    );
                }
            }
            Some("accept_gen") => {
                for case in documents {
                    let document = generated(case);
                    let answer = call_text("flow_digest", &format!("{{\"document\":{document}}}"));
                    assert!(answer.is_ok(), "{path}");
                }
            }
            Some("refuse_gen") => {
                for case in documents {
                    let document = generated(case);
                    for tool in ["flow_validate", "flow_digest", "flow_migrate"] {
                        for document in [document.clone(), json!(document).to_string()] {
                            let answer = call_text(tool, &format!("{{\"document\":{document}}}"));
                            let message = answer.map_err(|error| error.message).err();
                            let expected = format!(
                                "invalid arguments for {tool}: argument \"document\" must NOT be nested more than 64 levels deep"
                            );
                            assert_eq!(message, Some(expected), "{path}");
                        }
                    }
                    let text = format!("{{\"left\":{{}},\"right\":{document}}}");
                    assert!(call_text("flow_diff", &text).is_err(), "{path}");
                }
            }
            other => panic!("{path}: unknown kind {other:?}"),
        }
        seen += 1;
    }
    assert!(seen >= 10, "{seen} groups");
}
