//! Properties that hold for every document: generated, mutated, or no document at all.
//!
//! `FLOW_CASES` sets the number of cases of each property; few by default.

use botmesh_docs::flow::analyze::{Format, analyze};
use botmesh_docs::flow::check::{validate, validate_node};
use botmesh_docs::flow::diff::diff;
use botmesh_docs::flow::digest::{canonical, digest};
use botmesh_docs::flow::format::format;
use botmesh_docs::flow::graph::Direction;
use botmesh_docs::flow::json::Node;
use botmesh_docs::flow::migrate::migrate;
use botmesh_docs::flow::model::Flow;
use botmesh_docs::flow::reader::read;
use botmesh_docs::flow::schema::schema;
use botmesh_docs::flow::simulate::{Input, Script, simulate};
use proptest::prelude::*;
use proptest::test_runner::Config;
use serde_json::{Map, Value, json};

fn config() -> Config {
    let cases = std::env::var("FLOW_CASES").ok().and_then(|cases| cases.parse().ok());
    Config { cases: cases.unwrap_or(96), failure_persistence: None, ..Config::default() }
}

const NAMES: [&str; 5] = ["a", "b", "nombre", "__proto__", "n_1"];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(&NAMES[..]).prop_map(str::to_owned)
}

fn string() -> impl Strategy<Value = String> {
    prop::sample::select(
        &[
            "Hola",
            "¿Qué? 👋",
            "{{a}}",
            "Hola {{nombre|tú}}.",
            "{{x y}}",
            "\"]; click `x`",
            "1. uno",
            "%%{init}%%",
            "e\u{301}\u{200d}",
            "a\nb",
            "{{a.b.0}} {{contact.name}}",
            "-",
            "<b>|</b>",
        ][..],
    )
    .prop_map(str::to_owned)
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        string().prop_map(Value::from),
        (string(), string()).prop_map(|(es, en)| json!({ "es": es, "en": en })),
        string().prop_map(|es| json!({ "es": es })),
    ]
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-5_i64..5).prop_map(Value::from),
        Just(json!(1.5)),
        string().prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        scalar(),
        name().prop_map(|name| json!({ "var": name })),
        (name(), -2_i64..3).prop_map(|(name, add)| json!({ "var": name, "add": add })),
        scalar().prop_map(|literal| json!({ "literal": [literal, {}] })),
    ]
}

fn values() -> impl Strategy<Value = Value> {
    prop::collection::vec((name(), value()), 1..3)
        .prop_map(|pairs| pairs.into_iter().collect::<Map<_, _>>().into())
}

fn condition() -> impl Strategy<Value = Value> {
    let number = prop_oneof![(-3_i64..3).prop_map(Value::from), string().prop_map(Value::from)];
    let op = prop::sample::select(&["lt", "lte", "gt", "gte"][..]);
    let leaf = prop_oneof![
        name().prop_map(|name| json!({ "op": "exists", "var": name })),
        name().prop_map(|name| json!({ "op": "empty", "var": name })),
        (name(), scalar()).prop_map(|(name, v)| json!({ "op": "eq", "var": name, "value": v })),
        (name(), name()).prop_map(|(a, b)| json!({ "op": "ne", "var": a, "value": { "var": b } })),
        (op, name(), number).prop_map(|(op, name, v)| json!({ "op": op, "var": name, "value": v })),
        (name(), prop::collection::vec(scalar(), 1..3))
            .prop_map(|(name, v)| json!({ "op": "in", "var": name, "values": v })),
        (name(), string()).prop_map(|(n, v)| json!({ "op": "contains", "var": n, "value": v })),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|of| json!({ "op": "and", "of": of })),
            prop::collection::vec(inner.clone(), 1..3)
                .prop_map(|of| json!({ "op": "or", "of": of })),
            inner.prop_map(|of| json!({ "op": "not", "of": of })),
        ]
    })
}

