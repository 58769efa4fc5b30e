#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]
use botmesh_index::search::Query;
use botmesh_index::tree::{DocsTree, TreeOptions};
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let tree = DocsTree::open(std::path::Path::new(&args[1]), &TreeOptions::default()).unwrap();
    let s = botmesh_index::writer::build(&tree, 2).unwrap().1;
    let r = s.search(&Query { text: args[2].clone(), limit: args[3].parse().unwrap(), explain: true, ..Query::default() }).unwrap();
    println!("{:?} total {} lang {:?} without {:?}", r.unmatched, r.total, r.query_lang, r.without);
    for h in r.hits {
        let e = h.explanation.unwrap();
        println!("{:.2} {} # {} [{}] base {:.2} cov {:.2} lang {} head {} phrase {:.2} near {:.2} share {:.2}\n     {}", h.score, h.path, h.heading, h.lines.1 - h.lines.0, e.base, e.coverage, e.language_factor, e.heading_factor, e.phrase_factor, e.near_factor, e.page_share, h.snippet.text);
        for t in e.terms { print!("   {}={}({:.2}x{}x{})", t.term, t.matched, t.idf, t.place_weight, t.variant); }
        println!();
    }
}
