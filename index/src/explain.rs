//! How a hit's score came about, in numbers that multiply to it.

use tantivy::DocSet;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::IndexRecordOption;

use crate::place::Place;
use crate::query::Plan;
use crate::rank::Ranked;
use crate::scorer::{COVERAGE_SHARE, PART_WEIGHT, place_weight};
use crate::snapshot::{SegmentView, Snapshot};
use crate::term_lookup::ListPostings;

/// `score = 100 · (base · coverage_factor · language_factor · heading_factor · phrase_factor · near_factor + page_share)
/// · translation_factor / ideal`.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The terms found in the section.
    pub terms: Vec<TermExplanation>,
    /// Sum of the terms' scores.
    pub base: f64,
    /// Share of the query, by idf, that the section holds.
    pub coverage: f64,
    /// `1 − c + c · coverage`.
    pub coverage_factor: f64,
    /// Below 1 for a section in another language than the query's.
    pub language_factor: f64,
    /// Above 1 when the heading holds some of the query, more when it holds all, most when it says just that.
    pub heading_factor: f64,
    /// Above 1 when neighbours of the query are neighbours here, most for the exact phrase.
    pub phrase_factor: f64,
    /// Above 1 when several terms stand within a dozen words.
    pub near_factor: f64,
    /// Added for the best sections of the page.
    pub page_share: f64,
    /// Below 1 when the section's translation stands above it.
    pub translation_factor: f64,
    /// What a section with every term in its heading and every bonus would have.
    pub ideal: f64,
}

/// What one term of the query brought.
#[derive(Clone, Debug, PartialEq)]
pub struct TermExplanation {
    /// The query's term.
    pub term: String,
    /// The word, or the stem of the word, found for it.
    pub matched: String,
    /// Sections of the language that hold the term, or its first known form.
    pub df: u32,
    /// Its rarity.
    pub idf: f64,
    /// Where it stands.
    pub place: Place,
    /// What the place counts, less for a part of a name.
    pub place_weight: f64,
    /// 1 for the word itself, less for a variant or a part of a name.
    pub variant: f64,
    /// `idf · place_weight · variant`.
    pub score: f64,
}

pub(crate) fn explain(
    snapshot: &Snapshot,
    plan: &Plan,
    ranked: &Ranked,
    ideal: f64,
) -> Explanation {
    let address = snapshot.sections[ranked.candidate.ordinal as usize];
    let segment = &snapshot.segments[address.segment_ord as usize];
    let mut terms = Vec::new();
    for term in &plan.terms {
        let mut best: Option<TermExplanation> = None;
        let of_lang = &term.langs[ranked.candidate.lang as usize];
        for list in &of_lang.lists {
            let postings = list.postings.iter().find(|(ord, _)| *ord == address.segment_ord);
            let code = match postings {
                None => None,
                Some((_, ListPostings::Made(made))) => made
                    .binary_search_by_key(&address.doc_id, |(doc, _)| *doc)
                    .ok()
                    .map(|at| made[at].1),
                Some((_, ListPostings::Stored(info))) => stored_code(segment, info, address.doc_id),
            };
            let Some((place, is_part)) = code.and_then(Place::of_code) else { continue };
            let place_weight = place_weight(place) * if is_part { PART_WEIGHT } else { 1.0 };
            let variant = list.variant;
            let score = of_lang.idf * place_weight * variant;
            if best.as_ref().is_none_or(|best| score > best.score) {
                let matched = if list.is_stem {
                    format!("{}…", list.matched)
                } else {
                    list.matched.clone()
                };
                best = Some(TermExplanation {
                    term: term.text.clone(),
                    matched,
                    df: of_lang.df,
                    idf: of_lang.idf,
                    place,
                    place_weight,
                    variant,
                    score,
                });
            }
        }
        terms.extend(best);
    }
    let coverage = ranked.candidate.coverage;
    Explanation {
        base: terms.iter().map(|term| term.score).sum(),
        terms,
        coverage,
        coverage_factor: 1.0 - COVERAGE_SHARE + COVERAGE_SHARE * coverage,
        language_factor: ranked.lang_weight,
        heading_factor: ranked.nearness.heading_factor(),
        phrase_factor: ranked.nearness.phrase_factor(),
        near_factor: ranked.nearness.near_factor(),
        page_share: ranked.page_share,
        translation_factor: ranked.translation_weight,
        ideal,
    }
}

fn stored_code(segment: &SegmentView, info: &TermInfo, doc: u32) -> Option<u32> {
    let mut postings =
        segment.terms.read_postings_from_terminfo(info, IndexRecordOption::WithFreqs).ok()?;
    (postings.doc() <= doc && postings.seek(doc) == doc).then(|| postings.term_freq())
}
