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
/// Grows with the square of the share of the query that stands in the heading: half of a query there says little.
pub(crate) const HEADING_SHARE_BONUS: f64 = 0.5;
/// The whole query stands in the heading.
pub(crate) const IN_HEADING_BONUS: f64 = 0.1;

/// So many sections, the best by base score, language and heading, are ranked by nearness too: with three times as many
/// the evaluation set scores 0.002 higher, and a query costs twice as much.
const RANKED_DEPTH: usize = 32;
/// And so many of the other languages when the query's is clear, for the few that may be named.
const OTHER_LANGUAGE_DEPTH: usize = 4;

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

/// All sections that hold a term of the plan: how many, and the best of them.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    pub(crate) total: usize,
    /// Whether one of them holds all words.
    pub(crate) has_all: bool,
    /// For each word of the query, how many hold all the others but not it.
    pub(crate) without: Vec<usize>,
    /// The best by base, language and heading, best first; ties in order of path and position.
    pub(crate) best: Vec<Candidate>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    sum: u32,
    covered: u32,
    /// The best so far of the term that was last seen here.
    best: u32,
    term: u32,
    words: u64,
    /// The words found in the heading.
    heading: u64,
}

thread_local! {
    /// One slot a document, all empty between queries.
    static SLOTS: RefCell<Vec<Slot>> = const { RefCell::new(Vec::new()) };
}

/// Scores every section that holds a term of the plan. `pages` tells which pages may be found, `lang_weights` how much
/// each language counts.
///
/// A term counts once, by the strongest of its lists in that section: `idf · place · variant`.
pub(crate) fn candidates(
    snapshot: &Snapshot,
    plan: &Plan,
    pages: Option<&[bool]>,
    lang_weights: &[f64],
) -> Result<Candidates, IndexError> {
    let words = plan.terms.iter().filter_map(|term| term.word);
    let all: u64 = words.clone().fold(0, |all, word| all | 1 << word);
    let mut found = Candidates { without: vec![0; plan.words.len()], ..Candidates::default() };
    // What a section is worth by its heading, by how many of the words stand there.
    let n_words = words.count();
    let headings: Vec<f64> =
        (0..=n_words).map(|n| heading_factor(n as f64 / n_words.max(1) as f64)).collect();
    let full: Vec<f64> = (0..snapshot.langs.len())
        .map(|lang| plan.terms.iter().map(|term| f64::from(worth(term.langs[lang].idf))).sum())
        .collect();
    let is_other = |lang: u8| lang_weights[lang as usize] < 1.0;
    let mut best = Best::new(RANKED_DEPTH);
    let mut best_other = Best::new(OTHER_LANGUAGE_DEPTH);
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
                if !is_live || pages.is_some_and(|pages| !pages[snapshot.page_of_section(ordinal)])
                {
                    continue;
                }
                found.total += 1;
                let missing = all & !slot.words;
                found.has_all |= missing == 0;
                if missing.is_power_of_two() {
                    found.without[missing.trailing_zeros() as usize] += 1;
                }
                let coverage = f64::from(slot.covered) / full[lang as usize];
                let factor = 1.0 - COVERAGE_SHARE + COVERAGE_SHARE * coverage;
                let base = f64::from(slot.sum) / UNIT * factor;
                let candidate = Candidate { ordinal, lang, base, coverage, words: slot.words };
                let worth = base * headings[slot.heading.count_ones() as usize];
                best.add(worth * lang_weights[lang as usize], candidate);
                if is_other(lang) {
                    best_other.add(worth, candidate);
                }
            }
            scored?;
        }
        Ok(())
    })?;
    found.best = best.into_sorted();
    for candidate in best_other.into_sorted() {
        if !found.best.iter().any(|known| known.ordinal == candidate.ordinal) {
            found.best.push(candidate);
        }
    }
    Ok(found)
}

/// The best few of many, in one pass.
struct Best {
    depth: usize,
    /// Up to twice as many as asked for; those below `least` cannot be among the best any more.
    kept: Vec<(f64, Candidate)>,
    least: f64,
}

impl Best {
    fn new(depth: usize) -> Self {
        Self { depth, kept: Vec::with_capacity(2 * depth), least: f64::NEG_INFINITY }
    }

    fn add(&mut self, worth: f64, candidate: Candidate) {
        if worth < self.least {
            return;
        }
        if self.kept.len() == 2 * self.depth {
            self.kept.select_nth_unstable_by(self.depth - 1, best_first);
            self.kept.truncate(self.depth);
            self.least = self.kept[self.depth - 1].0;
        }
        self.kept.push((worth, candidate));
    }

    fn into_sorted(mut self) -> Vec<Candidate> {
        self.kept.sort_unstable_by(best_first);
        self.kept.truncate(self.depth);
        self.kept.into_iter().map(|(_, candidate)| candidate).collect()
    }
}

fn best_first(a: &(f64, Candidate), b: &(f64, Candidate)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.ordinal.cmp(&b.1.ordinal))
}

/// What the share of the query that stands in a heading multiplies its section by.
pub(crate) fn heading_factor(share: f64) -> f64 {
    let whole = if share >= 1.0 { IN_HEADING_BONUS } else { 0.0 };
    1.0 + HEADING_SHARE_BONUS * share * share + whole
}

/// Adds the posting lists of one segment up in `slots`; `touched` gets the documents met, with their language.
fn add_up(
    segment_ord: u32,
    segment: &SegmentView,
    plan: &Plan,
    slots: &mut [Slot],
    touched: &mut Vec<(u32, u8)>,
) -> Result<(), IndexError> {
    let heading = u32::from(Place::code_of_strength(Place::Heading.strength(false)));
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
                    slot.heading |= if code == heading { word } else { 0 };
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
