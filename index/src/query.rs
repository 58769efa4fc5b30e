//! From a query's words to what is looked up: terms and their variants in each language.

use crate::error::IndexError;
use crate::language;
use crate::section_terms::{JOINED_MARK, STEM_MARK, WORD_MARK, stem_hash};
use crate::snapshot::Snapshot;
use crate::stand_in::StandIns;
use crate::term_lookup::{TermList, TermLookup};
use crate::terms::{TermKind, cut};

/// More distinct words than this say nothing more; later ones are left out, so that no query is slow.
pub(crate) const MAX_QUERY_WORDS: usize = 48;

/// A word of the same stem: an exact word must beat its variants (retrieval.md: full weight −0.015).
pub(crate) const STEM_WEIGHT: f64 = 0.85;
/// One word written as two, or several as one.
pub(crate) const COMPOUND_WEIGHT: f64 = 0.8;
/// All parts of the query's name (`append` and `log` for `appendLog`) in place of the name.
pub(crate) const PARTS_WEIGHT: f64 = 0.8;
/// A cognate in a language that does not have the word: `reference` for `referencia`.
pub(crate) const COGNATE_WEIGHT: f64 = 0.7;
/// So many words in a row may be one name: `persistent volume claim`.
const MAX_COMPOUND_WORDS: usize = 3;
/// Halves of a compound have at least this many letters.
pub(crate) const MIN_HALF_LETTERS: usize = 3;

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
    plan.stems = vec![vec![Vec::new(); plan.words.len()]; snapshot.langs.len()];
    let mut planner = Planner { lookup: TermLookup::new(snapshot, langs), plan };
    for i in 0..planner.plan.words.len() {
        let word = planner.plan.words[i].text.clone();
        planner.matches_words(i, &[&word]);
        let seen_before = planner.plan.words[..i].iter().any(|other| other.text == word);
        if !planner.plan.words[i].ignored && !seen_before {
            let parts: Vec<&str> =
                parts.iter().filter(|(at, _)| *at == i).map(|(_, part)| part.as_str()).collect();
            planner.add_word(i, &word, &parts)?;
        }
    }
    planner.add_joined()?;
    planner.add_names(names)?;
    Ok(planner.plan)
}

impl QueryTerm {
    pub(crate) fn is_known(&self) -> bool {
        self.langs.iter().any(|lang| !lang.lists.is_empty())
    }
}

impl LangTerm {
    /// Adds a form. All forms are worth what the word itself is worth, else the first one that is known.
    fn add(&mut self, list: TermList, n_sections: u32) {
        if self.lists.is_empty() {
            self.df = list.df;
            self.idf = idf(n_sections, list.df);
        }
        self.lists.push(list);
    }
}

/// Fills a plan from look-ups.
struct Planner<'a> {
    lookup: TermLookup<'a>,
    plan: Plan,
}

