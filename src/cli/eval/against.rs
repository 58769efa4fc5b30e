//! What became of graded queries between two states of the docs: which moved, by how much, and which numbers say why.

use std::fmt::Write as _;

use botmesh_index::error::IndexError;
use botmesh_index::explain::Explanation;
use botmesh_index::search::{Hit, Query};
use botmesh_index::snapshot::Snapshot;
use serde_json::{Value, json};

use crate::quality::{DEPTH, Found, Judged, grade, score};

/// A query that is answered otherwise than before.
pub(super) struct Moved<'q> {
    judged: &'q Judged,
    ndcg: (f64, f64),
    sections: Vec<Section>,
}

/// A section that answers the query, with its ranks (from 1) before and now.
struct Section {
    path: String,
    heading: String,
    grade: u32,
    ranks: (Option<usize>, Option<usize>),
    scores: (Option<f64>, Option<f64>),
    why: Vec<String>,
}

/// The query asked of both states; `None` when its answers stand where they stood.
pub(super) fn compare<'q>(
    before: &Snapshot,
    now: &Snapshot,
    judged: &'q Judged,
) -> Result<Option<Moved<'q>>, IndexError> {
    let query =
        Query { text: judged.query.clone(), limit: DEPTH, explain: true, ..Query::default() };
    let (before, now) = (before.search(&query)?.hits, now.search(&query)?.hits);
    let mut sections: Vec<Section> = Vec::new();
    for hit in now.iter().chain(&before) {
        let is_known = |one: &Section| one.path == hit.path && one.heading == hit.heading;
        let Some(grade) = grade(judged, &found(hit)).filter(|_| !sections.iter().any(is_known))
        else {
            continue;
        };
        let at = |hits: &[Hit]| {
            hits.iter().position(|one| one.path == hit.path && one.heading == hit.heading)
        };
        let (was, is) = (at(&before), at(&now));
        if was == is {
            continue;
        }
        let (old, new) = (was.map(|at| &before[at]), is.map(|at| &now[at]));
        sections.push(Section {
            path: hit.path.clone(),
            heading: hit.heading.clone(),
            grade,
            ranks: (was.map(|at| at + 1), is.map(|at| at + 1)),
            scores: (old.map(|hit| hit.score), new.map(|hit| hit.score)),
            why: old.zip(new).map(|(old, new)| why(old, new)).unwrap_or_default(),
        });
    }
    let ndcg = |hits: &[Hit]| score(judged, &hits.iter().map(found).collect::<Vec<_>>()).ndcg;
    let ndcg = (ndcg(&before), ndcg(&now));
    Ok((!sections.is_empty()).then_some(Moved { judged, ndcg, sections }))
}

fn found(hit: &Hit) -> Found {
    Found { path: hit.path.clone(), heading: hit.heading.clone() }
}

/// The numbers of a score that are others than before.
fn why(before: &Hit, now: &Hit) -> Vec<String> {
    let (Some(before), Some(now)) = (&before.explanation, &now.explanation) else {
        return Vec::new();
    };
    let mut why = Vec::new();
    for term in &now.terms {
        match before.terms.iter().find(|one| one.term == term.term) {
            Some(old) if is_other(old.score, term.score) => {
                why.push(format!(
                    "`{}` {:.4} → {:.4} (in {} → {} sections, idf {:.4} → {:.4})",
                    term.term, old.score, term.score, old.df, term.df, old.idf, term.idf
                ));
            }
            Some(_) => {}
            None => why.push(format!("`{}` found now", term.term)),
        }
    }
    for old in &before.terms {
        if !now.terms.iter().any(|term| term.term == old.term) {
            why.push(format!("`{}` no longer found", old.term));
        }
    }
    let factors = |of: &Explanation| {
        [
            ("coverage", of.coverage_factor),
            ("language", of.language_factor),
            ("heading", of.heading_factor),
            ("phrase", of.phrase_factor),
            ("near", of.near_factor),
            ("page", of.page_share),
            ("translation", of.translation_factor),
            ("ideal", of.ideal),
        ]
    };
    for ((name, old), (_, new)) in factors(before).into_iter().zip(factors(now)) {
        if is_other(old, new) {
            why.push(format!("{name} {old:.4} → {new:.4}"));
        }
    }
    if why.is_empty() {
        why.push("its own numbers are the same: others passed it or fell behind".to_owned());
    }
    why
}

/// Whether two numbers differ in the decimals that are shown.
fn is_other(before: f64, now: f64) -> bool {
    const SHOWN: f64 = 10_000.0;
    (before * SHOWN).round() as i64 != (now * SHOWN).round() as i64
}

/// The moved queries for people.
pub(super) fn as_text(moved: &[Moved<'_>], n_queries: usize) -> String {
    let mut text = format!("\n{} of {n_queries} queries moved\n", moved.len());
    for Moved { judged, ndcg, sections } in moved {
        let _ = writeln!(text, "\n{}  nDCG@10 {:.3} → {:.3}", judged.query, ndcg.0, ndcg.1);
        for Section { path, heading, ranks, scores, why, .. } in sections {
            let rank =
                |rank: Option<usize>| rank.map_or("none".to_owned(), |rank| rank.to_string());
            let score = |score: Option<f64>| score.map_or("none".to_owned(), |s| format!("{s:.1}"));
            let _ = writeln!(
                text,
                "  {heading} ({path}): rank {} → {}, score {} → {}",
                rank(ranks.0),
                rank(ranks.1),
                score(scores.0),
                score(scores.1)
            );
            for line in why {
                let _ = writeln!(text, "    {line}");
            }
        }
    }
    text
}

/// The same for programs.
pub(super) fn as_json(moved: &[Moved<'_>]) -> Value {
    let each = moved.iter().map(|Moved { judged, ndcg, sections }| {
        let sections = sections.iter().map(|section| {
            json!({
                "path": section.path, "heading": section.heading, "grade": section.grade,
                "rank": { "before": section.ranks.0, "now": section.ranks.1 },
                "score": { "before": section.scores.0, "now": section.scores.1 },
                "why": section.why,
            })
        });
        let round = |x: f64| (x * 10_000.0).round() / 10_000.0;
        json!({
            "id": judged.id, "query": judged.query,
            "nDCG@10": { "before": round(ndcg.0), "now": round(ndcg.1) },
            "sections": sections.collect::<Vec<_>>(),
        })
    });
    each.collect()
}
