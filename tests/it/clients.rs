//! `mcp config`: every snippet is in its client's syntax, names the server's endpoint or program, and holds no token. The
//! texts themselves are in `tests/cases/console/clients.txt`.

use serde_json::Value;

use crate::program;

const CLIENTS: [&str; 10] = [
    "claude",
    "claude-desktop",
    "cursor",
    "vscode",
    "codex",
    "gemini",
    "opencode",
    "zed",
    "windsurf",
    "generic",
];

fn stdout(args: &[&str]) -> Option<String> {
    let home = tempfile::tempdir().expect("a temporary folder");
    let mut command = program::command(home.path());
    // A token that is set must not get into a snippet.
    command.env("BOTMESH_TOKEN", "bmd_set_in_the_environment");
    let output = command.args(args).current_dir(home.path()).output().expect("it runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let said = text.clone() + &String::from_utf8_lossy(&output.stderr);
    assert!(!said.contains("bmd_"), "{args:?}: a token: {said}");
    let left = std::fs::read_dir(home.path()).expect("the folder").count();
    assert_eq!(left, 0, "{args:?}: a file was written");
    output.status.success().then_some(text)
}

#[test]
fn snippets_parse_and_name_the_server() {
    const URL: &str = "https://docs.example.com/mcp";
    for client in CLIENTS {
        let start = ["mcp", "config", "--client", client];
        let stdio = stdout(&[&start[..], &["--docs", "my docs"]].concat()).expect("a snippet");
        check(client, &stdio, &["botmesh-docs", "--docs", "my docs"]);
        let Some(http) = stdout(&[&start[..], &["--http", URL]].concat()) else {
            assert_eq!(client, "claude-desktop", "the only one without");
            continue;
        };
        let (card, snippet) = http.split_once('\n').expect("the card's URL, then the snippet");
        assert_eq!(card, format!("{URL}/server-card"));
        check(client, snippet, &[URL]);
        let variable = if client == "vscode" { "botmesh-token" } else { "BOTMESH_TOKEN" };
        assert!(snippet.contains(variable), "{client}: no variable: {snippet}");
        let json = stdout(&[&start[..], &["--http", URL, "-o", "json"]].concat()).expect("JSON");
        let json: Value = serde_json::from_str(&json).expect("JSON");
        assert_eq!(json["data"]["server_card"], card);
        assert_eq!(json["data"]["snippet"], snippet);
    }
}

fn check(client: &str, snippet: &str, texts: &[&str]) {
    let value: Value = if client == "codex" {
        let table: toml::Table = snippet.parse().expect("TOML");
        serde_json::to_value(table).expect("a value")
    } else {
        serde_json::from_str(snippet).expect("JSON")
    };
    let mut found = Vec::new();
    texts_of(&value, &mut found);
    for text in texts {
        assert!(found.contains(text), "{client}: {text} is not in {found:?}");
    }
}

fn texts_of<'v>(value: &'v Value, found: &mut Vec<&'v str>) {
    match value {
        Value::String(text) => found.push(text),
        Value::Array(items) => items.iter().for_each(|item| texts_of(item, found)),
        Value::Object(members) => members.values().for_each(|item| texts_of(item, found)),
        _ => {}
    }
}
