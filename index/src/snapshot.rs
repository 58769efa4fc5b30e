//! What one request sees: an immutable state of the whole tree.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tantivy::index::{InvertedIndexReader, SegmentId, SegmentReader};
use tantivy::schema::OwnedValue;
use tantivy::schema::document::{DeserializeError, DocumentDeserialize, DocumentDeserializer};
use tantivy::{DocAddress, ReloadPolicy, Searcher};

use crate::error::IndexError;
use crate::language;
use crate::record::{PageRecord, SectionRecord};
use crate::writer::{Fields, TEXT_POSITION};

/// Decoded section records kept in memory, in bytes: what a busy server's queries touch again and again. Beyond it
/// records are decoded for each answer.
const RECORD_CACHE_BYTES: usize = 256 * 1024 * 1024;

/// One consistent state of a docs tree. Cheap to share; all answers of one request come from one snapshot.
pub struct Snapshot {
    generation: u64,
    searcher: Searcher,
    pub(crate) pages: Vec<PageInfo>,
    pub(crate) segments: Vec<SegmentView>,
    /// All sections in the order of pages and positions.
    pub(crate) sections: Vec<DocAddress>,
    /// The page of each of them.
    page_of_section: Vec<u32>,
    pub(crate) langs: Vec<LangInfo>,
    /// Pages in the order of their translation groups.
    translations: Vec<u32>,
    cached_bytes: AtomicUsize,
}

/// A page of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct PageInfo {
    pub(crate) path: String,
    pub(crate) title: String,
    /// Index into [`Snapshot::langs`].
    pub(crate) lang: u8,
    /// The page's sections in [`Snapshot::sections`].
    pub(crate) first_section: u32,
    pub(crate) n_sections: u32,
    /// Translations of one page share a group: where it begins in [`Snapshot::translations`].
    pub(crate) group: u32,
    /// How many other pages are in the group.
    pub(crate) n_twins: u32,
    address: DocAddress,
    text_address: DocAddress,
}

/// A language of a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct LangInfo {
    pub(crate) code: String,
    pub(crate) n_sections: u32,
}

/// One tantivy segment with what ranking needs of its documents.
pub(crate) struct SegmentView {
    pub(crate) reader: SegmentReader,
    pub(crate) terms: Arc<InvertedIndexReader>,
    /// A section's ordinal in [`Snapshot::sections`]; `u32::MAX` for pages and deleted documents.
    pub(crate) ordinals: Vec<u32>,
    /// Decoded records by document, shared by all snapshots that have the segment.
    records: Arc<Vec<OnceLock<Arc<SectionRecord>>>>,
}

/// The stored bytes of a document.
struct Record(Vec<u8>);

impl DocumentDeserialize for Record {
    fn deserialize<'de, D>(mut deserializer: D) -> Result<Self, DeserializeError>
    where
        D: DocumentDeserializer<'de>,
    {
        while let Some((_, value)) = deserializer.next_field::<OwnedValue>()? {
            if let OwnedValue::Bytes(bytes) = value {
                return Ok(Self(bytes));
            }
        }
        Ok(Self(Vec::new()))
    }
}

