//! One `check` a question; the catalogue is two tools that live in these tests alone.

use serde_json::{Value, json};

use super::{Server, Session, Transport};
use crate::error::{ErrorCode, ToolError};
use crate::mcp::http_facts::{Header, HttpFacts};
use crate::scope::Scope;
use crate::tools::{Context, Tool};

const ANY_OBJECT: &str = "{\n  \"type\": \"object\"\n}";
const ARGUMENTS: &str = r#"{
  "type": "object",
  "properties": { "a": {}, "panic": { "type": "boolean" } },
  "additionalProperties": false
}"#;

pub(crate) static ECHO: Tool = Tool {
    name: "docs_echo",
    title: "Echo",
    description: "Gives back its arguments.",
    input_schema: ARGUMENTS,
    output_schema: ANY_OBJECT,
    scope: Scope::DocsRead,
    is_read_only: true,
    run: |_, arguments| Ok(Value::Object(arguments.values().clone()).into()),
};

pub(crate) static FAIL: Tool = Tool {
    name: "docs_fail",
    title: "Fail",
    description: "Fails.",
    input_schema: ARGUMENTS,
    output_schema: ANY_OBJECT,
    scope: Scope::DocsRead,
    is_read_only: true,
    run: |_, arguments| {
        assert!(arguments.get("panic").is_none(), "as asked");
        let error = ToolError::new(ErrorCode::NotFound, "page not found: `a.md`");
        Err(error.with_hint("did you mean `b.md`?"))
    },
};

pub(crate) fn server() -> Server {
    Server::with_tools(Context::default(), vec![&ECHO, &FAIL])
}

fn say(session: &mut Session, transport: Transport<'_>, text: &str) -> String {
    let answer = server().answer(session, transport, text);
    answer.map_or_else(String::new, |answer| serde_json::to_string(&answer).expect("JSON"))
}

/// What is answered over a pipe after a handshake for `revision`, or before any when it is empty.
fn after(revision: &str, text: &str) -> Value {
    let mut session = Session::default();
    if !revision.is_empty() {
        let params = json!({ "protocolVersion": revision, "capabilities": {} });
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let answer = say(&mut session, Transport::Stdio, &hello.to_string());
        assert!(answer.contains(&format!("\"protocolVersion\":\"{revision}\"")), "{answer}");
    }
    let answer = say(&mut session, Transport::Stdio, text);
    if answer.is_empty() { Value::Null } else { serde_json::from_str(&answer).expect("JSON") }
}

fn request(method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params
}

/// `result`, or the error's code.
fn outcome(answer: &Value) -> String {
    match answer.get("error") {
        Some(error) => error["code"].to_string(),
        None if answer.get("result").is_some() => "result".to_owned(),
        None => "nothing".to_owned(),
    }
}

#[test]
fn every_method_in_every_era() {
    let cases = [
        ("ping", "result", "-32601"),
        ("initialize", "-32602", "-32601"),
        ("server/discover", "-32602", "result"),
        ("tools/list", "result", "result"),
        ("tools/call", "-32602", "-32602"),
        ("subscriptions/listen", "-32601", "-32601"),
        ("resources/list", "-32601", "-32601"),
        ("logging/setLevel", "-32601", "-32601"),
        ("no/such/method", "-32601", "-32601"),
    ];
    for (method, legacy, stateless) in cases {
        let answer = after("2025-06-18", &request(method, &json!({})));
        assert_eq!(outcome(&answer), legacy, "legacy {method}: {answer}");
        let answer = after("2025-06-18", &request(method, &modern(json!({}))));
        assert_eq!(outcome(&answer), stateless, "modern {method}: {answer}");
    }
}

