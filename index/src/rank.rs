//! From base scores to the order that users see: nearness, language, page, translations, ties.

use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use crate::error::IndexError;
use crate::nearness::{Matcher, Nearness};
use crate::query::Plan;
use crate::record::SectionRecord;
use crate::scorer::{Candidate, HEADING_WEIGHT};
use crate::snapshot::Snapshot;
use crate::terms::cut;

/// Grows with the square of the share of the query that stands in the heading: half of a query there says little.
pub(crate) const HEADING_SHARE_BONUS: f64 = 0.5;
/// The whole query stands in the heading.
pub(crate) const IN_HEADING_BONUS: f64 = 0.1;
/// The heading says just the query.
pub(crate) const IS_HEADING_BONUS: f64 = 0.5;
/// All neighbours of the query are neighbours in the section: the exact phrase.
pub(crate) const PHRASE_BONUS: f64 = 0.4;
/// All terms stand within a dozen words.
pub(crate) const NEAR_BONUS: f64 = 0.8;
/// Share of the page's best sections that each of its sections gets.
pub(crate) const PAGE_SHARE: f64 = 0.15;
/// So many sections of a page speak for it. Those with equal headings and scores are one: saying it twice is no evidence.
pub(crate) const PAGE_BEST: usize = 3;
/// A section whose translation stands above it: it says nothing new, so others come first.
pub(crate) const TRANSLATED_WEIGHT: f64 = 0.5;
/// Scores are shown, and compared, in units of 0.0001.
pub(crate) const SCORE_UNIT: f64 = 10_000.0;

/// A candidate with all its factors.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    pub(crate) page: usize,
    pub(crate) record: Arc<SectionRecord>,
    pub(crate) nearness: Nearness,
    pub(crate) lang_weight: f64,
    /// Base times language, heading, phrase and nearness.
    pub(crate) own: f64,
    pub(crate) page_share: f64,
    /// 1, or [`TRANSLATED_WEIGHT`].
    pub(crate) translation_weight: f64,
    /// In units of 1 / [`SCORE_UNIT`].
    pub(crate) score: u64,
}

impl Nearness {
    pub(crate) fn heading_factor(self) -> f64 {
        1.0 + HEADING_SHARE_BONUS * self.heading_share * self.heading_share
            + if self.heading_share >= 1.0 { IN_HEADING_BONUS } else { 0.0 }
            + if self.is_heading { IS_HEADING_BONUS } else { 0.0 }
    }

    pub(crate) fn phrase_factor(self) -> f64 {
        1.0 + PHRASE_BONUS * self.pairs
    }

    pub(crate) fn near_factor(self) -> f64 {
        1.0 + NEAR_BONUS * self.near
    }
}

/// The best score a section could have: every term in its heading, every bonus.
pub(crate) fn ideal(plan: &Plan) -> f64 {
    let best_idf =
        |term: &crate::query::QueryTerm| term.langs.iter().map(|lang| lang.idf).fold(0.0, f64::max);
    let terms: f64 = plan.terms.iter().map(|term| best_idf(term) * term.weight).sum();
    let heading = 1.0 + HEADING_SHARE_BONUS + IN_HEADING_BONUS + IS_HEADING_BONUS;
    let several = plan.words.len() > 1;
    let bonuses = if several { (1.0 + PHRASE_BONUS) * (1.0 + NEAR_BONUS) } else { 1.0 };
    terms * HEADING_WEIGHT * heading * bonuses * (1.0 + PAGE_SHARE * PAGE_BEST as f64)
}

/// Orders candidates, exactly for the first `limit`: by score as shown, exact spelling, fewer heading words, path, position.
pub(crate) fn rank(
    snapshot: &Snapshot,
    plan: &Plan,
    matcher: &mut Matcher,
    candidates: &[Candidate],
    lang_weights: &[f64],
    ideal: f64,
    limit: usize,
) -> Result<Vec<Ranked>, IndexError> {
    let mut ranked = Vec::with_capacity(candidates.len());
    for &candidate in candidates {
        let record = snapshot.section(candidate.ordinal)?;
        let lang_weight = lang_weights[candidate.lang as usize];
        let nearness = matcher.nearness(&record, candidate.lang as usize);
        let own = candidate.base
            * lang_weight
            * nearness.heading_factor()
            * nearness.phrase_factor()
            * nearness.near_factor();
        ranked.push(Ranked {
            candidate,
            page: snapshot.page_of_section(candidate.ordinal),
            record,
            nearness,
            lang_weight,
            own,
            page_share: 0.0,
            translation_weight: 1.0,
            score: 0,
        });
    }
    share_pages(&mut ranked);
    for section in &mut ranked {
        section.set_score(ideal);
    }
    ranked.sort_unstable_by_key(|section| {
        (std::cmp::Reverse(section.score), section.candidate.ordinal)
    });
    if lower_translations(snapshot, &mut ranked, ideal) {
        ranked.sort_unstable_by_key(|section| {
            (std::cmp::Reverse(section.score), section.candidate.ordinal)
        });
    }
    order_ties(plan, &mut ranked, limit);
    Ok(ranked)
}