impl Snapshot {
    pub(crate) fn open(
        index: &tantivy::Index,
        fields: Fields,
        generation: u64,
        previous: Option<&Self>,
    ) -> Result<Self, IndexError> {
        let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into()?;
        let searcher = reader.searcher();
        let mut pages: Vec<PageInfo> = Vec::new();
        let mut langs: Vec<LangInfo> = Vec::new();
        let mut found = Vec::new(); // path, position, address
        for (segment_ord, segment) in searcher.segment_readers().iter().enumerate() {
            let paths = segment.fast_fields().str("path")?;
            let positions = segment.fast_fields().u64("position")?;
            let Some(paths) = paths else { continue };
            let mut names: Vec<Option<Arc<str>>> = vec![None; paths.num_terms()];
            for doc in segment.doc_ids_alive() {
                let Some(ord) = paths.term_ords(doc).next() else { continue };
                let slot = &mut names[ord as usize];
                let name = if let Some(name) = slot {
                    name.clone()
                } else {
                    let mut text = String::new();
                    paths.ord_to_str(ord, &mut text).map_err(tantivy::TantivyError::from)?;
                    slot.insert(text.into()).clone()
                };
                let position = positions.first(doc).unwrap_or(0) as u32;
                found.push((name, position, DocAddress::new(segment_ord as u32, doc)));
            }
        }
        found.sort_unstable();
        let mut sections = Vec::with_capacity(found.len());
        let mut page_of_section = Vec::with_capacity(found.len());
        let mut codes: Vec<String> = Vec::new();
        for (path, position, address) in found {
            if position == TEXT_POSITION {
                if let Some(page) = pages.last_mut() {
                    page.text_address = address;
                }
                continue;
            }
            if position > 0 {
                if let Some(page) = pages.last_mut() {
                    page.n_sections += 1;
                    sections.push(address);
                    page_of_section.push(pages.len() as u32 - 1);
                }
                continue;
            }
            let record = page_record(&searcher, address)?;
            codes.push(record.lang);
            pages.push(PageInfo {
                path: path.to_string(),
                title: record.title,
                lang: 0,
                first_section: sections.len() as u32,
                n_sections: 0,
                group: 0,
                n_twins: 0,
                address,
                text_address: address,
            });
        }
        let mut distinct = codes.clone();
        distinct.sort_unstable();
        distinct.dedup();
        // A language is a byte; the 256th and later share the last one's statistics.
        distinct.truncate(256);
        langs.extend(distinct.into_iter().map(|code| LangInfo { code, n_sections: 0 }));
        for (page, code) in pages.iter_mut().zip(&codes) {
            let lang = langs.partition_point(|lang| lang.code < *code).min(langs.len() - 1);
            page.lang = lang as u8;
            langs[lang].n_sections += page.n_sections;
        }
        let mut ordinals: Vec<Vec<u32>> = searcher
            .segment_readers()
            .iter()
            .map(|segment| vec![u32::MAX; segment.max_doc() as usize])
            .collect();
        for (ordinal, address) in sections.iter().enumerate() {
            ordinals[address.segment_ord as usize][address.doc_id as usize] = ordinal as u32;
        }
        let segments = searcher
            .segment_readers()
            .iter()
            .zip(ordinals)
            .map(|(reader, ordinals)| {
                let is_same =
                    |before: &&SegmentView| before.reader.segment_id() == reader.segment_id();
                let before = previous.and_then(|previous| previous.segments.iter().find(is_same));
                let records = before.map_or_else(
                    || Arc::new(ordinals.iter().map(|_| OnceLock::new()).collect()),
                    |before| Arc::clone(&before.records),
                );
                Ok(SegmentView {
                    terms: reader.inverted_index(fields.terms)?,
                    records,
                    ordinals,
                    reader: reader.clone(),
                })
            })
            .collect::<Result<Vec<SegmentView>, IndexError>>()?;
        let cached = segments.iter().flat_map(|segment| segment.records.iter());
        let cached_bytes = cached.filter_map(OnceLock::get).map(|record| record.size()).sum();
        let translations = group_translations(&mut pages);
        Ok(Self {
            generation,
            searcher,
            pages,
            segments,
            sections,
            page_of_section,
            langs,
            translations,
            cached_bytes: AtomicUsize::new(cached_bytes),
        })
    }

    /// Counts the states of the tree that this process has seen, from 1.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Whether it is made of just these segments.
    pub(crate) fn has_segments(&self, ids: &[SegmentId]) -> bool {
        ids.len() == self.segments.len()
            && self.segments.iter().all(|segment| ids.contains(&segment.reader.segment_id()))
    }

