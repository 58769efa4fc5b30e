//! Writes pages into a tantivy index: a document for the page, one for its text, one for each section.
//!
//! A section's document holds each of its terms once. How often tantivy is told to have seen it is no count but a
//! *place* (1 to 10, see [`Place`]): presence, not counts, is what the scorer ranks by, and so one posting list gives
//! document and place together.

use std::collections::HashMap;
use std::time::SystemTime;

use tantivy::indexer::{
    IndexWriterOptions, LogMergePolicy, MergePolicy as _, NoMergePolicy,
};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{IndexBuilder, IndexSettings, IndexWriter, TantivyDocument, Term};

use crate::error::{IndexError, Problem};
use crate::language::stem;
use crate::manifest::{Manifest, Rules};
use crate::overlay::Overlay;
use crate::page::Page;
use crate::place::Place;
use crate::record::{PageRecord, SectionRecord};
use crate::section::Section;
use crate::snapshot::Snapshot;
use crate::terms::{TermKind, cut};
use crate::tree::DocsTree;
use crate::update::{Touched, compare};

/// The first words of a section's text say what it is about; ranking.md measured +0.017 nDCG at about this many.
const LEAD_WORDS: u32 = 25;

/// Separates a language from a word in the term dictionary, and from a stem: no word holds a control character.
pub(crate) const WORD_MARK: char = '\u{1}';
pub(crate) const STEM_MARK: char = '\u{2}';
/// Marks two neighbours written as one.
pub(crate) const JOINED_MARK: char = '\u{3}';

/// Memory that one writing thread may fill before it closes a segment; tantivy takes what it needs below it.
const WRITER_HEAP_BYTES: usize = 256 * 1024 * 1024;

/// So many segments of about one size are merged into one: each costs a query a look-up for each of its terms.
const MAX_SEGMENTS_OF_A_SIZE: usize = 8;
/// Segments below so many documents count as of one size: an edit writes a handful.
const SMALL_SEGMENT_DOCS: u32 = 2_000;
/// A segment is rewritten when more of it than this is deleted copies.
const MAX_DELETED_SHARE: f32 = 0.2;

/// The field that holds the records. Its number is raised whenever the same tree gives other records or terms than
/// before, so that no version reads another's index: `index/tests/format.rs` fails when that was forgotten.
pub(crate) const RECORD_FIELD: &str = "record-3";

/// The position of the document with a page's text: after the page (0) and its sections (from 1).
pub(crate) const TEXT_POSITION: u32 = u32::MAX;

/// Names of the index's fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) path: Field,
    pub(crate) position: Field,
    pub(crate) terms: Field,
    pub(crate) record: Field,
}

pub(crate) fn schema() -> (Schema, Fields) {
    let mut schema = Schema::builder();
    let places = TextFieldIndexing::default()
        .set_tokenizer(PLACE_TOKENIZER)
        .set_fieldnorms(false)
        .set_index_option(IndexRecordOption::WithFreqs);
    let fields = Fields {
        path: schema.add_text_field("path", STRING | FAST),
        position: schema.add_u64_field("position", NumericOptions::default().set_fast()),
        terms: schema.add_text_field("terms", TextOptions::default().set_indexing_options(places)),
        record: schema.add_bytes_field(RECORD_FIELD, STORED),
    };
    (schema.build(), fields)
}

/// An index that pages are put into and snapshots are taken from.
pub struct Index {
    inner: tantivy::Index,
    writer: IndexWriter<TantivyDocument>,
    fields: Fields,
    generation: u64,
}

impl Index {
    /// An empty index in memory, written by `threads` threads (1 to 8; more make more segments, never other answers).
    pub fn in_memory(threads: usize) -> Result<Self, IndexError> {
        let (schema, fields) = schema();
        let index = Self::builder(schema).open_or_create(Overlay::default())?;
        Self::with(index, fields, threads)
    }

    /// Makes tantivy's part of an index.
    pub(crate) fn builder(schema: Schema) -> IndexBuilder {
        tantivy::Index::builder().schema(schema).settings(settings())
    }

    /// A writer that goes on from the snapshot of a generation and merges segments while it is at rest.
    pub(crate) fn following(
        index: tantivy::Index,
        fields: Fields,
        generation: u64,
    ) -> Result<Self, IndexError> {
        let mut index = Self::with(index, fields, 1)?;
        index.generation = generation;
        index.writer.set_merge_policy(Box::new(merge_policy()));
        Ok(index)
    }

