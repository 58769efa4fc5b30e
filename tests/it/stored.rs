//! Stored flows and runs over a real pipe.

use std::path::Path;

use serde_json::{Value, json};

use crate::docs_tools::DocsServer;
use crate::folder;

/// A folder of flows: good ones, one that calls another, bad ones, and what must stay outside.
fn tree() -> tempfile::TempDir {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let flow =
        |id: &str, steps: Value| json!({ "version": 2, "id": id, "steps": steps }).to_string();
    let ask = json!([
        { "id": "ask", "kind": "ask", "text": "¿Nombre?", "save": "name" },
        { "id": "hello", "kind": "say", "text": "Hola, {{name}}." },
        { "id": "done", "kind": "end", "outcome": "greeted" },
    ]);
    let call = json!([
        { "id": "sub", "kind": "call", "flow": "greet" },
        { "id": "done", "kind": "end", "outcome": "called" },
    ]);
    folder::make(
        fresh.path(),
        &json!([
            { "path": "secret.flow.json", "text": flow("secret", ask.clone()) },
            { "path": "flows/greet.flow.json", "text": flow("greet", ask.clone()) },
            { "path": "flows/shop/order.flow.json", "text": flow("order", call) },
            { "path": "flows/bad.flow.json", "text": "{\"version\": 2, \"id\": \"bad\"}" },
            { "path": "flows/broken.flow.json", "text": "{" },
            { "path": "flows/latin.flow.json", "hex": "7b22e9227d" },
            { "path": "flows/inside.flow.json", "symlink": "greet.flow.json" },
            { "path": "flows/outside.flow.json", "symlink": "../secret.flow.json" },
            { "path": "flows/up", "symlink": ".." },
            { "path": "flows/.hidden/x.flow.json", "text": flow("x", ask) },
            { "path": "flows/pipe.flow.json", "fifo": true },
            { "path": "flows/readme.md", "text": "# No flow\n" },
        ]),
    );
    fresh
}

fn start(cwd: &Path) -> DocsServer {
    DocsServer::start_with(cwd, &["--flows", "flows", "--state", "st"])
}

#[test]
fn flows_are_listed_read_and_run() {
    let fresh = tree();
    let mut server = start(fresh.path());
    let list = server.call("flow_list", &json!({}));
    let names: Vec<&str> = list.value["items"]
        .as_array()
        .expect("items")
        .iter()
        .map(|item| item["name"].as_str().expect("a name"))
        .collect();
    assert_eq!(names, ["bad", "broken", "greet", "inside", "latin", "shop/order"]);
    let item = |name: &str| {
        let at = names.iter().position(|listed| *listed == name).expect("listed");
        list.value["items"][at].clone()
    };
    assert_eq!((&item("greet")["valid"], &item("greet")["steps"]), (&json!(true), &json!(3)));
    assert_eq!(item("shop/order")["subflows"], json!(["greet"]));
    for bad in ["bad", "broken", "latin"] {
        assert_eq!(item(bad)["valid"], json!(false));
        assert!(item(bad)["problem"].is_string(), "{bad}");
    }
    let got = server.call("flow_get", &json!({ "name": "greet" })).value;
    assert_eq!((&got["valid"], &got["document"]["id"]), (&json!(true), &json!("greet")));
    assert_eq!(got["digest"], item("greet")["digest"]);
    let invalid = server.call("flow_run", &json!({ "name": "bad" }));
    assert!(!invalid.is_error && invalid.value["valid"] == false, "{}", invalid.text);
    assert!(invalid.value["run_id"].is_null());
    let run = server.call("flow_run", &json!({ "name": "shop/order", "inputs": ["Ana"] })).value;
    assert_eq!((&run["status"], &run["outcome"]), (&json!("ended"), &json!("called")), "{run}");
    let record = server.call("flow_get_run", &json!({ "run_id": run["run_id"] })).value;
    assert_eq!(record["request"], json!({ "inputs": ["Ana"] }));
    assert_eq!(record["transcript"], run["transcript"]);
    assert_eq!((&record["digest"], &record["status"]), (&run["digest"], &json!("ended")));
    server.finish();
}

#[test]
fn only_names_of_the_listing_lead_to_a_flow() {
    let fresh = tree();
    let mut server = start(fresh.path());
    let absolute = fresh.path().join("secret").to_string_lossy().into_owned();
    for name in [
        "../secret",
        "secret",
        "outside",
        "up/secret",
        "up/flows/greet",
        ".hidden/x",
        "pipe",
        "readme.md",
        "./greet",
        "shop//order",
        "shop\\order",
        "greet.flow.json",
        "greet\u{0}",
        &absolute,
    ] {
        for tool in ["flow_get", "flow_run"] {
            let called = server.call(tool, &json!({ "name": name }));
            assert_eq!(
                called.value["error"]["code"], "not_found",
                "{tool} {name}: {}",
                called.text
            );
        }
    }
    let near = server.call("flow_get", &json!({ "name": "shop/ordr" }));
    assert!(near.text.contains("did you mean \"shop/order\"?"), "{}", near.text);
    let none = server.call("flow_get_run", &json!({ "run_id": "run_00" }));
    assert_eq!(none.value["error"]["code"], "not_found");
    server.finish();
}

