//! From a query's words to what is looked up: terms, their variants in each language, and what stands in for a word
//! that no section holds.

use std::sync::LazyLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;
use tantivy_fst::Automaton;

use crate::error::IndexError;
use crate::language;
use crate::place::Place;
use crate::snapshot::{SegmentView, Snapshot};
use crate::terms::{TermKind, cut};
use crate::writer::{JOINED_MARK, STEM_MARK, WORD_MARK, stem_hash};

/// More distinct words than this say nothing more; later ones are left out, so that no query is slow.
pub(crate) const MAX_QUERY_WORDS: usize = 48;

/// A word of the same stem counts this much: an exact word must beat its variants (retrieval.md: full weight −0.015).
const STEM_WEIGHT: f64 = 0.8;
/// One word written as two, or two as one.
const COMPOUND_WEIGHT: f64 = 0.6;
/// All parts of the query's name (`append` and `log` for `appendLog`) in place of the name.
const PARTS_WEIGHT: f64 = 0.8;
/// What stands in for a word that no section holds: a longer word that begins with it, or a near spelling.
const PREFIX_WEIGHT: f64 = 0.8;
const ONE_EDIT_WEIGHT: f64 = 0.7;
const TWO_EDITS_WEIGHT: f64 = 0.5;
/// Shorter words are completed to nearly anything.
const MIN_PREFIX_LETTERS: usize = 3;
/// Words up to this many letters are one edit away from too many others to allow two.
const ONE_EDIT_MAX_LETTERS: usize = 6;
/// At most this many words stand in for an unknown one: the most frequent.
const MAX_STAND_INS: usize = 3;
/// Halves of a compound have at least this many letters.
const MIN_HALF_LETTERS: usize = 3;

/// A word of the query, in order of appearance.
#[derive(Clone, Debug)]
pub(crate) struct QueryWord {
    pub(crate) text: String,
    /// The word as written, lower case: tells `año` from `ano` when scores tie.
    pub(crate) spelling: String,
    /// A function word that is ignored because other words remain.
    pub(crate) ignored: bool,
}

/// Something a section can match, with all the posting lists that match it.
#[derive(Clone, Debug)]
pub(crate) struct QueryTerm {
    pub(crate) text: String,
    /// The word it belongs to, for nearness.
    pub(crate) word: Option<usize>,
    /// Share of its idf that counts: below 1 for parts of a name.
    pub(crate) weight: f64,
    /// One entry a language of the snapshot.
    pub(crate) langs: Vec<LangTerm>,
}

/// A term in one language.
#[derive(Clone, Debug, Default)]
pub(crate) struct LangTerm {
    /// Live sections of the language that hold the word, or its first known form.
    pub(crate) df: u32,
    /// Its rarity; 0 when no form is known.
    pub(crate) idf: f64,
    pub(crate) lists: Vec<TermList>,
}

/// One posting list with its weight.
#[derive(Clone, Debug)]
pub(crate) struct TermList {
    /// The word or stem that the list belongs to.
    pub(crate) matched: String,
    pub(crate) is_stem: bool,
    /// Live sections that hold it.
    pub(crate) df: u32,
    pub(crate) variant: f64,
    /// Where it is, one entry a segment.
    pub(crate) postings: Vec<(u32, ListPostings)>,
}

/// A posting list: in the index, or made for the query.
#[derive(Clone, Debug)]
pub(crate) enum ListPostings {
    Stored(TermInfo),
    /// (document, place code), ascending.
    Made(Vec<(u32, u32)>),
}

/// A word that no section holds, and what was used instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmatched {
    /// The word, folded.
    pub term: String,
    /// The indexed words that stood in for it, best first; may be empty.
    pub used: Vec<String>,
}

/// A query, looked up in one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) words: Vec<QueryWord>,
    pub(crate) terms: Vec<QueryTerm>,
    pub(crate) unmatched: Vec<Unmatched>,
    /// For each language, the stem hashes that count as each word, for nearness.
    pub(crate) stems: Vec<Vec<Vec<u32>>>,
}

