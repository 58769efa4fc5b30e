//! An index that follows its docs, in memory or on disk, is at any time the index that would be made afresh.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use botmesh_index::error::IndexError;
use botmesh_index::live::Live;
use botmesh_index::search::Query;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::store::{Extent, Found, Store, Stored, Writing, open_snapshot, who_writes};
use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::update::{Changes, Touched};
use botmesh_index::writer;
use proptest::prelude::*;

const PAGES: &[&str] = &[
    "a.md",
    "b.md",
    "en/a.md",
    "es/a.md",
    "en/deep/er/c.md",
    "es/deep/er/c.md",
    "x/api/d.md",
    "x/e.MD",
];
const FOLDERS: &[&str] = &["en", "es", "en/deep", "x", "y", "en/deep/er", ".vitepress", "api"];
const WORDS: &[&str] = &[
    "flow",
    "ruta",
    "appendLog",
    "config map",
    "durabilidad",
    "the",
    "la",
    "sesión",
    "C++",
    "año",
];

/// Something that happens to a folder. Numbers choose among what is there.
#[derive(Clone, Debug)]
enum Edit {
    Write(usize, usize, usize),
    Append(usize, usize),
    Empty(usize),
    Remove(usize),
    Rename(usize, usize),
    Swap(usize, usize),
    RenameFolder(usize, usize),
    RemoveFolder(usize),
    Link(usize, usize),
    MakeFolder(usize),
    NotUtf8(usize),
    RemoveRoot,
}

fn edit() -> impl Strategy<Value = Edit> {
    let (page, folder, word) = (0..PAGES.len(), 0..FOLDERS.len(), 0..WORDS.len());
    prop_oneof![
        8 => (page.clone(), word.clone(), word.clone()).prop_map(|(p, a, b)| Edit::Write(p, a, b)),
        3 => (page.clone(), word).prop_map(|(p, a)| Edit::Append(p, a)),
        1 => page.clone().prop_map(Edit::Empty),
        3 => page.clone().prop_map(Edit::Remove),
        3 => (page.clone(), page.clone()).prop_map(|(a, b)| Edit::Rename(a, b)),
        2 => (page.clone(), page.clone()).prop_map(|(a, b)| Edit::Swap(a, b)),
        2 => (folder.clone(), folder.clone()).prop_map(|(a, b)| Edit::RenameFolder(a, b)),
        1 => folder.clone().prop_map(Edit::RemoveFolder),
        1 => (page.clone(), page.clone()).prop_map(|(a, b)| Edit::Link(a, b)),
        1 => folder.prop_map(Edit::MakeFolder),
        1 => page.prop_map(Edit::NotUtf8),
        1 => Just(Edit::RemoveRoot),
    ]
}

/// Does it as far as it can be done: what the system refuses does not happen.
fn happen(root: &Path, edit: &Edit) {
    let page = |i: &usize| root.join(PAGES[*i]);
    let folder = |i: &usize| root.join(FOLDERS[*i]);
    let write = |path: PathBuf, bytes: &[u8]| {
        let _ = fs::create_dir_all(path.parent().expect("a parent"));
        let _ = fs::write(path, bytes);
    };
    match edit {
        Edit::Write(p, a, b) => {
            let text =
                format!("# {}\n\n{}.\n\n## {}\n\n{}\n", WORDS[*a], WORDS[*b], WORDS[*b], WORDS[*a]);
            write(page(p), text.as_bytes());
        }
        Edit::Append(p, a) => {
            let mut text = fs::read(page(p)).unwrap_or_default();
            text.extend(format!("\n## {}\n", WORDS[*a]).bytes());
            write(page(p), &text);
        }
        Edit::Empty(p) => write(page(p), b""),
        Edit::NotUtf8(p) => write(page(p), b"# caf\xe9\n\nruta\n"),
        Edit::Remove(p) => drop(fs::remove_file(page(p))),
        Edit::Rename(a, b) => {
            let _ = fs::create_dir_all(page(b).parent().expect("a parent"));
            let _ = fs::rename(page(a), page(b));
        }
        Edit::Swap(a, b) => {
            let aside = root.join("aside.tmp");
            let _ = fs::rename(page(a), &aside);
            let _ = fs::rename(page(b), page(a));
            let _ = fs::rename(&aside, page(b));
        }
        Edit::RenameFolder(a, b) => drop(fs::rename(folder(a), folder(b))),
        Edit::RemoveFolder(f) => drop(fs::remove_dir_all(folder(f))),
        Edit::Link(a, b) => drop(std::os::unix::fs::symlink(page(a), page(b))),
        Edit::MakeFolder(f) => drop(fs::create_dir_all(folder(f))),
        Edit::RemoveRoot => drop(fs::remove_dir_all(root)),
    }
}

