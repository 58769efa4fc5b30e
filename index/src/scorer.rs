//! The base score: presence, rarity and place, summed over posting lists. Sums are whole numbers, so that neither the
//! order of lists nor the layout of segments can move one by a rounding.

use std::cell::RefCell;

use tantivy::schema::IndexRecordOption;

use crate::error::IndexError;
use crate::place::{MAX_PLACE_CODE, Place};
use crate::query::Plan;
use crate::snapshot::{SegmentView, Snapshot};
use crate::term_lookup::ListPostings;

/// How much a place counts; ranking.md section 2.
pub(crate) const HEADING_WEIGHT: f64 = 2.0;
pub(crate) const CONTEXT_WEIGHT: f64 = 1.75;
pub(crate) const TRAIL_WEIGHT: f64 = 1.5;
pub(crate) const LEAD_WEIGHT: f64 = 1.3;
pub(crate) const TEXT_WEIGHT: f64 = 1.0;
/// A term that is only part of a name counts a little less than the word itself.
pub(crate) const PART_WEIGHT: f64 = 0.8;
/// Share of the base that depends on how much of the query a section covers.
pub(crate) const COVERAGE_SHARE: f64 = 0.15;
/// A section in the other language than the query's, when that is clear.
pub(crate) const OTHER_LANGUAGE_WEIGHT: f64 = 0.7;

/// Scores are added up in units of this share of 1.
const UNIT: f64 = 65_536.0;

/// What a place counts.
pub(crate) fn place_weight(place: Place) -> f64 {
    match place {
        Place::Text => TEXT_WEIGHT,
        Place::Trail => TRAIL_WEIGHT,
        Place::Lead => LEAD_WEIGHT,
        Place::Context => CONTEXT_WEIGHT,
        Place::Heading => HEADING_WEIGHT,
    }
}

/// A section with its base score.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Candidate {
    pub(crate) ordinal: u32,
    pub(crate) lang: u8,
    /// Sum of the terms' scores times the coverage factor; the language's factor is not in it.
    pub(crate) base: f64,
    /// Share of the query, by idf, that the section holds.
    pub(crate) coverage: f64,
    /// Bit `i` is set when word `i` of the query was found.
    pub(crate) words: u64,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    sum: u32,
    covered: u32,
    /// The best so far of the term that was last seen here.
    best: u32,
    term: u32,
    words: u64,
}

thread_local! {
    /// One slot a document, all empty between queries.
    static SLOTS: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// Scores every section that holds a term of the plan, in no particular order. `pages` tells which pages may be found.
///
/// A term counts once, by the strongest of its lists in that section: `idf · place · variant`.
pub(crate) fn candidates(
    snapshot: &Snapshot,
    plan: &Plan,
    pages: Option<&[bool]>,
) -> Result<Vec<Candidate>, IndexError> {
    let mut found: Vec<Candidate> = Vec::new();
    let full: Vec<f64> = (0..snapshot.langs.len())
        .map(|lang| plan.terms.iter().map(|term| f64::from(worth(term.langs[lang].idf))).sum())
        .collect();
    SLOTS.with_borrow_mut(|slots| -> Result<(), IndexError> {
        for (segment_ord, segment) in snapshot.segments.iter().enumerate() {
            if slots.len() < segment.ordinals.len() {
                slots.resize(segment.ordinals.len(), Slot::default());
            }
            let mut touched: Vec<(u32, u8)> = Vec::new();
            let scored = add_up(segment_ord as u32, segment, plan, slots, &mut touched);
            for (doc, lang) in touched {
                let slot = std::mem::take(&mut slots[doc as usize]);
                let ordinal = segment.ordinals[doc as usize];
                let is_live = ordinal != u32::MAX;
                if is_live && pages.is_none_or(|pages| pages[snapshot.page_of_section(ordinal)]) {
                    let coverage = f64::from(slot.covered) / full[lang as usize];
                    let factor = 1.0 - COVERAGE_SHARE + COVERAGE_SHARE * coverage;
                    let base = f64::from(slot.sum) / UNIT * factor;
                    found.push(Candidate { ordinal, lang, base, coverage, words: slot.words });
                }
            }
            scored?;
        }
        Ok(())
    })?;
    Ok(found)
}

/// Adds the posting lists of one segment up in `slots`; `touched` gets the documents met, with their language.
fn add_up(
    segment_ord: u32,
    segment: &SegmentView,
    plan: &Plan,
    slots: &mut [Slot],
    touched: &mut Vec<(u32, u8)>,
) -> Result<(), IndexError> {
    for (t, term) in (1..).zip(&plan.terms) {
        let word = term.word.map_or(0, |word| 1 << word);
        for (lang, of_lang) in (0..).zip(&term.langs) {
            let covered = worth(of_lang.idf);
            for list in &of_lang.lists {
                let Some((_, postings)) = list.postings.iter().find(|(ord, _)| *ord == segment_ord)
                else {
                    continue;
                };
                let weights = weights(of_lang.idf * list.variant);
                let mut add = |doc: u32, code: u32| {
                    let slot = &mut slots[doc as usize];
                    if slot.term == 0 {
                        touched.push((doc, lang));
                    }
                    if slot.term != t {
                        slot.term = t;
                        slot.best = 0;
                        slot.covered += covered;
                        slot.words |= word;
                    }
                    let weight = weights[(code as usize).min(MAX_PLACE_CODE)];
                    if weight > slot.best {
                        slot.sum += weight - slot.best;
                        slot.best = weight;
                    }
                };
                match postings {
                    ListPostings::Made(made) => made.iter().for_each(|&(doc, code)| add(doc, code)),
                    ListPostings::Stored(info) => {
                        let mut blocks = segment
                            .terms
                            .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
                            .map_err(tantivy::TantivyError::from)?;
                        while blocks.block_len() > 0 {
                            for (&doc, &code) in blocks.docs().iter().zip(blocks.freqs()) {
                                add(doc, code);
                            }
                            blocks.advance();
                        }
                    }
                }
            }
        }
    }
    Ok(())
}

/// The best `depth` candidates by base and language, best first; ties in order of path and position.
pub(crate) fn best(candidates: &[Candidate], lang_weights: &[f64], depth: usize) -> Vec<Candidate> {
    let weighted = |c: &Candidate| c.base * lang_weights[c.lang as usize];
    let order = |a: &Candidate, b: &Candidate| {
        weighted(b).total_cmp(&weighted(a)).then(a.ordinal.cmp(&b.ordinal))
    };
    let mut best: Vec<Candidate> =
        candidates.iter().filter(|c| lang_weights[c.lang as usize] > 0.0).copied().collect();
    if best.len() > depth {
        best.select_nth_unstable_by(depth, order);
        best.truncate(depth);
    }
    best.sort_unstable_by(order);
    best
}

/// An idf as whole units.
fn worth(idf: f64) -> u32 {
    (idf * UNIT).round() as u32
}

fn weights(worth_of_list: f64) -> [u32; MAX_PLACE_CODE + 1] {
    std::array::from_fn(|code| {
        let Some((place, is_part)) = Place::of_code(code as u32) else { return 0 };
        worth(worth_of_list * place_weight(place) * if is_part { PART_WEIGHT } else { 1.0 })
    })
}