impl Ranked {
    fn set_score(&mut self, ideal: f64) {
        let score = (self.own + self.page_share) * self.translation_weight;
        self.score = (100.0 * score / ideal * SCORE_UNIT).round() as u64;
    }
}

/// Gives each section its share of the page's best ones.
fn share_pages(ranked: &mut [Ranked]) {
    let mut order: Vec<usize> = (0..ranked.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        let (a, b) = (&ranked[a], &ranked[b]);
        a.page
            .cmp(&b.page)
            .then(b.own.total_cmp(&a.own))
            .then(a.candidate.ordinal.cmp(&b.candidate.ordinal))
    });
    let mut shares = vec![0.0; ranked.len()];
    for page in order.chunk_by(|&a, &b| ranked[a].page == ranked[b].page) {
        let mut best: Vec<&Ranked> = Vec::new();
        for section in page.iter().map(|&i| &ranked[i]) {
            let repeats = |other: &&Ranked| {
                other.own.total_cmp(&section.own).is_eq()
                    && other.record.heading == section.record.heading
            };
            if best.len() < PAGE_BEST && !best.iter().any(repeats) {
                best.push(section);
            }
        }
        let share = PAGE_SHARE * best.iter().map(|section| section.own).sum::<f64>();
        for &i in page {
            shares[i] = share;
        }
    }
    for (section, share) in ranked.iter_mut().zip(shares) {
        section.page_share = share;
    }
}

/// Lowers sections whose translation stands above them. Whether any was.
fn lower_translations(snapshot: &Snapshot, ranked: &mut [Ranked], ideal: f64) -> bool {
    let mut listed: Vec<(u32, u32, u8)> = Vec::new(); // translation group, place in the page, language
    let mut lowered = false;
    for section in ranked.iter_mut() {
        let page = &snapshot.pages[section.page];
        if page.n_twins == 0 {
            continue;
        }
        let place = section.candidate.ordinal - page.first_section;
        let is_twin = |other: &(u32, u32, u8)| {
            other.0 == page.group && other.1 == place && other.2 != page.lang
        };
        if listed.iter().any(is_twin) {
            section.translation_weight = TRANSLATED_WEIGHT;
            section.set_score(ideal);
            lowered = true;
        } else {
            listed.push((page.group, place, page.lang));
        }
    }
    lowered
}

/// Orders sections of equal score; ordinals are in order of path and position already. Spelling is read only for ties
/// that are shown: it costs a pass over the text.
fn order_ties(plan: &Plan, ranked: &mut [Ranked], limit: usize) {
    let mut start = 0;
    for tied in ranked.chunk_by_mut(|a, b| a.score == b.score) {
        if start >= limit {
            break;
        }
        start += tied.len();
        if tied.len() > 1 {
            tied.sort_by_cached_key(|section| {
                let spelled = exact_spellings(plan, &section.record);
                (
                    std::cmp::Reverse(spelled),
                    section.record.n_heading_words,
                    section.candidate.ordinal,
                )
            });
        }
    }
}

/// How many of the query's words stand in the section spelled as they were asked for, accents included.
fn exact_spellings(plan: &Plan, record: &SectionRecord) -> usize {
    if record.heading.is_ascii() && record.text.is_ascii() {
        return plan.words.iter().filter(|word| word.spelling.is_ascii()).count();
    }
    let mut found = vec![false; plan.words.len()];
    for text in [&record.heading, &record.text] {
        cut(text, |term| {
            for (word, found) in plan.words.iter().zip(&mut found) {
                if !*found && word.text == term.text {
                    let written =
                        text[term.start_byte as usize..term.end_byte as usize].to_lowercase();
                    *found = written.nfc().eq(word.spelling.nfc());
                }
            }
        });
    }
    found.iter().filter(|found| **found).count()
}
