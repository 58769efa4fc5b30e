//! What there is to read: the pages of a tree, and the headings of one page.

use crate::error::IndexError;
use crate::fold::fold;
use crate::lookup::LookupError;
use crate::passage::{after, line_starts, shown_start};
use crate::snapshot::Snapshot;
use crate::term_lookup::TermLookup;

/// A page in a list of pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSummary {
    /// Below the docs root.
    pub path: String,
    /// The page's title.
    pub title: String,
    /// Language of the page.
    pub lang: String,
    /// How many sections it has.
    pub n_sections: u32,
    /// Pages that say the same in other languages.
    pub translations: Vec<String>,
}

/// The headings of one page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageOutline {
    /// The page itself.
    pub page: PageSummary,
    /// How many lines the page has.
    pub n_lines: u32,
    /// Its headings, in order; a level 0 comes first when there is text before the first heading.
    pub headings: Vec<OutlineHeading>,
}

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineHeading {
    /// 1 to 6; 0 for the text before the first heading, whose heading is the page's title.
    pub level: u8,
    /// Plain text.
    pub heading: String,
    /// What a link to the section names; empty for level 0.
    pub anchor: String,
    /// First and last line of the section with its subsections.
    pub lines: (u32, u32),
    /// Characters of the section's Markdown with its subsections.
    pub n_chars: usize,
}

impl Snapshot {
    /// All pages, in order of path.
    pub fn outline(&self) -> impl Iterator<Item = PageSummary> {
        (0..self.pages.len()).map(|page| self.summary(page))
    }

    /// Whether there is a page at exactly this path.
    pub fn has_page(&self, path: &str) -> bool {
        self.page_at(path).is_some()
    }

    /// The whole text of the page at exactly `path`, as it was decoded.
    ///
    /// # Errors
    /// The index library fails.
    pub fn text(&self, path: &str) -> Result<Option<String>, IndexError> {
        self.page_at(path).map(|page| self.page_text(page)).transpose()
    }

    /// How many sections of a language hold a word, folded as a query's is.
    ///
    /// # Errors
    /// The index library fails.
    pub fn n_sections_with(&self, lang: &str, word: &str) -> Result<u32, IndexError> {
        let Some(lang) = self.langs.iter().position(|known| known.code == lang) else {
            return Ok(0);
        };
        TermLookup::new(self, &[lang]).df(lang, &fold(word))
    }

    /// The headings of the page at `path`; an anchor there is not looked at.
    pub fn page_outline(&self, path: &str) -> Result<PageOutline, LookupError> {
        let page = self.place(path, Some(""))?.page;
        let text = self.page_text(page)?;
        let records = self.records(page)?;
        let damaged = || IndexError::Unusable("a page's record is damaged".into());
        let mut n_chars = Vec::with_capacity(records.len());
        for record in &records {
            let bytes = shown_start(&text, record)..record.end_byte as usize;
            n_chars.push(text.get(bytes).ok_or_else(damaged)?.chars().count());
        }
        let mut headings = Vec::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            if record.level == 0 && record.text.is_empty() {
                continue;
            }
            let end = after(&records, at);
            headings.push(OutlineHeading {
                level: record.level,
                heading: record.heading.clone(),
                anchor: record.anchor.clone(),
                lines: (record.start_line, records[end - 1].end_line),
                n_chars: n_chars[at..end].iter().sum(),
            });
        }
        Ok(PageOutline {
            page: self.summary(page),
            n_lines: line_starts(&text).len() as u32,
            headings,
        })
    }

    fn summary(&self, page: usize) -> PageSummary {
        let info = &self.pages[page];
        PageSummary {
            path: info.path.clone(),
            title: info.title.clone(),
            lang: self.langs[info.lang as usize].code.clone(),
            n_sections: info.n_sections,
            translations: self.twins(page).map(|twin| self.pages[twin].path.clone()).collect(),
        }
    }
}
