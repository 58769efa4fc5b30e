//! A page: its bytes decoded, its front matter read, its language told, its sections split.

use crate::anchor::Dialect;
use crate::error::{Problem, ProblemCode};
use crate::front_matter;
use crate::language;
use crate::section::{Section, split_sections};

/// Larger pages are left out: nobody reads one, and one alone would outweigh the rest of a tree in memory.
pub const MAX_PAGE_BYTES: u64 = 16 * 1024 * 1024;

/// One Markdown page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Below the docs root, `/` between parts.
    pub path: String,
    /// Front matter `title`, else the first level-1 heading, else the file name without `.md`.
    pub title: String,
    /// Lower-case language code.
    pub lang: String,
    /// Words of the front matter that a search finds the page by.
    pub keywords: Vec<String>,
    /// The decoded text, without a byte-order mark. Section offsets count in it.
    pub text: String,
    /// The sections, in order.
    pub sections: Vec<Section>,
}

impl Page {
    /// Reads a page from its bytes. Never fails: what cannot be read is replaced and reported.
    pub fn read(
        path: &str,
        bytes: &[u8],
        dialect: Dialect,
        default_lang: &str,
    ) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let problem = |code, message| Problem { path: path.to_owned(), code, message };
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = match std::str::from_utf8(bytes) {
            Ok(text) => text.to_owned(),
            Err(error) => {
                let line = bytes[..error.valid_up_to()].split(|byte| *byte == b'\n').count();
                let message = format!("line {line} is not UTF-8; the bytes were replaced");
                problems.push(problem(ProblemCode::NotUtf8, message));
                String::from_utf8_lossy(bytes).into_owned()
            }
        };
        let block = front_matter::read(&text);
        let front_matter_len = block.as_ref().map_or(0, |block| block.len);
        if let Some(fault) = block.as_ref().and_then(|block| block.fault.as_ref()) {
            let message = format!("front matter cannot be read: {fault}");
            problems.push(problem(ProblemCode::FrontMatter, message));
        }
        let front = block.map(|block| block.front_matter).unwrap_or_default();
        let mut sections = split_sections(&text, front_matter_len, dialect);
        let title = front
            .title
            .or_else(|| {
                let first = sections.iter().find(|s| s.level == 1 && !s.heading.is_empty());
                first.map(|section| section.heading.clone())
            })
            .unwrap_or_else(|| file_stem(path).to_owned());
        if let Some(preamble) = sections.first_mut().filter(|section| section.level == 0) {
            preamble.heading.clone_from(&title);
        }
        let lang = front
            .lang
            .filter(|lang| language::is_code(lang))
            .or_else(|| language::of_path(path).map(|found| found.code.to_owned()))
            .or_else(|| language::detect(&sections).map(str::to_owned))
            .unwrap_or_else(|| default_lang.to_owned());
        (
            Self { path: path.to_owned(), title, lang, keywords: front.keywords, text, sections },
            problems,
        )
    }
}

fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
