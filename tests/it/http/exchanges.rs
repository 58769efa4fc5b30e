//! Cases of requests and their answers: `tests/cases/http`, and in `tests/cases/http-rules` a row for each rule of the
//! protocol's tables of errors and headers. Every message of a revision is checked against its schema.

use std::fmt::Write as _;
use std::path::Path;
use std::thread;

use serde_json::{Value, json};

use super::server::{Answer, Connection, HttpServer};
use crate::folder::{cases, make, report};
use crate::matcher::matches;
use crate::schemas::Conversation;

/// The bytes of a generated body are sent in pieces of this many.
const PIECE_BYTES: usize = 64 * 1024;

fn docs() -> Value {
    json!([
        { "path": "docs/guide/hola.md", "text": "# Hola\n\nappendLog uno\n" },
        { "path": "docs/index.md", "text": "# Inicio\n\n[hola](guide/hola.md)\n" },
    ])
}

#[test]
fn every_exchange_has_its_answer() {
    let mut failures = Vec::new();
    for folder in ["http", "http-rules"] {
        for (name, case) in cases(folder) {
            let home = tempfile::tempdir().expect("a temporary folder");
            make(home.path(), &docs());
            let args: Vec<&str> =
                case["args"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
            let server = HttpServer::start(home.path(), &args);
            for (at, exchange) in case["exchanges"].as_array().into_iter().flatten().enumerate() {
                if let Err(fault) = run(&server, exchange) {
                    failures.push(format!("{folder}/{name}, exchange {at}: {fault}"));
                }
            }
            for step in case["procedure"].as_array().into_iter().flatten() {
                if let Err(fault) = procedure(&server, home.path(), step) {
                    failures.push(format!("{folder}/{name}: {fault}"));
                }
            }
            if let Some(max) = case["memory_max_mb"].as_u64() {
                let peak = peak_mib(server.id());
                if peak > max {
                    failures.push(format!("{folder}/{name}: {peak} MiB"));
                }
            }
        }
    }
    report(&failures);
}

fn filled(server: &HttpServer, text: &str) -> String {
    text.replace("{PORT}", &server.port.to_string())
        .replace("{TOKEN_UPPER}", &server.token.to_uppercase())
        .replace("{TOKEN}", &server.token)
}

fn run(server: &HttpServer, exchange: &Value) -> Result<(), String> {
    let (request, expected) = (&exchange["request"], &exchange["expect"]);
    let method = request["method"].as_str().expect("a method");
    let path = filled(server, request["path"].as_str().expect("a path"));
    let mut head = format!("{method} {path} HTTP/1.1\r\n");
    let body = body(server, request);
    let mut has_length = false;
    for (name, value) in request["headers"].as_object().into_iter().flatten() {
        for value in value.as_array().unwrap_or(&vec![value.clone()]) {
            write!(head, "{name}: {}\r\n", filled(server, value.as_str().expect("text")))
                .expect("a string takes it");
        }
        has_length |= name == "Content-Length" || name == "Transfer-Encoding";
    }
    if !has_length && (body.is_some() || method == "POST") {
        write!(head, "Content-Length: {}\r\n", body.as_ref().map_or(0, Vec::len))
            .expect("a string takes it");
    }
    let mut connection = server.connect();
    connection.send(format!("{head}\r\n").as_bytes());
    let body = body.unwrap_or_default();
    let piece = request["send_body_in_pieces_of"].as_u64().map_or(PIECE_BYTES, |n| n as usize);
    send(&mut connection, &body, piece, request["chunked"] == true);
    let answer = connection.answer(method == "HEAD");
    check(server, &answer, expected)?;
    check_schemas(request, &body, &answer)
}

fn send(connection: &mut Connection, body: &[u8], piece: usize, is_chunked: bool) {
    for part in body.chunks(piece) {
        let framed = if is_chunked {
            [format!("{:x}\r\n", part.len()).as_bytes(), part, b"\r\n"].concat()
        } else {
            part.to_owned()
        };
        if !connection.send(&framed) {
            return;
        }
    }
    if is_chunked {
        connection.send(b"0\r\n\r\n");
    }
}

fn body(server: &HttpServer, request: &Value) -> Option<Vec<u8>> {
    if let Some(text) = request["body_raw"].as_str() {
        return Some(text.into());
    }
    if let Some(hex) = request["body_hex"].as_str() {
        return Some(crate::steps::unhex(hex));
    }
    if let Some(times) = request["body_gen"]["times"].as_u64() {
        let text = |name: &str| request["body_gen"][name].as_str().unwrap_or_default();
        return Some(
            [text("before"), &text("repeat").repeat(times as usize), text("after")].concat().into(),
        );
    }
    request.get("body").map(|body| filled(server, &body.to_string()).into())
}

fn check(server: &HttpServer, answer: &Answer, expected: &Value) -> Result<(), String> {
    let status = answer.status.map_or_else(|| json!("closed"), |status| json!(status));
    let is_one_of = |wanted: &Value| match wanted {
        Value::Array(choices) => choices.contains(&status),
        wanted => *wanted == status,
    };
    if !is_one_of(&expected["status"]) {
        return Err(format!("status {status}, not {}: {answer:?}", expected["status"]));
    }
    for (name, value) in expected["header_has"].as_object().into_iter().flatten() {
        let wanted = filled(server, value.as_str().expect("text"));
        if !answer.header(name).is_some_and(|found| found.contains(&wanted)) {
            return Err(format!("no {name}: {wanted}: {answer:?}"));
        }
    }
    for name in expected["header_absent"].as_array().into_iter().flatten() {
        if answer.header(name.as_str().expect("text")).is_some() {
            return Err(format!("{name} is there: {answer:?}"));
        }
    }
    if expected["body_empty"] == true && !answer.body.is_empty() {
        return Err(format!("a body: {answer:?}"));
    }
    for text in expected["body_not_has"].as_array().into_iter().flatten() {
        if answer.body.contains(&filled(server, text.as_str().expect("text"))) {
            return Err(format!("the body has {text}: {answer:?}"));
        }
    }
    if let Some(skeleton) = expected.get("body") {
        let skeleton: Value =
            serde_json::from_str(&filled(server, &skeleton.to_string())).expect("JSON");
        if !matches(&skeleton, serde_json::from_str(&answer.body).ok().as_ref()) {
            return Err(format!("not {skeleton}: {answer:?}"));
        }
    }
    let id = answer.header("x-request-id");
    // What is no HTTP is answered before it has a name.
    if id.is_none() && !matches!(answer.status, None | Some(400 | 413 | 431)) {
        return Err(format!("no X-Request-ID: {answer:?}"));
    }
    Ok(())
}

fn check_schemas(request: &Value, body: &[u8], answer: &Answer) -> Result<(), String> {
    let is_json = answer.header("content-type").is_some_and(|kind| kind == "application/json");
    if !is_json || answer.body.is_empty() || request["path"] != "/mcp" {
        return Ok(());
    }
    let mut conversation =
        Conversation::over_http(request["headers"]["MCP-Protocol-Version"].as_str());
    if !body.contains(&b'\n') {
        conversation.sent(body);
    }
    conversation.check(&answer.json())
}

fn procedure(server: &HttpServer, home: &Path, step: &Value) -> Result<(), String> {
    match step["op"].as_str() {
        Some("load") => load(server, home, step),
        Some("expect_open_files") => {
            let files = std::fs::read_dir(format!("/proc/{}/fd", server.id()));
            let n_files = files.map_or(0, Iterator::count) as u64;
            let max = step["max"].as_u64().expect("a number");
            if n_files > max { Err(format!("{n_files} open files")) } else { Ok(()) }
        }
        other => panic!("no such step: {other:?}"),
    }
}

/// Many connections that each send their requests one after the other, while pages are saved.
fn load(server: &HttpServer, home: &Path, step: &Value) -> Result<(), String> {
    let number = |name: &str| step[name].as_u64().expect("a number");
    let faults = thread::scope(|scope| {
        let ask = |connection: u64| {
            let mut open = server.connect();
            for round in 0..number("requests_each") {
                let id = format!("{connection}-{round}");
                let body = step["request"]["body"].to_string().replace("{N}", &id);
                let version = [("MCP-Protocol-Version", "2025-06-18")];
                open.send(&server.request(&server.token, &version, &body));
                let answer = open.answer(false);
                if answer.status != Some(200) || answer.json()["id"] != id.as_str() {
                    return Err(format!("{id}: {answer:?}"));
                }
            }
            Ok(())
        };
        let asks: Vec<_> =
            (0..number("connections")).map(|at| scope.spawn(move || ask(at))).collect();
        for action in step["while"].as_array().into_iter().flatten() {
            let path = home.join(action["path"].as_str().expect("a path"));
            std::fs::write(path, action["text"].as_str().expect("text")).expect("a save");
        }
        asks.into_iter().map(|ask| ask.join().expect("no panic")).collect::<Result<Vec<()>, _>>()
    });
    faults.map(drop)
}

fn peak_mib(id: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse::<u64>().ok()).expect("KiB") >> 10
}
