//! What the manual says of ranking is what the code does: its constants, and its worked example, in both languages.

use std::path::Path;

use botmesh_index::anchor::Dialect;
use botmesh_index::page::Page;
use botmesh_index::search::Query;
use botmesh_index::writer::Index;

fn page(lang: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../docs/{lang}/guide/ranking.md"));
    std::fs::read_to_string(path).expect("the manual's page on ranking")
}

/// The bodies of the fenced blocks whose info string begins with `info`, with the rest of that string.
fn blocks<'a>(page: &'a str, info: &str) -> Vec<(&'a str, &'a str)> {
    let opened = page.split("```").skip(1).step_by(2).filter_map(|block| block.split_once('\n'));
    opened.filter_map(|(head, body)| Some((head.strip_prefix(info)?.trim(), body))).collect()
}

#[test]
fn the_worked_example_is_computed_anew() {
    for lang in ["en", "es"] {
        let page = page(lang);
        let mut index = Index::in_memory(1).expect("an index");
        for (file, text) in blocks(&page, "markdown worked-example file=") {
            index.put(&Page::read(file, text.as_bytes(), Dialect::GitHub, "en").0).expect("a page");
        }
        let snapshot = index.commit().expect("a snapshot");
        let text = blocks(&page, "text worked-example query")[0].1.trim().to_owned();
        let query = Query { text, limit: 9, explain: true, ..Query::default() };
        let seen: Vec<String> = snapshot.search(&query).expect("an answer").hits.iter().map(|hit| {
            let e = hit.explanation.as_ref().expect("asked for");
            format!(
                "{}#{} {:.4} = 100 × ({:.4} × coverage {:.4} × language {:.4} × heading {:.4} × phrase {:.4} × near {:.4} + page {:.4}) × translation {:.4} / {:.4}",
                hit.path, hit.anchor, hit.score, e.base, e.coverage_factor, e.language_factor, e.heading_factor,
                e.phrase_factor, e.near_factor, e.page_share, e.translation_factor, e.ideal,
            )
        }).collect();
        let squeeze = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
        let wanted: Vec<String> =
            blocks(&page, "text worked-example score")[0].1.lines().map(squeeze).collect();
        assert_eq!(seen, wanted, "docs/{lang}/guide/ranking.md");
    }
}

#[test]
fn the_table_of_constants_is_the_codes() {
    let sources: String =
        ["query", "stand_in", "scorer", "rank", "search", "nearness", "section_terms"]
            .map(|file| {
                let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("src/{file}.rs"));
                std::fs::read_to_string(path).expect("a source")
            })
            .concat();
    for lang in ["en", "es"] {
        let page = page(lang);
        let table = page.split("<!-- test:constants -->").nth(1).expect("the table");
        let rows: Vec<&str> =
            table.trim_start().lines().take_while(|line| line.starts_with('|')).skip(2).collect();
        assert!(rows.len() > 15, "the table is read");
        for row in rows {
            let cells: Vec<&str> =
                row.split('|').map(|cell| cell.trim().trim_matches('`')).collect();
            let found = sources.lines().find(|line| line.contains(&format!("const {}:", cells[1])));
            let value = found
                .and_then(|line| line.split_once(" = "))
                .map(|(_, value)| value.split(';').next());
            assert_eq!(value.flatten(), Some(cells[2]), "docs/{lang}: {row}");
        }
    }
}
