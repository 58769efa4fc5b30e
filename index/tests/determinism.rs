//! Whatever way a tree was indexed, the same tree gives the same answers, scores included.

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use botmesh_index::search::Query;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::writer::Index;
use proptest::prelude::*;

const WORDS: &[&str] = &[
    "flow",
    "flows",
    "ruta",
    "rutas",
    "appendLog",
    "append_log",
    "config",
    "map",
    "configmap",
    "deploy",
    "deploying",
    "durabilidad",
    "the",
    "la",
    "de",
    "session",
    "sesión",
    "token",
    "--port",
    "C++",
    "año",
    "ano",
    "权威事实",
    "index",
];

fn words() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 1..12).prop_map(|words| words.join(" "))
}

fn page() -> impl Strategy<Value = (String, String)> {
    let path = (prop::sample::select(vec!["en", "es", "x"]), 0..5u8)
        .prop_map(|(dir, n)| format!("{dir}/{n}.md"));
    let sections = prop::collection::vec((1..4usize, words(), words()), 1..4);
    (path, sections).prop_map(|(path, sections)| {
        let text = sections.iter().map(|(level, heading, text)| {
            format!("{} {heading}\n\n{text}.\n\n", "#".repeat(*level))
        });
        (path, text.collect())
    })
}

#[derive(Clone, Debug)]
enum Step {
    Put((String, String)),
    Remove(String),
    Commit,
    Merge,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => page().prop_map(Step::Put),
        2 => page().prop_map(|(path, _)| Step::Remove(path)),
        2 => Just(Step::Commit),
        1 => Just(Step::Merge),
    ]
}

fn read((path, text): &(String, String)) -> Page {
    Page::read(path, text.as_bytes(), Dialect::GitHub, "en").0
}

fn answers(snapshot: &Snapshot, queries: &[String]) -> Vec<String> {
    let ask = |text: &String| {
        let query = Query { text: text.clone(), limit: 25, explain: true, ..Query::default() };
        let mut reply = snapshot.search(&query).expect("an answer");
        reply.generation = 0;
        format!("{reply:?}")
    };
    queries.iter().map(ask).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn any_history_answers_like_a_fresh_index(
        steps in prop::collection::vec(step(), 1..40),
        queries in prop::collection::vec(words(), 200),
        threads in 1..=8usize,
    ) {
        let mut index = Index::in_memory(threads).expect("an index");
        let mut tree = std::collections::BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(page) => {
                    index.put(&read(&page)).expect("a page");
                    tree.insert(page.0, page.1);
                }
                Step::Remove(path) => {
                    index.remove(&path);
                    tree.remove(&path);
                }
                Step::Commit => drop(index.commit().expect("a snapshot")),
                Step::Merge => {
                    index.commit().expect("a snapshot");
                    index.merge().expect("a merge");
                }
            }
        }
        let lived = index.commit().expect("a snapshot");
        let mut fresh = Index::in_memory(1).expect("an index");
        for page in tree.into_iter().rev() {
            fresh.put(&read(&page)).expect("a page");
        }
        let fresh = fresh.commit().expect("a snapshot");
        prop_assert_eq!(answers(&lived, &queries), answers(&fresh, &queries));
    }
}
