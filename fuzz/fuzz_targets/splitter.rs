//! Any bytes as a page: sections tile it, anchors are given once, indexing and asking for its headings works.
#![no_main]

use std::collections::BTreeSet;

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    for dialect in [Dialect::GitHub, Dialect::VitePress] {
        let (page, _) = Page::read("en/a.md", bytes, dialect, "en");
        let mut end = 0;
        let mut anchors = BTreeSet::new();
        for section in &page.sections {
            assert_eq!(section.bytes.start, end, "sections tile");
            assert!(section.level == 0 || anchors.insert(&section.anchor), "an anchor is given once");
            assert!(page.text.get(section.bytes.clone()).is_some(), "sections end between characters");
            end = section.bytes.end;
        }
        assert!(end == page.text.len() || page.text.trim().is_empty(), "nothing is lost");
    }
});
