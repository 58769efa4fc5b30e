//! `token`: a secret is shown once, kept nowhere, and the list says what became of it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::program;

/// What a run of the program wrote.
fn run(cwd: &Path, args: &[&str]) -> (bool, String, String) {
    let output =
        program::command(cwd).args(args).current_dir(cwd).output().expect("the program runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.success(), text(output.stdout), text(output.stderr))
}

fn list(cwd: &Path) -> Vec<Value> {
    let (is_fine, text, said) = run(cwd, &["token", "list", "--state", "st", "--json"]);
    assert!(is_fine, "{said}");
    let mut value: Value = serde_json::from_str(&text).expect("JSON");
    value["tokens"].as_array_mut().map(std::mem::take).expect("a list")
}

#[test]
fn a_token_from_its_making_to_its_end() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let cwd = fresh.path();
    assert_eq!(run(cwd, &["token", "list", "--state", "st"]).1, "no token\n");
    let create =
        ["token", "create", "--state", "st", "--name", "build", "--scope", "flow:run,docs:read"];
    let (is_fine, secret, said) = run(cwd, &[&create[..], &["--expires", "30d"]].concat());
    assert!(is_fine && secret.starts_with("bmd_") && secret.trim().len() == 81, "{secret}{said}");
    let secret = secret.trim();
    assert!(!said.contains(secret), "the secret is on standard output alone");
    let tokens = list(cwd);
    assert_eq!(tokens[0]["name"], "build");
    assert_eq!(tokens[0]["scopes"], serde_json::json!(["docs:read", "flow:run"]));
    assert_eq!((&tokens[0]["state"], &tokens[0]["last_used"]), (&"active".into(), &Value::Null));
    for entry in fs::read_dir(cwd.join("st")).expect("the folder") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("a file");
        let holds = bytes.windows(32).any(|window| window == &secret.as_bytes()[17..49]);
        assert!(!holds, "the secret is in a file");
    }
    let (is_fine, _, said) = run(cwd, &create);
    assert!(!is_fine && said.contains("a token of this name exists: `build`"), "{said}");
    let (is_fine, _, said) = run(cwd, &["token", "revoke", "--state", "st", "biuld"]);
    assert!(!is_fine && said.contains("did you mean \"build\"?"), "{said}");
    let id = tokens[0]["id"].as_str().expect("an id");
    assert!(run(cwd, &["token", "revoke", "--state", "st", id]).0);
    assert_eq!(list(cwd)[0]["state"], "revoked");
    let (_, table, _) = run(cwd, &["token", "list", "--state", "st"]);
    assert!(table.starts_with("name   id            scopes"), "{table}");
    assert!(table.trim_end().ends_with("revoked"), "{table}");
    let (is_fine, made, _) = run(cwd, &[&create[..], &["--json"]].concat());
    let made: Value = serde_json::from_str(&made).expect("JSON");
    assert!(is_fine && made["secret"].as_str().is_some_and(|text| text.starts_with("bmd_")));
    assert_eq!(made["expires"], Value::Null);
}

#[test]
fn a_state_that_cannot_be_used_is_named_with_what_to_do() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let cwd = fresh.path();
    fs::create_dir(cwd.join("odd")).expect("a folder");
    fs::write(cwd.join("odd/botmesh-docs.db"), "no database at all ".repeat(60)).expect("a file");
    fs::write(cwd.join("file"), "").expect("a file");
    for (state, expected) in [
        (
            "odd",
            "error: state cannot be read: `odd/botmesh-docs.db`: it is no database\n  help: restore a copy",
        ),
        ("file", "error: state folder cannot be used: `file`: "),
    ] {
        let (is_fine, text, said) = run(cwd, &["token", "list", "--state", state]);
        assert!(!is_fine && text.is_empty() && said.starts_with(expected), "{said}");
    }
}
