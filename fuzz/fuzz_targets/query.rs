//! Any page and any query, split by the first byte of 0: no panic, the same answer twice, and from one segment as from
//! two; a snippet comes from its section.
#![no_main]

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use botmesh_index::search::Query;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::writer::Index;
use libfuzzer_sys::fuzz_target;

fn answer(snapshot: &Snapshot, text: &str) -> String {
    let query = Query { text: text.to_owned(), limit: 25, explain: true, ..Query::default() };
    let reply = snapshot.search(&query).expect("every text is a query");
    for hit in &reply.hits {
        assert!(hit.lines.0 <= hit.snippet.lines.0 && hit.snippet.lines.1 <= hit.lines.1, "{hit:?}");
        assert!((0.0..=100.0).contains(&hit.score), "{hit:?}");
    }
    format!("{:?} {:?} {} {:?}", reply.hits, reply.unmatched, reply.total, reply.other_language)
}

fuzz_target!(|bytes: &[u8]| {
    let mut parts = bytes.splitn(2, |byte| *byte == 0);
    let (page, query) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let query = String::from_utf8_lossy(query);
    let mut index = Index::in_memory(1).expect("an index");
    let pages = ["en/a.md", "es/a.md", "en/b.md"]
        .map(|path| Page::read(path, page, Dialect::GitHub, "en").0);
    for page in &pages {
        index.put(page).expect("a page");
    }
    let once = answer(&index.commit().expect("a snapshot"), &query);
    index.put(&pages[1]).expect("a page");
    let snapshot = index.commit().expect("a snapshot");
    assert_eq!(once, answer(&snapshot, &query));
    assert_eq!(once, answer(&snapshot, &query));
});
