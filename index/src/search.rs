//! Answers a query: plan, base scores, nearness, order, hits.

use std::sync::Arc;

use globset::GlobBuilder;

use crate::error::IndexError;
use crate::explain::{self, Explanation};
use crate::language;
use crate::query::{Plan, Unmatched, plan};
use crate::record::SectionRecord;
use crate::scorer::{
    Candidate, Filter, HEADING_WEIGHT, OTHER_LANGUAGE_WEIGHT, candidates,
};
use crate::snapshot::Snapshot;
use crate::snippet::{Snippet, snippet};

/// The whole query stands in the heading.
pub(crate) const IN_HEADING_BONUS: f64 = 0.5;
/// The heading says just the query.
pub(crate) const IS_HEADING_BONUS: f64 = 0.5;
/// All neighbours of the query are neighbours in the section: the exact phrase.
pub(crate) const PHRASE_BONUS: f64 = 0.3;
/// All terms stand within [`NEAR_WORDS`] words.
pub(crate) const NEAR_BONUS: f64 = 0.6;
/// About a sentence.
pub(crate) const NEAR_WORDS: usize = 12;
/// Share of the page's best section that each of its sections gets.
pub(crate) const PAGE_SHARE: f64 = 0.1;
/// At most so many hits of the other language are named beside the results.
const MAX_OTHER_LANGUAGE: usize = 3;
/// Scores have four decimals; order is by what is shown.
const SCORE_UNIT: f64 = 10_000.0;
/// Votes and odds at which a query's language is clear.
const CLEAR_VOTES: f64 = 1.0;

/// Most hits that one query may ask for.
pub const MAX_LIMIT: usize = 25;

/// A query. Every character is text: nothing is an operator.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Words to look for.
    pub text: String,
    /// At most so many hits, 1 to [`MAX_LIMIT`].
    pub limit: usize,
    /// Only sections in this language.
    pub lang: Option<String>,
    /// Only pages below this folder, or that match this glob.
    pub path: Option<String>,
    /// Whether each hit says how its score came about.
    pub explain: bool,
}

/// The answer to a query.
#[derive(Clone, Debug, Default)]
pub struct SearchReply {
    /// The best sections, best first.
    pub hits: Vec<Hit>,
    /// How many sections hold a term of the query.
    pub total: usize,
    /// Words that no section holds, in the query's order.
    pub unmatched: Vec<Unmatched>,
    /// Sections of the other language that would have been first if the query's language were not clear.
    pub other_language: Vec<Hit>,
    /// The query's language, when it is clear.
    pub query_lang: Option<String>,
    /// When no section holds all terms: how many hold all but one.
    pub without: Vec<Without>,
    /// Generation of the snapshot that answered.
    pub generation: u64,
}

/// How many sections hold all terms but one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Without {
    /// The term left out.
    pub term: String,
    /// Sections that hold all the others.
    pub sections: usize,
}

/// A section that answers a query.
#[derive(Clone, Debug)]
pub struct Hit {
    /// Page, below the docs root.
    pub path: String,
    /// The page's title.
    pub title: String,
    /// The section's heading; the page's title for the text before the first heading.
    pub heading: String,
    /// Headings above it, outermost first.
    pub heading_path: Vec<String>,
    /// What a link to the section names; empty for the text before the first heading.
    pub anchor: String,
    /// 1 to 6; 0 for the text before the first heading.
    pub level: u8,
    /// Language of the page.
    pub lang: String,
    /// First and last line of the section, from 1, inclusive.
    pub lines: (u32, u32),
    /// One or two sentences around the best place.
    pub snippet: Snippet,
    /// 0 to 100, four decimals: share of the best score a section could have for this query.
    pub score: f64,
    /// Pages that say the same in other languages.
    pub translations: Vec<String>,
    /// How the score came about, when asked for.
    pub explanation: Option<Explanation>,
}

/// A candidate with all its factors.
#[derive(Clone, Debug)]
pub(crate) struct Ranked {
    pub(crate) candidate: Candidate,
    pub(crate) page: usize,
    pub(crate) record: Arc<SectionRecord>,
    pub(crate) nearness: Nearness,
    pub(crate) lang_weight: f64,
    /// Base times all factors, before the page's share.
    pub(crate) own: f64,
    pub(crate) page_share: f64,
    /// The score in units of 0.0001.
    pub(crate) score: u64,
    spelling: u32,
}