#[test]
fn a_message_without_an_id_is_never_answered() {
    for method in ["ping", "initialize", "tools/call", "notifications/x", "no/such"] {
        let text = json!({ "jsonrpc": "2.0", "method": method, "params": [] }).to_string();
        assert_eq!(after("", &text), Value::Null, "{method}");
    }
    assert_eq!(after("", r#"{"jsonrpc":"2.0","id":1,"result":{}}"#), Value::Null);
}

#[test]
fn a_call_looks_like_its_revision() {
    let call = json!({ "name": "docs_echo", "arguments": { "a": 1 } });
    let text = json!([{ "type": "text", "text": "{\n  \"a\": 1\n}" }]);
    for (revision, structured) in
        [("2024-11-05", false), ("2025-03-26", false), ("2025-06-18", true), ("2025-11-25", true)]
    {
        let mut expected = json!({ "content": text });
        if structured {
            expected["structuredContent"] = json!({ "a": 1 });
        }
        let answer = after(revision, &request("tools/call", &call));
        assert_eq!(answer["result"], expected, "{revision}");
    }
    let answer = after("", &request("tools/call", &modern(call)));
    let expected = json!({
        "resultType": "complete",
        "content": text,
        "structuredContent": { "a": 1 },
        "_meta": { "io.modelcontextprotocol/serverInfo": {
            "name": "botmesh-docs", "version": env!("CARGO_PKG_VERSION"), "title": "botmesh docs",
        } },
    });
    assert_eq!(answer["result"], expected);
}

#[test]
fn a_list_looks_like_its_revision() {
    let members = |revision: &str| {
        let answer = after(revision, &request("tools/list", &json!({})));
        let tool = answer["result"]["tools"][0].as_object().expect("a tool").clone();
        tool.keys().cloned().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(members("2024-11-05"), "name description inputSchema");
    assert_eq!(members("2025-03-26"), "name description inputSchema annotations");
    let all = "name title description inputSchema outputSchema annotations";
    assert_eq!(members("2025-06-18"), all);
    assert_eq!(members(""), all);
    let answer = after("", &request("tools/list", &modern(json!({}))));
    assert_eq!(answer["result"]["ttlMs"], 3_600_000);
    assert_eq!(answer["result"]["cacheScope"], "public");
}

#[test]
fn a_failed_call_is_a_result_that_says_why() {
    let answer = after("2025-06-18", &request("tools/call", &json!({ "name": "docs_fail" })));
    let error = json!({
        "code": "not_found",
        "message": "page not found: `a.md`",
        "retryable": false,
        "hint": "did you mean `b.md`?",
    });
    let text = "page not found: `a.md`\ndid you mean `b.md`?";
    assert_eq!(
        answer["result"],
        json!({
            "content": [{ "type": "text", "text": text }],
            "structuredContent": { "error": error },
            "isError": true,
        })
    );
    let panic = json!({ "name": "docs_fail", "arguments": { "panic": true } });
    let answer = after("2024-11-05", &request("tools/call", &panic));
    let text = "docs_fail failed unexpectedly";
    assert_eq!(
        answer["result"],
        json!({ "content": [{ "type": "text", "text": text }], "isError": true })
    );
}

#[test]
fn a_call_of_the_wrong_shape_is_an_error() {
    let check = |params: Value, expected: &str| {
        let answer = after("2025-06-18", &request("tools/call", &params));
        let message = answer["error"]["message"].as_str().unwrap_or("no error");
        assert_eq!((outcome(&answer).as_str(), message), ("-32602", expected), "{params}");
    };
    let name = "`name` must be the name of a tool, once, as a string";
    check(json!({ "arguments": {} }), name);
    check(json!({ "name": 5 }), name);
    check(Value::Null, name);
    check(json!([]), "`params` must be an object");
    check(
        json!({ "name": "docs_ecko" }),
        "unknown tool \"docs_ecko\": did you mean \"docs_echo\"?",
    );
    check(json!({ "name": "weather" }), "unknown tool \"weather\": tools/list names the tools");
    check(
        json!({ "name": "docs_echo", "arguments": [] }),
        "`arguments` of docs_echo must be an object",
    );
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call",
        "params":{"name":"docs_echo","arguments":{},"arguments":{}}}"#;
    assert_eq!(outcome(&after("", text)), "-32602");
    let text = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{},"_meta":{}}}"#;
    assert_eq!(outcome(&after("", text)), "-32602");
    let null = request("tools/call", &json!({ "name": "docs_echo", "arguments": null }));
    assert_eq!(after("2025-06-18", &null)["result"]["structuredContent"], json!({}));
}

#[test]
fn any_cursor_is_unknown() {
    for cursor in [json!(""), json!("x"), json!(5)] {
        let answer = after("2025-06-18", &request("tools/list", &json!({ "cursor": cursor })));
        assert_eq!(outcome(&answer), "-32602", "{cursor}");
    }
    let answer = after("2025-06-18", &request("tools/list", &json!({ "cursor": null })));
    assert_eq!(outcome(&answer), "result");
}