#[test]
fn runs_are_paged_and_outlive_the_server() {
    let fresh = tree();
    let mut server = start(fresh.path());
    let mut ids: Vec<Value> = Vec::new();
    for name in ["greet", "shop/order", "greet", "greet"] {
        let run = server.call("flow_run", &json!({ "name": name, "inputs": ["x"] })).value;
        ids.insert(0, run["run_id"].clone());
    }
    // No goodbye: what was answered is on the disk.
    drop(server);
    let mut server = start(fresh.path());
    let (mut seen, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut arguments = json!({ "limit": 3 });
        if !cursor.is_null() {
            arguments["cursor"] = cursor;
        }
        let piece = server.call("flow_get_run", &arguments).value;
        seen.extend(
            piece["runs"].as_array().expect("runs").iter().map(|run| run["run_id"].clone()),
        );
        cursor = piece["page"]["next_cursor"].clone();
        assert_eq!(piece["page"]["truncated"], !cursor.is_null());
        if cursor.is_null() {
            break;
        }
        // A run that comes meanwhile does not move the others.
        server.call("flow_run", &json!({ "name": "inside", "inputs": ["y"] }));
    }
    assert_eq!(seen, ids);
    let greets = server.call("flow_get_run", &json!({ "name": "greet", "limit": 1 })).value;
    assert_eq!(greets["runs"][0]["run_id"], ids[0]);
    let cursor = &greets["page"]["next_cursor"];
    let mixed = server.call("flow_get_run", &json!({ "name": "shop/order", "cursor": cursor }));
    assert_eq!(mixed.value["error"]["code"], "invalid_argument", "of another question");
    let listed = server.call("flow_list", &json!({ "limit": 4 })).value;
    let cursor = &listed["page"]["next_cursor"];
    let rest = server.call("flow_list", &json!({ "limit": 4, "cursor": cursor })).value;
    assert_eq!(rest["items"][1]["name"], "shop/order");
    std::fs::remove_file(fresh.path().join("flows/bad.flow.json")).expect("removed");
    let stale = server.call("flow_list", &json!({ "cursor": cursor }));
    assert_eq!(stale.value["error"]["code"], "invalid_argument", "the list has changed");
    server.finish();
}

#[test]
fn the_catalogue_follows_flags_and_settings() {
    let fresh = tree();
    let settings = |text: &str| {
        std::fs::write(fresh.path().join("set.toml"), text).expect("written");
    };
    let check = |args: &[&str], expected: &[(&str, bool)]| {
        let mut server = DocsServer::start_with(fresh.path(), args);
        let tools = server.tools();
        let stored = ["flow_list", "flow_get", "flow_run", "flow_get_run"];
        let seen: Vec<(&str, bool)> = tools
            .iter()
            .filter_map(|tool| Some((tool["name"].as_str()?, &tool["annotations"])))
            .filter(|(name, _)| stored.contains(name))
            .map(|(name, annotations)| (name, annotations["readOnlyHint"] == true))
            .collect();
        assert_eq!(seen, expected, "{args:?}");
        server.finish();
    };
    let (list, get) = (("flow_list", true), ("flow_get", true));
    check(&[], &[]);
    check(&["--state", "st"], &[]);
    check(&["--flows", "flows"], &[list, get]);
    let (run, get_run) = (("flow_run", false), ("flow_get_run", true));
    check(&["--flows", "flows", "--state", "st"], &[list, get, run, get_run]);
    settings("[flows]\ndir = \"flows\"\n[state]\ndir = \"st\"\n[mcp]\nexclude = [\"flow.run\"]\n");
    check(&["--config", "set.toml"], &[list, get, get_run]);
    settings("[mcp]\ninclude = [\"flow.run\"]\n");
    check(&["--config", "set.toml", "--flows", "flows", "--state", "st"], &[run]);
}

#[test]
fn long_flows_and_runs_come_in_pieces() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let say =
        |at: u32| json!({ "id": format!("s{at}"), "kind": "say", "text": format!("{at}: ñandú") });
    let steps: Vec<Value> = (0..150).map(say).collect();
    let flow = json!({ "version": 2, "id": "long", "steps": steps });
    folder::make(
        fresh.path(),
        &json!([
            { "path": "flows/long.flow.json", "text": flow.to_string() },
            { "path": "botmesh-docs.toml", "text": "mcp.max_output_bytes = 4096\nflows.dir = \"flows\"\nstate.dir = \"st\"\n" },
        ]),
    );
    let mut server = DocsServer::start_with::<&str>(fresh.path(), &[]);
    let name = json!({ "name": "long" });
    let first = server.call("flow_get", &name).value;
    assert!(first["page"]["truncated"] == true && first["valid"] == true, "{first}");
    assert_eq!(all(&mut server, "flow_get", name.clone(), "/document/steps", first), steps);
    let first = server.call("flow_run", &name).value;
    assert!(first["page"]["truncated"] == true && first["status"] == "ended", "{first}");
    let run = json!({ "run_id": first["run_id"] });
    let said = all(&mut server, "flow_get_run", run, "/transcript", first);
    let texts = said.iter().filter(|entry| entry["text"].is_string());
    assert_eq!(texts.count(), steps.len(), "every step said something");
    server.finish();
}

/// The list of a reply and of all that follow it.
fn all(
    server: &mut DocsServer,
    tool: &str,
    mut arguments: Value,
    list: &str,
    first: Value,
) -> Vec<Value> {
    let (mut entries, mut value) = (Vec::new(), first);
    loop {
        entries.extend(value.pointer(list).and_then(Value::as_array).expect("a list").clone());
        let cursor = value["page"]["next_cursor"].take();
        assert_eq!(value["page"]["truncated"], cursor.is_string());
        if cursor.is_null() {
            return entries;
        }
        arguments["cursor"] = cursor;
        let called = server.call(tool, &arguments);
        assert!(!called.is_error, "{tool}: {}", called.text);
        value = called.value;
    }
}
