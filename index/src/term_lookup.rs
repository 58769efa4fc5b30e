//! Looks terms up in a snapshot: their posting lists, with the number of live sections in each.

use std::cell::RefCell;

use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

use crate::error::IndexError;
use crate::language;
use crate::place::Place;
use crate::section_terms::{STEM_MARK, WORD_MARK};
use crate::snapshot::{SegmentView, Snapshot};

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

/// The terms of a snapshot, in the languages that a query asks.
pub(crate) struct TermLookup<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) langs: &'a [usize],
    /// The key of a look-up, kept for its memory.
    key: RefCell<String>,
}

impl ListPostings {
    fn len(&self) -> usize {
        match self {
            Self::Stored(info) => info.doc_freq as usize,
            Self::Made(made) => made.len(),
        }
    }
}

impl<'a> TermLookup<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, langs: &'a [usize]) -> Self {
        Self { snapshot, langs, key: RefCell::default() }
    }

    /// The languages asked, as indexes into the snapshot's.
    pub(crate) fn langs(&self) -> impl Iterator<Item = usize> + use<'a> {
        self.langs.iter().copied()
    }

    pub(crate) fn n_sections(&self, lang: usize) -> u32 {
        self.snapshot.langs[lang].n_sections
    }

    pub(crate) fn stem<'w>(&self, lang: usize, word: &'w str) -> &'w str {
        language::stem(&self.snapshot.langs[lang].code, word)
    }

    /// How many live sections of a language hold a word.
    pub(crate) fn df(&self, lang: usize, word: &str) -> Result<u32, IndexError> {
        Ok(self.list(lang, WORD_MARK, word, 1.0)?.map_or(0, |list| list.df))
    }

    /// The key of a term in the dictionary.
    pub(crate) fn key(&self, lang: usize, mark: char, word: &str) -> String {
        let mut key = String::new();
        self.write_key(&mut key, lang, mark, word);
        key
    }

    fn write_key(&self, key: &mut String, lang: usize, mark: char, word: &str) {
        key.clear();
        key.push_str(&self.snapshot.langs[lang].code);
        key.push(mark);
        key.push_str(word);
    }

    /// The sections that hold all of several words, each in the weakest of its words' places.
    pub(crate) fn all_of(
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
    pub(crate) fn list(
        &self,
        lang: usize,
        mark: char,
        word: &str,
        variant: f64,
    ) -> Result<Option<TermList>, IndexError> {
        let mut key = self.key.borrow_mut();
        self.write_key(&mut key, lang, mark, word);
        let mut df = 0;
        let mut postings = Vec::new();
        for (ord, segment) in self.snapshot.segments.iter().enumerate() {
            let info =
                segment.terms.terms().get(key.as_bytes()).map_err(tantivy::TantivyError::from)?;
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
