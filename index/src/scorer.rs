//! The base score: presence, rarity and place, summed over posting lists. Sums are whole numbers, so that neither the
//! order of lists nor the layout of segments can move one by a rounding.

use std::cell::RefCell;

use tantivy::schema::IndexRecordOption;

use crate::error::IndexError;
use crate::query::Plan;
use crate::snapshot::Snapshot;
use crate::writer::{MAX_PLACE_CODE, Place};

/// How much a place counts; ranking.md section 2.
pub(crate) const HEADING_WEIGHT: f64 = 2.0;
pub(crate) const CONTEXT_WEIGHT: f64 = 1.5;
pub(crate) const LEAD_WEIGHT: f64 = 1.5;
pub(crate) const TEXT_WEIGHT: f64 = 1.0;
/// A term that is only part of a name counts a little less than the word itself.
pub(crate) const PART_WEIGHT: f64 = 0.8;
/// Share of the base that depends on how much of the query a section covers.
pub(crate) const COVERAGE_SHARE: f64 = 0.3;
/// A section in the other language than the query's, when that is clear.
pub(crate) const OTHER_LANGUAGE_WEIGHT: f64 = 0.7;
/// So many sections, the best by base score, are ranked by nearness too.
pub const RANKED_DEPTH: usize = 200;

/// Scores are added up in units of this share of 1.
const UNIT: f64 = 65_536.0;

/// What a place counts.
pub(crate) fn place_weight(place: Place) -> f64 {
    match place {
        Place::Text => TEXT_WEIGHT,
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
    /// Sum and coverage, language factor not applied.
    pub(crate) base: f64,
    pub(crate) coverage: f64,
}

/// The best sections by base score, at most [`RANKED_DEPTH`], and how many more hold a term.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) best: Vec<Candidate>,
    pub(crate) total: usize,
}

/// Which sections may be found.
pub(crate) struct Filter<'a> {
    /// Pages (by index) that may be found; `None`: all.
    pub(crate) pages: Option<&'a [bool]>,
    /// Factor for each language.
    pub(crate) lang_weights: &'a [f64],
}

#[derive(Clone, Copy, Default)]
struct Slot {
    sum: u32,
    covered: u32,
    /// The best so far of the term that was last seen here.
    best: u32,
    term: u32,
}

thread_local! {
    static SLOTS: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// Scores every section that holds a term of the plan.
///
/// A term counts once, by the strongest of its lists in that section: `idf · place · variant`.
pub(crate) fn candidates(
    snapshot: &Snapshot,
    plan: &Plan,
    filter: &Filter<'_>,
) -> Result<Candidates, IndexError> {
    let mut found: Vec<Candidate> = Vec::new();
    let full: Vec<f64> = (0..snapshot.langs.len())
        .map(|lang| plan.terms.iter().map(|term| worth(term.langs[lang].idf * term.weight)).sum::<u32>().into())
        .collect();
    let mut total = 0;
    SLOTS.with_borrow_mut(|slots| -> Result<(), IndexError> {
        for (segment_ord, segment) in snapshot.segments.iter().enumerate() {
            let n = segment.ordinals.len();
            if slots.len() < n {
                slots.resize(n, Slot::default());
            }
            let mut touched: Vec<(u32, u8)> = Vec::new();
            for (t, term) in plan.terms.iter().enumerate() {
                for (lang, of_lang) in term.langs.iter().enumerate() {
                    for list in &of_lang.lists {
                        let Some((_, info)) =
                            list.infos.iter().find(|(ord, _)| *ord as usize == segment_ord)
                        else {
                            continue;
                        };
                        let weights = weights(list.idf * list.variant * term.weight);
                        let covered = worth(of_lang.idf * term.weight);
                        let mut postings = segment
                            .terms
                            .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
                            .map_err(tantivy::TantivyError::from)?;
                        while postings.block_len() > 0 {
                            for (&doc, &code) in postings.docs().iter().zip(postings.freqs()) {
                                let slot = &mut slots[doc as usize];
                                let weight = weights[(code as usize).min(MAX_PLACE_CODE)];
                                if slot.sum == 0 {
                                    touched.push((doc, lang as u8));
                                }
                                if slot.term != t as u32 + 1 {
                                    slot.term = t as u32 + 1;
                                    slot.best = 0;
                                    slot.covered += covered;
                                }
                                if weight > slot.best {
                                    slot.sum += weight - slot.best;
                                    slot.best = weight;
                                }
                            }
                            postings.advance();
                        }
                    }
                }
            }
            for (doc, lang) in touched {
                let slot = std::mem::take(&mut slots[doc as usize]);
                let ordinal = segment.ordinals[doc as usize];
                if ordinal == u32::MAX {
                    continue;
                }
                if let Some(pages) = filter.pages
                    && !pages[snapshot.page_of_section(ordinal)]
                {
                    continue;
                }
                total += 1;
                let coverage = f64::from(slot.covered) / full[lang as usize];
                let base = f64::from(slot.sum) / UNIT * (1.0 - COVERAGE_SHARE + COVERAGE_SHARE * coverage);
                found.push(Candidate { ordinal, lang, base, coverage });
            }
        }
        Ok(())
    })?;
    let order = |a: &Candidate, b: &Candidate| {
        let weighted = |c: &Candidate| c.base * filter.lang_weights[c.lang as usize];
        weighted(b).total_cmp(&weighted(a)).then(a.ordinal.cmp(&b.ordinal))
    };
    if found.len() > RANKED_DEPTH {
        found.select_nth_unstable_by(RANKED_DEPTH, order);
        found.truncate(RANKED_DEPTH);
    }
    found.sort_unstable_by(order);
    Ok(Candidates { best: found, total })
}

/// An idf as whole units; at least 1, so that a touched slot is never empty.
fn worth(idf: f64) -> u32 {
    ((idf * UNIT).round() as u32).max(1)
}

fn weights(worth_of_list: f64) -> [u32; MAX_PLACE_CODE + 1] {
    std::array::from_fn(|code| {
        if code == 0 {
            return 0;
        }
        let (place, is_part) = Place::of_code(code as u32);
        worth(worth_of_list * place_weight(place) * if is_part { PART_WEIGHT } else { 1.0 })
    })
}