#[test]
fn eras_live_side_by_side() {
    let mut session = Session::default();
    let mut says = |text: &str| say(&mut session, Transport::Stdio, text);
    assert!(says(&request("server/discover", &modern(json!({})))).contains("2026-07-28"));
    let hello = json!({ "protocolVersion": "2024-11-05", "_meta": {} });
    assert!(says(&request("initialize", &hello)).contains("\"protocolVersion\":\"2024-11-05\""));
    assert!(!says(&request("tools/list", &json!({}))).contains("annotations"));
    assert!(says(&request("tools/list", &modern(json!({})))).contains("resultType"));
    let hello = json!({ "protocolVersion": "2025-11-25" });
    assert!(says(&request("initialize", &hello)).contains("\"protocolVersion\":\"2025-11-25\""));
    let list = json!({ "_meta": { "progressToken": 0 } });
    assert!(says(&request("tools/list", &list)).contains("outputSchema"));
}

#[test]
fn a_version_that_is_not_served_is_named_with_those_that_are() {
    let meta = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2027-01-01" } });
    let answer = after("", &request("ping", &meta));
    assert_eq!(outcome(&answer), "-32022");
    let data = json!({ "supported": ["2026-07-28"], "requested": "2027-01-01" });
    assert_eq!(answer["error"]["data"], data);
}

#[test]
fn http_is_under_the_rules_of_its_header() {
    let check = |version: Option<&str>, text: &str, expected: &str| {
        let header = |value: Option<&str>| {
            value.map_or(Header::Absent, |value| Header::Once(value.to_owned()))
        };
        let method = header(Some("tools/list"));
        let facts = HttpFacts { version: header(version), method, ..HttpFacts::default() };
        let answer = say(&mut Session::default(), Transport::Http(&facts), text);
        assert!(answer.contains(expected), "{version:?} {text}: {answer}");
    };
    let list = request("tools/list", &json!({}));
    let batch = format!("[{list}]");
    check(None, &list, "annotations");
    check(Some("2024-11-05"), &list, "inputSchema");
    check(Some("2025-06-18"), &list, "outputSchema");
    check(Some("2026-07-28"), &list, "-32602");
    check(Some("2026-07-28"), &request("tools/list", &modern(json!({}))), "resultType");
    check(Some("1999-01-01"), &list, "-32022");
    let hello = request("initialize", &json!({ "protocolVersion": "2025-11-25" }));
    check(Some("2026-07-28"), &hello, "2025-11-25");
    check(None, &batch, "[{");
    check(Some("2025-03-26"), &batch, "[{");
    check(Some("2025-06-18"), &batch, "-32600");
}

#[test]
fn batches_are_answered_by_one_array() {
    let ping = request("ping", &json!({}));
    let note = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    let call = request("tools/call", &json!({ "name": "docs_echo" }));
    let hello = request("initialize", &json!({ "protocolVersion": "2025-06-18" }));
    let check = |text: &str, expected: &[&str]| {
        let answer = after("2025-06-18", text);
        let seen: Vec<String> = match &answer {
            Value::Array(all) => all.iter().map(outcome).collect(),
            other => vec![outcome(other)],
        };
        assert_eq!(seen, expected, "{text}");
    };
    check(&format!("[{ping},{note},{call},5]"), &["result", "result", "-32600"]);
    check(&format!("[{hello},{ping}]"), &["-32600", "result"]);
    check("[]", &["-32600"]);
    assert_eq!(after("2025-06-18", &format!("[{note}]")), Value::Null);
    let modern_call = request("tools/list", &modern(json!({})));
    check(&format!("[{ping},{modern_call}]"), &["-32600"]);
}

#[test]
fn instructions_name_only_tools_that_are_there() {
    let none = Server::with_tools(Context::default(), Vec::new());
    assert_eq!(none.instructions, "");
    assert!(server().instructions.contains("docs_search"));
    assert!(!server().instructions.contains("flow_"));
}

#[test]
fn every_schema_of_the_catalogue_is_json_with_an_object_at_its_root() {
    let context = Context::default();
    for tool in crate::tools::catalogue(&context) {
        for literal in [tool.input_schema, tool.output_schema] {
            let schema: Value = serde_json::from_str(literal).expect(tool.name);
            assert_eq!(schema["type"], "object", "{}", tool.name);
        }
    }
}
