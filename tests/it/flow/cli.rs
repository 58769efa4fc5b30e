//! The command line, as a shell sees it: arguments, standard input and output, status, files left behind.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

struct Ran {
    status: i32,
    out: String,
    err: String,
}

fn run_in(folder: &Path, arguments: &[&str], stdin: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_botmesh-docs"))
        .arg("flow")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // A program that fails early may close its input before it is written.
    let _ = child.stdin.take().map(|mut pipe| pipe.write_all(stdin));
    let output = child.wait_with_output().expect("the binary ends");
    Ran {
        status: output.status.code().expect("no signal ended it"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

fn tree(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, bytes) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, bytes).expect("a file");
    }
    folder
}

const GOOD: &[u8] = br#"{"version":2,"id":"good","steps":[{"id":"a","kind":"say","text":"Hola"}]}"#;
const BAD: &[u8] = b"{\n  \"version\": 2, \"id\": \"bad\",\n  \"steps\": [{\"id\": \"a\", \"kind\": \"say\", \"text\": 42}]\n}\n";
const OLD: &[u8] =
    br#"{"title":"Old","steps":[{"type":"text","body":"Hola {name}"},{"type":"stop"}]}"#;

#[test]
fn findings_have_a_place_and_a_status() {
    let folder =
        tree(&[("a/good.flow.json", GOOD), ("a/b/bad.flow.json", BAD), ("a/other.json", b"{")]);
    let ran = run_in(folder.path(), &["validate", "a"], b"");
    assert_eq!(ran.status, 1);
    assert!(ran.out.contains("a/b/bad.flow.json:3:48"), "{}", ran.out);
    assert!(ran.out.contains("must be string") && !ran.out.contains("other.json"), "{}", ran.out);
    assert!(!ran.out.contains('\u{1b}'), "no colour where there is no terminal");
    let ran = run_in(folder.path(), &["validate", "a/good.flow.json"], b"");
    assert_eq!((ran.status, &*ran.out), (0, ""));
    let ran = run_in(folder.path(), &["validate", "a", "--format", "json"], b"");
    let json: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(json["findings"][0]["line"], json!(3));
    assert_eq!(json["counts"]["error"], json!(1));
}

#[test]
fn junk_is_refused_with_line_and_column() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/json/bom-and-junk.json");
    let case: Value =
        serde_json::from_str(&fs::read_to_string(case).expect("a case")).expect("JSON");
    let folder = tree(&[]);
    for group in case["groups"].as_array().expect("groups") {
        for document in group["documents"].as_array().expect("documents") {
            let text = document.as_str().expect("a text");
            let ran = run_in(folder.path(), &["digest", "-"], text.as_bytes());
            if group["kind"] == json!("accept") {
                assert_eq!(ran.status, 0, "{text}: {}", ran.out);
            } else {
                assert_eq!(ran.status, 1, "{text}: {}", ran.out);
                assert!(
                    ran.out.contains("must be JSON") && ran.out.contains("<stdin>:"),
                    "{}",
                    ran.out
                );
            }
        }
    }
}

#[test]
fn bad_input_gets_one_clear_message() {
    let large = vec![b' '; 17 * 1024 * 1024];
    let two_mib = format!(
        "{{\"version\":2,\"id\":\"x\",\"metadata\":{{\"a\":\"{}\"}},\"steps\":[{{\"id\":\"a\",\"kind\":\"end\"}}]}}",
        "x".repeat(2 * 1024 * 1024)
    );
    let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
    let folder = tree(&[
        ("utf16.flow.json", b"\xff\xfe{\0}\0"),
        ("large.flow.json", &large),
        ("two.flow.json", two_mib.as_bytes()),
        ("deep.flow.json", deep.as_bytes()),
        ("empty.flow.json", b""),
    ]);
    for (name, message) in [
        ("utf16", "must be UTF-8"),
        ("large", "must NOT be larger than 16 MiB"),
        ("two", "must NOT be larger than 1048576 bytes"),
        ("deep", "must NOT be nested more than 64 levels deep"),
        ("empty", "must be JSON"),
    ] {
        let file = format!("{name}.flow.json");
        let ran = run_in(folder.path(), &["validate", &file], b"");
        assert_eq!(ran.status, 1, "{name}");
        assert!(ran.out.contains(message), "{name}: {}", ran.out);
        assert!(ran.out.len() < 2_000, "{name}: {} bytes", ran.out.len());
    }
    for arguments in [
        &["validate", "absent.flow.json"][..],
        &["validate"],
        &["digest", "."],
        &["diff", "utf16.flow.json", "."],
        &["validate", "utf16.flow.json", "--format", "xml"],
    ] {
        let ran = run_in(folder.path(), arguments, b"");
        let expected = if arguments[0] == "digest" { 1 } else { 2 };
        assert_eq!(ran.status, expected, "{arguments:?}: {}", ran.err);
    }
}

