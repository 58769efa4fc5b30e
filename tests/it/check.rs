//! `reindex --check`: each case is a tree with all that is wrong with it, and the project's own docs have nothing.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use botmesh_docs::check::Rule;
use serde_json::Value;

use crate::folder::{cases, make, report};
use crate::program::command;

fn reindex(folder: &Path, args: &[&str]) -> Output {
    let index = folder.join("idx");
    let mut command = command(folder);
    command.current_dir(folder).args(["reindex", "docs", "--index"]).arg(index).args(args);
    command.output().expect("the program runs")
}

fn findings(folder: &Path, args: &[&str]) -> (Option<i32>, Vec<Value>) {
    let output = reindex(folder, &[args, &["--format", "json"]].concat());
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| {
        panic!("{error}: {text}{}", String::from_utf8_lossy(&output.stderr))
    });
    (output.status.code(), value["findings"].as_array().expect("a list").clone())
}

/// `error broken-link docs/a.md:3:5`.
fn line(finding: &Value) -> String {
    let word = |name: &str| finding[name].as_str().expect("text").to_owned();
    let number = |name: &str| finding[name].as_u64().expect("a number");
    let (line, column) = (number("line"), number("column"));
    format!("{} {} {}:{line}:{column}", word("severity"), word("code"), word("path"))
}

#[test]
fn every_tree_has_just_the_findings_of_its_case() {
    let mut failures = Vec::new();
    for (name, case) in cases("check") {
        let home = tempfile::tempdir().expect("a temporary folder");
        make(&home.path().join("docs"), &case["tree"]);
        commits(home.path(), &case["commits"]);
        let level = case["level"].as_str().unwrap_or("info");
        let (code, findings) = findings(home.path(), &[&format!("--check={level}")]);
        let seen: Vec<String> = findings.iter().map(line).collect();
        let expected: Vec<&str> =
            case["findings"].as_array().expect("a list").iter().filter_map(Value::as_str).collect();
        if seen != expected {
            failures.push(format!("{name}: expected {expected:#?}, found {seen:#?}"));
        }
        if code != Some(i32::from(!expected.is_empty())) {
            failures.push(format!("{name}: exit status {code:?}"));
        }
        for text in case["says"].as_array().into_iter().flatten().filter_map(Value::as_str) {
            let says = |finding: &Value, name: &str| {
                finding[name].as_str().is_some_and(|said| said.contains(text))
            };
            if !findings.iter().any(|one| says(one, "message") || says(one, "hint")) {
                failures.push(format!("{name}: nothing says {text:?}: {findings:#?}"));
            }
        }
    }
    report(&failures);
}

/// Puts the pages that a case names under version control, one commit after the other, a day apart.
fn commits(home: &Path, commits: &Value) {
    let git = |args: &[&str], day: usize| {
        let date = format!("2026-01-{day:02}T00:00:00Z");
        let mut git = Command::new("git");
        git.current_dir(home.join("docs")).args(["-c", "user.name=t", "-c", "user.email=t@t"]);
        git.env("GIT_COMMITTER_DATE", &date).env("GIT_AUTHOR_DATE", &date);
        assert!(git.args(args).output().expect("git runs").status.success(), "{args:?}");
    };
    let Some(commits) = commits.as_array() else { return };
    git(&["init", "-q"], 1);
    for (commit, day) in commits.iter().zip(1..) {
        let paths: Vec<&str> =
            commit.as_array().expect("paths").iter().filter_map(Value::as_str).collect();
        git(&[&["add"], &paths[..]].concat(), day);
        git(&["commit", "-qm", "t"], day);
    }
}

#[test]
fn the_projects_own_docs_pass() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let args = ["--index", "idx", "--check=warning"];
    let mut command = command(home.path());
    let output = command
        .current_dir(home.path())
        .arg("reindex")
        .arg(docs)
        .args(args)
        .output()
        .expect("runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_baseline_accepts_what_is_known_wherever_it_moves() {
    let home = tempfile::tempdir().expect("a temporary folder");
    let page = home.path().join("docs/a.md");
    fs::create_dir(home.path().join("docs")).expect("a new folder");
    fs::write(&page, "# A\n\n[x](gone.md)\n[x](gone.md)\n").expect("a new page");
    let check = ["--check", "--baseline", "known.json"];
    let missing = reindex(home.path(), &check);
    let said = String::from_utf8_lossy(&missing.stderr).into_owned();
    assert_eq!(missing.status.code(), Some(2), "{said}");
    assert!(said.contains("baseline cannot be read: `known.json`: no such file"), "{said}");
    let write = reindex(home.path(), &["--check", "--write-baseline", "known.json"]);
    assert!(write.status.success());
    assert_eq!(findings(home.path(), &check), (Some(0), Vec::new()));
    fs::write(&page, "# A\n\nmoved\n\n[x](gone.md)\n\n[x](gone.md) [x](gone.md)\n")
        .expect("a save");
    let (code, new) = findings(home.path(), &check);
    let lines: Vec<String> = new.iter().map(line).collect();
    assert_eq!((code, &lines[..]), (Some(1), &["error broken-link docs/a.md:7:18".to_owned()][..]));
    fs::write(&page, "# A\n").expect("a save");
    let output = reindex(home.path(), &check);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.contains("no longer found: 2 accepted findings"),
        "{said}"
    );
    fs::write(home.path().join("known.json"), "{\"accepted\": 3}").expect("a file");
    let output = reindex(home.path(), &check);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn formats_agree_on_what_is_found() {
    let home = tempfile::tempdir().expect("a temporary folder");
    fs::create_dir(home.path().join("docs")).expect("a new folder");
    fs::write(home.path().join("docs/a.md"), "# A\n\n[x](gone.md)\n").expect("a new page");
    let stdout = |format: &str| {
        let output = reindex(home.path(), &["--check", "--format", format]);
        assert_eq!(output.status.code(), Some(1), "{format}");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    let human = stdout("human");
    for part in ["error[broken-link]: link leads nowhere: `gone.md`", "docs/a.md:3:5", "1 error"] {
        assert!(human.contains(part), "{part}: {human}");
    }
    assert!(human.ends_with("1 section in 1 page (en 1)\n"), "{human}");
    let github = stdout("github");
    assert!(github.starts_with("::error file=docs/a.md,line=3,col=5,"), "{github}");
    let sarif: Value = serde_json::from_str(&stdout("sarif")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"][0]["ruleId"], "broken-link");
    // The same bytes again, and from a full build.
    for format in ["human", "json", "github", "sarif"] {
        let again = reindex(home.path(), &["--check", "--format", format, "--full"]);
        assert_eq!(stdout(format), String::from_utf8(again.stdout).expect("UTF-8"));
    }
}

#[test]
fn both_manuals_name_every_rule_with_its_level() {
    for lang in ["en", "es"] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs").join(lang);
        let text = fs::read_to_string(page.join("guide/checking-docs.md")).expect("the page");
        for rule in Rule::ALL {
            let name = format!("`{}`", rule.code());
            let row = text.lines().find(|line| line.starts_with('|') && line.contains(&name));
            let row = row.unwrap_or_else(|| panic!("{lang}: no row for {name}"));
            assert_eq!(row.split(" | ").nth(1), Some(rule.severity().name()), "{lang}: {row}");
        }
    }
}
