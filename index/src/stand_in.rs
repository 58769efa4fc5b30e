//! What stands in for a word: completions and near spellings of a word that no section holds, its two halves, and its
//! cognates in a language that does not have it.

use std::sync::LazyLock;

use levenshtein_automata::{DFA, Distance, LevenshteinAutomatonBuilder, SINK_STATE};
use tantivy_fst::Automaton;

use crate::error::IndexError;
use crate::query::MIN_HALF_LETTERS;
use crate::section_terms::WORD_MARK;
use crate::term_lookup::TermLookup;

/// A longer word that begins with the query's.
const PREFIX_WEIGHT: f64 = 0.8;
/// A spelling one edit away, or two.
const ONE_EDIT_WEIGHT: f64 = 0.7;
const TWO_EDITS_WEIGHT: f64 = 0.5;
/// Shorter words are completed to nearly anything.
const MIN_PREFIX_LETTERS: usize = 3;
/// Words up to this many letters are one edit away from too many others to allow two.
const ONE_EDIT_MAX_LETTERS: usize = 6;
/// At most this many words stand in for one: the most frequent.
const MAX_STAND_INS: usize = 3;
/// Cognates share at least so many letters, and this share of the stem: `referenc`-ia, `referenc`-e.
const MIN_COGNATE_LETTERS: usize = 5;
const COGNATE_SHARE: (usize, usize) = (3, 5);
/// Their endings differ, but not by whole words: `contribuir` is no `contributorlicense`.
const MAX_COGNATE_DIFFERENCE: usize = 4;

/// Words that stand in for one that no section holds, best first, with their weights.
#[derive(Debug, Default)]
pub(crate) struct StandIns {
    pub(crate) words: Vec<(String, f64)>,
    /// Whether the best is near enough that no compound is looked for.
    pub(crate) are_near: bool,
}

/// A word of the dictionary that may stand in, its weight, and in how many sections it is.
struct Found {
    word: String,
    weight: f64,
    df: u64,
}

