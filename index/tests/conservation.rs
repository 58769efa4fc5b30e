//! No byte of a page is lost, no anchor is given twice, no input stops the splitter.

use std::collections::BTreeSet;
use std::path::Path;

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use botmesh_index::tree::{DocsTree, TreeOptions};
use proptest::prelude::*;

fn check(path: &str, bytes: &[u8]) {
    for dialect in [Dialect::GitHub, Dialect::VitePress] {
        let (page, _) = Page::read(path, bytes, dialect, "en");
        let mut at = 0;
        let mut line = 0;
        let mut anchors = BTreeSet::new();
        for section in &page.sections {
            assert_eq!(section.bytes.start, at, "{path}: sections tile");
            assert!(
                section.start_line > line && section.end_line >= section.start_line,
                "{path}: lines ascend"
            );
            assert!(
                section.level == 0 || anchors.insert(&section.anchor),
                "{path}: {} twice",
                section.anchor
            );
            at = section.bytes.end;
            line = section.end_line;
        }
        assert!(at == page.text.len() || page.text.trim().is_empty(), "{path}: nothing is lost");
    }
}

#[expect(clippy::print_stdout, reason = "a skipped corpus is said")]
#[test]
fn every_page_of_the_corpora_is_kept() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut trees = vec![root.join("docs")];
    let shared =
        std::env::var_os("BOTMESH_SHARED").map_or_else(|| root.join("../shared"), Into::into);
    for corpus in [
        "corpora/vitepress/docs",
        "corpora/kubernetes/docs",
        "eval/corpora/vitepress",
        "eval/corpora/fastapi",
        "eval/corpora/kubernetes",
    ] {
        if shared.join(corpus).is_dir() {
            trees.push(shared.join(corpus));
        } else {
            println!("skipped: {corpus} is not beside the project");
        }
    }
    for tree in trees {
        let open = DocsTree::open(&tree, &TreeOptions::default()).expect("a tree");
        for path in open.scan().paths {
            check(&path, &std::fs::read(tree.join(&path)).expect("a page"));
        }
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        check("x.md", &bytes);
    }

    #[test]
    fn any_markdown(pieces in prop::collection::vec(prop::sample::select(vec![
        "# ", "## ", "\n", "\r\n", "\r", "---", "===", "```", "~~~", "> ", "- ", "    ", "<!--", "-->", "<div>", "|", "{#id}", "{.c}",
        "`", "*", "[a](b)", "![x](y)", "title: t", "\u{feff}", "é", "e\u{301}", "权", "🎉", "::: tip", "\\", "a b", "[^1]: x", "&amp;", "\0",
    ]), 0..60)) {
        check("x.md", pieces.concat().as_bytes());
    }
}
