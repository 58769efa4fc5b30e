//! The Markdown of a page or of one section with its subsections, as the snapshot keeps it.
//!
//! A section is cut from the page's text from its heading up to the next heading of the same or a higher level. The
//! whole page is shown with its front matter, a section without.

use crate::error::IndexError;
use crate::lookup::{LookupError, Place};
use crate::record::SectionRecord;
use crate::snapshot::Snapshot;

/// A piece of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The page, below the docs root.
    pub path: String,
    /// The page's title.
    pub title: String,
    /// The page's language.
    pub lang: String,
    /// The section's anchor; `None` for the whole page.
    pub anchor: Option<String>,
    /// First and last line of `markdown` in the page, from 1, inclusive.
    pub lines: (u32, u32),
    /// The text as the page writes it.
    pub markdown: String,
    /// Pages that say the same in other languages.
    pub translations: Vec<String>,
}

/// As much of a passage as was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut<'a> {
    /// The text, cut at the end of a block if it had to be cut.
    pub markdown: &'a str,
    /// First and last line of it, from 1, inclusive.
    pub lines: (u32, u32),
    /// Whether the passage goes on after it.
    pub is_truncated: bool,
    /// Where to go on.
    pub next_line: Option<u32>,
}

impl Snapshot {
    /// The page at `path`, which may carry `#anchor`, or the section of it that `section` (an anchor or a heading)
    /// names.
    pub fn passage(&self, path: &str, section: Option<&str>) -> Result<Passage, LookupError> {
        let Place { page, section } = self.place(path, section)?;
        let text = self.page_text(page)?;
        let info = &self.pages[page];
        let (anchor, markdown, first_line) = match section {
            None => (None, text, 1),
            Some(section) => {
                let records = self.records(page)?;
                let record = &records[section];
                let end = records[after(&records, section) - 1].end_byte as usize;
                let start = shown_start(&text, record);
                let markdown = text.get(start..end).ok_or_else(damaged)?.to_owned();
                (Some(record.anchor.clone()), markdown, record.start_line)
            }
        };
        let n_lines = line_starts(&markdown).len() as u32;
        Ok(Passage {
            path: info.path.clone(),
            title: info.title.clone(),
            lang: self.langs[info.lang as usize].code.clone(),
            anchor,
            lines: (first_line, first_line + n_lines.saturating_sub(1)),
            markdown,
            translations: self.twins(page).map(|twin| self.pages[twin].path.clone()).collect(),
        })
    }
}

fn damaged() -> IndexError {
    IndexError::Unusable("a page's record is damaged".into())
}

/// The position after the last subsection of the section at `at`.
pub(crate) fn after(records: &[impl AsRef<SectionRecord>], at: usize) -> usize {
    let level = records[at].as_ref().level;
    let ends = |record: &SectionRecord| record.level <= level || level == 0;
    let rest = records[at + 1..].iter().position(|record| ends(record.as_ref()));
    rest.map_or(records.len(), |n| at + 1 + n)
}

impl Passage {
    /// The passage from line `from_line` of the page on, at most `max_chars` characters and `max_bytes` bytes of it.
    ///
    /// It ends after a blank line outside code, else after a line, else inside one line that alone is too long; the
    /// rest of such a line is left out. `None` when the passage has no such line.
    pub fn cut(
        &self,
        from_line: Option<u32>,
        max_chars: usize,
        max_bytes: usize,
    ) -> Option<Cut<'_>> {
        let (first_line, last_line) = self.lines;
        let from_line = from_line.unwrap_or(first_line).max(first_line);
        if from_line > last_line {
            return None;
        }
        let starts = line_starts(&self.markdown);
        let from = (from_line - first_line) as usize;
        let start = starts.get(from).copied().unwrap_or(0);
        let mut fence = Fence::default();
        let mut n_chars = 0;
        let mut border = None;
        for at in 0..starts.len() {
            let line = &self.markdown
                [starts[at]..starts.get(at + 1).copied().unwrap_or(self.markdown.len())];
            fence.line(line);
            if at < from {
                continue;
            }
            n_chars += line.chars().count();
            if n_chars > max_chars || starts[at] + line.len() - start > max_bytes {
                let cut = border.unwrap_or(at);
                return Some(if cut > from {
                    self.piece(&starts, from, cut)
                } else {
                    self.head_of_line(line, from_line, max_chars, max_bytes)
                });
            }
            if !fence.is_open() && line.trim().is_empty() {
                border = Some(at + 1);
            }
        }
        let markdown = &self.markdown[start..];
        Some(Cut { markdown, lines: (from_line, last_line), is_truncated: false, next_line: None })
    }

    fn piece(&self, starts: &[usize], from: usize, to: usize) -> Cut<'_> {
        let first_line = self.lines.0;
        Cut {
            markdown: &self.markdown[starts[from]..starts[to]],
            lines: (first_line + from as u32, first_line + to as u32 - 1),
            is_truncated: true,
            next_line: Some(first_line + to as u32),
        }
    }

    fn head_of_line<'a>(
        &self,
        line: &'a str,
        number: u32,
        max_chars: usize,
        max_bytes: usize,
    ) -> Cut<'a> {
        let ends = line.char_indices().map(|(at, c)| at + c.len_utf8());
        let end = ends.take(max_chars).take_while(|end| *end <= max_bytes).last().unwrap_or(0);
        Cut {
            markdown: &line[..end],
            lines: (number, number),
            is_truncated: true,
            next_line: (number < self.lines.1).then_some(number + 1),
        }
    }
}

/// Byte offsets at which the lines of a text start; LF, CRLF and a lone CR end one. An empty text has one line.
pub(crate) fn line_starts(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut starts = vec![0];
    for (at, &byte) in bytes.iter().enumerate() {
        let ends = byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
        if ends && at + 1 < bytes.len() {
            starts.push(at + 1);
        }
    }
    starts
}

/// Where the text of a section begins that is shown: the first one's bytes take in the front matter as well.
pub(crate) fn shown_start(text: &str, record: &SectionRecord) -> usize {
    if record.start_byte > 0 {
        return record.start_byte as usize;
    }
    line_starts(text).get(record.start_line.saturating_sub(1) as usize).copied().unwrap_or(0)
}

/// Whether the lines seen so far leave a code fence open.
#[derive(Default)]
struct Fence {
    open: Option<(char, usize)>,
}

impl Fence {
    fn line(&mut self, line: &str) {
        // Quoted and listed fences count as well: a cut inside one is as bad.
        let line = line.trim_start_matches([' ', '\t', '>']).trim_end();
        let Some(sign) = line.chars().next().filter(|c| matches!(c, '`' | '~')) else { return };
        let length = line.chars().take_while(|c| *c == sign).count();
        let rest = &line[length..];
        match self.open {
            None if length >= 3 && !(sign == '`' && rest.contains('`')) => {
                self.open = Some((sign, length));
            }
            Some((open, least)) if sign == open && length >= least && rest.is_empty() => {
                self.open = None;
            }
            _ => {}
        }
    }

    fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

#[cfg(test)]
mod tests;
