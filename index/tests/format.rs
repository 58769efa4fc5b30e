//! The format number stands for what an index holds: a change of that must not go unnoticed.

use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::writer;

/// The digest of [`PAGES`] under the present format. When this test fails, the same docs are indexed otherwise than
/// before: raise the number in `RECORD_FIELD` (`src/writer.rs`), then put the new digest here.
const DIGEST: &str = "31653ee151ddb0841a129785a68012ad9e7b360ee1984a0f494bc490f348fd9a";

const PAGES: &[(&str, &str)] = &[
    (
        "en/guide.md",
        "---\ntitle: The guide\nkeywords: [start, begin]\n---\n\nWords before.\n\n# Guide to `appendLog`\n\nCall \
         `bot.describe()` and read `max_retries`, then C++ and --port 8080.\n\n## Resuming a conversation {#resume}\n\n\
         | step | what |\n| --- | --- |\n| one | don't stop |\n\n```rust\nlet configMap = 1;\n```\n",
    ),
    (
        "es/guide.md",
        "# La guía\n\nUna conversación sigue donde quedó; el año y los niños también.\n\n## Tiempos de espera\n\n- vence \
         el plazo\n- 权威事实\n",
    ),
    (
        "plain.md",
        "no heading at all, only a few English words that tell the language of the page\n",
    ),
];

#[test]
fn the_same_docs_are_indexed_as_the_format_number_says() {
    let folder = tempfile::tempdir().expect("a folder");
    for (path, text) in PAGES {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a page");
    }
    let tree = DocsTree::open(folder.path(), &TreeOptions::default()).expect("a tree");
    let (_, snapshot, _) = writer::build(&tree, 2).expect("an index");
    assert_eq!(snapshot.digest().expect("a digest"), DIGEST);
}