/// How near the query's words stand in a section.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Nearness {
    pub(crate) in_heading: bool,
    pub(crate) is_heading: bool,
    /// Share of neighbours found side by side.
    pub(crate) pairs: f64,
    /// Share of terms within a window.
    pub(crate) near: f64,
    /// The window's first and last word of the text.
    pub(crate) window: Option<(usize, usize)>,
}

impl Nearness {
    pub(crate) fn heading_factor(self) -> f64 {
        1.0 + if self.in_heading { IN_HEADING_BONUS } else { 0.0 }
            + if self.is_heading { IS_HEADING_BONUS } else { 0.0 }
    }

    pub(crate) fn pair_factor(self) -> f64 {
        1.0 + PHRASE_BONUS * self.pairs
    }

    pub(crate) fn near_factor(self) -> f64 {
        1.0 + NEAR_BONUS * self.near
    }
}

impl Snapshot {
    /// Finds the sections that answer a query. Deterministic: the same tree and query give the same answer.
    ///
    /// # Errors
    /// A glob that cannot be read, or a damaged index.
    pub fn search(&self, query: &Query) -> Result<SearchReply, IndexError> {
        let langs: Vec<usize> = (0..self.langs.len())
            .filter(|&lang| query.lang.as_ref().is_none_or(|code| self.langs[lang].code == *code))
            .collect();
        let pages = query.path.as_deref().map(|path| self.matching_pages(path)).transpose()?;
        let plan = plan(self, &query.text, &langs)?;
        let mut reply = SearchReply {
            unmatched: plan.unmatched.clone(),
            generation: self.generation(),
            ..SearchReply::default()
        };
        if plan.terms.is_empty() {
            return Ok(reply);
        }
        let query_lang = self.query_lang(&query.text, &plan, &langs);
        reply.query_lang = query_lang.map(|lang| self.langs[lang].code.clone());
        let lang_weights: Vec<f64> = (0..self.langs.len())
            .map(|lang| if query_lang.is_none_or(|clear| clear == lang) { 1.0 } else { OTHER_LANGUAGE_WEIGHT })
            .collect();
        let filter = Filter { pages: pages.as_deref(), lang_weights: &lang_weights };
        let found = candidates(self, &plan, &filter)?;
        reply.total = found.total;
        let ideal = self.ideal(&plan);
        let ranked = self.rank(&query.text, &plan, &found.best, &lang_weights, ideal)?;
        let limit = query.limit.clamp(1, MAX_LIMIT);
        for ranked in ranked.iter().take(limit) {
            reply.hits.push(self.hit(&plan, ranked, query.explain, ideal));
        }
        if let Some(clear) = query_lang {
            reply.other_language = self.other_language(query, &plan, &filter, clear, &ranked, ideal)?;
        }
        if plan.terms.len() > 1 && found.best.iter().all(|candidate| candidate.coverage < 1.0) {
            reply.without = self.without(&plan, pages.as_deref())?;
        }
        Ok(reply)
    }

