//! A file in memory, written from front to back. A large one has pages of its own, which the system gets back whole: on
//! the heap, segments that come and go with every merge would leave holes behind.

use std::io::{self, Write};

use memmap2::MmapMut;
use tantivy::directory::OwnedBytes;

/// From here on a file has pages of its own: below, the rest of its last page would be a noticeable share.
const MIN_MAPPED_BYTES: usize = 256 * 1024;

/// The bytes written so far.
#[derive(Debug, Default)]
pub(crate) struct MemoryFile {
    start: Vec<u8>,
    /// Everything, once it is large; twice as much is reserved as was ever needed, and what is not written costs nothing.
    pages: Option<MmapMut>,
    n_bytes: usize,
}

impl MemoryFile {
    /// The whole file, which stays as it is.
    ///
    /// # Errors
    /// The system refuses to protect its pages.
    pub(crate) fn finish(self) -> io::Result<OwnedBytes> {
        if let Some(pages) = self.pages {
            return Ok(OwnedBytes::new(pages.make_read_only()?).slice(0..self.n_bytes));
        }
        let mut bytes = self.start;
        bytes.shrink_to_fit();
        Ok(OwnedBytes::new(bytes))
    }

    fn grow(&mut self, n_bytes: usize) -> io::Result<()> {
        let mut larger = MmapMut::map_anon(n_bytes.next_power_of_two().saturating_mul(2))?;
        let so_far = self.pages.as_deref().unwrap_or(&self.start);
        larger[..self.n_bytes].copy_from_slice(&so_far[..self.n_bytes]);
        self.pages = Some(larger);
        self.start = Vec::new();
        Ok(())
    }
}

impl Write for MemoryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let end = self.n_bytes + bytes.len();
        if end < MIN_MAPPED_BYTES {
            self.start.extend_from_slice(bytes);
        } else {
            if self.pages.as_ref().is_none_or(|pages| pages.len() < end) {
                self.grow(end)?;
            }
            let pages = self.pages.as_mut().expect("it has just grown");
            pages[self.n_bytes..end].copy_from_slice(bytes);
        }
        self.n_bytes = end;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were_written() {
        for n_bytes in [0, 1, MIN_MAPPED_BYTES - 1, MIN_MAPPED_BYTES, 5 * MIN_MAPPED_BYTES + 3] {
            let written: Vec<u8> = (0..n_bytes).map(|at| (at % 251) as u8).collect();
            for chunk in [7, 4_096, n_bytes.max(1)] {
                let mut file = MemoryFile::default();
                for bytes in written.chunks(chunk) {
                    file.write_all(bytes).expect("memory takes it");
                }
                assert!(file.finish().expect("memory keeps it").as_slice() == written);
            }
        }
    }
}
