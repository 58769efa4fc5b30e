//! What an attacker, a lost token or a crowd can do: a row each.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use super::server::{HttpServer, token};
use crate::folder::make;

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().expect("a temporary folder");
    let flow = r#"{"version":2,"id":"hi","steps":[{"id":"a","kind":"say","text":"hola"}]}"#;
    make(
        home.path(),
        &json!([
            { "path": "docs/index.md", "text": "# Inicio\n\nuna palabra\n" },
            { "path": "secreto.md", "text": "# SECRETO\n" },
            { "path": "flows/hi.flow.json", "text": flow },
        ]),
    );
    home
}

fn search(server: &HttpServer, token: &str) -> Value {
    server.call(token, "docs_search", &json!({ "query": "palabra" }))
}

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().expect("a list");
    tools.iter().map(|tool| tool["name"].as_str().expect("a name")).collect()
}

#[test]
fn a_token_sees_and_does_what_its_scopes_say() {
    let home = home();
    let server = HttpServer::start(home.path(), &["--flows", "flows"]);
    let modern = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    } } })
    .to_string();
    let headers = [("MCP-Protocol-Version", "2026-07-28"), ("Mcp-Method", "tools/list")];
    for (scopes, starts, hidden) in [
        ("docs:read", "docs_", "flow_run"),
        ("flow:read", "flow_", "flow_run"),
        ("flow:run", "flow_run", "flow_list"),
        ("mcp.git:call", "none", "docs_search"),
    ] {
        let secret = token(home.path(), &scopes.replace([':', '.'], "-"), scopes);
        let answer = server.post(&secret, &headers, &modern).json();
        assert!(names(&answer).iter().all(|name| name.starts_with(starts)), "{scopes}: {answer}");
        assert_eq!(names(&answer).is_empty(), scopes == "mcp.git:call");
        assert_eq!(answer["result"]["cacheScope"], "private", "{answer}");
        let refused = server.call(&secret, hidden, &json!({ "query": "x", "flow": "hi" }));
        let error = &refused["structuredContent"]["error"];
        assert_eq!(refused["isError"], true, "{refused}");
        assert_eq!(error["code"], "permission_denied", "{refused}");
        let message = error["message"].as_str().expect("a message");
        assert!(message.contains("needs the scope `"), "{message}");
    }
}

#[test]
fn a_revoked_token_is_refused_on_the_connection_it_came_by() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let secret = token(home.path(), "lost", "docs:read");
    let mut connection = server.connect();
    connection.send(&server.request(&secret, &[], PING));
    assert_eq!(connection.answer(false).status, Some(200));
    let mut revoke = crate::program::command(home.path());
    revoke.current_dir(home.path()).args(["token", "revoke", "--state", "st", "lost"]);
    assert!(revoke.status().expect("it runs").success());
    connection.send(&server.request(&secret, &[], PING));
    let answer = connection.answer(false);
    assert_eq!(answer.status, Some(401));
    let challenge = answer.header("www-authenticate");
    assert_eq!(challenge, Some("Bearer realm=\"botmesh-docs\", error=\"invalid_token\""));
}

#[test]
fn a_secret_is_in_no_log_no_answer_and_no_figure() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let near = format!("{}x", server.token);
    let mut seen = String::new();
    for (secret, headers) in [
        (server.token.as_str(), &[][..]),
        (near.as_str(), &[]),
        ("", &[("X-AccessToken", server.token.as_str())]),
        ("", &[("Cookie", near.as_str())]),
        ("", &[("Authorization", "Bearer ${BOTMESH_TOKEN}")]),
    ] {
        let answer = server.post(secret, headers, PING);
        write!(seen, "{answer:?}").expect("a string takes it");
    }
    let mut connection = server.connect();
    let get = format!("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{}\r\n\r\n", server.port);
    connection.send(get.as_bytes());
    let metrics = connection.answer(false);
    assert_eq!(metrics.status, Some(200));
    search(&server, &server.token);
    seen += &metrics.body;
    seen += &server.said();
    assert!(!seen.contains(&server.token[..24]), "{seen}");
    assert!(!seen.contains("palabra"), "no log holds a query: {seen}");
    assert!(server.said().contains("name of a variable"), "{}", server.said());
}

