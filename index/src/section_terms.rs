//! The terms of a section, each with its strongest place, as the index keeps them.

use std::collections::HashMap;

use crate::language::stem;
use crate::page::Page;
use crate::place::Place;
use crate::record::SectionRecord;
use crate::section::Section;
use crate::terms::{TermKind, cut};

/// The first words of a section's text say what it is about; ranking.md measured +0.017 nDCG at about this many.
const LEAD_WORDS: u32 = 25;

/// Separates a language from a word in the term dictionary, and from a stem: no word holds a control character.
pub(crate) const WORD_MARK: char = '\u{1}';
pub(crate) const STEM_MARK: char = '\u{2}';
/// Marks two neighbours written as one.
pub(crate) const JOINED_MARK: char = '\u{3}';

/// A word of prose takes about so many bytes with the space after it.
const BYTES_A_WORD: usize = 6;

/// Collects the terms of a page's sections, one after another.
pub(crate) struct SectionTerms<'a> {
    page: &'a Page,
    /// What every section of the page stands under: its title, keywords and path.
    context: Terms,
    /// The terms of the section at hand; kept between sections for its memory.
    terms: Terms,
}

impl<'a> SectionTerms<'a> {
    pub(crate) fn new(page: &'a Page) -> Self {
        let mut context = Terms::default();
        let path = page.path.rsplit_once('.').map_or(page.path.as_str(), |(path, _)| path);
        context.note_text(&page.lang, path, Place::Trail);
        for text in [&page.title].into_iter().chain(&page.keywords) {
            context.note_text(&page.lang, text, Place::Context);
        }
        context.note_joined(&page.lang, &page.title, Place::Context);
        Self { page, context, terms: Terms::default() }
    }

    /// The record of a section, and its terms as the index reads them.
    pub(crate) fn collect(&mut self, section: &Section) -> (SectionRecord, String) {
        let lang = self.page.lang.as_str();
        let terms = &mut self.terms;
        terms.restart_from(&self.context);
        for text in &section.heading_path {
            terms.note_text(lang, text, Place::Trail);
        }
        let heading = if is_front_matter_alone(self.page, section) { "" } else { &section.heading };
        terms.note_joined(lang, heading, Place::Heading);
        let mut heading_stems = Vec::new();
        cut(heading, |term| {
            let strength = Place::Heading.strength(term.kind == TermKind::Part);
            let stem = terms.note(lang, term.text, strength);
            if term.kind == TermKind::Word {
                heading_stems.push(stem_hash(stem));
            }
        });
        let n_words = section.text.len() / BYTES_A_WORD;
        let (mut stems, mut starts) = (Vec::with_capacity(n_words), Vec::with_capacity(n_words));
        cut(&section.text, |term| {
            let place = if term.position < LEAD_WORDS { Place::Lead } else { Place::Text };
            let stem = terms.note(lang, term.text, place.strength(term.kind == TermKind::Part));
            if term.kind == TermKind::Word {
                stems.push(stem_hash(stem));
                starts.push(term.start_byte);
            }
        });
        let record = SectionRecord::new(section, heading_stems, &stems, starts);
        (record, self.terms.encode(lang))
    }
}

/// Whether a section is just the front matter of a page with more to say: its title is the page's, no heading.
fn is_front_matter_alone(page: &Page, section: &Section) -> bool {
    section.level == 0 && section.text.trim().is_empty() && page.sections.len() > 1
}

/// Distinct terms with their strongest places.
#[derive(Default)]
struct Terms {
    /// Hash of key to entry; a taken slot moves on to the next number.
    slots: HashMap<u64, u32, std::hash::BuildHasherDefault<PassThrough>>,
    /// Keys (mark and text) one after another, and their ends and the strengths of their places.
    keys: String,
    entries: Vec<(u32, u8)>,
}

impl Terms {
    fn restart_from(&mut self, other: &Self) {
        self.slots.clone_from(&other.slots);
        self.keys.clone_from(&other.keys);
        self.entries.clone_from(&other.entries);
    }

    fn note_text(&mut self, lang: &str, text: &str, place: Place) {
        cut(text, |term| {
            self.note(lang, term.text, place.strength(term.kind == TermKind::Part));
        });
    }

    /// Notes a word and its stem, which it gives back.
    fn note<'w>(&mut self, lang: &str, word: &'w str, strength: u8) -> &'w str {
        self.note_key(WORD_MARK, word, strength);
        let stem = stem(lang, word);
        if stem != word {
            self.note_key(STEM_MARK, stem, strength);
        }
        stem
    }

    /// Notes the stems of neighbours as one word, so that `cheatsheets` finds the heading *Cheat sheet* and `backup` the
    /// heading *Backing up*. Only in headings and titles: in text it would double the index for one query in a thousand.
    fn note_joined(&mut self, lang: &str, text: &str, place: Place) {
        let mut before = String::new();
        cut(text, |term| {
            if term.kind == TermKind::Word {
                let stem = stem(lang, term.text);
                if !before.is_empty() {
                    before.push_str(stem);
                    self.note_key(JOINED_MARK, &before, place.strength(false));
                }
                before.clear();
                before.push_str(stem);
            }
        });
    }

    fn note_key(&mut self, mark: char, word: &str, strength: u8) {
        let mut hash = fnv64(word, mark);
        loop {
            match self.slots.get(&hash) {
                Some(&entry) if self.key(entry) == (mark, word) => {
                    let known = &mut self.entries[entry as usize].1;
                    *known = (*known).max(strength);
                    return;
                }
                Some(_) => hash = hash.wrapping_add(1),
                None => {
                    self.slots.insert(hash, self.entries.len() as u32);
                    self.keys.push(mark);
                    self.keys.push_str(word);
                    self.entries.push((self.keys.len() as u32, strength));
                    return;
                }
            }
        }
    }

    fn key(&self, entry: u32) -> (char, &str) {
        let start =
            entry.checked_sub(1).map_or(0, |before| self.entries[before as usize].0 as usize);
        let key = &self.keys[start..self.entries[entry as usize].0 as usize];
        // Marks are one byte.
        (key.chars().next().unwrap_or(WORD_MARK), &key[1..])
    }

    /// The terms as the index reads them: a line each, place code, language, mark, word.
    fn encode(&self, lang: &str) -> String {
        let mut out =
            String::with_capacity(self.keys.len() + self.entries.len() * (lang.len() + 2));
        let mut start = 0;
        for &(end, strength) in &self.entries {
            out.push(char::from(b'0' + Place::code_of_strength(strength)));
            out.push_str(lang);
            out.push_str(&self.keys[start..end as usize]);
            out.push('\n');
            start = end as usize;
        }
        out
    }
}

/// The map's keys are hashes already.
#[derive(Default)]
struct PassThrough(u64);

impl std::hash::Hasher for PassThrough {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// FNV-1a, 64 bits.
fn fnv64(word: &str, mark: char) -> u64 {
    let seed = 0xcbf2_9ce4_8422_2325 ^ u64::from(mark as u32);
    let hash = word
        .bytes()
        .fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    // The map takes low bits for its slot and high bits for its tag: spread both.
    hash ^ (hash >> 29)
}

/// A stem as the records keep it: 32 bits tell the few stems of a query from those of a section.
pub(crate) fn stem_hash(stem: &str) -> u32 {
    let hash = fnv64(stem, WORD_MARK);
    (hash ^ (hash >> 32)) as u32
}