/// Steps without ids; a string `goto` or `to` is a number that is made an id afterwards.
fn block(depth: u32) -> BoxedStrategy<Value> {
    prop::collection::vec(step(depth), 0..4).prop_map(Value::from).boxed()
}

fn exit(depth: u32) -> BoxedStrategy<Value> {
    let goto = (0_usize..40).prop_map(|at| json!({ "goto": at.to_string() }));
    if depth == 0 {
        return goto.boxed();
    }
    prop_oneof![goto, block(depth - 1).prop_map(|steps| json!({ "steps": steps }))].boxed()
}

fn merged(mut base: Value, more: Vec<(&str, Option<Value>)>) -> Value {
    for (name, value) in more {
        if let Some(value) = value {
            base[name] = value;
        }
    }
    base
}

fn step(depth: u32) -> BoxedStrategy<Value> {
    let maybe_exit = || prop::option::of(exit(depth));
    let timeout = || {
        prop::option::of((1_u32..200_000, maybe_exit()).prop_map(|(seconds, exit)| {
            merged(
                json!({ "seconds": seconds }),
                vec![
                    ("goto", exit.as_ref().and_then(|exit| exit.get("goto").cloned())),
                    ("steps", exit.as_ref().and_then(|exit| exit.get("steps").cloned())),
                ],
            )
        }))
    };
    let expect = prop::sample::select(&["text", "number", "boolean", "date", "image", "any"][..]);
    let with_exit = |base: Value, exit: Option<Value>| {
        let mut base = base;
        if let (Some(base), Some(Value::Object(exit))) = (base.as_object_mut(), exit) {
            base.extend(exit);
        }
        base
    };
    prop_oneof![
        4 => text().prop_map(|text| json!({ "kind": "say", "text": text })),
        1 => prop::option::of(text()).prop_map(|caption| merged(
            json!({ "kind": "media", "media": "audio", "url": "http://x.example/{{a}}" }),
            vec![("caption", caption)],
        )),
        2 => (text(), name(), expect, maybe_exit(), timeout()).prop_map(
            |(text, save, expect, invalid, timeout)| merged(
                json!({ "kind": "ask", "text": text, "save": save, "expect": expect }),
                vec![("onInvalid", invalid), ("timeout", timeout)],
            )
        ),
        2 => (text(), prop::collection::vec((text(), maybe_exit()), 1..4), maybe_exit(), timeout()).prop_map(
            move |(text, options, invalid, timeout)| {
                let options: Vec<Value> = options.into_iter().enumerate().map(|(at, (label, exit))| {
                    with_exit(json!({ "id": format!("o{at}"), "label": label }), exit)
                }).collect();
                merged(
                    json!({ "kind": "choice", "text": text, "options": options, "save": "a" }),
                    vec![("onInvalid", invalid), ("timeout", timeout)],
                )
            }
        ),
        2 => values().prop_map(|assign| json!({ "kind": "set", "assign": assign })),
        2 => (prop::collection::vec((condition(), maybe_exit()), 1..3), maybe_exit()).prop_map(
            move |(cases, otherwise)| {
                let cases: Vec<Value> = cases.into_iter().map(|(when, exit)| {
                    with_exit(json!({ "when": when }), exit)
                }).collect();
                merged(json!({ "kind": "branch", "cases": cases }), vec![("else", otherwise)])
            }
        ),
        1 => (name(), prop::collection::vec((scalar(), maybe_exit()), 1..3), maybe_exit()).prop_map(
            move |(on, cases, otherwise)| {
                let cases: Vec<Value> = cases.into_iter().map(|(is, exit)| {
                    with_exit(json!({ "is": is }), exit)
                }).collect();
                merged(json!({ "kind": "switch", "on": on, "cases": cases }), vec![("default", otherwise)])
            }
        ),
        1 => (0_usize..40).prop_map(|at| json!({ "kind": "goto", "to": at.to_string() })),
        1 => values().prop_map(|with| json!({ "kind": "call", "flow": "sub", "with": with, "save": { "b": "out" } })),
        1 => (1_u32..100).prop_map(|seconds| json!({ "kind": "wait", "seconds": seconds })),
        1 => (values(), maybe_exit()).prop_map(|(with, error)| merged(
            json!({ "kind": "action", "handler": "h", "with": with, "save": "n_1" }),
            vec![("onError", error)],
        )),
        1 => any::<bool>().prop_map(|resume| json!({ "kind": "handoff", "resume": resume })),
        1 => values().prop_map(|data| json!({ "kind": "emit", "event": "e", "data": data })),
        1 => prop::option::of(string()).prop_map(|_| json!({ "kind": "end", "outcome": "fin" })),
    ]
    .boxed()
}