impl Planner<'_> {
    /// Adds the term of word `i`: its forms, its parts and its cognates, or what stands in for it.
    fn add_word(&mut self, i: usize, word: &str, parts: &[&str]) -> Result<(), IndexError> {
        let mut term = self.term(word, Some(i));
        let mut is_compound = false;
        for lang in self.lookup.langs() {
            self.add(&mut term, lang, self.forms(lang, word, 1.0)?);
            if word.len() >= 2 * MIN_HALF_LETTERS {
                let stem = self.lookup.stem(lang, word);
                let joined = self.lookup.list(lang, JOINED_MARK, stem, COMPOUND_WEIGHT)?;
                is_compound |= joined.is_some();
                self.add(&mut term, lang, joined);
            }
            self.add(&mut term, lang, self.lookup.all_of(lang, parts, PARTS_WEIGHT)?);
        }
        if !term.is_known() {
            return self.add_stand_in(i, word, parts);
        }
        if is_compound && let Some((left, right)) = self.lookup.halves(word)? {
            self.matches_words(i, &[&left, &right]);
        }
        self.add_cognates(&mut term, i, word)?;
        self.plan.terms.push(term);
        Ok(())
    }

    /// Adds what a word is called in a language that does not have it, as far as spelling tells.
    fn add_cognates(
        &mut self,
        term: &mut QueryTerm,
        i: usize,
        word: &str,
    ) -> Result<(), IndexError> {
        let knows = |lang: &usize| !term.langs[*lang].lists.is_empty();
        let Some(home) = self.lookup.langs().find(knows) else { return Ok(()) };
        let stem = self.lookup.stem(home, word);
        for lang in self.lookup.langs().filter(|lang| !knows(lang)).collect::<Vec<_>>() {
            for cognate in self.lookup.cognates(lang, word, stem)? {
                self.add(term, lang, self.forms(lang, &cognate, COGNATE_WEIGHT)?);
                let hash = stem_hash(self.lookup.stem(lang, &cognate));
                self.plan.stems[lang][i].push(hash);
            }
        }
        Ok(())
    }

    /// For a word that no section holds: its two halves side by side, else longer words that begin with it, else near
    /// spellings. A name is corrected in its parts: one near the whole is another name. The word is reported either way.
    fn add_stand_in(&mut self, i: usize, word: &str, parts: &[&str]) -> Result<(), IndexError> {
        let mut term = self.term(word, Some(i));
        let StandIns { words, are_near } = if parts.is_empty() {
            self.lookup.stand_ins(word)?
        } else {
            StandIns { words: self.lookup.completed(word)?, are_near: true }
        };
        let mut used: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
        let together = if !parts.is_empty() && words.is_empty() {
            self.lookup.corrected_parts(parts)?
        } else if are_near {
            None
        } else {
            self.lookup.halves(word)?.map(|(left, right)| vec![left, right])
        };
        let together = together.unwrap_or_default();
        let together: Vec<&str> = together.iter().map(String::as_str).collect();
        for lang in self.lookup.langs() {
            self.add(&mut term, lang, self.lookup.all_of(lang, &together, COMPOUND_WEIGHT)?);
        }
        if term.is_known() {
            self.matches_words(i, &together);
            used = vec![together.join(" ")];
        } else {
            for lang in self.lookup.langs() {
                let mut lists = Vec::new();
                for (word, weight) in &words {
                    lists.extend(self.forms(lang, word, *weight)?);
                }
                strongest_first(&mut lists);
                self.add(&mut term, lang, lists);
            }
            self.matches_words(i, &used.iter().map(String::as_str).collect::<Vec<_>>());
        }
        self.plan.terms.push(term);
        self.plan.unmatched.push(Unmatched { term: word.to_owned(), used });
        Ok(())
    }

    /// Adds `configmap` to the terms of `config map`, and `persistentvolumeclaim` to those of its three words.
    fn add_joined(&mut self) -> Result<(), IndexError> {
        let n_words = self.plan.words.len();
        let written: Vec<String> = self.plan.words.iter().map(|word| self.as_used(word)).collect();
        for start in 0..n_words {
            for end in start + 2..=(start + MAX_COMPOUND_WORDS).min(n_words) {
                if self.plan.words[start..end].iter().any(|word| word.ignored) {
                    break;
                }
                let joined = written[start..end].concat();
                // A language that has none of the words has no name made of them either.
                for lang in self.lookup.langs() {
                    if !self.knows_any(start..end, lang) {
                        continue;
                    }
                    let lists = self.compounds(lang, &joined)?;
                    if !lists.is_empty() {
                        self.add_compound(start..end, lang, &joined, &lists);
                    }
                }
            }
        }
        for lang in self.plan.terms.iter_mut().flat_map(|term| &mut term.langs) {
            strongest_first(&mut lang.lists);
        }
        Ok(())
    }

    fn knows_any(&self, run: std::ops::Range<usize>, lang: usize) -> bool {
        let words = &self.plan.words[run];
        let of_run = |term: &&QueryTerm| words.iter().any(|word| word.text == term.text);
        self.plan.terms.iter().filter(of_run).any(|term| !term.langs[lang].lists.is_empty())
    }

    fn add_compound(
        &mut self,
        run: std::ops::Range<usize>,
        lang: usize,
        joined: &str,
        lists: &[TermList],
    ) {
        let hash = stem_hash(self.lookup.stem(lang, joined));
        for i in run {
            self.plan.stems[lang][i].push(hash);
            let word = &self.plan.words[i].text;
            let n_sections = self.lookup.n_sections(lang);
            for term in self.plan.terms.iter_mut().filter(|term| term.text == *word) {
                for list in lists {
                    term.langs[lang].add(list.clone(), n_sections);
                }
            }
        }
    }

    /// Adds names joined by signs (`live-reload`) and names with signs (`c++`) as terms of their own.
    fn add_names(&mut self, mut names: Vec<String>) -> Result<(), IndexError> {
        names.dedup();
        for name in names {
            let mut term = self.term(&name, None);
            for lang in self.lookup.langs() {
                self.add(&mut term, lang, self.lookup.list(lang, WORD_MARK, &name, 1.0)?);
            }
            if term.is_known() && !self.plan.terms.iter().any(|other| other.text == name) {
                self.plan.terms.push(term);
            }
        }
        Ok(())
    }

    /// The word itself, its stem, and the other words of that stem.
    fn forms(&self, lang: usize, word: &str, weight: f64) -> Result<Vec<TermList>, IndexError> {
        let mut lists = Vec::new();
        lists.extend(self.lookup.list(lang, WORD_MARK, word, weight)?);
        let stem = self.lookup.stem(lang, word);
        lists.extend(self.lookup.list(lang, STEM_MARK, stem, weight * STEM_WEIGHT)?);
        if stem != word {
            lists.extend(self.lookup.list(lang, WORD_MARK, stem, weight * STEM_WEIGHT)?);
        }
        Ok(lists)
    }

    /// The same for words written as one, each worth no more than a compound.
    fn compounds(&self, lang: usize, joined: &str) -> Result<Vec<TermList>, IndexError> {
        let mut lists = self.forms(lang, joined, COMPOUND_WEIGHT)?;
        for list in &mut lists {
            list.variant = COMPOUND_WEIGHT;
        }
        Ok(lists)
    }

    /// A word as the plan looks for it: the first of its stand-ins when it has any.
    fn as_used(&self, word: &QueryWord) -> String {
        let unmatched = self.plan.unmatched.iter().find(|unmatched| unmatched.term == word.text);
        unmatched.and_then(|unmatched| unmatched.used.first()).unwrap_or(&word.text).clone()
    }

    /// Lets nearness take `words` for word `i`.
    fn matches_words(&mut self, i: usize, words: &[&str]) {
        for lang in self.lookup.langs() {
            let hashes = words.iter().map(|word| stem_hash(self.lookup.stem(lang, word)));
            self.plan.stems[lang][i].extend(hashes);
        }
    }

    fn term(&self, text: &str, word: Option<usize>) -> QueryTerm {
        let langs = vec![LangTerm::default(); self.plan.stems.len()];
        QueryTerm { text: text.to_owned(), word, langs }
    }

    fn add(&self, term: &mut QueryTerm, lang: usize, lists: impl IntoIterator<Item = TermList>) {
        let n_sections = self.lookup.n_sections(lang);
        lists.into_iter().for_each(|list| term.langs[lang].add(list, n_sections));
    }
}

/// The scorer takes a word's coverage from the first list that it meets.
fn strongest_first(lists: &mut [TermList]) {
    lists.sort_by(|a, b| b.variant.total_cmp(&a.variant));
}

/// `ln(1 + (N − df + 0.5) / (df + 0.5))`: Robertson and Zaragoza 2009, kept positive. `libm`'s logarithm is the same on
/// every machine.
pub(crate) fn idf(n_sections: u32, df: u32) -> f64 {
    let (n, df) = (f64::from(n_sections), f64::from(df));
    libm::log(1.0 + (n - df + 0.5) / (df + 0.5))
}