impl TermLookup<'_> {
    /// Longer words that begin with `word`, else words one edit away, else two.
    pub(crate) fn stand_ins(&self, word: &str) -> Result<StandIns, IndexError> {
        let words = self.completed(word)?;
        let words = if words.is_empty() { self.corrected(word)? } else { words };
        let are_near = words.first().is_some_and(|(_, weight)| *weight >= ONE_EDIT_WEIGHT);
        Ok(StandIns { words, are_near })
    }

    /// The parts of a name, those that no section holds corrected by one edit each; `None` when one cannot be.
    pub(crate) fn corrected_parts(
        &self,
        parts: &[&str],
    ) -> Result<Option<Vec<String>>, IndexError> {
        let mut corrected = Vec::new();
        for part in parts {
            let mut is_known = false;
            for lang in self.langs() {
                is_known |= self.df(lang, part)? > 0;
            }
            let word = if is_known {
                (*part).to_owned()
            } else {
                match self.corrected(part)?.into_iter().next() {
                    Some((word, weight)) if weight >= ONE_EDIT_WEIGHT => word,
                    _ => return Ok(None),
                }
            };
            corrected.push(word);
        }
        Ok(Some(corrected).filter(|parts| !parts.is_empty()))
    }

    /// Longer words that begin with `word`.
    pub(crate) fn completed(&self, word: &str) -> Result<Vec<(String, f64)>, IndexError> {
        let letters = word.chars().count();
        let unspaced = word.chars().all(crate::fold::is_unspaced);
        let mut found = Vec::new();
        if letters >= MIN_PREFIX_LETTERS || unspaced {
            for lang in self.langs() {
                self.completions(lang, word, &mut found)?;
            }
        }
        self.most_frequent(found, self.langs)
    }

    /// Words one edit away, else two. A number one digit away is another number, so it is left as it is.
    fn corrected(&self, word: &str) -> Result<Vec<(String, f64)>, IndexError> {
        let letters = word.chars().count();
        if letters < MIN_PREFIX_LETTERS || word.chars().any(char::is_numeric) {
            return Ok(Vec::new());
        }
        let found = self.near_spellings(word, 1, ONE_EDIT_WEIGHT)?;
        let words = self.most_frequent(found, self.langs)?;
        if !words.is_empty() || letters <= ONE_EDIT_MAX_LETTERS {
            return Ok(words);
        }
        let found = self.near_spellings(word, 2, TWO_EDITS_WEIGHT)?;
        self.most_frequent(found, self.langs)
    }

    /// Words of `lang` that a word of another language is told by: they begin with most of its stem.
    pub(crate) fn cognates(
        &self,
        lang: usize,
        word: &str,
        stem: &str,
    ) -> Result<Vec<String>, IndexError> {
        let (share, of) = COGNATE_SHARE;
        let n_shared = (stem.len() * share).div_ceil(of).max(MIN_COGNATE_LETTERS);
        let Some(shared) = stem.get(..n_shared).filter(|_| stem.is_ascii()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        self.completions(lang, shared, &mut found)?;
        let words = self.most_frequent(found, &[lang])?.into_iter().map(|(word, _)| word);
        Ok(words.filter(|w| w.len().abs_diff(word.len()) <= MAX_COGNATE_DIFFERENCE).collect())
    }

    /// Cuts a word in two known ones; the most frequent rarer half wins, then the longer left one.
    pub(crate) fn halves(&self, word: &str) -> Result<Option<(String, String)>, IndexError> {
        let mut best: Option<(u32, String, String)> = None;
        for (at, _) in word.char_indices().skip(MIN_HALF_LETTERS) {
            let (left, right) = word.split_at(at);
            if right.chars().count() < MIN_HALF_LETTERS {
                break;
            }
            for lang in self.langs() {
                let left_df = self.df(lang, left)?;
                let df = if left_df == 0 { 0 } else { left_df.min(self.df(lang, right)?) };
                if df > 0 && best.as_ref().is_none_or(|(known, ..)| df >= *known) {
                    best = Some((df, left.to_owned(), right.to_owned()));
                }
            }
        }
        Ok(best.map(|(_, left, right)| (left, right)))
    }

    /// Adds the words of `lang` that begin with `prefix`.
    fn completions(
        &self,
        lang: usize,
        prefix: &str,
        found: &mut Vec<Found>,
    ) -> Result<(), IndexError> {
        let first = self.key(lang, WORD_MARK, prefix);
        let end = format!("{first}\u{10ffff}");
        let skip = first.len() - prefix.len();
        for segment in &self.snapshot.segments {
            let range = segment.terms.terms().range().ge(&first).lt(&end);
            let mut stream = range.into_stream().map_err(tantivy::TantivyError::from)?;
            while let Some((key, info)) = stream.next() {
                found.extend(Found::new(&key[skip..], PREFIX_WEIGHT, info.doc_freq));
            }
        }
        Ok(())
    }

    /// Words so many edits away at most; a swap of neighbours is one edit.
    fn near_spellings(
        &self,
        word: &str,
        edits: usize,
        weight: f64,
    ) -> Result<Vec<Found>, IndexError> {
        let dfa = BUILDERS[edits - 1].build_dfa(word);
        let mut found = Vec::new();
        for lang in self.langs() {
            let prefix = self.key(lang, WORD_MARK, "");
            let automaton = AfterPrefix { prefix: prefix.as_bytes(), dfa: &dfa };
            for segment in &self.snapshot.segments {
                let search = segment.terms.terms().search(&automaton);
                let mut stream = search.into_stream().map_err(tantivy::TantivyError::from)?;
                while let Some((key, info)) = stream.next() {
                    found.extend(Found::new(&key[prefix.len()..], weight, info.doc_freq));
                }
            }
        }
        Ok(found)
    }

    /// The best few words, by weight, live sections in `langs`, then the word itself.
    fn most_frequent(
        &self,
        mut found: Vec<Found>,
        langs: &[usize],
    ) -> Result<Vec<(String, f64)>, IndexError> {
        found.sort_by(|a, b| a.word.cmp(&b.word));
        found.dedup_by(|same, kept| {
            let is_same = same.word == kept.word;
            kept.df += if is_same { same.df } else { 0 };
            is_same
        });
        let order = |a: &Found, b: &Found| {
            b.weight.total_cmp(&a.weight).then(b.df.cmp(&a.df)).then_with(|| a.word.cmp(&b.word))
        };
        found.sort_by(order);
        if self.snapshot.segments.iter().any(|segment| segment.reader.has_deletes()) {
            // The dictionary counts deleted copies too, so its counts only say how frequent a word is at most.
            let mut live: Vec<Found> = Vec::new();
            for mut word in found {
                let worst = live.get(MAX_STAND_INS - 1);
                if worst.is_some_and(|worst| order(worst, &word).is_lt()) {
                    break;
                }
                word.df = 0;
                for &lang in langs {
                    word.df += u64::from(self.df(lang, &word.word)?);
                }
                if word.df > 0 {
                    let at = live.partition_point(|other| order(other, &word).is_lt());
                    live.insert(at, word);
                }
            }
            found = live;
        }
        found.truncate(MAX_STAND_INS);
        Ok(found.into_iter().map(|found| (found.word, found.weight)).collect())
    }
}

impl Found {
    /// A word of the dictionary; `None` for names with signs, which stand in for nothing.
    fn new(word: &[u8], weight: f64, df: u32) -> Option<Self> {
        let word = std::str::from_utf8(word).ok()?;
        let is_word = word.chars().all(char::is_alphanumeric);
        is_word.then(|| Self { word: word.to_owned(), weight, df: u64::from(df) })
    }
}

/// For one and two edits, a swap of neighbours being one. Made once: their tables take longer than a query.
static BUILDERS: LazyLock<[LevenshteinAutomatonBuilder; 2]> =
    LazyLock::new(|| [1, 2].map(|edits| LevenshteinAutomatonBuilder::new(edits, true)));

/// A Levenshtein automaton that begins after a fixed prefix.
struct AfterPrefix<'a> {
    prefix: &'a [u8],
    dfa: &'a DFA,
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
