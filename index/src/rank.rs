//! From base scores to the order that users see: nearness, language, page, translations, ties.

use std::cmp::Reverse;
use std::sync::Arc;

use unicode_normalization::UnicodeNormalization;

use crate::error::IndexError;
use crate::language;
use crate::nearness::{Matcher, Nearness};
use crate::query::{Plan, QueryWord};
use crate::record::SectionRecord;
use crate::scorer::{Candidate, HEADING_WEIGHT, heading_factor};
use crate::section_terms::stem_hash;
use crate::snapshot::Snapshot;
use crate::terms::{cut, word_at};

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
        heading_factor(self.heading_share) + if self.is_heading { IS_HEADING_BONUS } else { 0.0 }
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
    let terms: f64 = plan.terms.iter().map(best_idf).sum();
    let heading = heading_factor(1.0) + IS_HEADING_BONUS;
    let several = plan.words.len() > 1;
    let bonuses = if several { (1.0 + PHRASE_BONUS) * (1.0 + NEAR_BONUS) } else { 1.0 };
    terms * HEADING_WEIGHT * heading * bonuses * (1.0 + PAGE_SHARE * PAGE_BEST as f64)
}

/// Ranked sections, and the order that they are shown in, as indexes into them.
#[derive(Debug)]
pub(crate) struct Ranking {
    pub(crate) sections: Vec<Ranked>,
    order: Vec<u32>,
}

impl Ranking {
    /// The sections, best first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Ranked> {
        self.order.iter().map(|&i| &self.sections[i as usize])
    }
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
) -> Result<Ranking, IndexError> {
    let mut ranked = Vec::with_capacity(candidates.len());
    for &candidate in candidates {
        let record = snapshot.section(candidate.ordinal)?;
        let lang_weight = lang_weights[candidate.lang as usize];
        let nearness = matcher.nearness(&record, &candidate);
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
    let mut order: Vec<u32> = (0..ranked.len() as u32).collect();
    best_first(&ranked, &mut order);
    if lower_translations(snapshot, &mut ranked, &order, ideal) {
        best_first(&ranked, &mut order);
    }
    order_ties(snapshot, plan, &ranked, &mut order, limit);
    Ok(Ranking { sections: ranked, order })
}

/// Sorts by score, then path and position.
fn best_first(ranked: &[Ranked], order: &mut [u32]) {
    order.sort_unstable_by_key(|&i| {
        let section = &ranked[i as usize];
        (Reverse(section.score), section.candidate.ordinal)
    });
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

/// Lowers sections whose translation stands above them in `order`. Whether any was.
fn lower_translations(
    snapshot: &Snapshot,
    ranked: &mut [Ranked],
    order: &[u32],
    ideal: f64,
) -> bool {
    let mut listed: Vec<(u64, u8)> = Vec::new(); // translation group and place in the page, language
    let mut lowered = false;
    for &i in order {
        let section = &mut ranked[i as usize];
        let page = &snapshot.pages[section.page];
        if page.n_twins == 0 {
            continue;
        }
        let place = section.candidate.ordinal - page.first_section;
        let key = u64::from(page.group) << 32 | u64::from(place);
        if listed.iter().any(|(other, lang)| *other == key && *lang != page.lang) {
            section.translation_weight = TRANSLATED_WEIGHT;
            section.set_score(ideal);
            lowered = true;
        } else {
            listed.push((key, page.lang));
        }
    }
    lowered
}

/// Orders sections of equal score; ordinals are in order of path and position already. Spelling is read only for ties
/// that are shown.
fn order_ties(
    snapshot: &Snapshot,
    plan: &Plan,
    ranked: &[Ranked],
    order: &mut [u32],
    limit: usize,
) {
    let section = |i: u32| &ranked[i as usize];
    let mut start = 0;
    for tied in order.chunk_by_mut(|&a, &b| section(a).score == section(b).score) {
        if start >= limit {
            break;
        }
        start += tied.len();
        if tied.len() > 1 {
            tied.sort_by_cached_key(|&i| {
                let Ranked { candidate, record, .. } = section(i);
                let lang = &snapshot.langs[candidate.lang as usize].code;
                let spelled = exact_spellings(plan, record, lang);
                (Reverse(spelled), record.heading_stems.len(), candidate.ordinal)
            });
        }
    }
}

/// How many of the query's words stand in the section spelled as they were asked for, accents included.
fn exact_spellings(plan: &Plan, record: &SectionRecord, lang: &str) -> u32 {
    if record.heading.is_ascii() && record.text.is_ascii() {
        return plan.words.iter().filter(|word| word.spelling.is_ascii()).count() as u32;
    }
    let mut spelled = 0u64;
    cut(&record.heading, |term| {
        let written = &record.heading[term.start_byte as usize..term.end_byte as usize];
        for (i, word) in plan.words.iter().enumerate() {
            let is_spelled = term.text == word.text && is_written(written, word);
            spelled |= u64::from(is_spelled) << i;
        }
    });
    for (i, word) in plan.words.iter().enumerate() {
        if spelled >> i & 1 == 1 {
            continue;
        }
        let positions = record.words.positions(stem_hash(language::stem(lang, &word.text)));
        let is_spelled = positions.iter().any(|&at| {
            let start = record.word_starts.get(at as usize).map_or(0, |start| *start as usize);
            record.text.get(start..).is_some_and(|text| is_written(word_at(text), word))
        });
        spelled |= u64::from(is_spelled) << i;
    }
    spelled.count_ones()
}

fn is_written(written: &str, word: &QueryWord) -> bool {
    written == word.spelling || written.to_lowercase().nfc().eq(word.spelling.nfc())
}
