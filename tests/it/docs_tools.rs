//! Calls of the docs tools over a real pipe, as a client makes them.

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::folder;
use crate::program::Program;

/// A session with a server of one docs folder.
pub(crate) struct DocsServer {
    program: Program,
    next_id: u64,
}

/// What a call gave.
pub(crate) struct Called {
    pub(crate) is_error: bool,
    pub(crate) text: String,
    pub(crate) value: Value,
    pub(crate) took: Duration,
}

impl DocsServer {
    pub(crate) fn start(cwd: &Path, docs: &str) -> Self {
        Self::start_with(cwd, &["--docs", docs])
    }

    pub(crate) fn start_with<A: AsRef<OsStr>>(cwd: &Path, args: &[A]) -> Self {
        Self::greet(Program::start(cwd, args, &[]))
    }

    pub(crate) fn start_command(command: Command, cwd: &Path) -> Self {
        Self::greet(Program::spawn(command, cwd))
    }

    fn greet(mut program: Program) -> Self {
        program.ask(&json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" } } }));
        Self { program, next_id: 1 }
    }

    pub(crate) fn call(&mut self, tool: &str, arguments: &Value) -> Called {
        let started = Instant::now();
        let result = self.request("tools/call", &json!({ "name": tool, "arguments": arguments }));
        let took = started.elapsed();
        Called {
            is_error: result["isError"] == true,
            text: result["content"][0]["text"].as_str().expect("a text").to_owned(),
            value: result["structuredContent"].clone(),
            took,
        }
    }

    pub(crate) fn ping(&mut self) {
        self.request("ping", &json!({}));
    }

    /// The definitions of all tools.
    pub(crate) fn tools(&mut self) -> Vec<Value> {
        self.request("tools/list", &json!({}))["tools"].as_array().expect("a list").clone()
    }

    pub(crate) fn finish(self) -> String {
        self.program.finish()
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        let request =
            json!({ "jsonrpc": "2.0", "id": self.next_id, "method": method, "params": params });
        self.next_id += 1;
        let mut answer = self.program.ask(&request);
        assert!(answer["result"].is_object(), "{method}: {answer}");
        answer["result"].take()
    }
}

const MAX_REPLY_BYTES: usize = 32_768;

fn tree(entries: &Value) -> tempfile::TempDir {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    folder::make(fresh.path(), entries);
    fresh
}

#[test]
fn a_section_is_its_markdown_with_its_subsections() {
    let page = "---\ntitle: Guía\n---\n\n# Uno\n\na\n\n## Búsqueda rápida\n\nb\n\n### Más\n\nc\n\n## Otra\n\nd\n";
    let fresh = tree(
        &json!([{ "path": "docs/es/g.md", "text": page }, { "path": "docs/en/g.md", "text": "# One\n\nwords\n" }]),
    );
    let mut server = DocsServer::start(fresh.path(), "docs");
    let section = "## Búsqueda rápida\n\nb\n\n### Más\n\nc\n\n";
    for arguments in [
        json!({ "path": "es/g.md#búsqueda-rápida" }),
        json!({ "path": "./es//g.md#busqueda-rapida" }),
        json!({ "path": "es/g.md#B%C3%BAsqueda-R%C3%A1pida" }),
        json!({ "path": "es/g.md", "section": "#BUSQUEDA-RAPIDA" }),
        json!({ "path": "es/g.md#otra", "section": "Búsqueda rápida" }),
    ] {
        let called = server.call("docs_page", &arguments);
        assert_eq!((called.is_error, called.text.as_str()), (false, section), "{arguments}");
        assert_eq!(called.value["lines"], json!([9, 16]));
        assert_eq!(called.value["translations"], json!(["en/g.md"]));
    }
    assert_eq!(server.call("docs_page", &json!({ "path": "es/g.md" })).text, page);
    let first = server.call("docs_page", &json!({ "path": "es/g.md#uno" })).text;
    assert!(first.starts_with("# Uno\n") && first.ends_with("d\n"), "no front matter: {first}");
    let missing = server.call("docs_page", &json!({ "path": "es/g.md#busqueda-rapid" }));
    assert_eq!(missing.value["error"]["code"], "not_found");
    assert!(missing.text.contains("did you mean `es/g.md#búsqueda-rápida`?"), "{}", missing.text);
    let missing = server.call("docs_page", &json!({ "path": "g.md" }));
    assert!(missing.text.contains("did you mean `en/g.md`?"), "{}", missing.text);
    let outline = server.call("docs_outline", &json!({ "path": "es/g.md" }));
    let heading = &outline.value["headings"][1];
    assert_eq!(heading["lines"], json!([9, 16]));
    assert_eq!(heading["chars"], json!(section.chars().count()));
    server.finish();
}

#[test]
fn long_replies_are_cut_and_the_rest_can_be_had() {
    let filler = "relleno ".repeat(20);
    let block = |at: u32| format!("## Parte {at}\n\npalabra {filler}\n\n");
    let blocks = (0..900).map(block).collect::<Vec<_>>().concat();
    let wide = "x".repeat(100_000);
    let fresh = tree(&json!([
        { "path": "docs/long.md", "text": blocks },
        { "path": "docs/wide.md", "text": format!("# {wide}\n\n{wide}\n") },
    ]));
    let mut server = DocsServer::start(fresh.path(), "docs");
    let (mut joined, mut from) = (String::new(), Some(1));
    while let Some(line) = from {
        let called = server.call("docs_page", &json!({ "path": "long.md", "from_line": line }));
        assert!(called.text.len() <= MAX_REPLY_BYTES, "{}", called.text.len());
        joined.push_str(called.value["markdown"].as_str().expect("Markdown"));
        from = called.value["page"]["next_line"].as_u64();
        assert_eq!(called.value["page"]["truncated"], from.is_some());
        assert_eq!(
            called.text.contains(&format!("from_line {}", from.unwrap_or(0))),
            from.is_some()
        );
    }
    assert_eq!(joined, blocks);
    let (mut headings, mut cursor) = (0, Value::Null);
    loop {
        let mut arguments = json!({ "path": "long.md", "limit": 100 });
        if !cursor.is_null() {
            arguments["cursor"] = cursor;
        }
        let called = server.call("docs_outline", &arguments);
        assert!(!called.is_error && called.text.len() <= MAX_REPLY_BYTES, "{}", called.text);
        headings += called.value["headings"].as_array().expect("headings").len();
        cursor = called.value["page"]["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(headings, 900);
    let forged = server.call("docs_outline", &json!({ "cursor": "1.1.0000000000000000" }));
    assert_eq!(forged.value["error"]["code"], "invalid_argument");
    let past = server.call("docs_page", &json!({ "path": "long.md", "from_line": 1_000_000 }));
    assert_eq!(past.value["error"]["code"], "invalid_argument");
    for (tool, arguments) in [
        ("docs_search", json!({ "query": "palabra relleno", "limit": 25, "explain": true })),
        ("docs_search", json!({ "query": wide[..1000], "explain": true })),
        ("docs_page", json!({ "path": "wide.md" })),
        ("docs_outline", json!({ "path": "wide.md" })),
        ("docs_outline", json!({})),
    ] {
        let called = server.call(tool, &arguments);
        assert!(!called.is_error, "{tool}: {}", called.text);
        assert!(called.text.len() <= MAX_REPLY_BYTES, "{tool}: {}", called.text.len());
    }
    server.finish();
}

#[test]
fn nothing_found_teaches() {
    let fresh = tree(&json!([
        { "path": "docs/en/flows.md", "text": "# Durability\n\nA conversation resumes where it stopped.\n" },
        { "path": "docs/es/flujos.md", "text": "# Durabilidad\n\nUna conversación se reanuda donde paró.\n" },
    ]));
    let mut server = DocsServer::start(fresh.path(), "docs");
    let typo = server.call("docs_search", &json!({ "query": "durabilty" })).value;
    assert_eq!(typo["unmatched"][0]["term"], "durabilty");
    assert_eq!(typo["unmatched"][0]["used"][0], "durability");
    let outside = server.call("docs_search", &json!({ "query": "stopped", "path": "es/" })).value;
    assert_eq!(outside["results"], json!([]));
    assert_eq!(outside["outside_filter"]["results"][0]["path"], "en/flows.md");
    let strange =
        server.call("docs_search", &json!({ "query": "conversation", "lang": "fr" })).value;
    assert_eq!(strange["hint"], "no page is in `fr`: the docs are in en, es");
    let nothing = server.call("docs_search", &json!({ "query": "zzzzqqq" })).value;
    assert!(
        nothing["hint"].as_str().is_some_and(|hint| hint.contains("docs_outline")),
        "{nothing}"
    );
    let bad = server.call("docs_search", &json!({ "query": "a", "path": "a[" }));
    assert_eq!(bad.value["error"]["code"], "invalid_argument", "{}", bad.text);
    server.finish();
}

#[test]
fn the_list_of_tools_is_short() {
    const MAX_LIST_BYTES: usize = 12_000;
    let fresh = tree(&json!([{ "path": "docs/a.md", "text": "# A\n" }]));
    let mut server = DocsServer::start(fresh.path(), "docs");
    let list = server.request("tools/list", &json!({})).to_string();
    assert!(list.contains("docs_outline") && list.len() < MAX_LIST_BYTES, "{} bytes", list.len());
    server.finish();
}

#[test]
fn the_manual_answers_in_both_languages() {
    let mut server = DocsServer::start(Path::new(env!("CARGO_MANIFEST_DIR")), "docs");
    for (query, path, anchor) in [
        ("exact phrase", "en/guide/searching-well.md", "the-exact-phrase"),
        ("qué carpetas se omiten", "es/reference/what-is-indexed.md", "qué-queda-fuera-y-por-qué"),
        ("connect claude code", "en/guide/connect-clients.md", "claude-code"),
    ] {
        let found = server.call("docs_search", &json!({ "query": query })).value;
        let first = &found["results"][0];
        assert_eq!((&first["path"], &first["anchor"]), (&json!(path), &json!(anchor)), "{query}");
        let place = format!("{path}#{anchor}");
        let section = server.call("docs_page", &json!({ "path": place }));
        let heading = first["heading"].as_str().expect("a heading");
        assert!(section.text.contains(&format!("# {heading}\n")), "{}", section.text);
    }
    server.finish();
}