    /// How many pages there are.
    pub fn n_pages(&self) -> usize {
        self.pages.len()
    }

    /// How many sections there are.
    pub fn n_sections(&self) -> usize {
        self.sections.len()
    }

    /// The languages of the tree with their numbers of sections, by code.
    pub fn languages(&self) -> impl Iterator<Item = (&str, u32)> {
        self.langs.iter().map(|lang| (lang.code.as_str(), lang.n_sections))
    }

    /// The page at exactly `path`.
    pub(crate) fn page_at(&self, path: &str) -> Option<usize> {
        self.pages.binary_search_by(|page| page.path.as_str().cmp(path)).ok()
    }

    /// The page that a section (by ordinal) belongs to.
    pub(crate) fn page_of_section(&self, ordinal: u32) -> usize {
        self.page_of_section[ordinal as usize] as usize
    }

    /// The text of a page, as it was decoded.
    pub(crate) fn page_text(&self, page: usize) -> Result<String, IndexError> {
        let bytes = self.searcher.doc::<Record>(self.pages[page].text_address)?.0;
        String::from_utf8(bytes)
            .map_err(|_| IndexError::Unusable("the text of a page is damaged".into()))
    }

    /// The record of a page.
    pub(crate) fn page_record(&self, page: usize) -> Result<PageRecord, IndexError> {
        page_record(&self.searcher, self.pages[page].address)
    }

    /// The other pages that say the same in another language, by path.
    pub(crate) fn twins(&self, page: usize) -> impl Iterator<Item = usize> {
        let PageInfo { group, n_twins, lang, .. } = self.pages[page];
        let group = group as usize..(group + n_twins) as usize + 1;
        self.translations[group]
            .iter()
            .map(|twin| *twin as usize)
            .filter(move |twin| self.pages[*twin].lang != lang)
    }

    /// The record of a section by its ordinal.
    pub(crate) fn section(&self, ordinal: u32) -> Result<Arc<SectionRecord>, IndexError> {
        let address = self.sections[ordinal as usize];
        let slot = &self.segments[address.segment_ord as usize].records[address.doc_id as usize];
        if let Some(record) = slot.get() {
            return Ok(record.clone());
        }
        let bytes = self.searcher.doc::<Record>(address)?.0;
        let damaged = || IndexError::Unusable("a section's record is damaged".into());
        let record = Arc::new(SectionRecord::decode(&bytes).ok_or_else(damaged)?);
        let size = record.size();
        if self.cached_bytes.fetch_add(size, Ordering::Relaxed) < RECORD_CACHE_BYTES {
            // Another thread may have been first; its record is the same.
            let _ = slot.set(record.clone());
        }
        Ok(record)
    }
}

fn page_record(searcher: &Searcher, address: DocAddress) -> Result<PageRecord, IndexError> {
    let bytes = searcher.doc::<Record>(address)?.0;
    PageRecord::decode(&bytes)
        .ok_or_else(|| IndexError::Unusable("a page's record is damaged".into()))
}

/// Puts pages that differ only in the language of their path into one group; returns all pages by group.
fn group_translations(pages: &mut [PageInfo]) -> Vec<u32> {
    let key =
        |path: &str| language::of_path(path).map_or_else(|| path.to_owned(), |found| found.rest);
    let mut keyed: Vec<(String, u32)> =
        pages.iter().zip(0..).map(|(page, i)| (key(&page.path), i)).collect();
    keyed.sort_unstable();
    let mut start = 0;
    for group in keyed.chunk_by(|a, b| a.0 == b.0) {
        for (_, page) in group {
            pages[*page as usize].group = start;
            pages[*page as usize].n_twins = group.len() as u32 - 1;
        }
        start += group.len() as u32;
    }
    keyed.into_iter().map(|(_, page)| page).collect()
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("generation", &self.generation)
            .field("pages", &self.pages.len())
            .field("sections", &self.sections.len())
            .finish_non_exhaustive()
    }
}