/// Looks a query up. Only languages in `langs` (indexes into the snapshot's) are asked.
pub(crate) fn plan(snapshot: &Snapshot, text: &str, langs: &[usize]) -> Result<Plan, IndexError> {
    let mut plan = Plan::default();
    let mut parts: Vec<(usize, String)> = Vec::new();
    let mut names: Vec<String> = Vec::new();
    cut(text, |term| match term.kind {
        TermKind::Word if plan.words.len() < MAX_QUERY_WORDS => plan.words.push(QueryWord {
            text: term.text.to_owned(),
            spelling: text[term.start_byte as usize..term.end_byte as usize].to_lowercase(),
            ignored: language::is_function_word(term.text),
        }),
        TermKind::Part if plan.words.len() <= MAX_QUERY_WORDS => {
            parts.push((plan.words.len() - 1, term.text.to_owned()));
        }
        TermKind::Whole | TermKind::Sign if names.len() < MAX_QUERY_WORDS => {
            names.push(term.text.to_owned());
        }
        _ => {}
    });
    if plan.words.iter().all(|word| word.ignored) {
        plan.words.iter_mut().for_each(|word| word.ignored = false);
    }
    let lookup = Lookup { snapshot, langs };
    plan.stems = vec![vec![Vec::new(); plan.words.len()]; snapshot.langs.len()];
    for i in 0..plan.words.len() {
        let word = plan.words[i].text.clone();
        for &lang in langs {
            plan.stems[lang][i].push(stem_hash(language::stem(&snapshot.langs[lang].code, &word)));
        }
        let seen_before = plan.words[..i].iter().any(|other| other.text == word);
        if !plan.words[i].ignored && !seen_before {
            lookup.word(&mut plan, i, &parts)?;
        }
    }
    lookup.joined_pairs(&mut plan)?;
    names.dedup();
    for name in names {
        let mut term = QueryTerm { text: name, word: None, weight: 1.0, langs: Vec::new() };
        let text = term.text.clone();
        term.langs = lookup.each_lang(|lang| {
            Ok(lookup.list(lang, WORD_MARK, &text, 1.0)?.into_iter().collect())
        })?;
        if term.is_known() && !plan.terms.iter().any(|other| other.text == term.text) {
            plan.terms.push(term);
        }
    }
    Ok(plan)
}

impl QueryTerm {
    pub(crate) fn is_known(&self) -> bool {
        self.langs.iter().any(|lang| !lang.lists.is_empty())
    }
}

impl LangTerm {
    /// Adds a form. All forms are worth what the word itself is worth, else the first one that is known.
    fn add(&mut self, list: Option<TermList>, n_sections: u32) {
        let Some(list) = list else { return };
        if self.lists.is_empty() {
            self.df = list.df;
            self.idf = idf(n_sections, list.df);
        }
        self.lists.push(list);
    }
}

impl ListPostings {
    fn len(&self) -> usize {
        match self {
            Self::Stored(info) => info.doc_freq as usize,
            Self::Made(made) => made.len(),
        }
    }
}

struct Lookup<'a> {
    snapshot: &'a Snapshot,
    langs: &'a [usize],
}

