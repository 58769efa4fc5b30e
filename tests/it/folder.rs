//! Trees of files as the cases describe them.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::steps::unhex;

/// The case files of a folder below `tests/cases`, by name.
pub(crate) fn cases(folder: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(folder);
    let entries = fs::read_dir(&folder).expect("the folder of cases");
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no cases in {}", folder.display());
    let read = |file: PathBuf| {
        let text = fs::read_to_string(&file).expect("a case");
        let name = file.file_name().expect("a name").to_string_lossy().into_owned();
        (name, serde_json::from_str(&text).expect("a case is JSON"))
    };
    files.into_iter().map(read).collect()
}

/// Says that a case does not run here.
#[expect(clippy::print_stderr, reason = "a test that skips must say so")]
pub(crate) fn skip(case: &str) {
    eprintln!("{case}: skipped, this user may do everything");
}

/// Fails once, with all failures named.
pub(crate) fn report(failures: &[String]) {
    assert!(failures.is_empty(), "{} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Makes the entries of a tree: `text`, `text_gen`, `hex`, `symlink`, `fifo`, `socket`, `mode`, `dir_mode`, at `path` or
/// `path_hex`.
pub(crate) fn make(root: &Path, tree: &Value) {
    for entry in tree.as_array().into_iter().flatten() {
        make_one(root, entry);
    }
}

fn make_one(root: &Path, entry: &Value) {
    let path = match entry["path_hex"].as_str() {
        Some(hex) => root.join(OsStr::from_bytes(&unhex(hex))),
        None => root.join(entry["path"].as_str().expect("a path")),
    };
    let folder = path.parent().expect("a folder");
    fs::create_dir_all(folder).expect("a new folder");
    if let Some(target) = entry["symlink"].as_str() {
        return std::os::unix::fs::symlink(target, &path).expect("a new link");
    }
    if entry["fifo"] == true {
        let status = Command::new("mkfifo").arg(&path).status().expect("mkfifo runs");
        return assert!(status.success(), "no pipe");
    }
    if entry["socket"] == true {
        // The name stays when the listener is gone.
        return drop(UnixListener::bind(&path).expect("a new socket"));
    }
    fs::write(&path, bytes(entry)).expect("a new file");
    if let Some(mode) = entry["mode"].as_str() {
        set_mode(&path, mode);
    }
    if let Some(mode) = entry["dir_mode"].as_str() {
        set_mode(folder, mode);
    }
}

fn bytes(entry: &Value) -> Vec<u8> {
    if let Some(hex) = entry["hex"].as_str() {
        return unhex(hex);
    }
    let parts = &entry["text_gen"];
    if parts.is_object() {
        let part = |name: &str| parts[name].as_str().unwrap_or_default();
        let times = parts["times"].as_u64().expect("a count") as usize;
        return [part("before"), &part("repeat").repeat(times), part("after")].concat().into();
    }
    entry["text"].as_str().expect("text, text_gen or hex").into()
}

/// Sets permissions written in octal.
pub(crate) fn set_mode(path: &Path, mode: &str) {
    let bits = u32::from_str_radix(mode, 8).expect("octal");
    fs::set_permissions(path, fs::Permissions::from_mode(bits)).expect("new permissions");
}

/// Whether this user is refused nothing, so that cases about permissions say nothing.
pub(crate) fn is_root() -> bool {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("closed");
    fs::write(&file, "x").expect("a new file");
    set_mode(&file, "000");
    fs::read(&file).is_ok()
}