fn open(root: &Path) -> DocsTree {
    fs::create_dir_all(root).expect("a root");
    DocsTree::open(root, &TreeOptions::default()).expect("a tree")
}

fn fresh(root: &Path) -> String {
    fresh_snapshot(root).digest().expect("a digest")
}

fn fresh_snapshot(root: &Path) -> Snapshot {
    writer::build(&open(root), 1).expect("an index").1
}

/// What a snapshot answers to every word, and to some that it does not hold.
fn answers(snapshot: &Snapshot) -> Vec<String> {
    let ask = |text: &&str| {
        let query =
            Query { text: (*text).to_owned(), limit: 25, explain: true, ..Query::default() };
        let mut reply = snapshot.search(&query).expect("an answer");
        reply.generation = 0;
        format!("{reply:?}")
    };
    WORDS
        .iter()
        .chain(&["flwo", "rutas config", "sesion de la ruta", "durabilit"])
        .map(ask)
        .collect()
}

fn reindex(root: &Path, index: &Path, extent: Extent) -> (String, Changes, Found) {
    let mut store = Store::open(index, extent).expect("an index");
    let (snapshot, changes) =
        store.update(&open(root), SystemTime::now(), 2, &|_, _| ()).expect("an update");
    (snapshot.digest().expect("a digest"), changes, store.found().clone())
}

fn refresh(live: &mut Live, now: SystemTime) -> Changes {
    live.refresh(&Touched::new(), now, 2, &|_, _| ()).expect("a snapshot")
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2,
        failure_persistence: None,
        max_shrink_iters: 100,
        ..ProptestConfig::default()
    })]
    #[test]
    fn any_history_ends_as_a_fresh_index(
        bursts in prop::collection::vec(prop::collection::vec(edit(), 1..8), 60),
    ) {
        let home = tempfile::tempdir().expect("a folder");
        let (root, index) = (home.path().join("docs"), home.path().join("index"));
        open(&root);
        let mut live = Live::new(&root, &TreeOptions::default()).expect("docs");
        for (i, burst) in bursts.iter().enumerate() {
            for edit in burst {
                happen(&root, edit);
            }
            let before = live.snapshot().digest().expect("a digest");
            let changes = refresh(&mut live, SystemTime::now());
            let seen = live.snapshot().digest().expect("a digest");
            prop_assert!(seen == before || !changes.is_empty(), "{:?}", changes);
            let fresh = fresh_snapshot(&root);
            prop_assert_eq!(answers(&live.snapshot()), answers(&fresh));
            let fresh = fresh.digest().expect("a digest");
            prop_assert_eq!(&seen, &fresh, "in memory, after burst {}: {:?}", i, burst);
            let extent = if i % 20 == 19 { Extent::Full } else { Extent::Changed };
            prop_assert_eq!(&reindex(&root, &index, extent).0, &fresh, "on disk, after burst {}", i);
            if i % 10 == 9 {
                // A process that starts now: from the snapshot on disk, which is fresh.
                let stored = Stored::open(&index).expect("an index").expect("a snapshot");
                live = Live::from_stored(&root, &TreeOptions::default(), stored);
                prop_assert!(refresh(&mut live, SystemTime::now()).is_empty());
            }
        }
    }
}

/// Pages by number.
fn make_pages(root: &Path, n: usize) {
    fs::create_dir_all(root).expect("a root");
    for i in 0..n {
        let text = format!("# Page {i}\n\npalabra_{i} ruta\n\n## More\n\nflow {i}\n");
        fs::write(root.join(format!("{i}.md")), text).expect("a page");
    }
}

