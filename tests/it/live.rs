//! Servers and `reindex` as processes: killed, crowded, without room, and after any history of edits.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::docs_tools::DocsServer;
use crate::program;

/// A pseudo-random number from 0 below `below`: splitmix64, so that a failure can be repeated.
struct Chance(u64);

impl Chance {
    fn below(&mut self, below: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % below as u64) as usize
    }
}

fn folder_with_pages(n: usize) -> TempDir {
    let fresh = tempfile::tempdir().expect("a temporary folder");
    for i in 0..n {
        write_page(fresh.path(), i, 0);
    }
    fresh
}

/// A word for a number that is no part of another, and near none.
fn word(round: usize) -> String {
    let letter = |digit: usize| char::from(b'a' + digit as u8);
    let [a, b] = [letter(round / 26), letter(round % 26)];
    format!("{b}{b}{b}{a}{a}{a}vuelta")
}

/// Each page says in two sections of which round it is: a mixture of rounds in one page would show.
fn write_page(folder: &Path, page: usize, round: usize) {
    let lang = if page.is_multiple_of(2) { "en" } else { "es" };
    let docs = folder.join("docs").join(lang);
    fs::create_dir_all(&docs).expect("a folder");
    let filler = "palabras de relleno que ocupan sitio ".repeat(20);
    let word = word(round);
    let text = format!("# Page {page}\n\n{word}\n\n## Second {page}\n\n{word} {filler}\n");
    fs::write(docs.join(format!("{page}.md")), text).expect("a page");
}

