//! Writes pages into a tantivy index: one document a page, one a section.
//!
//! A section's document holds each of its terms once. How often tantivy is told to have seen it is no count but a
//! *place* (1 to 10, see [`Place`]): presence, not counts, is what the scorer ranks by, and so one posting list gives
//! document and place together.

use std::path::Path;
use std::sync::mpsc;

use tantivy::directory::MmapDirectory;
use tantivy::indexer::{IndexWriterOptions, NoMergePolicy};
use tantivy::schema::{
    FAST, Field, IndexRecordOption, NumericOptions, STORED, STRING, Schema, TextFieldIndexing,
    TextOptions,
};
use tantivy::store::Compressor;
use tantivy::tokenizer::{Token, TokenStream, Tokenizer};
use tantivy::{IndexSettings, IndexWriter, TantivyDocument, Term};

use crate::error::{IndexError, Problem};
use crate::page::Page;
use crate::record::PageRecord;
use crate::section_terms::SectionTerms;
use crate::snapshot::Snapshot;
use crate::tree::DocsTree;

/// Memory that one writing thread may fill before it closes a segment; tantivy takes what it needs below it.
const WRITER_HEAP_BYTES: usize = 256 * 1024 * 1024;

/// The field that holds the records; its number changes with their form, so that no version reads another's.
const RECORD_FIELD: &str = "record-2";

/// Names of the index's fields.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    pub(crate) path: Field,
    pub(crate) position: Field,
    pub(crate) terms: Field,
    pub(crate) record: Field,
}

fn schema() -> (Schema, Fields) {
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
        let index =
            tantivy::Index::builder().schema(schema).settings(settings()).create_in_ram()?;
        Self::with(index, fields, threads)
    }

    /// The index in a folder, made when it is not there. What it holds stays visible to readers until [`Self::commit`].
    ///
    /// # Errors
    /// The folder cannot be made or written, another process is writing it, or it holds something else.
    pub fn in_folder(folder: &Path, threads: usize) -> Result<Self, IndexError> {
        // Tantivy's own words for a folder it may not write name absolute paths: ask first.
        let probe = folder.join(".probe");
        std::fs::create_dir_all(folder)
            .and_then(|()| std::fs::write(&probe, ""))
            .and_then(|()| std::fs::remove_file(&probe))
            .map_err(|reason| IndexError::Folder { folder: folder.to_owned(), reason })?;
        let (schema, fields) = schema();
        let directory = MmapDirectory::open(folder).map_err(tantivy::TantivyError::from)?;
        let builder = tantivy::Index::builder().schema(schema).settings(settings());
        let index = match builder.open_or_create(directory) {
            Err(tantivy::TantivyError::SchemaError(_)) => {
                return Err(IndexError::Unusable("the folder holds another index".into()));
            }
            other => other?,
        };
        Self::with(index, fields, threads)
    }

    fn with(mut index: tantivy::Index, fields: Fields, threads: usize) -> Result<Self, IndexError> {
        register_tokenizer(&mut index);
        let options = IndexWriterOptions::builder()
            .num_worker_threads(threads.clamp(1, 8))
            .memory_budget_per_thread(WRITER_HEAP_BYTES)
            .build();
        let writer = match index.writer_with_options(options) {
            Err(tantivy::TantivyError::LockFailure(..)) => return Err(IndexError::Locked),
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

    /// Makes all changes visible at once, as the next generation.
    pub fn commit(&mut self) -> Result<Snapshot, IndexError> {
        self.writer.commit()?;
        self.generation += 1;
        Snapshot::open(&self.inner, self.fields, self.generation)
    }

    fn add(&self, page: &Page) -> Result<(), IndexError> {
        let fields = self.fields;
        let mut document = TantivyDocument::default();
        document.add_text(fields.path, &page.path);
        document.add_u64(fields.position, 0);
        document.add_bytes(fields.record, &PageRecord::new(page).encode());
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

impl Snapshot {
    /// The snapshot that was last committed to a folder, read-only: no lock is taken, nothing is written.
    ///
    /// # Errors
    /// The folder holds no index, a damaged one, or one of another version.
    pub fn open_folder(folder: &Path) -> Result<Self, IndexError> {
        let unusable = |why: &str| IndexError::Unusable(why.into());
        let directory = MmapDirectory::open(folder).map_err(|_| unusable("no such folder"))?;
        let index = tantivy::Index::open(directory)
            .map_err(|_| unusable("no index in the folder, or a damaged one"))?;
        let (schema, fields) = schema();
        if index.schema() != schema {
            return Err(unusable("it was written by another version"));
        }
        Self::open(&index, fields, 1)
    }
}

/// Reads every page of a tree into a new index in memory, with `threads` threads reading and one writing.
pub fn build(
    tree: &DocsTree,
    threads: usize,
) -> Result<(Index, Snapshot, Vec<Problem>), IndexError> {
    fill(Index::in_memory(1)?, tree, threads)
}

/// Reads every page of a tree into `index`, in place of all it held, and commits once.
pub fn fill(
    mut index: Index,
    tree: &DocsTree,
    threads: usize,
) -> Result<(Index, Snapshot, Vec<Problem>), IndexError> {
    let scan = tree.scan();
    let mut problems = scan.problems;
    index.writer.delete_all_documents()?;
    let next = std::sync::atomic::AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    let failed = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1))
            .map(|_| {
                let sender = sender.clone();
                let (next, paths, index) = (&next, &scan.paths, &index);
                scope.spawn(move || -> Result<(), IndexError> {
                    loop {
                        let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(path) = paths.get(i) else { return Ok(()) };
                        let (page, found) = tree.read_page(path);
                        // The receiver outlives the workers; a failed send could only lose a warning.
                        let _ = sender.send(found);
                        if let Some(page) = page {
                            index.add(&page)?;
                        }
                    }
                })
            })
            .collect();
        let mut results = workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        results.find_map(Result::err)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    drop(sender);
    problems.extend(receiver.into_iter().flatten());
    problems.sort_unstable();
    let snapshot = index.commit()?;
    Ok((index, snapshot, problems))
}

fn settings() -> IndexSettings {
    // Records are read one by one and mostly short; a compressed block would be unpacked for each.
    IndexSettings { docstore_compression: Compressor::None, ..IndexSettings::default() }
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
