//! One hash of all that answers depend on.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};
use tantivy::schema::IndexRecordOption;
use tantivy::termdict::TermStreamer;

use crate::error::IndexError;
use crate::snapshot::{SegmentView, Snapshot};

impl Snapshot {
    /// Lower-case hexadecimal SHA-256 of pages, sections and terms with their places, each in its order.
    ///
    /// It does not depend on segments, deleted copies, threads or history: the same tree and rules give the same digest
    /// with the same version of this crate, on any machine. Reads the whole index.
    ///
    /// # Errors
    /// The index is damaged.
    pub fn digest(&self) -> Result<String, IndexError> {
        let mut hash = Sha256::new();
        for page in 0..self.n_pages() {
            part(&mut hash, self.pages[page].path.as_bytes());
            part(&mut hash, &self.page_record(page)?.encode());
            part(&mut hash, self.page_text(page)?.as_bytes());
        }
        for section in 0..self.n_sections() as u32 {
            part(&mut hash, &self.section(section)?.encode());
        }
        self.digest_terms(&mut hash)?;
        Ok(hex(&hash.finalize()))
    }

    /// All terms in byte order, each with the live sections that hold it and its places there.
    fn digest_terms(&self, hash: &mut Sha256) -> Result<(), IndexError> {
        let damaged = |error: std::io::Error| IndexError::from(tantivy::TantivyError::from(error));
        let mut streams: Vec<TermStreamer<'_>> = Vec::new();
        let mut heads: BinaryHeap<Reverse<(Vec<u8>, usize)>> = BinaryHeap::new();
        for segment in &self.segments {
            let mut stream = segment.terms.terms().stream().map_err(damaged)?;
            if stream.advance() {
                heads.push(Reverse((stream.key().to_vec(), streams.len())));
            }
            streams.push(stream);
        }
        let mut postings: Vec<(u32, u32)> = Vec::new();
        while let Some(Reverse((term, first))) = heads.pop() {
            let mut at = first;
            loop {
                live_postings(&self.segments[at], streams[at].value(), &mut postings)?;
                if streams[at].advance() {
                    heads.push(Reverse((streams[at].key().to_vec(), at)));
                }
                match heads.peek() {
                    Some(Reverse((next, _))) if *next == term => {}
                    _ => break,
                }
                let Some(Reverse((_, next))) = heads.pop() else { break };
                at = next;
            }
            if postings.is_empty() {
                continue;
            }
            postings.sort_unstable();
            part(hash, &term);
            hash.update((postings.len() as u64).to_le_bytes());
            for (section, place) in postings.drain(..) {
                hash.update(section.to_le_bytes());
                hash.update(place.to_le_bytes());
            }
        }
        Ok(())
    }
}

/// Lower-case hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a text cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn live_postings(
    segment: &SegmentView,
    info: &tantivy::postings::TermInfo,
    postings: &mut Vec<(u32, u32)>,
) -> Result<(), IndexError> {
    let mut blocks = segment
        .terms
        .read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs)
        .map_err(tantivy::TantivyError::from)?;
    while blocks.block_len() > 0 {
        for (&doc, &place) in blocks.docs().iter().zip(blocks.freqs()) {
            let ordinal = segment.ordinals[doc as usize];
            if ordinal != u32::MAX {
                postings.push((ordinal, place));
            }
        }
        blocks.advance();
    }
    Ok(())
}

/// Bytes with their length, so that no two series of parts are the same bytes.
fn part(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}
