//! Answers a query: plan, base scores, nearness, order, hits.

use globset::GlobBuilder;

use crate::error::IndexError;
use crate::explain::{Explanation, explain};
use crate::language;
use crate::nearness::Matcher;
use crate::query::{Plan, Unmatched, plan};
use crate::rank::{Ranked, SCORE_UNIT, ideal, rank};
use crate::scorer::{Candidates, OTHER_LANGUAGE_WEIGHT, candidates};
use crate::snapshot::Snapshot;
use crate::snippet::{Snippet, snippet};

/// At most so many hits of the other language are named beside the results.
const MAX_OTHER_LANGUAGE: usize = 3;
/// Votes and odds at which a query's language is clear; below it the other languages' factor is in proportion.
const CLEAR_VOTES: f64 = 2.0;

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
        let (likely, certainty) = self.query_lang(&query.text, &plan, &langs);
        let query_lang = likely.filter(|_| certainty >= 1.0);
        reply.query_lang = query_lang.map(|lang| self.langs[lang].code.clone());
        let other = 1.0 - (1.0 - OTHER_LANGUAGE_WEIGHT) * certainty;
        let lang_weights: Vec<f64> = (0..self.langs.len())
            .map(|lang| if likely.is_none_or(|likely| likely == lang) { 1.0 } else { other })
            .collect();
        let found = candidates(self, &plan, pages.as_deref(), &lang_weights)?;
        reply.total = found.total;
        reply.without = without(&plan, &found);
        let answer = Answer { ideal: ideal(&plan), plan: &plan, explain: query.explain };
        let limit = query.limit.clamp(1, MAX_LIMIT);
        let mut matcher = Matcher::new(&plan);
        let ranked =
            rank(self, &plan, &mut matcher, &found.best, &lang_weights, answer.ideal, limit)?;
        for ranked in ranked.iter().take(limit) {
            reply.hits.push(self.hit(&answer, &mut matcher, ranked));
        }
        if let Some(clear) = query_lang {
            let is_here = |ranked: &&Ranked| ranked.candidate.lang as usize == clear;
            let best_here = ranked.iter().find(is_here).map_or(0, |ranked| ranked.score);
            let unweighted = |ranked: &Ranked| ranked.score as f64 / ranked.lang_weight;
            let other = ranked.iter().filter(|ranked| !is_here(ranked));
            let first = other.take_while(|other| unweighted(other) > best_here as f64);
            for ranked in first.take(MAX_OTHER_LANGUAGE) {
                reply.other_language.push(self.hit(&answer, &mut matcher, ranked));
            }
        }
        Ok(reply)
    }

    fn hit(&self, answer: &Answer<'_>, matcher: &mut Matcher, ranked: &Ranked) -> Hit {
        let page = &self.pages[ranked.page];
        let record = &ranked.record;
        let window = ranked.nearness.window.or_else(|| matcher.window(record, &ranked.candidate));
        Hit {
            path: page.path.clone(),
            title: page.title.clone(),
            heading: record.heading.clone(),
            heading_path: record.heading_path.clone(),
            anchor: record.anchor.clone(),
            level: record.level,
            lang: self.langs[page.lang as usize].code.clone(),
            lines: (record.start_line, record.end_line),
            snippet: snippet(record, window),
            score: ranked.score as f64 / SCORE_UNIT,
            translations: self
                .twins(ranked.page)
                .map(|twin| self.pages[twin].path.clone())
                .collect(),
            explanation: answer.explain.then(|| explain(self, answer.plan, ranked, answer.ideal)),
        }
    }

    /// The query's likely language, and how certain that is, 0 to 1: function words, letters and frequencies vote.
    fn query_lang(&self, text: &str, plan: &Plan, langs: &[usize]) -> (Option<usize>, f64) {
        let find = |code: &str| langs.iter().copied().find(|&lang| self.langs[lang].code == code);
        let (Some(english), Some(spanish)) = (find("en"), find("es")) else { return (None, 0.0) };
        let votes: i32 = plan.words.iter().map(|word| language::vote(&word.text)).sum();
        let mut odds = f64::from(votes + i32::from(language::has_spanish_letters(text)));
        for term in plan.terms.iter().filter(|term| term.word.is_some()) {
            let share = |lang: usize| {
                let df = term.langs[lang].lists.iter().map(|list| list.df).max().unwrap_or(0);
                (f64::from(df) + 0.5) / (f64::from(self.langs[lang].n_sections) + 1.0)
            };
            odds += (libm::log(share(spanish)) - libm::log(share(english))).clamp(-1.0, 1.0);
        }
        let likely = if odds > 0.0 { spanish } else { english };
        (Some(likely), (odds.abs() / CLEAR_VOTES).min(1.0))
    }

    /// Which pages lie below a folder, or match a glob.
    fn matching_pages(&self, path: &str) -> Result<Vec<bool>, IndexError> {
        if path.contains(['*', '?', '[', '{']) {
            let bad = |error: globset::Error| IndexError::BadGlob {
                glob: path.to_owned(),
                reason: error.kind().to_string(),
            };
            let glob = GlobBuilder::new(path)
                .literal_separator(true)
                .build()
                .map_err(bad)?
                .compile_matcher();
            return Ok(self
                .pages
                .iter()
                .map(|page| page.path == path || glob.is_match(&page.path))
                .collect());
        }
        let prefix = path.trim_start_matches("./");
        Ok(self.pages.iter().map(|page| page.path.starts_with(prefix)).collect())
    }
}

/// What all hits of one answer share.
struct Answer<'a> {
    plan: &'a Plan,
    ideal: f64,
    explain: bool,
}

/// When no section holds all words of the query: for each word, how many sections hold all the others.
fn without(plan: &Plan, found: &Candidates) -> Vec<Without> {
    let n_terms = plan.terms.iter().filter(|term| term.word.is_some()).count();
    if n_terms < 2 || found.has_all {
        return Vec::new();
    }
    let words = plan.words.iter().zip(&found.without).filter(|(_, sections)| **sections > 0);
    words.map(|(word, &sections)| Without { term: word.text.clone(), sections }).collect()
}