    /// A writer of an index, which nobody else may write.
    pub(crate) fn with(
        mut index: tantivy::Index,
        fields: Fields,
        threads: usize,
    ) -> Result<Self, IndexError> {
        register_tokenizer(&mut index);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads.clamp(1, 8))
            .memory_budget_per_thread(WRITER_HEAP_BYTES)
            // Each thread keeps memory of its own, and one is fast enough.
            .num_merge_threads(1)
            .build();
        let writer = match index.writer_with_options(options) {
            Err(tantivy::TantivyError::LockFailure(..)) => {
                return Err(IndexError::Locked { by: None });
            }
            other => other?,
        };
        writer.set_merge_policy(Box::new(NoMergePolicy));
        Ok(Self { inner: index, writer, fields, generation: 0 })
    }

    /// Puts a page in, in place of the page at the same path. Seen by the next [`Self::commit`].
    pub fn put(&self, page: &Page) -> Result<(), IndexError> {
        self.remove(&page.path);
        self.add(page)
    }

    /// Takes a page out. Seen by the next [`Self::commit`].
    pub fn remove(&self, path: &str) {
        self.writer.delete_term(Term::from_field_text(self.fields.path, path));
    }

    /// Merges all segments into one: fewer look-ups, the same answers.
    pub fn merge(&mut self) -> Result<(), IndexError> {
        let segments = self.inner.searchable_segment_ids()?;
        if segments.len() > 1 {
            self.writer.merge(&segments).wait()?;
        }
        Ok(())
    }

    /// Merges segments of one size, and rewrites those that are mostly deleted copies.
    pub(crate) fn compact(&mut self) -> Result<(), IndexError> {
        let policy = merge_policy();
        // Each round leaves fewer segments or fewer deleted copies; what two rounds leave can wait for the next commit.
        for _ in 0..2 {
            for merge in policy.compute_merge_candidates(&self.inner.searchable_segment_metas()?) {
                self.writer.merge(&merge.0).wait()?;
            }
        }
        self.writer.garbage_collect_files().wait()?;
        Ok(())
    }

    /// Makes all changes visible at once, as the next generation.
    pub fn commit(&mut self) -> Result<Snapshot, IndexError> {
        self.commit_quietly()?;
        self.generation += 1;
        self.snapshot(None)
    }

    /// Makes all changes visible to who opens the index from now on.
    pub(crate) fn commit_quietly(&mut self) -> Result<(), IndexError> {
        self.writer.commit()?;
        Ok(())
    }

    /// The same, with a text that stays with the commit.
    pub(crate) fn commit_with(&mut self, payload: &str) -> Result<(), IndexError> {
        let mut commit = self.writer.prepare_commit()?;
        commit.set_payload(payload);
        commit.commit()?;
        Ok(())
    }

    /// What was last committed, as the generation after `previous`.
    pub(crate) fn next_snapshot(&mut self, previous: &Snapshot) -> Result<Snapshot, IndexError> {
        self.generation += 1;
        self.snapshot(Some(previous))
    }

    /// What was last committed. What `previous` knows of the same segments is taken over.
    pub(crate) fn snapshot(&self, previous: Option<&Snapshot>) -> Result<Snapshot, IndexError> {
        Snapshot::open(&self.inner, self.fields, self.generation.max(1), previous)
    }

    /// Takes all pages out. Seen by the next commit.
    pub(crate) fn clear(&self) -> Result<(), IndexError> {
        self.writer.delete_all_documents()?;
        Ok(())
    }

    /// The error of a thread in place of the one that says that a thread failed.
    pub(crate) fn first_cause(&mut self, error: IndexError) -> IndexError {
        match &error {
            // Waits for the threads and is never carried out.
            IndexError::Engine(tantivy::TantivyError::ErrorInThread(_)) => {
                self.writer.prepare_commit().err().map_or(error, IndexError::from)
            }
            _ => error,
        }
    }

    /// Puts in a page that the index does not hold.
    pub(crate) fn add(&self, page: &Page) -> Result<(), IndexError> {
        let fields = self.fields;
        let mut document = TantivyDocument::default();
        document.add_text(fields.path, &page.path);
        document.add_u64(fields.position, 0);
        document.add_bytes(fields.record, &PageRecord::new(page).encode());
        self.writer.add_document(document)?;
        let mut document = TantivyDocument::default();
        document.add_text(fields.path, &page.path);
        document.add_u64(fields.position, u64::from(TEXT_POSITION));
        document.add_bytes(fields.record, page.text.as_bytes());
        self.writer.add_document(document)?;
        let context = page_context(page);
        let mut terms = SectionTerms::default();
        for (i, section) in page.sections.iter().enumerate() {
            let record = terms.collect(page, &context, section);
            let mut document = TantivyDocument::default();
            document.add_text(fields.path, &page.path);
            document.add_u64(fields.position, i as u64 + 1);
            document.add_text(fields.terms, terms.encode(&page.lang));
            document.add_bytes(fields.record, &record.encode());
            self.writer.add_document(document)?;
        }
        Ok(())
    }
}

/// Reads every page of a tree into a new index in memory, with `threads` threads reading and one writing.
pub fn build(
    tree: &DocsTree,
    threads: usize,
) -> Result<(Index, Snapshot, Vec<Problem>), IndexError> {
    let mut index = Index::in_memory(1)?;
    let mut manifest = Manifest::empty(Rules::default());
    let comparison = compare(&manifest, Some(tree), &Touched::default());
    // Without a second look no stamp is needed.
    let (mut changes, delta) =
        comparison.apply(&manifest, &index, SystemTime::UNIX_EPOCH, threads, &|_, _| ())?;
    manifest.absorb(delta, &mut changes);
    let snapshot = index.commit()?;
    Ok((index, snapshot, changes.problems))
}