const IDS: [&str; 6] = ["end", "a b", "ñandú", "x|y", "__proto__", "1. uno"];

fn name_steps(steps: &mut Value, count: &mut usize) {
    for step in steps.as_array_mut().into_iter().flatten() {
        let id = match IDS.get(*count) {
            Some(id) => (*id).to_owned(),
            None => format!("s{count}"),
        };
        *count += 1;
        step["id"] = json!(id);
        each_exit(step, &mut |exit| name_steps(&mut exit["steps"], count));
    }
}

fn resolve(steps: &mut Value, total: usize) {
    let id = |value: &Value| {
        let at = value.as_str().and_then(|at| at.parse::<usize>().ok()).unwrap_or(0) % total;
        json!(IDS.get(at).map_or_else(|| format!("s{at}"), |id| (*id).to_owned()))
    };
    for step in steps.as_array_mut().into_iter().flatten() {
        if step.get("to").is_some() {
            step["to"] = id(&step["to"]);
        }
        each_exit(step, &mut |exit| {
            if exit.get("goto").is_some() {
                exit["goto"] = id(&exit["goto"]);
            }
            resolve(&mut exit["steps"], total);
        });
    }
}

fn each_exit(step: &mut Value, visit: &mut dyn FnMut(&mut Value)) {
    let mut wrapped = |exit: &mut Value| {
        visit(exit);
        // Indexing adds the member that it does not find.
        if exit["steps"].is_null() {
            exit.as_object_mut().map(|exit| exit.shift_remove("steps"));
        }
    };
    for list in ["options", "cases"] {
        if let Some(Value::Array(items)) = step.get_mut(list) {
            items.iter_mut().for_each(&mut wrapped);
        }
    }
    for single in ["else", "default", "onInvalid", "timeout", "onError"] {
        if let Some(exit) = step.get_mut(single) {
            wrapped(exit);
        }
    }
}

/// Valid documents.
fn document() -> impl Strategy<Value = Value> {
    let variables = prop::option::of(prop::collection::vec(
        (name(), prop::sample::select(&["string", "integer", "any"][..]), any::<bool>()),
        0..3,
    ));
    (prop::collection::vec(step(2), 1..7), variables, any::<bool>()).prop_map(
        |(steps, variables, with_metadata)| {
            let mut steps = Value::from(steps);
            let mut count = 0;
            name_steps(&mut steps, &mut count);
            resolve(&mut steps, count);
            let variables = variables.map(|list| -> Value {
                list.into_iter()
                    .map(|(name, kind, input)| (name, json!({ "type": kind, "input": input })))
                    .collect::<Map<_, _>>()
                    .into()
            });
            merged(
                json!({ "version": 2, "id": "main", "locales": ["es", "en"], "steps": steps }),
                vec![
                    ("variables", variables),
                    (
                        "metadata",
                        with_metadata.then(|| json!({ "lintIgnore": ["missing-timeout"] })),
                    ),
                ],
            )
        },
    )
}

