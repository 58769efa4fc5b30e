//! The manual's snippets, run: a document is valid, a failing one shows its rule, a mended one does not.

use std::fs;
use std::path::Path;

use botmesh_docs::flow::block::{check_block, is_flow_block};
use botmesh_docs::flow::lint::RULES;
use serde_json::{Value, json};

use super::call;

struct Block {
    heading: String,
    info: String,
    text: String,
    line: usize,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut heading = String::new();
    let mut open: Option<Block> = None;
    for (at, line) in page.lines().enumerate() {
        match &mut open {
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some(block) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            None => {
                if let Some(info) = line.strip_prefix("```") {
                    let info = info.to_owned();
                    open = Some(Block {
                        heading: heading.clone(),
                        info,
                        text: String::new(),
                        line: at + 2,
                    });
                } else if line.starts_with('#') {
                    line.clone_into(&mut heading);
                }
            }
        }
    }
    assert!(open.is_none(), "every block is closed");
    blocks
}

fn word<'i>(info: &'i str, name: &str) -> Option<&'i str> {
    info.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

fn page(lang: &str, name: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(lang).join("flows").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

const PAGES: [&str; 4] = ["format.md", "lint-rules.md", "tutorial.md", "command-line.md"];

fn codes(document: &str, subflows: &[&Block]) -> Vec<String> {
    let mut arguments = json!({ "document": document });
    if !subflows.is_empty() {
        arguments["subflows"] = subflows.iter().map(|block| json!(block.text)).collect();
    }
    let answer = call("flow_analyze", &arguments);
    assert_eq!(answer["valid"], json!(true), "{answer:#}");
    let diagnostics = answer["diagnostics"].as_array().expect("a list");
    diagnostics.iter().filter_map(|found| found["code"].as_str().map(str::to_owned)).collect()
}

#[test]
fn snippets_do_what_they_say() {
    for lang in ["en", "es"] {
        let mut shown = Vec::new();
        let mut mended = Vec::new();
        for name in PAGES {
            let page = page(lang, name);
            let blocks = blocks(&page);
            for block in blocks.iter().filter(|block| is_flow_block(&block.info)) {
                let place = format!("{lang}/{name}:{}", block.line);
                let with = |side: &str| -> Vec<&Block> {
                    blocks
                        .iter()
                        .filter(|other| other.heading == block.heading)
                        .filter(|other| {
                            other.info.ends_with(" subflow")
                                || word(&other.info, "subflow") == Some(side)
                        })
                        .collect()
                };
                if let Some(code) = word(&block.info, "lint") {
                    let found = codes(&block.text, &with("bad"));
                    assert!(found.iter().any(|found| found == code), "{place}: {found:?}");
                    shown.push(code.to_owned());
                } else if let Some(code) = word(&block.info, "mended") {
                    let found = codes(&block.text, &with("mended"));
                    assert!(!found.iter().any(|found| found == code), "{place}: {found:?}");
                    mended.push(code.to_owned());
                } else {
                    let found = check_block(&block.text, block.line);
                    let wrong = found.iter().filter(|found| found.code == "flow/invalid");
                    assert_eq!(wrong.count(), 0, "{place}: {found:?}");
                }
            }
        }
        for rule in RULES.iter().filter(|rule| rule.code != "graph-too-large") {
            for list in [&shown, &mended] {
                assert!(list.iter().any(|code| code == rule.code), "{lang}: {}", rule.code);
            }
        }
        assert!(page(lang, "lint-rules.md").contains("`graph-too-large`"));
    }
}

#[test]
fn the_tutorial_talks() {
    for lang in ["en", "es"] {
        let page = page(lang, "tutorial.md");
        let blocks = blocks(&page);
        let script =
            blocks.iter().find(|block| word(&block.info, "script").is_some()).expect("a script");
        let name = word(&script.info, "script");
        let document =
            blocks.iter().find(|block| word(&block.info, "name") == name).expect("a flow");
        assert_eq!(codes(&document.text, &[]), Vec::<String>::new(), "{lang}: it lints clean");
        let mut arguments: Value = serde_json::from_str(&script.text).expect("a JSON script");
        arguments["document"] = json!(document.text);
        let run = call("flow_simulate", &arguments);
        assert_eq!(run["outcome"].as_str(), word(&script.info, "outcome"), "{run:#}");
    }
}

#[test]
fn a_large_drawing_is_found() {
    let options: Vec<Value> = (0..50)
        .map(|at| json!({ "id": format!("o{at}"), "label": format!("L{at}"), "goto": "fin" }))
        .collect();
    let mut steps: Vec<Value> = (0..11)
        .map(|at| json!({ "id": format!("c{at}"), "kind": "choice", "text": "?", "options": options }))
        .collect();
    steps.push(json!({ "id": "fin", "kind": "end" }));
    let document = json!({ "version": 2, "id": "x", "steps": steps }).to_string();
    assert!(codes(&document, &[]).iter().any(|code| code == "graph-too-large"));
}