#[test]
fn wrong_tokens_are_slowed_down_by_address() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let answers: Vec<_> = (0..40).map(|_| server.post("bmd_wrong", &[], PING)).collect();
    let count = |status| answers.iter().filter(|answer| answer.status == Some(status)).count();
    assert!(count(401) >= 20 && count(429) >= 15, "{} {}", count(401), count(429));
    let last = answers.last().expect("one");
    let wait: u64 = last.header("retry-after").and_then(|s| s.parse().ok()).expect("seconds");
    assert!(wait >= 1);
}

#[test]
fn calls_with_one_token_are_slowed_down_and_others_are_not() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let (busy, other) =
        (token(home.path(), "busy", "docs:read"), token(home.path(), "other", "docs:read"));
    let limited = thread::scope(|scope| {
        let ask = || {
            let mut open = server.connect();
            let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": "docs_outline", "arguments": {} } });
            for _ in 0..1_500 {
                let version = [("MCP-Protocol-Version", "2025-06-18")];
                open.send(&server.request(&busy, &version, &call.to_string()));
                let error =
                    open.answer(false).json()["result"]["structuredContent"]["error"].take();
                if error["code"] == "rate_limited" {
                    return Some(error);
                }
            }
            None
        };
        let asks: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        asks.into_iter().find_map(|ask| ask.join().expect("no panic"))
    });
    let error = limited.expect("a call too many");
    assert_eq!(error["retryable"], true);
    assert!(error["retry_after_ms"].is_u64(), "{error}");
    assert_eq!(search(&server, &other)["isError"], Value::Null);
}

#[test]
fn idle_connections_do_not_stop_a_search() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let mut idle = Vec::new();
    for at in 0..1_000 {
        let mut connection = server.connect();
        if at % 2 == 0 {
            connection.send(b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Le");
        }
        idle.push(connection);
    }
    assert_eq!(search(&server, &server.token)["isError"], Value::Null);
    drop(idle);
}

#[test]
fn oversized_heads_are_refused() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let long = "x".repeat(64 * 1024);
    let answer = server.post(&server.token, &[("X-Long", &long)], PING);
    assert!(matches!(answer.status, Some(431 | 400) | None), "{answer:?}");
    let many: Vec<(String, String)> =
        (0..200).map(|n| (format!("X-{n}"), "x".to_owned())).collect();
    let many: Vec<(&str, &str)> = many.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
    let answer = server.post(&server.token, &many, PING);
    assert!(matches!(answer.status, Some(431 | 400) | None), "{answer:?}");
    assert_eq!(server.post(&server.token, &[], PING).status, Some(200));
}

#[test]
fn no_argument_leads_out_of_the_folders() {
    let home = home();
    let server = HttpServer::start(home.path(), &["--flows", "flows"]);
    let root = home.path().to_string_lossy().into_owned();
    let tools = server.post(&server.token, &[("MCP-Protocol-Version", "2025-06-18")], LIST).json();
    let outside = [
        "../secreto.md",
        "/etc/passwd",
        "docs/../../secreto.md",
        "..\\secreto.md",
        "%2e%2e/secreto.md",
        "file:///etc/passwd",
        "\u{0}",
        &format!("{root}/secreto.md"),
    ];
    for tool in tools["result"]["tools"].as_array().expect("a list") {
        let name = tool["name"].as_str().expect("a name");
        let arguments = tool["inputSchema"]["properties"].as_object().cloned().unwrap_or_default();
        for argument in arguments.keys() {
            for path in outside {
                let mut given = json!({ argument: path });
                if argument != "query" && name == "docs_search" {
                    given["query"] = json!("palabra");
                }
                let text = server.call(&server.token, name, &given).to_string();
                let leaks = text.contains("SECRETO")
                    || text.contains("root:x:")
                    || (text.contains(&root) && !path.contains(&root));
                assert!(!leaks, "{name} {argument} {path:?}: {text}");
            }
        }
    }
}

#[test]
fn nothing_is_read_before_the_token() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let mut connection = server.connect();
    // The body never comes; the answer does.
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\n\
        Content-Length: 1000\r\n\r\n",
        server.port
    );
    connection.send(head.as_bytes());
    assert_eq!(connection.answer(false).status, Some(401));
}

