use std::fs;

use super::settings::SETTINGS;
use super::{Config, Source, Value};

/// What is said about a file with this text: the error with its help, without the name of the file.
fn fault(text: &str) -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("x.toml");
    fs::write(&file, text).expect("written");
    let error = Config::load(Some(&file), Vec::new()).expect_err("a fault");
    let shown = format!("`{}`", file.display());
    format!("{error}; {}", error.help().unwrap_or_default()).replace(&shown, "FILE")
}

#[test]
fn faults_name_line_and_nearest_word() {
    for (text, expected) in [
        (
            "[docs]\ndri = \"x\"",
            "FILE, line 2: unknown setting `docs.dri`; did you mean `docs.dir`?",
        ),
        ("[mpc]", "FILE, line 1: unknown table `mpc`; did you mean `mcp`?"),
        (
            "x = 1",
            "FILE, line 1: unknown table `x`; `botmesh-docs config --show` lists all settings",
        ),
        ("docs = 1", "FILE, line 1: `docs` must be a table: write `[docs]`; "),
        ("[docs]\n\ninclude = \"a\"", "FILE, line 3: `docs.include` must be a list of texts; "),
        ("[docs]\ninclude = [1]", "FILE, line 2: `docs.include` must be a list of texts; "),
        (
            "[docs]\nwatch = \"never\"",
            "FILE, line 2: `docs.watch` must be one of \"auto\", \"poll\", \"off\"; ",
        ),
        ("[mcp]\nserver_card = 1", "FILE, line 2: `mcp.server_card` must be true or false; "),
        (
            "mcp.max_output_bytes = 1",
            "FILE, line 1: `mcp.max_output_bytes` must be a whole number from 4096 to 1048576; ",
        ),
        (
            "mcp.max_output_bytes = -4096",
            "FILE, line 1: `mcp.max_output_bytes` must be a whole number from 4096 to 1048576; ",
        ),
        (
            "[http]\npublic_url = \"ftp://x\"",
            "FILE, line 2: `http.public_url` must be an http:// or https:// URL without ? and #; ",
        ),
        ("[docs]\ndir = \"\"", "FILE, line 2: `docs.dir` must be the path of a folder; "),
    ] {
        assert_eq!(fault(text), format!("settings cannot be used: {expected}"), "{text}");
    }
    for text in ["[docs", "a = ", "[docs]\ndir = \"a\"\ndir = \"b\""] {
        assert!(fault(text).contains(": it is no TOML: "), "{text}: {}", fault(text));
    }
}

#[test]
fn flags_beat_the_file_and_the_file_the_default() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("x.toml");
    let text = "[docs]\ndir = \"pages\"\nexclude = [\"a\", \"${HOME}\"]\n[flows]\ndir = \"../f\"\n";
    fs::write(&file, text).expect("written");
    let flags = vec![("docs.watch", Value::Text("off".to_owned()))];
    let config = Config::load(Some(&file), flags).expect("settings");
    assert_eq!(config.folder("docs.dir"), Some(folder.path().join("pages")));
    assert_eq!(config.folder("flows.dir"), Some(folder.path().join("../f")), "a given file may");
    assert_eq!(config.list("docs.exclude"), ["a", "${HOME}"], "nothing is expanded");
    assert_eq!(
        (config.text("docs.watch"), config.source("docs.watch")),
        (Some("off"), &Source::Flag)
    );
    assert_eq!(config.source("docs.dir"), &Source::File(2));
    assert!(config.is_on("mcp.server_card"));
    assert_eq!(config.number("mcp.max_output_bytes"), Some(32_768));
    assert_eq!(config.source("mcp.server_card"), &Source::Default);
}

#[test]
fn every_default_is_a_value_of_its_setting() {
    let config = Config::load(None, Vec::new()).expect("the defaults");
    assert_eq!(config.all().count(), SETTINGS.len());
}