    /// Applies nearness and page share, and sorts: score as shown, exact spelling, fewer heading words, path, position.
    fn rank(
        &self,
        text: &str,
        plan: &Plan,
        best: &[Candidate],
        lang_weights: &[f64],
        ideal: f64,
    ) -> Result<Vec<Ranked>, IndexError> {
        let mut matcher = Matcher::new(plan);
        let mut ranked = Vec::with_capacity(best.len());
        for &candidate in best {
            let record = self.section(candidate.ordinal)?;
            let nearness = matcher.nearness(&record, candidate.lang as usize);
            let lang_weight = lang_weights[candidate.lang as usize];
            let own = candidate.base
                * lang_weight
                * nearness.heading_factor()
                * nearness.pair_factor()
                * nearness.near_factor();
            let page = self.page_of_section(candidate.ordinal);
            ranked.push(Ranked {
                candidate,
                page,
                record,
                nearness,
                lang_weight,
                own,
                page_share: 0.0,
                score: 0,
                spelling: 0,
            });
        }
        let mut page_best: Vec<(usize, f64)> = ranked.iter().map(|r| (r.page, r.own)).collect();
        page_best.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.total_cmp(&a.1)));
        page_best.dedup_by_key(|(page, _)| *page);
        for ranked in &mut ranked {
            let at = page_best.partition_point(|(page, _)| *page < ranked.page);
            ranked.page_share = PAGE_SHARE * page_best[at].1;
            ranked.score = (100.0 * (ranked.own + ranked.page_share) / ideal * SCORE_UNIT).round() as u64;
        }
        let may_differ = !text.is_ascii();
        ranked.sort_by(|a, b| b.score.cmp(&a.score).then(a.candidate.ordinal.cmp(&b.candidate.ordinal)));
        // Spelling is read only where scores tie: it costs a look at the text.
        let ties: Vec<bool> = (0..ranked.len())
            .map(|i| {
                (i > 0 && ranked[i - 1].score == ranked[i].score)
                    || ranked.get(i + 1).is_some_and(|next| next.score == ranked[i].score)
            })
            .collect();
        for (ranked, tie) in ranked.iter_mut().zip(ties) {
            if tie && (may_differ || !ranked.record.text.is_ascii() || !ranked.record.heading.is_ascii()) {
                ranked.spelling = exact_spellings(plan, &ranked.record);
            } else if tie {
                ranked.spelling = plan.words.len() as u32;
            }
        }
        ranked.sort_by(|a, b| {
            b.score
                .cmp(&a.score)
                .then(b.spelling.cmp(&a.spelling))
                .then(a.record.n_heading_words.cmp(&b.record.n_heading_words))
                .then(a.candidate.ordinal.cmp(&b.candidate.ordinal))
        });
        Ok(ranked)
    }

    fn hit(&self, plan: &Plan, ranked: &Ranked, explain: bool, ideal: f64) -> Hit {
        let page = &self.pages[ranked.page];
        let record = &ranked.record;
        let heading = if record.level == 0 { page.title.clone() } else { record.heading.clone() };
        Hit {
            path: page.path.clone(),
            title: page.title.clone(),
            heading,
            heading_path: record.heading_path.clone(),
            anchor: record.anchor.clone(),
            level: record.level,
            lang: self.langs[page.lang as usize].code.clone(),
            lines: (record.start_line, record.end_line),
            snippet: snippet(record, ranked.nearness.window),
            score: ranked.score as f64 / SCORE_UNIT,
            translations: self.twins(ranked.page).map(|twin| self.pages[twin].path.clone()).collect(),
            explanation: explain.then(|| explain::explain(self, plan, ranked, ideal)),
        }
    }

    /// The best of the other languages, when it would be first without their factor.
    fn other_language(
        &self,
        query: &Query,
        plan: &Plan,
        filter: &Filter<'_>,
        clear: usize,
        ranked: &[Ranked],
        ideal: f64,
    ) -> Result<Vec<Hit>, IndexError> {
        // The off-language ones alone, unweighted: the others get nothing.
        let only_other: Vec<f64> =
            (0..self.langs.len()).map(|lang| if lang == clear { 0.0 } else { 1.0 }).collect();
        let mut best = candidates(self, plan, &Filter { pages: filter.pages, lang_weights: &only_other })?.best;
        best.retain(|candidate| candidate.lang as usize != clear);
        let other = self.rank(&query.text, plan, &best, &only_other, ideal)?;
        let top = ranked.iter().find(|r| r.candidate.lang as usize == clear).map_or(0, |r| r.score);
        Ok(other
            .iter()
            .take_while(|other| other.score > top)
            .take(MAX_OTHER_LANGUAGE)
            .map(|other| self.hit(plan, other, query.explain, ideal))
            .collect())
    }

    /// The best score a section could have: every term in the heading, every bonus.
    fn ideal(&self, plan: &Plan) -> f64 {
        let terms: f64 = plan
            .terms
            .iter()
            .map(|term| term.langs.iter().map(|lang| lang.idf).fold(0.0, f64::max) * term.weight)
            .sum();
        let bonuses = (1.0 + IN_HEADING_BONUS + IS_HEADING_BONUS) * (1.0 + PHRASE_BONUS) * (1.0 + NEAR_BONUS);
        terms * HEADING_WEIGHT * bonuses * (1.0 + PAGE_SHARE)
    }

    /// The query's language when function words, letters and frequencies agree on one.
    fn query_lang(&self, text: &str, plan: &Plan, langs: &[usize]) -> Option<usize> {
        let find = |code: &str| langs.iter().copied().find(|&lang| self.langs[lang].code == code);
        let (english, spanish) = (find("en")?, find("es")?);
        let mut odds = f64::from(language::votes(text));
        for term in plan.terms.iter().filter(|term| term.word.is_some()) {
            let share = |lang: usize| {
                let df = term.langs[lang].lists.iter().map(|list| list.df).max().unwrap_or(0);
                (f64::from(df) + 0.5) / (f64::from(self.langs[lang].n_sections) + 1.0)
            };
            odds += (libm::log(share(spanish)) - libm::log(share(english))).clamp(-1.0, 1.0);
        }
        match odds {
            _ if odds >= CLEAR_VOTES => Some(spanish),
            _ if odds <= -CLEAR_VOTES => Some(english),
            _ => None,
        }
    }

    /// Which pages lie below a folder, or match a glob.
    fn matching_pages(&self, path: &str) -> Result<Vec<bool>, IndexError> {
        if path.contains(['*', '?', '[', '{']) {
            let bad = |error: globset::Error| IndexError::BadGlob {
                glob: path.to_owned(),
                reason: error.kind().to_string(),
            };
            let glob = GlobBuilder::new(path).literal_separator(true).build().map_err(bad)?.compile_matcher();
            return Ok(self.pages.iter().map(|page| page.path == path || glob.is_match(&page.path)).collect());
        }
        let prefix = path.trim_start_matches("./");
        Ok(self.pages.iter().map(|page| page.path.starts_with(prefix)).collect())
    }

    /// For each term, how many sections hold all the others.
    fn without(&self, plan: &Plan, pages: Option<&[bool]>) -> Result<Vec<Without>, IndexError> {
        let words: Vec<&crate::query::QueryTerm> = plan.terms.iter().filter(|term| term.word.is_some()).collect();
        if !(2..=8).contains(&words.len()) {
            return Ok(Vec::new());
        }
        let all_weights = vec![1.0; self.langs.len()];
        let mut without = Vec::new();
        for skipped in &words {
            let terms: Vec<_> = words.iter().filter(|term| term.word != skipped.word).map(|t| (*t).clone()).collect();
            let rest = Plan { terms, ..Plan::default() };
            let filter = Filter { pages, lang_weights: &all_weights };
            let found = candidates(self, &rest, &filter)?;
            let sections = found.best.iter().filter(|candidate| candidate.coverage >= 1.0).count();
            if sections > 0 {
                without.push(Without { term: skipped.text.clone(), sections });
            }
        }
        Ok(without)
    }
}

