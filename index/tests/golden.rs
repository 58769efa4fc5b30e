//! The eight things about ranking that are fixed, each on a tree small enough to see why.

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use botmesh_index::search::{Query, SearchReply};
use botmesh_index::snapshot::Snapshot;
use botmesh_index::writer::Index;

fn snapshot(pages: &[(&str, &str)]) -> Snapshot {
    let mut index = Index::in_memory(1).expect("an index");
    for (path, text) in pages {
        index.put(&Page::read(path, text.as_bytes(), Dialect::GitHub, "en").0).expect("a page");
    }
    index.commit().expect("a snapshot")
}

fn search(snapshot: &Snapshot, text: &str) -> SearchReply {
    snapshot.search(&Query { text: text.into(), limit: 25, ..Query::default() }).expect("an answer")
}

/// Checks the order of the paths found.
fn check(pages: &[(&str, &str)], query: &str, expected: &[&str]) {
    let reply = search(&snapshot(pages), query);
    let found: Vec<&str> = reply.hits.iter().map(|hit| hit.path.as_str()).collect();
    assert_eq!(found, expected, "{query:?}");
}

#[test]
fn one_accents_and_case_never_decide() {
    let pages = [
        ("a.md", "# Reanudación\n\nuno\n"),
        ("b.md", "# reanudacio\u{301}n\n\nuno\n"),
        ("c.md", "# Otra\n"),
    ];
    for query in ["reanudacion", "REANUDACIÓN", "reanudacio\u{301}n"] {
        check(&pages, query, &["a.md", "b.md"]);
    }
}

#[test]
fn two_a_rare_name_outranks_a_word_on_every_page() {
    let mut pages = vec![("z.md".to_owned(), "# Registro\n\nusa appendLog aquí\n".to_owned())];
    pages.extend(
        (0..9).map(|i| (format!("p{i}.md"), "# Tema\n\nla durabilidad importa\n".to_owned())),
    );
    let pages: Vec<(&str, &str)> = pages.iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
    let reply = search(&snapshot(&pages), "durabilidad appendLog");
    assert_eq!(reply.hits[0].path, "z.md");
    assert_eq!(reply.total, 10);
}

#[test]
fn three_saying_it_fifty_times_is_saying_it_once() {
    let fifty = format!("# A\n\n{}\n", "cursor ".repeat(50));
    let pages = [
        ("en/a.md", fifty.as_str()),
        ("en/b.md", "# A\n\ncursor\n"),
        ("en/c.md", "# C\n\nother\n"),
    ];
    let reply = search(&snapshot(&pages), "cursor");
    assert_eq!(reply.hits.len(), 2);
    assert!((reply.hits[0].score - reply.hits[1].score).abs() < f64::EPSILON);
}

#[test]
fn four_a_heading_weighs_double() {
    let filler = "word ".repeat(60);
    let (heading, text) =
        (format!("# T\n\n## cursor\n\n{filler}\n"), format!("# T\n\n## Z\n\n{filler} cursor\n"));
    let snapshot = snapshot(&[("a.md", &heading), ("b.md", &text)]);
    let query = Query { text: "cursor".into(), limit: 5, explain: true, ..Query::default() };
    let hits = snapshot.search(&query).expect("an answer").hits;
    let base = |path: &str| {
        let hit = hits.iter().find(|hit| hit.path == path).expect("a hit");
        hit.explanation.as_ref().expect("asked for").base
    };
    assert!((base("a.md") / base("b.md") - 2.0).abs() < 1e-9);
}

#[test]
fn five_all_terms_beat_some() {
    let filler = "word ".repeat(40);
    let both = format!("# A\n\n{filler} queue {filler} timeout\n");
    check(
        &[
            ("en/a.md", "# B\n\nqueue alone\n"),
            ("en/b.md", &both),
            ("en/c.md", "# C\n\ntimeout alone\n"),
        ],
        "queue timeout",
        &["en/b.md", "en/a.md", "en/c.md"],
    );
}

#[test]
fn six_the_exact_phrase_beats_its_words_but_never_across_sections() {
    let pages = [
        ("a.md", "# A\n\nmanual. Then write the saved state of it\n"),
        ("b.md", "# B\n\nThen write the saved,\nstate manual of it\n"),
        ("c.md", "# C saved\n\n## State\n\nmanual write\n"),
    ];
    let reply = search(&snapshot(&pages), "saved state manual");
    assert_eq!(reply.hits[0].path, "b.md", "punctuation and a line end stand between the words");
    let query = Query { text: "saved state".into(), limit: 9, explain: true, ..Query::default() };
    let hits = snapshot(&pages).search(&query).expect("an answer").hits;
    for hit in hits.iter().filter(|hit| hit.path == "c.md") {
        assert!(
            hit.explanation.as_ref().expect("asked for").phrase_factor < 1.001,
            "{}",
            hit.heading
        );
    }
}

#[test]
fn seven_one_query_reaches_both_languages() {
    let pages = [
        ("en/a.md", "# Saving\n\nThe function appendLog writes a line of the log for you.\n"),
        ("es/a.md", "# Guardar\n\nLa función appendLog escribe una línea del registro por ti.\n"),
    ];
    let reply = search(&snapshot(&pages), "appendLog");
    let mut paths: Vec<&str> = reply.hits.iter().map(|hit| hit.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["en/a.md", "es/a.md"]);
    assert_eq!(reply.hits[0].translations, ["es/a.md"]);
}

#[test]
fn eight_the_same_tree_gives_the_same_answer() {
    let pages = [
        ("b.md", "# Same\n\nequal text\n"),
        ("a.md", "# Same\n\nequal text\n"),
        ("c.md", "# Same\n\nequal text\n"),
    ];
    let mut turned = pages;
    turned.reverse();
    let expected = format!("{:?}", search(&snapshot(&pages), "equal same"));
    assert_eq!(format!("{:?}", search(&snapshot(&turned), "equal same")), expected);
    check(&pages, "equal same", &["a.md", "b.md", "c.md"]);
}

#[test]
fn explained_numbers_multiply_to_the_score() {
    let pages = [
        (
            "en/a.md",
            "# Deploy a server\n\nDeploying needs a config map and the `appendLog` call.\n\n## Notes\n\nservers\n",
        ),
        ("es/a.md", "# Desplegar un servidor\n\nEl config map y appendLog.\n"),
        ("en/b.md", "# Other\n\nconfigmap server deploy\n"),
    ];
    let snapshot = snapshot(&pages);
    for text in ["deploy server", "config map", "appendLog", "the server of a config map"] {
        let query = Query { text: text.into(), limit: 9, explain: true, ..Query::default() };
        for hit in snapshot.search(&query).expect("an answer").hits {
            let e = hit.explanation.expect("asked for");
            let own = e.base
                * e.coverage_factor
                * e.language_factor
                * e.heading_factor
                * e.phrase_factor
                * e.near_factor;
            let score = 100.0 * (own + e.page_share) * e.translation_factor / e.ideal;
            assert!((score - hit.score).abs() < 2e-3, "{text}: {score} is shown as {}", hit.score);
        }
    }
}