impl Lookup<'_> {
    /// Adds the term of word `i`, or its parts, or what stands in for it.
    fn word(&self, plan: &mut Plan, i: usize, parts: &[(usize, String)]) -> Result<(), IndexError> {
        let word = plan.words[i].text.clone();
        let mut term =
            QueryTerm { text: word.clone(), word: Some(i), weight: 1.0, langs: Vec::new() };
        term.langs = self.each_lang(|lang| {
            let mut lists = self.forms(lang, &word, 1.0)?;
            if word.len() >= 2 * MIN_HALF_LETTERS {
                lists.extend(self.list(lang, JOINED_MARK, &word, COMPOUND_WEIGHT)?);
            }
            Ok(lists)
        })?;
        let mine: Vec<&str> =
            parts.iter().filter(|(at, _)| *at == i).map(|(_, part)| part.as_str()).collect();
        for &lang in self.langs {
            let list = self.all_of(lang, &mine, PARTS_WEIGHT)?;
            term.langs[lang].add(list, self.snapshot.langs[lang].n_sections);
        }
        if term.is_known() {
            plan.terms.push(term);
            return Ok(());
        }
        self.stand_in(plan, i)
    }

    /// The word itself, its stem, and the other words of that stem.
    fn forms(&self, lang: usize, word: &str, weight: f64) -> Result<Vec<TermList>, IndexError> {
        let stem = language::stem(&self.snapshot.langs[lang].code, word);
        let mut lists = Vec::new();
        lists.extend(self.list(lang, WORD_MARK, word, weight)?);
        lists.extend(self.list(lang, STEM_MARK, stem, weight * STEM_WEIGHT)?);
        if stem != word {
            lists.extend(self.list(lang, WORD_MARK, stem, weight * STEM_WEIGHT)?);
        }
        Ok(lists)
    }

    /// For a word that no section holds: its two halves side by side, else longer words that begin with it, else near
    /// spellings. The word is reported either way.
    fn stand_in(&self, plan: &mut Plan, i: usize) -> Result<(), IndexError> {
        let word = plan.words[i].text.clone();
        let mut found = self.completions(&word)?;
        if found.is_empty() {
            found = self.near_spellings(&word)?;
        }
        let near = found.first().is_some_and(|(_, weight)| *weight >= ONE_EDIT_WEIGHT);
        if !near && let Some((left, right)) = self.halves(&word)? {
            let langs = self.each_lang(|lang| {
                Ok(self.all_of(lang, &[&left, &right], COMPOUND_WEIGHT)?.into_iter().collect())
            })?;
            let term = QueryTerm { text: word.clone(), word: Some(i), weight: 1.0, langs };
            if term.is_known() {
                plan.terms.push(term);
                self.add_stems(plan, i, &[&left, &right]);
                plan.unmatched
                    .push(Unmatched { term: word, used: vec![format!("{left} {right}")] });
                return Ok(());
            }
        }
        let used: Vec<String> = found.iter().map(|(text, _)| text.clone()).collect();
        let langs = self.each_lang(|lang| {
            let mut lists = Vec::new();
            for (text, weight) in &found {
                lists.extend(self.forms(lang, text, *weight)?);
            }
            // The scorer takes a word's coverage from the first list that it meets.
            lists.sort_by(|a, b| b.variant.total_cmp(&a.variant));
            Ok(lists)
        })?;
        self.add_stems(plan, i, &used.iter().map(String::as_str).collect::<Vec<_>>());
        plan.terms.push(QueryTerm { text: word.clone(), word: Some(i), weight: 1.0, langs });
        plan.unmatched.push(Unmatched { term: word, used });
        Ok(())
    }

    fn add_stems(&self, plan: &mut Plan, i: usize, words: &[&str]) {
        for &lang in self.langs {
            for word in words {
                let hash = stem_hash(language::stem(&self.snapshot.langs[lang].code, word));
                plan.stems[lang][i].push(hash);
            }
        }
    }

    /// Adds `configmap` to the terms of `config map`.
    fn joined_pairs(&self, plan: &mut Plan) -> Result<(), IndexError> {
        for i in 1..plan.words.len() {
            let (left, right) = (&plan.words[i - 1], &plan.words[i]);
            if left.ignored || right.ignored {
                continue;
            }
            let joined = format!("{}{}", left.text, right.text);
            let texts = [left.text.clone(), right.text.clone()];
            for &lang in self.langs {
                let Some(list) = self.list(lang, WORD_MARK, &joined, COMPOUND_WEIGHT)? else {
                    continue;
                };
                for term in plan.terms.iter_mut().filter(|term| texts.contains(&term.text)) {
                    term.langs[lang].add(Some(list.clone()), self.snapshot.langs[lang].n_sections);
                }
            }
        }
        for term in &mut plan.terms {
            for lang in &mut term.langs {
                lang.lists.sort_by(|a, b| b.variant.total_cmp(&a.variant));
            }
        }
        Ok(())
    }

    /// Cuts an unknown word in two known ones; the most frequent rarer half wins, then the longer left one.
    fn halves(&self, word: &str) -> Result<Option<(String, String)>, IndexError> {
        let mut best: Option<(u32, String, String)> = None;
        for (at, _) in word.char_indices().skip(MIN_HALF_LETTERS) {
            let (left, right) = word.split_at(at);
            if right.chars().count() < MIN_HALF_LETTERS {
                break;
            }
            for &lang in self.langs {
                let left_df = self.df(lang, left)?;
                let df = if left_df == 0 { 0 } else { left_df.min(self.df(lang, right)?) };
                if df > 0 && best.as_ref().is_none_or(|(known, ..)| df >= *known) {
                    best = Some((df, left.to_owned(), right.to_owned()));
                }
            }
        }
        Ok(best.map(|(_, left, right)| (left, right)))
    }

    fn df(&self, lang: usize, word: &str) -> Result<u32, IndexError> {
        Ok(self.list(lang, WORD_MARK, word, 1.0)?.map_or(0, |list| list.df))
    }

    /// Longer words that begin with `word`, the most frequent first.
    fn completions(&self, word: &str) -> Result<Vec<(String, f64)>, IndexError> {
        let letters = word.chars().count();
        let unspaced = word.chars().all(crate::fold::is_unspaced);
        if letters < MIN_PREFIX_LETTERS && !unspaced {
            return Ok(Vec::new());
        }
        let mut found = Vec::new();
        for &lang in self.langs {
            let prefix = self.key(lang, WORD_MARK, word);
            let end = format!("{prefix}\u{10ffff}");
            for segment in &self.snapshot.segments {
                let mut stream = segment
                    .terms
                    .terms()
                    .range()
                    .ge(&prefix)
                    .lt(&end)
                    .into_stream()
                    .map_err(tantivy::TantivyError::from)?;
                while let Some((key, info)) = stream.next() {
                    self.note(&mut found, key, info.doc_freq, PREFIX_WEIGHT, lang);
                }
            }
        }
        Ok(self.most_frequent(found))
    }

    /// Words one or two edits away (a swap of neighbours is one edit), nearest and most frequent first.
    fn near_spellings(&self, word: &str) -> Result<Vec<(String, f64)>, IndexError> {
        let letters = word.chars().count();
        if letters < MIN_PREFIX_LETTERS {
            return Ok(Vec::new());
        }
        let edits: u8 = if letters <= ONE_EDIT_MAX_LETTERS { 1 } else { 2 };
        let builder = &BUILDERS[usize::from(edits) - 1];
        let mut found = Vec::new();
        for &lang in self.langs {
            let prefix = self.key(lang, WORD_MARK, "");
            let automaton = AfterPrefix { prefix: prefix.as_bytes(), dfa: builder.build_dfa(word) };
            for segment in &self.snapshot.segments {
                let mut stream = segment
                    .terms
                    .terms()
                    .search(&automaton)
                    .into_stream()
                    .map_err(tantivy::TantivyError::from)?;
                while let Some((key, info)) = stream.next() {
                    let near = key.get(prefix.len()..).unwrap_or_default();
                    let weight = match automaton.dfa.eval(near) {
                        Distance::Exact(0 | 1) => ONE_EDIT_WEIGHT,
                        _ => TWO_EDITS_WEIGHT,
                    };
                    self.note(&mut found, key, info.doc_freq, weight, lang);
                }
            }
        }
        Ok(self.most_frequent(found))
    }

    fn note(
        &self,
        found: &mut Vec<(String, f64, u64)>,
        key: &[u8],
        df: u32,
        weight: f64,
        lang: usize,
    ) {
        let skip = self.snapshot.langs[lang].code.len() + WORD_MARK.len_utf8();
        let Some(word) = key.get(skip..).and_then(|word| std::str::from_utf8(word).ok()) else {
            return;
        };
        // Stand-ins are words, not names with signs.
        if word.chars().all(char::is_alphanumeric) {
            found.push((word.to_owned(), weight, u64::from(df)));
        }
    }

    /// Adds up frequencies over languages and segments, drops words that only deleted sections hold, and keeps the
    /// best few: by weight, frequency, then the word itself.
    fn most_frequent(&self, mut found: Vec<(String, f64, u64)>) -> Vec<(String, f64)> {
        found.sort_by(|a, b| a.0.cmp(&b.0));
        let mut merged: Vec<(String, f64, u64)> = Vec::new();
        for (word, weight, df) in found {
            match merged.last_mut() {
                Some(last) if last.0 == word => last.2 += df,
                _ => merged.push((word, weight, df)),
            }
        }
        let has_deletes = self.snapshot.segments.iter().any(|segment| segment.reader.has_deletes());
        if has_deletes {
            for word in &mut merged {
                word.2 =
                    self.langs.iter().map(|&l| u64::from(self.df(l, &word.0).unwrap_or(0))).sum();
            }
            merged.retain(|word| word.2 > 0);
        }
        merged.sort_by(|a, b| b.1.total_cmp(&a.1).then(b.2.cmp(&a.2)).then_with(|| a.0.cmp(&b.0)));
        merged.truncate(MAX_STAND_INS);
        merged.into_iter().map(|(word, weight, _)| (word, weight)).collect()
    }

    fn each_lang(
        &self,
        lists: impl Fn(usize) -> Result<Vec<TermList>, IndexError>,
    ) -> Result<Vec<LangTerm>, IndexError> {
        let mut langs = vec![LangTerm::default(); self.snapshot.langs.len()];
        for &lang in self.langs {
            let lists = lists(lang)?;
            for list in lists {
                langs[lang].add(Some(list), self.snapshot.langs[lang].n_sections);
            }
        }
        Ok(langs)
    }

    fn key(&self, lang: usize, mark: char, word: &str) -> String {
        format!("{}{mark}{word}", self.snapshot.langs[lang].code)
    }

    /// The sections that hold all of several words, each in the weakest of its words' places.
    fn all_of(
        &self,
        lang: usize,
        words: &[&str],
        variant: f64,
    ) -> Result<Option<TermList>, IndexError> {
        let mut lists = Vec::new();
        for word in words {
            let Some(list) = self.list(lang, WORD_MARK, word, variant)? else { return Ok(None) };
            lists.push(list);
        }
        let Some(first) = lists.first() else { return Ok(None) };
        let mut made = Vec::new();
        for (ord, postings) in &first.postings {
            let segment = &self.snapshot.segments[*ord as usize];
            let ListPostings::Stored(info) = postings else { continue };
            let mut common = read_postings(segment, info)?;
            for list in &lists[1..] {
                let stored = list.postings.iter().find(|(other, _)| other == ord);
                let other = match stored {
                    Some((_, ListPostings::Stored(info))) => read_postings(segment, info)?,
                    _ => Vec::new(),
                };
                common.retain_mut(|(doc, code)| {
                    let at = other.binary_search_by_key(doc, |(doc, _)| *doc);
                    at.is_ok_and(|at| {
                        *code = weaker(*code, other[at].1);
                        true
                    })
                });
            }
            if !common.is_empty() {
                made.push((*ord, ListPostings::Made(common)));
            }
        }
        let df = made.iter().map(|(_, postings)| postings.len()).sum::<usize>() as u32;
        Ok((df > 0).then(|| TermList {
            matched: words.join(" "),
            is_stem: false,
            df,
            variant,
            postings: made,
        }))
    }

    /// The posting list of a word or stem in one language; `None` when no live section holds it.
    fn list(
        &self,
        lang: usize,
        mark: char,
        word: &str,
        variant: f64,
    ) -> Result<Option<TermList>, IndexError> {
        let key = self.key(lang, mark, word);
        let mut df = 0;
        let mut postings = Vec::new();
        for (ord, segment) in self.snapshot.segments.iter().enumerate() {
            let info = segment.terms.terms().get(&key).map_err(tantivy::TantivyError::from)?;
            let Some(info) = info else { continue };
            // tantivy's frequency counts deleted copies until a merge; scores must not.
            let live =
                if segment.reader.has_deletes() { live_df(segment, &info)? } else { info.doc_freq };
            if live > 0 {
                df += live;
                postings.push((ord as u32, ListPostings::Stored(info)));
            }
        }
        Ok((df > 0).then(|| TermList {
            matched: word.to_owned(),
            is_stem: mark == STEM_MARK,
            df,
            variant,
            postings,
        }))
    }
}