/// Finds the words of one query in sections.
struct Matcher<'a> {
    plan: &'a Plan,
    /// Distinct words that count, in order; each word of the query with the one it repeats.
    slots: Vec<usize>,
    n_slots: usize,
    counted: Vec<bool>,
    hits: Vec<(usize, usize)>,
}

impl<'a> Matcher<'a> {
    fn new(plan: &'a Plan) -> Self {
        let mut slots = Vec::new();
        let mut n_slots = 0;
        for (i, word) in plan.words.iter().enumerate() {
            let same = plan.words[..i].iter().position(|other| other.text == word.text);
            slots.push(same.map_or(n_slots, |same| slots[same]));
            n_slots += usize::from(same.is_none());
        }
        let mut counted = vec![false; n_slots];
        for (i, word) in plan.words.iter().enumerate() {
            counted[slots[i]] |= !word.ignored;
        }
        Self { plan, slots, n_slots, counted, hits: Vec::new() }
    }

    /// See [`Nearness`]. Words match by stem, in the heading or in the text; no phrase runs from one into the other.
    fn nearness(&mut self, record: &SectionRecord, lang: usize) -> Nearness {
        let mut nearness = Nearness::default();
        let n_heading = record.n_heading_words as usize;
        let (heading, text) = record.stems.split_at(n_heading.min(record.stems.len()));
        let mut pairs = vec![false; self.slots.len().saturating_sub(1)];
        let mut best = 0;
        self.find(heading, lang);
        if !self.hits.is_empty() {
            let mut in_heading = vec![false; self.n_slots];
            self.hits.iter().for_each(|(_, slot)| in_heading[*slot] = true);
            nearness.in_heading =
                self.counted.iter().zip(&in_heading).all(|(counted, present)| !counted || *present);
            nearness.is_heading = nearness.in_heading && self.says_just_the_query(heading, lang);
            self.note_pairs(heading, lang, &mut pairs);
            (best, _) = self.best_window();
        }
        self.find(text, lang);
        self.note_pairs(text, lang, &mut pairs);
        let (in_text, window) = self.best_window();
        nearness.window = window;
        let n_counted = self.counted.iter().filter(|counted| **counted).count();
        if n_counted > 1 {
            nearness.near = best.max(in_text).saturating_sub(1) as f64 / (n_counted - 1) as f64;
        }
        if !pairs.is_empty() {
            nearness.pairs = pairs.iter().filter(|found| **found).count() as f64 / pairs.len() as f64;
        }
        nearness
    }

