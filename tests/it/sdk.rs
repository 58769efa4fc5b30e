//! A client of the official Rust SDK lists and calls every tool, in both eras.

use std::path::Path;
use std::time::Duration;

use rmcp::model::{CallToolRequestParams, CallToolResult, ProtocolVersion, Tool};
use rmcp::service::RunningService;
use rmcp::transport::{StreamableHttpClientTransport, TokioChildProcess};
use rmcp::{ClientLifecycleMode, ClientServiceExt as _, RoleClient};
use serde_json::{Value, json};

use crate::http::server::HttpServer;
use crate::program;

type Client = RunningService<RoleClient, ()>;

#[test]
fn every_tool_over_the_handshake() {
    list_and_call(&ClientLifecycleMode::Initialize);
}

#[test]
fn every_tool_without_a_handshake() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    list_and_call(&ClientLifecycleMode::Discover { preferred_versions });
}

#[test]
fn every_tool_after_a_probe() {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let legacy_version = Some(ProtocolVersion::V_2025_11_25);
    list_and_call(&ClientLifecycleMode::Auto { preferred_versions, legacy_version });
}

/// Over a pipe, then over HTTP.
fn list_and_call(lifecycle: &ClientLifecycleMode) {
    let home = tempfile::tempdir().expect("a temporary folder");
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/stdio");
    let mut command = program::command(home.path());
    command.args(["--docs", "docs"]).current_dir(&cases);
    let over_pipe = async {
        let command = tokio::process::Command::from(command);
        let transport = TokioChildProcess::new(command).expect("the program starts");
        drive(().serve_with_lifecycle(transport, lifecycle.clone()).await.expect("a session"))
            .await;
    };
    let server = HttpServer::start(&cases, &["--insecure-no-auth"]);
    let url = format!("http://127.0.0.1:{}/mcp", server.port);
    let over_http = async {
        let transport = StreamableHttpClientTransport::from_uri(url);
        drive(().serve_with_lifecycle(transport, lifecycle.clone()).await.expect("a session"))
            .await;
    };
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    // The limit's timer belongs to the runtime, so it is made inside.
    let sessions = async {
        let both = async {
            over_pipe.await;
            over_http.await;
        };
        tokio::time::timeout(program::PATIENCE, Box::pin(both)).await
    };
    runtime.block_on(sessions).expect("the sessions end in time");
}

async fn drive(mut client: Client) {
    let tools = client.list_all_tools().await.expect("a list of tools");
    let has = |name: &str| tools.iter().any(|tool| tool.name == name);
    let mut facts = Facts::default();
    if has("docs_search") {
        let found = call(&client, &tools, "docs_search", example("docs_search", &facts)).await;
        facts.page = value(&found)["results"][0]["path"].clone();
        assert!(facts.page.is_string(), "{found:?}");
    }
    if has("flow_example") {
        let given = call(&client, &tools, "flow_example", json!({})).await;
        facts.document = document(&value(&given));
    }
    for tool in &tools {
        call(&client, &tools, &tool.name, example(&tool.name, &facts)).await;
    }
    client.close_with_timeout(Duration::from_secs(5)).await.expect("a clean end");
}

/// What earlier calls told.
#[derive(Default)]
struct Facts {
    page: Value,
    document: Value,
}

/// Arguments with which a tool succeeds.
fn example(tool: &str, facts: &Facts) -> Value {
    let document = &facts.document;
    match tool {
        "docs_search" => json!({ "query": "appendLog" }),
        "docs_page" => json!({ "path": facts.page }),
        "docs_outline" | "flow_schema" | "flow_example" => json!({}),
        "flow_diff" => json!({ "left": document, "right": document }),
        "flow_simulate" => json!({ "document": document, "inputs": [] }),
        "flow_validate" | "flow_analyze" | "flow_migrate" | "flow_digest" => {
            json!({ "document": document })
        }
        other => panic!("add example arguments for {other}"),
    }
}

/// `flow_example` answers with the document itself or with an object that holds it.
fn document(reply: &Value) -> Value {
    reply.get("document").unwrap_or(reply).clone()
}

fn value(result: &CallToolResult) -> Value {
    result.structured_content.clone().expect("structured content")
}

async fn call(client: &Client, tools: &[Tool], name: &str, arguments: Value) -> CallToolResult {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    let params = CallToolRequestParams::new(name.to_owned()).with_arguments(arguments);
    let result = client.call_tool(params).await.unwrap_or_else(|fault| panic!("{name}: {fault}"));
    assert_ne!(result.is_error, Some(true), "{name}: {result:?}");
    let tool = tools.iter().find(|tool| tool.name == name).expect("a listed tool");
    let schema = tool.output_schema.as_ref().expect("an output schema");
    let schema = Value::Object((**schema).clone());
    let validator = jsonschema::validator_for(&schema).expect("a valid output schema");
    let value = value(&result);
    let faults: Vec<String> =
        validator.iter_errors(&value).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{name}: {faults:?}");
    result
}