#[test]
fn stamps_save_reading_and_content_decides() {
    let home = tempfile::tempdir().expect("a folder");
    let root = home.path().join("docs");
    make_pages(&root, 20);
    let mut live = Live::new(&root, &TreeOptions::default()).expect("docs");
    assert_eq!(refresh(&mut live, SystemTime::now()).added, 20);
    // What was written just now may be written again without a new time: it is read again.
    let again = refresh(&mut live, SystemTime::now());
    assert_eq!((again.n_read, again.is_empty()), (20, true));
    let later = SystemTime::now() + Duration::from_mins(1);
    assert_eq!(refresh(&mut live, later).n_read, 20);
    assert_eq!(refresh(&mut live, later).n_read, 0, "settled files are not read");
    // The same bytes with another time, and other bytes of the same size with the old one.
    let page = root.join("7.md");
    let time = fs::metadata(&page).and_then(|page| page.modified()).expect("a time");
    fs::write(&page, fs::read(&page).expect("a page")).expect("a page");
    let touched = refresh(&mut live, later);
    assert_eq!((touched.n_read, touched.is_empty()), (1, true));
    let text = fs::read_to_string(&page).expect("a page").replace("ruta", "tura");
    fs::write(&page, text).expect("a page");
    fs::File::open(&page).and_then(|page| page.set_modified(time)).expect("an old time");
    let changed = refresh(&mut live, later);
    assert_eq!((changed.n_read, changed.changed), (1, 1));
    assert_eq!(live.snapshot().digest().expect("a digest"), fresh(&root));
}

#[test]
fn an_index_is_used_on_another_path_and_with_other_times() {
    let home = tempfile::tempdir().expect("a folder");
    let (root, index) = (home.path().join("docs"), home.path().join("index"));
    make_pages(&root, 5);
    let (digest, changes, found) = reindex(&root, &index, Extent::Changed);
    assert_eq!((changes.added, found), (5, Found::Nothing));
    let (other_root, other_index) = (home.path().join("elsewhere"), home.path().join("restored"));
    make_pages(&other_root, 5);
    fs::rename(&index, &other_index).expect("a new place");
    let (again, changes, found) = reindex(&other_root, &other_index, Extent::Changed);
    assert_eq!((again, changes.is_empty(), found), (digest, true, Found::Snapshot));
    assert_eq!(changes.n_read, 5);
}

type Harm = fn(&Path);

#[test]
fn a_damaged_index_is_noticed_and_made_anew() {
    let home = tempfile::tempdir().expect("a folder");
    let (root, index) = (home.path().join("docs"), home.path().join("index"));
    make_pages(&root, 5);
    let (digest, ..) = reindex(&root, &index, Extent::Changed);
    let names: Vec<_> = fs::read_dir(&index)
        .expect("an index")
        .map(|entry| entry.expect("an entry").file_name())
        .filter(|name| !name.to_string_lossy().contains("lock") && name != "CACHEDIR.TAG")
        .collect();
    assert!(names.len() >= 6, "{names:?}");
    let harms: [(&str, Harm); 4] = [
        ("removed", |file| fs::remove_file(file).expect("no file")),
        ("emptied", |file| fs::write(file, "").expect("an empty file")),
        ("cut", |file| {
            let bytes = fs::read(file).expect("a file");
            fs::write(file, &bytes[..bytes.len() / 2]).expect("half a file");
        }),
        ("altered", |file| {
            let mut bytes = fs::read(file).expect("a file");
            let middle = bytes.len() / 2;
            bytes[middle] ^= 0x10;
            fs::write(file, bytes).expect("another file");
        }),
    ];
    for name in names {
        for (harm, harmed) in harms {
            let place = home.path().join("harmed");
            let _ = fs::remove_dir_all(&place);
            fs::create_dir(&place).expect("a folder");
            for entry in fs::read_dir(&index).expect("an index") {
                let entry = entry.expect("an entry");
                fs::copy(entry.path(), place.join(entry.file_name())).expect("a copy");
            }
            harmed(&place.join(&name));
            let what = format!("{} {harm}", name.to_string_lossy());
            // Some damage does not matter, such as that of a file that nothing is in; then answers are right.
            match Stored::open(&place) {
                Ok(Some(stored)) => {
                    assert_eq!(
                        stored.into_snapshot().digest().expect("a digest"),
                        digest,
                        "{what}"
                    );
                }
                Ok(None) => assert_eq!(what, "meta.json removed"),
                Err(IndexError::Unusable(_)) => {}
                Err(other) => panic!("{what}: {other}"),
            }
            assert_eq!(reindex(&root, &place, Extent::Changed).0, digest, "{what}");
            assert_eq!(open_snapshot(&place).expect("mended").digest().expect("a digest"), digest);
        }
    }
}