fn merge_policy() -> LogMergePolicy {
    let mut policy = LogMergePolicy::default();
    policy.set_min_num_segments(MAX_SEGMENTS_OF_A_SIZE);
    policy.set_min_layer_size(SMALL_SEGMENT_DOCS);
    policy.set_del_docs_ratio_before_merge(MAX_DELETED_SHARE);
    policy
}

fn settings() -> IndexSettings {
    // Records are read one by one and mostly short; a compressed block would be unpacked for each.
    IndexSettings {
        docstore_compression: Compressor::None,
        // Without compression a thread of its own has nothing to do.
        docstore_compress_dedicated_thread: false,
        ..IndexSettings::default()
    }
}

/// The texts that every section of a page stands under.
fn page_context(page: &Page) -> Vec<(&str, Place)> {
    let path = page.path.rsplit_once('.').map_or(page.path.as_str(), |(path, _)| path);
    let keywords = page.keywords.iter().map(|text| (text.as_str(), Place::Context));
    [(page.title.as_str(), Place::Context), (path, Place::Trail)]
        .into_iter()
        .chain(keywords)
        .collect()
}

/// Whether a section is just the front matter of a page with more to say: its title is the page's, no heading.
fn is_front_matter_alone(page: &Page, section: &Section) -> bool {
    section.level == 0 && section.text.trim().is_empty() && page.sections.len() > 1
}

/// The distinct terms of one section with their strongest places. Kept between sections for its memory.
#[derive(Default)]
struct SectionTerms {
    /// Hash of key to entry; a taken slot moves on to the next number.
    slots: HashMap<u64, u32, std::hash::BuildHasherDefault<PassThrough>>,
    /// Keys (mark and text) one after another, and their ends and the strengths of their places.
    keys: String,
    entries: Vec<(u32, u8)>,
}

impl SectionTerms {
    fn collect(
        &mut self,
        page: &Page,
        context: &[(&str, Place)],
        section: &Section,
    ) -> SectionRecord {
        let lang = page.lang.as_str();
        self.slots.clear();
        self.keys.clear();
        self.entries.clear();
        let trail = section.heading_path.iter().map(|text| (text.as_str(), Place::Trail));
        for (text, place) in context.iter().copied().chain(trail) {
            cut(text, |term| {
                self.note(lang, term.text, place.strength(term.kind == TermKind::Part));
            });
        }
        let heading = if is_front_matter_alone(page, section) { "" } else { &section.heading };
        self.note_joined(lang, &page.title, Place::Context);
        self.note_joined(lang, heading, Place::Heading);
        let mut heading_stems = Vec::new();
        cut(heading, |term| {
            self.note(lang, term.text, Place::Heading.strength(term.kind == TermKind::Part));
            if term.kind == TermKind::Word {
                heading_stems.push(stem_hash(stem(lang, term.text)));
            }
        });
        let mut stems = Vec::new();
        let mut starts = Vec::new();
        cut(&section.text, |term| {
            let place = if term.position < LEAD_WORDS { Place::Lead } else { Place::Text };
            self.note(lang, term.text, place.strength(term.kind == TermKind::Part));
            if term.kind == TermKind::Word {
                stems.push(stem_hash(stem(lang, term.text)));
                starts.push(term.start_byte);
            }
        });
        SectionRecord::new(section, heading_stems, &stems, starts)
    }

    fn note(&mut self, lang: &str, word: &str, strength: u8) {
        self.note_key(WORD_MARK, word, strength);
        let stem = stem(lang, word);
        if stem != word {
            self.note_key(STEM_MARK, stem, strength);
        }
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

    /// The terms as [`PlaceTokenizer`] reads them: a line each, place code, language, mark, word.
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

const PLACE_TOKENIZER: &str = "place";

fn register_tokenizer(index: &mut tantivy::Index) {
    index.tokenizers().register(PLACE_TOKENIZER, PlaceTokenizer);
}

/// Hands each term to tantivy as often as its place code says; see [`SectionTerms::encode`].
#[derive(Clone)]
struct PlaceTokenizer;

impl Tokenizer for PlaceTokenizer {
    type TokenStream<'a> = PlaceTokens<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> PlaceTokens<'a> {
        PlaceTokens { lines: text.lines(), token: Token::default(), repeats: 0 }
    }
}

struct PlaceTokens<'a> {
    lines: std::str::Lines<'a>,
    token: Token,
    repeats: u8,
}

impl TokenStream for PlaceTokens<'_> {
    fn advance(&mut self) -> bool {
        self.token.position = self.token.position.wrapping_add(1);
        if self.repeats > 0 {
            self.repeats -= 1;
            return true;
        }
        let Some(line) = self.lines.next() else { return false };
        self.token.text.clear();
        self.token.text.push_str(line.get(1..).unwrap_or_default());
        self.repeats = line.as_bytes().first().map_or(0, |code| code.saturating_sub(b'1'));
        true
    }

    fn token(&self) -> &Token {
        &self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.token
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("generation", &self.generation).finish_non_exhaustive()
    }
}