#[test]
fn files_are_replaced_whole_and_nothing_is_left_behind() {
    let folder = tree(&[("old.flow.json", OLD), ("good.flow.json", GOOD)]);
    let ran = run_in(folder.path(), &["format", "--check", "."], b"");
    assert_eq!((ran.status, ran.out.lines().count()), (1, 2));
    let ran = run_in(folder.path(), &["migrate", "--write", "."], b"");
    assert_eq!(ran.status, 0, "{}", ran.err);
    let ran = run_in(folder.path(), &["format", "--write", "."], b"");
    assert_eq!(ran.status, 0, "{}", ran.err);
    let ran = run_in(folder.path(), &["format", "--check", "."], b"");
    assert_eq!((ran.status, &*ran.out), (0, ""));
    let ran = run_in(folder.path(), &["validate", "."], b"");
    assert_eq!(ran.status, 0, "{}", ran.out);
    let text = fs::read_to_string(folder.path().join("old.flow.json")).expect("a file");
    assert!(text.contains("Hola {{name}}") && text.ends_with("}\n"), "{text}");
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

#[test]
fn differences_read_like_a_review() {
    let right = String::from_utf8_lossy(GOOD).replace("Hola", "Buenas");
    let folder = tree(&[("l.flow.json", GOOD), ("r.flow.json", right.as_bytes())]);
    let ran = run_in(folder.path(), &["diff", "l.flow.json", "r.flow.json"], b"");
    assert_eq!(ran.status, 0);
    assert!(
        ran.out.contains("~ step \"a\" (say)") && ran.out.contains("\"Hola\" → \"Buenas\""),
        "{}",
        ran.out
    );
    let ran = run_in(folder.path(), &["diff", "l.flow.json", "r.flow.json", "--exit-code"], b"");
    assert_eq!(ran.status, 1);
    let ran = run_in(folder.path(), &["diff", "l.flow.json", "l.flow.json", "--exit-code"], b"");
    assert_eq!((ran.status, &*ran.out), (0, "no change\n"));
}

#[test]
fn flows_know_each_other() {
    let main = br#"{"version":2,"id":"main","steps":[{"id":"c","kind":"call","flow":"sub"},{"id":"d","kind":"call","flow":"sbu"},{"id":"e","kind":"end"}]}"#;
    let sub = br#"{"version":2,"id":"sub","steps":[{"id":"q","kind":"ask","text":"?","save":"x","timeout":{"seconds":60}}]}"#;
    let folder = tree(&[("m.flow.json", main), ("s.flow.json", sub)]);
    let ran = run_in(folder.path(), &["analyze", ".", "--format", "github"], b"");
    assert_eq!(ran.status, 1);
    assert_eq!(ran.out.lines().count(), 1, "{}", ran.out);
    assert!(
        ran.out.contains("missing-subflow") && ran.out.contains("did you mean \"sub\"?"),
        "{}",
        ran.out
    );
    let drawing =
        ["analyze", "m.flow.json", "--subflows", "s.flow.json", "--mermaid", "-o", "m.mmd"];
    assert_eq!(run_in(folder.path(), &drawing, b"").status, 0);
    let text = fs::read_to_string(folder.path().join("m.mmd")).expect("a drawing");
    assert!(text.starts_with("flowchart TD\n") && text.contains("subgraph Gsub"), "{text}");
    let alone = run_in(folder.path(), &["analyze", "s.flow.json", "--deny", "warning"], b"");
    assert_eq!(alone.status, 1, "{}", alone.out);
    assert!(alone.out.contains("dead-end"), "{}", alone.out);
}

#[test]
fn scanners_get_valid_sarif() {
    let folder = tree(&[("bad.flow.json", BAD)]);
    let ran = run_in(folder.path(), &["validate", "bad.flow.json", "--format", "sarif"], b"");
    let sarif: Value = serde_json::from_str(&ran.out).expect("JSON");
    assert_eq!(sarif["version"], json!("2.1.0"));
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["level"], json!("error"));
    assert_eq!(
        result["locations"][0]["logicalLocations"][0]["fullyQualifiedName"],
        json!("bad#/steps/0/text")
    );
    let moved = format!("\n\n{}", String::from_utf8_lossy(BAD));
    fs::write(folder.path().join("bad.flow.json"), moved).expect("a file");
    let ran = run_in(folder.path(), &["validate", "bad.flow.json", "--format", "sarif"], b"");
    let again: Value = serde_json::from_str(&ran.out).expect("JSON");
    let other = &again["runs"][0]["results"][0];
    assert_eq!(result["partialFingerprints"], other["partialFingerprints"]);
    assert_ne!(result["locations"], other["locations"]);
}

#[test]
fn every_verb_shows_an_example() {
    let folder = tree(&[]);
    for verb in [
        "validate", "analyze", "migrate", "diff", "digest", "schema", "example", "simulate",
        "format",
    ] {
        let ran = run_in(folder.path(), &[verb, "--help"], b"");
        assert_eq!(ran.status, 0, "{verb}");
        assert!(ran.out.contains("Example"), "{verb}: {}", ran.out);
        for lang in ["en", "es"] {
            let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(lang);
            let page = fs::read_to_string(page.join("flows/command-line.md")).expect("a page");
            assert!(page.contains(&format!("`{verb}`")), "{lang}: {verb}");
            for flag in ran.out.split_whitespace().filter(|word| word.starts_with("--")) {
                let flag = flag.trim_end_matches([',', ']', '.']);
                let is_named = page.contains(flag) || flag == "--help";
                assert!(is_named, "{lang}: {verb} {flag}");
            }
        }
    }
}

#[test]
fn a_conversation_is_played() {
    let folder = tree(&[
        ("q.flow.json", br#"{"version":2,"id":"q","steps":[{"id":"q","kind":"ask","text":"Name?","save":"n"},{"id":"s","kind":"say","text":"Hi {{n}}"}]}"#),
        ("wrong.json", br#"{"input":["Ana"]}"#),
    ]);
    let ran = run_in(folder.path(), &["simulate", "q.flow.json", "--input", "Ana"], b"");
    assert_eq!(ran.status, 0);
    assert!(ran.out.contains("bot: Hi Ana") && ran.out.contains("ended: completed"), "{}", ran.out);
    let ran = run_in(folder.path(), &["simulate", "q.flow.json", "--script", "wrong.json"], b"");
    assert_eq!(ran.status, 2);
    assert!(ran.err.contains("unknown argument \"input\""), "{}", ran.err);
}