fn run(folder: &Path, args: &[&str]) -> Output {
    program::command(folder).args(args).current_dir(folder).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The digest of what an incremental or a full `reindex` has written.
fn digest(folder: &Path, args: &[&str]) -> String {
    let args = [&["reindex", "docs", "--digest"], args].concat();
    let output = run(folder, &args);
    assert!(output.status.success(), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// In how many sections each round is named, as the index alone says.
fn sections_of(folder: &Path, round: usize) -> usize {
    let query = word(round);
    let output = run(folder, &["search", "--index", "idx", "--json", "--limit", "1", &query]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let reply: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    if reply["unmatched"] == json!([]) {
        reply["total"].as_u64().expect("a number") as usize
    } else {
        0
    }
}

#[test]
fn a_kill_at_any_moment_leaves_one_snapshot_or_the_other() {
    const PAGES: usize = 60;
    const KILLS: usize = 100;
    let folder = folder_with_pages(PAGES);
    let root = folder.path();
    let start = Instant::now();
    digest(root, &["--index", "idx"]);
    let usual = start.elapsed();
    let mut chance = Chance(1);
    let (mut held, mut n_cut_off) = (0, 0);
    for round in 1..=KILLS {
        for page in 0..PAGES {
            write_page(root, page, round);
        }
        let mut command = program::command(root);
        command.args(["reindex", "docs", "--index", "idx"]).current_dir(root);
        command.args(if round % 3 == 0 { &["--full"][..] } else { &[] });
        let mut child =
            command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        let wait = usual.as_micros() as usize * chance.below(1_100) / 1_000;
        thread::sleep(Duration::from_micros(wait as u64));
        child.kill().expect("a kill");
        let status = child.wait().expect("an end");
        n_cut_off += usize::from(!status.success());
        // Old or new, and nothing between: all sections are of one round.
        let (old, new) = (sections_of(root, held), sections_of(root, round));
        let seen = if old == 0 { (0, new) } else { (old, new) };
        if seen == (0, 2 * PAGES) {
            held = round;
        } else {
            assert_eq!(seen, (2 * PAGES, 0), "after kill {round}, {wait} microseconds in");
        }
    }
    assert!(n_cut_off >= KILLS / 3, "only {n_cut_off} were in time");
    assert_eq!(digest(root, &["--index", "idx"]), digest(root, &["--index", "fresh"]));
}

#[test]
fn a_full_disk_leaves_the_snapshot_as_it_was() {
    const PAGES: usize = 40;
    let folder = folder_with_pages(PAGES);
    let root = folder.path();
    digest(root, &["--index", "idx"]);
    let n_rounds = if can_mount() { fill_a_small_disk(root) } else { limit_files(root) };
    assert!(n_rounds > 0, "nothing was ever too large");
    assert_eq!(digest(root, &["--index", "idx"]), digest(root, &["--index", "fresh"]));
}

/// No file may be longer than some kilobytes: each write beyond that fails as on a full disk.
fn limit_files(root: &Path) -> usize {
    let mut n_refused = 0;
    for (round, blocks) in [1, 2, 4, 8, 16, 32, 64].into_iter().enumerate() {
        for page in 0..40 {
            write_page(root, page, round + 1);
        }
        let before = sections_of(root, round);
        let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
        let mut command = program::command_through(&["sh", "-c", &script, "sh"], root);
        let output = command
            .args(["reindex", "docs", "--index", "idx"])
            .current_dir(root)
            .output()
            .expect("it runs");
        if output.status.success() {
            break;
        }
        n_refused += 1;
        check_refusal(&output);
        assert_eq!((sections_of(root, 0), before > 0), (80, round == 0), "{blocks} blocks");
    }
    n_refused
}

/// An index on a small file system that fills up: the last snapshot answers, and the next run with room goes well.
fn fill_a_small_disk(root: &Path) -> usize {
    fs::create_dir(root.join("small")).expect("a folder");
    let script = r#"
        set -e
        mount -t tmpfs -o size=2000k none small
        cp -a idx/. small/
        n=0
        for left in 0 4 8 16 32 64 128 256; do
            rm -f small/filler
            free=$(( $(df --output=avail -k small | tail -1) - left ))
            [ $free -le 0 ] || head -c ${free}k /dev/zero > small/filler
            for page in docs/*/*.md; do echo "more $left" >> $page; done
            if ! "$0" reindex docs --index small 2> small.err; then n=$((n + 1)); cat small.err >> refusals; fi
            "$0" search --index small --json --limit 1 $1 | grep -q '"total": 80'
        done
        rm -f small/filler
        "$0" reindex docs --index small --digest > small.digest
        echo $n
    "#;
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script]);
    command.args([program::BINARY, &word(0)]);
    let output = command.env("HOME", root).current_dir(root).output().expect("it runs");
    assert!(output.status.success(), "{}: {}", output.status, text(&output.stderr));
    let refusals = fs::read_to_string(root.join("refusals")).unwrap_or_default();
    assert!(!refusals.contains("panicked"), "{refusals}");
    assert!(refusals.contains("index folder cannot be written: `small`"), "{refusals}");
    let small = fs::read_to_string(root.join("small.digest")).expect("a digest");
    assert_eq!(small, digest(root, &["--index", "idx"]));
    text(&output.stdout).lines().last().and_then(|n| n.parse().ok()).expect("a number")
}

fn check_refusal(output: &Output) {
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error: index folder cannot be written: `idx`"), "{said}");
    assert!(!said.contains("panicked"), "{said}");
}

/// Whether this user may mount a small file system where nobody else sees it.
fn can_mount() -> bool {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/mnt"]);
    command.stderr(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[test]
fn three_servers_and_a_writer_share_an_index() {
    let folder = folder_with_pages(60);
    let root = folder.path();
    digest(root, &["--index", "idx"]);
    let args = ["--docs", "docs", "--index", "idx"];
    let mut servers: Vec<DocsServer> =
        (0..3).map(|_| DocsServer::start_with(root, &args)).collect();
    for round in 1..=5 {
        for page in 0..60 {
            write_page(root, page, round);
        }
        thread::scope(|scope| {
            let writer = scope.spawn(|| digest(root, &["--index", "idx", "--full"]));
            for server in &mut servers {
                scope.spawn(move || {
                    wait_for(server, &word(round), 120);
                });
            }
            writer.join().expect("a digest");
        });
    }
    for server in servers {
        assert_eq!(server.finish(), "");
    }
}

fn wait_for(server: &mut DocsServer, query: &str, sections: u64) {
    let start = Instant::now();
    loop {
        let reply = server.call("docs_search", &json!({ "query": query })).value;
        if reply["unmatched"] == json!([]) && reply["total"] == sections {
            return;
        }
        assert!(start.elapsed() < program::PATIENCE, "{query}: {}", reply["total"]);
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_read_only_index_serves() {
    let folder = folder_with_pages(4);
    let root = folder.path();
    digest(root, &["--index", "idx"]);
    if !can_mount() {
        return;
    }
    let script = "mount --bind idx idx && mount -o remount,bind,ro idx && exec \"$@\"";
    let through = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"];
    let run = |args: &[&str]| {
        let mut command = program::command_through(&through, root);
        command.args(args).current_dir(root).output().expect("it runs")
    };
    write_page(root, 1, 7);
    let found = run(&["search", "--docs", "docs", "--index", "idx", &word(7)]);
    assert!(found.status.success(), "{}", text(&found.stderr));
    assert!(text(&found.stdout).contains("es/1.md"), "{}", text(&found.stdout));
    let refused = run(&["reindex", "docs", "--index", "idx"]);
    check_refusal(&refused);
}

#[test]
fn a_server_that_watches_ends_in_time() {
    let folder = folder_with_pages(20);
    for watch in [&["--watch", "poll"][..], &["--no-watch"], &[]] {
        let args = [&["--docs", "docs"], watch].concat();
        let mut server = DocsServer::start_with(folder.path(), &args);
        server.call("docs_outline", &json!({}));
        write_page(folder.path(), 3, 9);
        let closed = Instant::now();
        server.finish();
        assert!(closed.elapsed() < Duration::from_secs(2), "{watch:?}: {:?}", closed.elapsed());
    }
}

#[test]
fn a_save_of_the_same_bytes_makes_no_new_generation() {
    let folder = folder_with_pages(5);
    let mut server = DocsServer::start(folder.path(), "docs");
    let generation = |server: &mut DocsServer| {
        server.call("docs_outline", &json!({})).value["generation"].as_u64().expect("a number")
    };
    assert_eq!(generation(&mut server), 1);
    write_page(folder.path(), 1, 0);
    // What comes after it is seen, so it was seen too.
    write_page(folder.path(), 2, 1);
    wait_for(&mut server, &word(1), 2);
    assert_eq!(generation(&mut server), 2);
    server.finish();
}

#[test]
fn a_checkout_of_thousands_of_pages_ends_with_just_those() {
    const PAGES: usize = 5_000;
    let folder = folder_with_pages(20);
    let mut server = DocsServer::start(folder.path(), "docs");
    server.call("docs_outline", &json!({}));
    fs::rename(folder.path().join("docs/en"), folder.path().join("docs/old")).expect("a new name");
    for page in 0..PAGES {
        let folder = folder.path().join(format!("docs/en/{}", page % 70));
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join(format!("{page}.md")), format!("# Page\n\n{}\n", word(1)))
            .expect("a page");
    }
    fs::remove_dir_all(folder.path().join("docs/old")).expect("no folder");
    wait_for(&mut server, &word(1), PAGES as u64);
    let outline = server.call("docs_outline", &json!({ "limit": 1 })).value;
    assert_eq!(outline["total"], json!(PAGES + 10));
    server.finish();
}

#[test]
fn doctor_says_what_is_wrong() {
    let folder = folder_with_pages(4);
    let root = folder.path();
    let examine = |more: &[&str]| -> (Option<i32>, Value) {
        let args = [&["doctor", "--docs", "docs", "--index", "idx", "--json"], more].concat();
        let output = run(root, &args);
        let value: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(text(&output.stderr), "");
        assert!(!value.to_string().contains(&*root.to_string_lossy()), "an absolute path: {value}");
        (output.status.code(), value)
    };
    let health = |value: &Value, name: &str| -> (String, String) {
        let checks = value["checks"].as_array().expect("checks");
        let check = checks.iter().find(|check| check["name"] == name).expect("a check");
        let text = |key: &str| check[key].as_str().expect("a text").to_owned();
        (text("health"), text("message"))
    };
    let (code, value) = examine(&["--determinism"]);
    assert_eq!((code, health(&value, "index").0.as_str()), (Some(0), "note"));
    assert_eq!(health(&value, "server").0, "ok");
    let determinism = health(&value, "determinism");
    assert_eq!(determinism.0, "ok");
    let written = digest(root, &["--index", "idx"]);
    assert!(determinism.1.ends_with(written.trim()), "{determinism:?} {written}");
    let (code, value) = examine(&[]);
    assert_eq!((code, health(&value, "index").0.as_str()), (Some(0), "ok"));
    write_page(root, 0, 1);
    fs::remove_file(root.join("docs/es/1.md")).expect("no page");
    let stale = health(&examine(&[]).1, "index");
    assert!(stale.1.ends_with("stale: 1 page changed, 1 page removed"), "{stale:?}");
    fs::write(root.join("idx/meta.json"), "{}").expect("damage");
    let (code, value) = examine(&[]);
    assert_eq!((code, health(&value, "index").0.as_str()), (Some(1), "fault"));
}

/// Random edits of a folder of pages, in bursts.
fn edit(root: &Path, chance: &mut Chance) {
    const FOLDERS: [&str; 4] = ["en", "es", "en/deep", "nuevo"];
    let docs = root.join("docs");
    let page = |chance: &mut Chance| {
        docs.join(FOLDERS[chance.below(4)]).join(format!("{}.md", chance.below(8)))
    };
    let folder = |chance: &mut Chance| docs.join(FOLDERS[chance.below(4)]);
    let words = ["flow", "ruta", "sesión", "appendLog", "config map", "durabilidad"];
    // What cannot be done does not happen.
    let _ = match chance.below(12) {
        0..=4 => {
            let path = page(chance);
            let _ = fs::create_dir_all(path.parent().expect("a folder"));
            let [a, b] = [0, 1].map(|_| words[chance.below(words.len())]);
            fs::write(path, format!("# {a}\n\n{b} {}\n\n## {b}\n\n{a}\n", chance.below(50)))
        }
        5 => fs::write(page(chance), ""),
        6 | 7 => fs::remove_file(page(chance)),
        8 | 9 => fs::rename(page(chance), page(chance)),
        10 => fs::rename(folder(chance), folder(chance)),
        _ => fs::remove_dir_all(folder(chance)),
    };
}

const QUESTIONS: [&str; 9] = [
    "flow",
    "ruta",
    "sesion",
    "append log",
    "config map",
    "durabilidad",
    "flwo",
    "7",
    "rutas flow",
];

/// All answers without the number of the generation, which counts the states that a process has seen.
fn answers(mut ask: impl FnMut(&str) -> Value) -> Vec<Value> {
    QUESTIONS
        .iter()
        .map(|query| {
            let mut reply = ask(query);
            reply.as_object_mut().expect("an object").remove("generation");
            reply
        })
        .collect()
}

#[test]
fn any_history_of_edits_ends_as_a_fresh_index() {
    const BURSTS: usize = 40;
    const EDITS: usize = 8;
    let folder = folder_with_pages(12);
    let root = folder.path();
    let mut server = DocsServer::start(root, "docs");
    let mut chance = Chance(2026);
    for burst in 0..BURSTS {
        for _ in 0..EDITS {
            edit(root, &mut chance);
        }
        let fresh = answers(|query| {
            let output = run(root, &["search", "--docs", "docs", "--json", "--", query]);
            serde_json::from_slice(&output.stdout).expect("JSON")
        });
        let start = Instant::now();
        loop {
            let live =
                answers(|query| server.call("docs_search", &json!({ "query": query })).value);
            if live == fresh {
                break;
            }
            assert!(start.elapsed() < program::PATIENCE, "burst {burst}:\n{live:?}\n{fresh:?}");
            thread::sleep(Duration::from_millis(10));
        }
        if burst % 4 == 3 {
            let incremental = digest(root, &["--index", "idx"]);
            assert_eq!(incremental, digest(root, &["--index", "fresh", "--full"]), "burst {burst}");
        }
    }
    server.finish();
}
