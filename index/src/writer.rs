//! Writes pages into a tantivy index: a document for the page, one for its text, one for each section.
//!
//! A section's document holds each of its terms once. How often tantivy is told to have seen it is no count but a
//! *place* (1 to 10, see [`crate::place::Place`]): presence, not counts, is what the scorer ranks by, and so one posting list gives
//! document and place together.

use std::time::SystemTime;

use tantivy::indexer::{IndexWriterOptions, LogMergePolicy, MergePolicy as _, NoMergePolicy};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{IndexBuilder, IndexSettings, IndexWriter, TantivyDocument, Term};

use crate::error::{IndexError, Problem};
use crate::manifest::{Manifest, Rules};
use crate::overlay::Overlay;
use crate::page::Page;
use crate::record::PageRecord;
use crate::section_terms::SectionTerms;
use crate::snapshot::Snapshot;
use crate::tree::DocsTree;
use crate::update::{Touched, compare};

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
pub(crate) const RECORD_FIELD: &str = "record-4";

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
        let mut terms = SectionTerms::new(page);
        for (section, position) in page.sections.iter().zip(1..) {
            let (record, terms) = terms.collect(section);
            let mut document = TantivyDocument::default();
            document.add_text(fields.path, &page.path);
            document.add_u64(fields.position, position);
            document.add_text(fields.terms, terms);
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

const PLACE_TOKENIZER: &str = "place";

fn register_tokenizer(index: &mut tantivy::Index) {
    index.tokenizers().register(PLACE_TOKENIZER, PlaceTokenizer);
}

/// Hands each term to tantivy as often as its place code says; see [`SectionTerms`].
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
