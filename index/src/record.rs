//! How a page and a section are kept in the index: everything an answer needs, so that no answer reads the docs folder.

use crate::page::Page;
use crate::section::{Section, line_at};

/// A page as the index keeps it, without its text: a snapshot reads all of these when it is opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PageRecord {
    pub(crate) title: String,
    pub(crate) lang: String,
}

/// A section as the index keeps it, ready to be ranked and shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct SectionRecord {
    pub(crate) heading: String,
    pub(crate) heading_path: Vec<String>,
    pub(crate) level: u8,
    pub(crate) anchor: String,
    pub(crate) other_anchor: Option<String>,
    pub(crate) start_byte: u32,
    pub(crate) end_byte: u32,
    pub(crate) start_line: u32,
    pub(crate) end_line: u32,
    pub(crate) text: String,
    pub(crate) text_lines: Vec<(u32, u32)>,
    /// Hashes of the stems of the heading's words, in order.
    pub(crate) heading_stems: Vec<u32>,
    pub(crate) words: WordIndex,
    /// Where each word of `text` starts, ascending.
    pub(crate) word_starts: Vec<u32>,
}

impl SectionRecord {
    pub(crate) fn new(
        section: &Section,
        heading_stems: Vec<u32>,
        text_stems: &[u32],
        word_starts: Vec<u32>,
    ) -> Self {
        Self {
            heading: section.heading.clone(),
            heading_path: section.heading_path.clone(),
            level: section.level,
            anchor: section.anchor.clone(),
            other_anchor: section.other_anchor.clone(),
            start_byte: section.bytes.start as u32,
            end_byte: section.bytes.end as u32,
            start_line: section.start_line,
            end_line: section.end_line,
            text: section.text.clone(),
            text_lines: section.text_lines.clone(),
            heading_stems,
            words: WordIndex::new(text_stems),
            word_starts,
        }
    }

    /// The line that a byte of `text` comes from.
    pub(crate) fn line_at(&self, offset: usize) -> u32 {
        line_at(&self.text_lines, self.start_line, offset)
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        out.text(&self.heading);
        out.number(self.heading_path.len() as u32);
        for heading in &self.heading_path {
            out.text(heading);
        }
        out.number(u32::from(self.level));
        out.text(&self.anchor);
        out.number(u32::from(self.other_anchor.is_some()));
        out.text(self.other_anchor.as_deref().unwrap_or_default());
        for number in [self.start_byte, self.end_byte, self.start_line, self.end_line] {
            out.number(number);
        }
        out.text(&self.text);
        out.number(self.text_lines.len() as u32);
        out.ascending(self.text_lines.iter().map(|line| line.0));
        // A footnote or a nested heading may bring an earlier line after a later one, so lines are not deltas.
        self.text_lines.iter().for_each(|line| out.number(line.1));
        out.hashes(&self.heading_stems);
        out.hashes(&self.words.stems);
        self.words.ends.iter().fold(0, |start, end| {
            out.number(end - start);
            *end
        });
        for positions in self.words.by_stem() {
            out.ascending(positions.iter().copied());
        }
        out.number(self.word_starts.len() as u32);
        out.ascending(self.word_starts.iter().copied());
        out.0
    }

    /// Reads what [`Self::encode`] wrote; `None` when the bytes are damaged.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        let heading = from.text()?;
        let n_path = from.count()?;
        let heading_path = (0..n_path).map(|_| from.text()).collect::<Option<_>>()?;
        let level = u8::try_from(from.number()?).ok()?;
        let anchor = from.text()?;
        let has_other = from.number()? == 1;
        let other_anchor = Some(from.text()?).filter(|_| has_other);
        let (start_byte, end_byte) = (from.number()?, from.number()?);
        let (start_line, end_line) = (from.number()?, from.number()?);
        let text = from.text()?;
        let n_lines = from.count()?;
        let offsets = from.ascending(n_lines)?;
        let lines = (0..n_lines).map(|_| from.number()).collect::<Option<Vec<u32>>>()?;
        let heading_stems = from.hashes()?;
        let stems = from.hashes()?;
        let ends = from.ascending(stems.len())?;
        let mut positions = Vec::new();
        let mut start = 0;
        for &end in &ends {
            positions.extend(from.ascending((end - start) as usize)?);
            start = end;
        }
        let n_words = from.count()?;
        let word_starts = from.ascending(n_words)?;
        Some(Self {
            heading,
            heading_path,
            level,
            anchor,
            other_anchor,
            start_byte,
            end_byte,
            start_line,
            end_line,
            text,
            text_lines: offsets.into_iter().zip(lines).collect(),
            heading_stems,
            words: WordIndex { stems, ends, positions },
            word_starts,
        })
    }

    /// About how much memory the record takes.
    pub(crate) fn size(&self) -> usize {
        size_of::<Self>()
            + self.heading.len()
            + self.text.len()
            + 8 * self.text_lines.len()
            + 4 * (self.heading_stems.len() + self.word_starts.len())
            + 4 * (2 * self.words.stems.len() + self.words.positions.len())
    }
}