#[test]
fn an_index_of_another_version_is_made_anew() {
    let home = tempfile::tempdir().expect("a folder");
    let (root, index) = (home.path().join("docs"), home.path().join("index"));
    make_pages(&root, 3);
    reindex(&root, &index, Extent::Changed);
    let meta = index.join("meta.json");
    let text = fs::read_to_string(&meta).expect("a commit");
    let other = text.replace(env!("CARGO_PKG_VERSION"), "0.0.9");
    assert_ne!(text, other);
    fs::write(&meta, other).expect("another commit");
    let why = "it was written by another version".to_owned();
    let error = Stored::open(&index).expect_err("not ours");
    assert_eq!(error.reason(), why);
    let (_, changes, found) = reindex(&root, &index, Extent::Changed);
    assert_eq!((changes.added, found), (3, Found::Unusable(why)));
}

#[test]
fn a_writer_keeps_others_out_and_readers_in() {
    let home = tempfile::tempdir().expect("a folder");
    let (root, index) = (home.path().join("docs"), home.path().join("index"));
    make_pages(&root, 3);
    let (digest, ..) = reindex(&root, &index, Extent::Changed);
    assert_eq!(who_writes(&index), Writing::Nobody);
    let store = Store::open(&index, Extent::Full).expect("an index");
    assert_eq!(who_writes(&index), Writing::Process(Some(std::process::id())));
    match Store::open(&index, Extent::Changed) {
        Err(IndexError::Locked { by }) => assert_eq!(by, Some(std::process::id())),
        other => panic!("{other:?}"),
    }
    assert_eq!(open_snapshot(&index).expect("a snapshot").digest().expect("a digest"), digest);
    drop(store);
    assert_eq!(who_writes(&index), Writing::Nobody);
    assert_eq!(
        reindex(&root, &index, Extent::Changed).0,
        digest,
        "an abandoned writer changed nothing"
    );
}

#[test]
fn a_snapshot_outlives_its_files() {
    let home = tempfile::tempdir().expect("a folder");
    let (root, index) = (home.path().join("docs"), home.path().join("index"));
    make_pages(&root, 30);
    reindex(&root, &index, Extent::Changed);
    let stored = Stored::open(&index).expect("an index").expect("a snapshot");
    let mut live = Live::from_stored(&root, &TreeOptions::default(), stored);
    fs::remove_dir_all(&index).expect("no index");
    for round in 0..40 {
        fs::write(root.join("1.md"), format!("# Round {round}\n\nruta\n")).expect("a page");
        fs::remove_file(root.join(format!("{}.md", round % 20 + 5))).ok();
        refresh(&mut live, SystemTime::now());
    }
    assert_eq!(live.snapshot().digest().expect("a digest"), fresh(&root));
}

#[test]
fn a_folder_with_other_things_is_left_alone() {
    let home = tempfile::tempdir().expect("a folder");
    make_pages(home.path(), 2);
    match Store::open(home.path(), Extent::Changed) {
        Err(IndexError::NotAnIndex { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert!(home.path().join("0.md").is_file());
    // In a folder of ours, what others put there stays.
    let index = home.path().join("index");
    Store::open(&index, Extent::Changed).expect("an index");
    fs::write(index.join(".gitignore"), "*\n").expect("a file");
    fs::write(index.join("meta.json"), "{").expect("damage");
    Store::open(&index, Extent::Changed).expect("an index");
    assert!(index.join(".gitignore").is_file());
}