#[test]
fn the_end_waits_for_what_is_in_flight() {
    let home = home();
    let server = HttpServer::start(home.path(), &[]);
    let mut connection = server.connect();
    let request = server.request(&server.token, &[], PING);
    let (first, rest) = request.split_at(request.len() - 5);
    connection.send(first);
    // The head has been read by the time another connection is answered.
    search(&server, &server.token);
    let ended = thread::spawn(move || server.terminate());
    connection.send(rest);
    let answer = connection.answer(false);
    assert_eq!(answer.status, Some(200), "{answer:?}");
    drop(connection);
    assert_eq!(ended.join().expect("no panic"), Some(0));
}

#[test]
fn without_tokens_the_server_stays_at_home() {
    let home = home();
    let run = |args: &[&str]| {
        let mut serve = crate::program::command(home.path());
        serve.current_dir(home.path()).args(["serve", "--docs", "docs", "--http"]).args(args);
        let output = serve.output().expect("the program runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&["127.0.0.1:0"]);
    assert!(code == Some(2) && said.contains("the HTTP server needs tokens"), "{said}");
    let (code, said) = run(&["0.0.0.0:0", "--insecure-no-auth"]);
    assert!(code == Some(2) && said.contains("serves loopback only"), "{said}");
    assert!(!Path::new(&home.path().join("st")).exists(), "nothing is written");
}

#[test]
fn replies_name_their_request() {
    let home = home();
    let server = HttpServer::start(home.path(), &["--insecure-no-auth"]);
    let (trace, parent) = (
        "0af7651916cd43dd8448eb211c80319c",
        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    );
    let call = |meta: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "docs_search", "arguments": { "query": "palabra" }, "_meta": meta } })
        .to_string()
    };
    let version = ("MCP-Protocol-Version", "2025-06-18");
    for (headers, meta, id, trace_id) in [
        (vec![version, ("X-Request-ID", "mine-1.2")], json!({}), Some("mine-1.2"), None),
        (vec![version, ("X-Request-ID", "not sane")], json!({}), None, None),
        (vec![version, ("traceparent", parent)], json!({}), None, Some(trace)),
        (vec![version], json!({ "traceparent": parent }), None, Some(trace)),
        (vec![version, ("traceparent", "00-xyz")], json!({}), None, None),
    ] {
        let answer = server.post("", &headers, &call(meta));
        let named = answer.header("x-request-id").expect("a name").to_owned();
        let result = answer.json()["result"].take();
        let value = &result["structuredContent"];
        assert_eq!(value["trace"]["request_id"], named.as_str());
        assert!(id.is_none_or(|id| id == named) && named != "not sane", "{named}");
        assert_eq!(value["trace"]["trace_id"].as_str(), trace_id);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert_eq!(serde_json::from_str::<Value>(text).expect("JSON"), *value);
    }
}

#[test]
fn replies_stay_within_their_bound() {
    const MAX_REPLY_BYTES: usize = 32_768;
    let home = tempfile::tempdir().expect("a temporary folder");
    let line = "a \"quoted\" line\twith \\ signs\n";
    let mut sections = String::new();
    for at in 0..400 {
        write!(sections, "## Section {at}\n\n{line}{line}\n").expect("a string takes it");
    }
    let pages = json!([
        { "path": "docs/lines.md", "text": format!("# Lines\n\n{}", line.repeat(4_000)) },
        { "path": "docs/sections.md", "text": format!("# Sections\n\n{sections}") },
    ]);
    make(home.path(), &pages);
    let server = HttpServer::start(home.path(), &["--insecure-no-auth"]);
    for (tool, arguments) in [
        ("docs_page", json!({ "path": "lines.md" })),
        ("docs_page", json!({ "path": "sections.md" })),
        ("docs_outline", json!({ "path": "sections.md", "limit": 100 })),
        ("docs_search", json!({ "query": "quoted line signs", "limit": 25 })),
    ] {
        let result = server.call("", tool, &arguments);
        let text = result["content"][0]["text"].as_str().expect("text");
        assert!(text.len() <= MAX_REPLY_BYTES, "{tool} {arguments}: {} bytes", text.len());
        let page = &result["structuredContent"]["page"];
        let goes_on = page["next_line"].is_u64() || page["next_cursor"].is_string();
        assert!(tool == "docs_search" || (page["truncated"] == true && goes_on), "{page}");
    }
}