/// Where each stem of a section's text stands: a look-up in place of a walk over all words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct WordIndex {
    /// Hashes of the distinct stems, ascending.
    stems: Vec<u32>,
    /// Where the positions of each stem end in `positions`.
    ends: Vec<u32>,
    /// Ordinals of words in the text, ascending for each stem.
    positions: Vec<u32>,
}

impl WordIndex {
    fn new(text_stems: &[u32]) -> Self {
        // Stem in the high half, position in the low one: one sort of plain numbers.
        let mut words: Vec<u64> =
            text_stems.iter().zip(0..).map(|(stem, at)| u64::from(*stem) << 32 | at).collect();
        words.sort_unstable();
        let mut index = Self::default();
        for same in words.chunk_by(|a, b| a >> 32 == b >> 32) {
            index.stems.push((same[0] >> 32) as u32);
            index.positions.extend(same.iter().map(|word| *word as u32));
            index.ends.push(index.positions.len() as u32);
        }
        index
    }

    /// Ordinals of the words of a stem, ascending.
    pub(crate) fn positions(&self, stem: u32) -> &[u32] {
        self.stems.binary_search(&stem).map_or(&[], |at| self.positions_at(at))
    }

    fn by_stem(&self) -> impl Iterator<Item = &[u32]> {
        (0..self.stems.len()).map(|at| self.positions_at(at))
    }

    fn positions_at(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.positions[start..self.ends[at] as usize]
    }
}

impl PageRecord {
    pub(crate) fn new(page: &Page) -> Self {
        Self { title: page.title.clone(), lang: page.lang.clone() }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        out.text(&self.title);
        out.text(&self.lang);
        out.0
    }

    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut from = Decoder(bytes);
        Some(Self { title: from.text()?, lang: from.text()? })
    }
}

#[derive(Default)]
struct Encoder(Vec<u8>);

impl Encoder {
    /// LEB128.
    fn number(&mut self, mut number: u32) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u32);
        self.0.extend_from_slice(text.as_bytes());
    }

    fn hashes(&mut self, hashes: &[u32]) {
        self.number(hashes.len() as u32);
        for hash in hashes {
            self.0.extend_from_slice(&hash.to_le_bytes());
        }
    }

    fn ascending(&mut self, numbers: impl Iterator<Item = u32>) {
        let mut previous = 0;
        for number in numbers {
            self.number(number - previous);
            previous = number;
        }
    }
}

struct Decoder<'a>(&'a [u8]);

impl<'a> Decoder<'a> {
    fn number(&mut self) -> Option<u32> {
        let mut number: u32 = 0;
        for shift in (0..35).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of items that follow; each takes a byte at least, so damage cannot ask for endless memory.
    fn count(&mut self) -> Option<usize> {
        self.number().map(|n| n as usize).filter(|&n| n <= self.0.len())
    }

    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n)?;
        self.0 = rest;
        Some(taken)
    }

    fn text(&mut self) -> Option<String> {
        let n = self.number()? as usize;
        String::from_utf8(self.take(n)?.to_vec()).ok()
    }

    fn hashes(&mut self) -> Option<Vec<u32>> {
        let n = self.count()?;
        let bytes = self.take(n.checked_mul(4)?)?;
        let hash = |bytes: &[u8]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        Some(bytes.chunks_exact(4).map(hash).collect())
    }

    /// Reads `n` ascending numbers; each takes a byte at least.
    fn ascending(&mut self, n: usize) -> Option<Vec<u32>> {
        if n > self.0.len() {
            return None;
        }
        let mut previous = 0u32;
        (0..n)
            .map(|_| {
                previous = previous.checked_add(self.number()?)?;
                Some(previous)
            })
            .collect()
    }
}
