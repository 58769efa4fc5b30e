//! Settings as the verbs take them: where they come from, who wins, and what they may not do. The words are in
//! `tests/cases/console/config.txt`.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::docs_tools::DocsServer;
use crate::{folder, program};

fn run(cwd: &Path, args: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = program::command(cwd);
    command.args(args).envs(env.iter().copied()).current_dir(cwd).output().expect("it runs")
}

fn tree() -> tempfile::TempDir {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    folder::make(
        fresh.path(),
        &json!([
            { "path": "file/a.md", "text": "# File\n\nword\n" },
            { "path": "environment/a.md", "text": "# Environment\n\nword\n" },
            { "path": "flag/a.md", "text": "# Flag\n\nword\n" },
            { "path": "file/drafts/b.md", "text": "# Draft\n\nword word\n" },
            { "path": "botmesh-docs.toml", "text": "[docs]\ndir = \"file\"\nexclude = [\"drafts/**\"]\n" },
        ]),
    );
    fresh
}

#[test]
fn every_setting_is_in_both_manuals() {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    let shown = run(fresh.path(), &["config", "--show", "--json"], &[]);
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    let settings = shown["settings"].as_array().expect("a list");
    for language in ["en", "es"] {
        let page = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join(format!("docs/{language}/reference/configuration.md"));
        let page = fs::read_to_string(page).expect("the manual");
        for setting in settings {
            let row = format!("| `{}` |", setting["key"].as_str().expect("a key"));
            assert!(page.contains(&row), "{language}: {row}");
        }
    }
}

#[test]
fn a_flag_beats_the_environment_and_the_environment_the_file() {
    let fresh = tree();
    let title = |args: &[&str], env: &[(&str, &str)]| -> (u64, String) {
        let args = [&["search", "word", "--json"], args].concat();
        let output = run(fresh.path(), &args, env);
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let title = value["results"][0]["title"].as_str().expect("a title").to_owned();
        (value["total"].as_u64().expect("a number"), title)
    };
    let environment = [("BOTMESH_DOCS_DIR", "environment"), ("BOTWA_DOCS_DIR", "flag")];
    assert_eq!(title(&[], &[]), (1, "File".to_owned()));
    assert_eq!(title(&[], &environment), (1, "Environment".to_owned()));
    assert_eq!(title(&["--docs", "flag"], &environment), (1, "Flag".to_owned()));
    assert_eq!(title(&["--exclude", "none/**"], &[]), (2, "File".to_owned()));
    let shown = run(fresh.path(), &["config", "--show", "--json", "--docs", "flag"], &environment);
    let shown: Value = serde_json::from_slice(&shown.stdout).expect("JSON");
    let setting = |key: &str| {
        let settings = shown["settings"].as_array().expect("a list");
        settings.iter().find(|setting| setting["key"] == key).expect("a setting").clone()
    };
    assert_eq!(setting("docs.dir")["source"], json!({ "kind": "flag" }));
    let exclude = setting("docs.exclude");
    assert_eq!(exclude["value"], json!(["drafts/**"]));
    assert_eq!(
        exclude["source"],
        json!({ "kind": "file", "file": "botmesh-docs.toml", "line": 3 })
    );
}

#[test]
fn the_server_and_every_verb_take_the_file() {
    let fresh = tree();
    let mut server = DocsServer::start_with::<&str>(fresh.path(), &[]);
    let found = server.call("docs_search", &json!({ "query": "word" })).value;
    assert_eq!((&found["total"], &found["results"][0]["title"]), (&json!(1), &json!("File")));
    server.finish();
    folder::make(
        fresh.path(),
        &json!([{ "path": "q.jsonl", "text": "{\"query\": \"file\", \"relevant\": [{\"path\": \"a.md\", \"heading\": \"File\", \"grade\": 3}]}\n" }]),
    );
    for args in [
        &["outline"][..],
        &["page", "a.md"],
        &["reindex", "--index", "idx"],
        &["doctor"],
        &["eval", "q.jsonl", "--min-ndcg", "0.9"],
    ] {
        let output = run(fresh.path(), args, &[]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{args:?}: {said}");
    }
    fs::write(fresh.path().join("botmesh-docs.toml"), "[docs]\nindex = \"idx\"\n")
        .expect("written");
    let output = run(fresh.path(), &["outline"], &[]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("a.md"), "from the index alone");
}

#[test]
fn a_file_that_was_found_reaches_nothing_outside_its_folder() {
    let fresh = tree();
    let project = fresh.path().join("project");
    let outside = fresh.path().join("file");
    folder::make(&project, &json!([{ "path": "link", "symlink": "../file" }]));
    for dir in ["../file", "./../file", "link", "link/drafts", &outside.to_string_lossy()] {
        fs::write(project.join("botmesh-docs.toml"), format!("[docs]\ndir = \"{dir}\"\n"))
            .expect("written");
        let output = run(&project, &["outline"], &[]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{dir}: {said}");
        assert!(said.contains("line 2: `docs.dir` leads out of the file's folder"), "{said}");
        let output = run(&project, &["outline", "--config", "botmesh-docs.toml"], &[]);
        assert!(output.status.success(), "{dir}: named by the user");
    }
}