/// The code of the weaker of two places.
fn weaker(a: u32, b: u32) -> u32 {
    let strength =
        |code| Place::of_code(code).map_or(0, |(place, is_part)| place.strength(is_part));
    if strength(b) < strength(a) { b } else { a }
}

/// The live documents of a posting list with their place codes.
fn read_postings(segment: &SegmentView, info: &TermInfo) -> Result<Vec<(u32, u32)>, IndexError> {
    let mut postings = segment
        .terms
        .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
        .map_err(tantivy::TantivyError::from)?;
    let mut read = Vec::new();
    while postings.block_len() > 0 {
        let block = postings.docs().iter().copied().zip(postings.freqs().iter().copied());
        read.extend(block.filter(|(doc, _)| segment.ordinals[*doc as usize] != u32::MAX));
        postings.advance();
    }
    Ok(read)
}

fn live_df(segment: &SegmentView, info: &TermInfo) -> Result<u32, IndexError> {
    let mut postings = segment
        .terms
        .read_block_postings_from_terminfo(info, IndexRecordOption::Basic)
        .map_err(tantivy::TantivyError::from)?;
    let mut live = 0;
    while postings.block_len() > 0 {
        live += postings
            .docs()
            .iter()
            .filter(|&&doc| segment.ordinals[doc as usize] != u32::MAX)
            .count();
        postings.advance();
    }
    Ok(live as u32)
}