/// The same value with members in another order, and blanks.
fn shuffled(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let parts: Vec<String> = members
                .iter()
                .rev()
                .map(|(name, value)| {
                    format!("{} :\n{}", Value::from(name.as_str()), shuffled(value))
                })
                .collect();
            format!("{{\t{} }}", parts.join(" ,"))
        }
        Value::Array(items) => {
            format!("[ {}\r\n]", items.iter().map(shuffled).collect::<Vec<_>>().join(" , "))
        }
        Value::Number(number) if number.is_i64() => format!("{number}.0e0"),
        other => other.to_string(),
    }
}

/// A document with one thing broken, which the schema may or may not mind.
fn mutated() -> impl Strategy<Value = Value> {
    let junk = prop_oneof![
        scalar(),
        Just(json!([])),
        Just(json!({})),
        Just(json!(99_999_999)),
        Just(json!(["es", "es"])),
        Just(json!("x".repeat(9_000))),
        Just(json!("a\u{1}b")),
        Just(json!({ "var": "a..b" })),
        Just(json!({ "steps": [], "goto": "a b" })),
    ];
    (document(), prop::collection::vec(any::<prop::sample::Index>(), 1..12), junk, 0..4_u8)
        .prop_map(|(mut document, path, junk, how)| {
            let mut node = &mut document;
            for index in path {
                let is_leaf = match node {
                    Value::Object(members) => members.is_empty(),
                    Value::Array(items) => items.is_empty(),
                    _ => true,
                };
                if is_leaf {
                    break;
                }
                node = match node {
                    Value::Object(members) => {
                        let at = index.index(members.len());
                        members.values_mut().nth(at).expect("within the length")
                    }
                    Value::Array(items) => {
                        let at = index.index(items.len());
                        &mut items[at]
                    }
                    _ => unreachable!("leaves end the walk"),
                };
            }
            match (how, &mut *node) {
                (0, Value::Object(members)) => {
                    members.insert("extra".to_owned(), junk);
                }
                (1, Value::Object(members)) => {
                    let last = members.keys().next_back().cloned();
                    last.map(|name| members.shift_remove(&name));
                }
                (2, Value::Array(items)) => {
                    items.push(junk);
                }
                _ => *node = junk,
            }
            document
        })
}