    /// Fills `hits` with (position, slot) of every word of the query in `stems`.
    fn find(&mut self, stems: &[u32], lang: usize) {
        self.hits.clear();
        for (i, wanted) in self.plan.stems[lang].iter().enumerate() {
            if self.slots[..i].contains(&self.slots[i]) {
                continue;
            }
            for &stem in wanted {
                for (at, _) in stems.iter().enumerate().filter(|(_, found)| **found == stem) {
                    self.hits.push((at, self.slots[i]));
                }
            }
        }
        self.hits.sort_unstable();
        self.hits.dedup();
    }

    fn note_pairs(&self, stems: &[u32], lang: usize, pairs: &mut [bool]) {
        for (i, pair) in pairs.iter_mut().enumerate().filter(|(_, found)| !**found) {
            let next = &self.plan.stems[lang][i + 1];
            *pair = self
                .hits
                .iter()
                .any(|&(at, slot)| slot == self.slots[i] && stems.get(at + 1).is_some_and(|s| next.contains(s)));
        }
    }

    /// Most distinct counted words within a window, and the first such window.
    fn best_window(&self) -> (usize, Option<(usize, usize)>) {
        let mut best = 0;
        let mut window = None;
        let mut present = vec![0u32; self.n_slots];
        let mut distinct = 0;
        let mut start = 0;
        for (end, &(at, slot)) in self.hits.iter().enumerate() {
            if self.counted[slot] {
                distinct += usize::from(present[slot] == 0);
                present[slot] += 1;
            }
            while self.hits[start].0 + NEAR_WORDS <= at {
                let slot = self.hits[start].1;
                if self.counted[slot] {
                    present[slot] -= 1;
                    distinct -= usize::from(present[slot] == 0);
                }
                start += 1;
            }
            if distinct > best {
                best = distinct;
                window = Some((self.hits[start].0, self.hits[end].0));
            }
        }
        (best, window)
    }

    fn says_just_the_query(&self, heading: &[u32], lang: usize) -> bool {
        heading.iter().all(|stem| self.plan.stems[lang].iter().any(|wanted| wanted.contains(stem)))
    }
}

/// How many of the query's words stand in the section spelled as they were asked for, accents included.
fn exact_spellings(plan: &Plan, record: &SectionRecord) -> u32 {
    let mut found = vec![false; plan.words.len()];
    for text in [&record.heading, &record.text] {
        crate::terms::cut(text, |term| {
            for (word, found) in plan.words.iter().zip(&mut found) {
                if !*found && word.text == term.text {
                    let as_written = &text[term.start_byte as usize..term.end_byte as usize];
                    *found = same_spelling(as_written, &word.spelling);
                }
            }
        });
    }
    found.iter().filter(|found| **found).count() as u32
}

fn same_spelling(a: &str, b: &str) -> bool {
    use unicode_normalization::UnicodeNormalization;
    a.to_lowercase().nfc().eq(b.nfc())
}