/// `ln(1 + (N − df + 0.5) / (df + 0.5))`: Robertson and Zaragoza 2009, kept positive. `libm`'s logarithm is the same on
/// every machine.
pub(crate) fn idf(n_sections: u32, df: u32) -> f64 {
    let (n, df) = (f64::from(n_sections), f64::from(df));
    libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
}

/// For one and two edits, a swap of neighbours being one. Made once: their tables take longer than a query.
static BUILDERS: LazyLock<[LevenshteinAutomatonBuilder; 2]> =
    LazyLock::new(|| [1, 2].map(|edits| LevenshteinAutomatonBuilder::new(edits, true)));

/// A Levenshtein automaton that begins after a fixed prefix.
struct AfterPrefix<'a> {
    prefix: &'a [u8],
    dfa: DFA,
}

impl Automaton for &AfterPrefix<'_> {
    /// Bytes of the prefix read, then the state of the DFA; `None` is a dead end.
    type State = Option<(usize, u32)>;

    fn start(&self) -> Self::State {
        Some((0, self.dfa.initial_state()))
    }

    fn is_match(&self, state: &Self::State) -> bool {
        state.is_some_and(|(read, state)| {
            read == self.prefix.len() && matches!(self.dfa.distance(state), Distance::Exact(_))
        })
    }

    fn can_match(&self, state: &Self::State) -> bool {
        state.is_some_and(|(_, state)| state != SINK_STATE)
    }

    fn accept(&self, state: &Self::State, byte: u8) -> Self::State {
        let (read, state) = (*state)?;
        if read < self.prefix.len() {
            return (self.prefix[read] == byte).then_some((read + 1, state));
        }
        Some((read, self.dfa.transition(state, byte)))
    }
}