fn analysis(text: &str) -> Value {
    let document = read(text).expect("generated documents are JSON");
    match analyze(&document, None) {
        Ok(analysis) => {
            let mut value = analysis.to_value(Format::Json, Direction::LeftRight);
            value["mermaid"] = json!(analysis.graph.mermaid(Direction::TopDown));
            value
        }
        Err(validation) => panic!("generated documents are valid: {:?}", validation.issues),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn lint_and_graph_are_total(document in document()) {
        let value = analysis(&document.to_string());
        let diagnostics = value["diagnostics"].as_array().expect("a list");
        for diagnostic in diagnostics {
            let path = diagnostic["path"].as_str().expect("a pointer");
            prop_assert!(document.pointer(path).is_some(), "{path} is a place");
        }
        let nodes = value["graph"]["nodes"].as_array().expect("a list");
        let edges = value["graph"]["edges"].as_array().expect("a list");
        for edge in edges {
            for end in ["from", "to"] {
                prop_assert!(nodes.iter().any(|node| node["id"] == edge[end]), "{edge}");
            }
        }
    }

    #[test]
    fn order_and_blanks_change_nothing(document in document()) {
        let (one, other) = (document.to_string(), shuffled(&document));
        prop_assert_eq!(analysis(&one), analysis(&other));
        let (one, other) = (read(&one).expect("JSON"), read(&other).expect("JSON"));
        prop_assert_eq!(digest(&one.root), digest(&other.root));
        prop_assert!(!diff(&one.root, &other.root).changed);
    }

    #[test]
    fn layout_keeps_the_digest(document in mutated()) {
        let text = document.to_string();
        let read_once = read(&text).expect("JSON");
        let laid_out = format(&read_once.root);
        let again = read(&laid_out).expect("a layout is JSON");
        prop_assert_eq!(digest(&read_once.root), digest(&again.root));
        prop_assert_eq!(format(&again.root), laid_out);
    }

    #[test]
    fn canonical_form_is_that_of_another_implementation(document in mutated()) {
        let text = document.to_string();
        let own = canonical(&read(&text).expect("JSON").root);
        let other = serde_json_canonicalizer::to_string(&document).expect("serializable");
        prop_assert_eq!(own, other);
    }

    #[test]
    fn the_verdict_is_that_of_another_validator(document in mutated()) {
        let validator = jsonschema::validator_for(schema()).expect("the schema compiles");
        let text = document.to_string();
        let own = validate(&read(&text).expect("JSON"));
        // Meaning is checked only when the schema is satisfied, and in its own words.
        let meaning = ["must be the id of", "must be unique", "must be a declared", "must NOT be",
            "must have required property 'es'", "must be <= max"];
        let by_schema = own.issues.iter().any(|issue| {
            !meaning.iter().any(|start| issue.message.starts_with(start))
        });
        prop_assert_eq!(!by_schema, validator.is_valid(&document), "{:?}", own.issues);
    }

    #[test]
    fn differences(left in document(), right in mutated()) {
        let (left, right) = (Node::from_value(&left), Node::from_value(&right));
        prop_assert!(!diff(&left, &left).changed);
        let difference = diff(&left, &right);
        prop_assert_eq!(difference.changed, digest(&left) != digest(&right));
        if validate_node(&right).is_valid() {
            let is_empty = difference.metadata.is_empty() && difference.added.is_empty()
                && difference.removed.is_empty() && difference.changed_steps.is_empty();
            prop_assert_eq!(difference.changed, !is_empty);
        }
    }

    #[test]
    fn current_documents_migrate_to_themselves(document in mutated()) {
        let node = Node::from_value(&document);
        let before = digest(&node);
        if let Ok(migration) = migrate(node, 2) && migration.from == 2 {
            prop_assert_eq!(digest(&migration.document), before);
            prop_assert!(migration.applied.is_empty());
        }
    }

    #[test]
    fn old_documents_migrate_whatever_they_hold(mut document in mutated(), version in 0..2) {
        document["version"] = json!(version);
        let migration = migrate(Node::from_value(&document), 2).expect("versions 0 and 1 migrate");
        prop_assert_eq!(migration.to, 2);
        let again = migrate(migration.document.clone(), 2).expect("the result is current");
        prop_assert_eq!(digest(&again.document), digest(&migration.document));
    }

    #[test]
    fn runs_end(document in document(), inputs in prop::collection::vec(string(), 0..6)) {
        let text = document.to_string();
        let read = read(&text).expect("JSON");
        let flow = Flow::new(&read.root);
        let script = Script {
            inputs: inputs.into_iter().map(Input::Text).collect(),
            max_steps: 60,
            ..Script::default()
        };
        let run = simulate(&flow, &[], &script);
        prop_assert!(run.visited.len() <= 60);
        prop_assert_eq!(run.n_visited + run.missed.len(), run.n_steps);
        prop_assert_eq!(run.to_value(), simulate(&flow, &[], &script).to_value());
    }

    #[test]
    fn any_text_is_read_or_refused(text in "[\\[\\]{}\":,0-9eE.+\\-a-z\\\\ \u{e9}]{0,60}") {
        if let Ok(document) = read(&text) {
            let _ = validate(&document);
            prop_assert!(serde_json::from_str::<Value>(&text).is_ok() || !document.defects.is_empty());
        } else {
            prop_assert!(serde_json::from_str::<Value>(&text).is_err());
        }
    }

    #[test]
    fn any_depth_is_answered(depth in prop_oneof![60_usize..70, Just(100_000)], open in "[\\[{]") {
        let (open, close) = if open == "[" { ("[", "]") } else { ("{\"a\":", "}") };
        let text = format!("{}1{}", open.repeat(depth), close.repeat(depth));
        prop_assert_eq!(read(&text).is_ok(), depth <= 64);
    }
}
