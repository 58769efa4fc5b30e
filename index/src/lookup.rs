//! Finds a page, or a section of it, by what someone typed.
//!
//! A path is looked up in the snapshot and never on disk, so nothing outside the tree can be named. A page whose name
//! is exactly what was typed wins; else the path is put in order (`./`, `//`, an inner `..`) and may carry `#anchor`.
//! Anchors are accepted in both dialects, in any case, with or without accents, and as the heading's text.
//! What is shown of a page is [`crate::passage`]'s business.

use std::sync::Arc;

use crate::anchor::loose_key;
use crate::error::IndexError;
use crate::fold::fold;
use crate::record::SectionRecord;
use crate::snapshot::Snapshot;

/// Names longer than this are cut in a message.
const MAX_SHOWN_CHARS: usize = 160;
/// A longer name is no slip of the pen, and its comparison would cost what its sender likes.
const MAX_COMPARED_CHARS: usize = 128;

/// Why a page or a section cannot be shown.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The path cannot name anything in the tree.
    #[error("{reason}{}", .path.as_ref().map(|path| format!(": `{path}`")).unwrap_or_default())]
    BadPath {
        /// What is wrong with it.
        reason: &'static str,
        /// As given; left out when it may name something outside the tree.
        path: Option<String>,
    },
    /// The tree has no such page.
    #[error("page not found: `{path}`")]
    NoPage {
        /// As given, without its anchor.
        path: String,
        /// The path that was probably meant.
        near: Option<String>,
    },
    /// The page has no such section.
    #[error("section not found: `{path}#{anchor}`")]
    NoSection {
        /// The page.
        path: String,
        /// As given.
        anchor: String,
        /// The anchor that was probably meant.
        near: Option<String>,
    },
    /// The index failed.
    #[error(transparent)]
    Index(#[from] IndexError),
}

impl LookupError {
    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::BadPath { .. } => {
                Some("paths are relative to the docs root, with `/` between parts".to_owned())
            }
            Self::NoPage { near: Some(near), .. } => Some(format!("did you mean `{near}`?")),
            Self::NoSection { path, near: Some(near), .. } => {
                Some(format!("did you mean `{path}#{near}`?"))
            }
            Self::NoPage { .. } | Self::NoSection { .. } | Self::Index(_) => None,
        }
    }
}

/// What a typed name means in one snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) page: usize,
    /// Position of the section in the page; `None` is the whole page.
    pub(crate) section: Option<usize>,
}

impl Snapshot {
    /// Finds a page by a path that may carry `#anchor`; `section`, an anchor or a heading's text, wins over that.
    pub(crate) fn place(&self, path: &str, section: Option<&str>) -> Result<Place, LookupError> {
        let (page, anchor) = self.find_page(path)?;
        let wanted = section.or(anchor).map(|anchor| anchor.trim().trim_start_matches('#'));
        let section = match wanted {
            None | Some("") => None,
            Some(wanted) => Some(self.find_section(page, wanted)?),
        };
        Ok(Place { page, section })
    }

    fn find_page<'p>(&self, path: &'p str) -> Result<(usize, Option<&'p str>), LookupError> {
        if let Some(page) = self.page_at(path) {
            return Ok((page, None));
        }
        let whole = normalise(path);
        if let Some(page) = whole.as_ref().ok().and_then(|path| self.page_at(path)) {
            return Ok((page, None));
        }
        // A name may hold `#` itself: the longest one that is a page counts.
        for (at, _) in path.rmatch_indices('#') {
            let page = normalise(&path[..at]).ok().and_then(|path| self.page_at(&path));
            if let Some(page) = page {
                return Ok((page, Some(&path[at + 1..])));
            }
        }
        let typed = path.split('#').next().unwrap_or_default();
        match normalise(typed) {
            Ok(normal) => {
                let near = self.nearest_page(&normal).map(str::to_owned);
                Err(LookupError::NoPage { path: shown(typed), near })
            }
            Err(Refusal { reason, may_be_shown }) => {
                let path = may_be_shown.then(|| shown(typed));
                Err(LookupError::BadPath { reason, path })
            }
        }
    }

    fn find_section(&self, page: usize, wanted: &str) -> Result<usize, LookupError> {
        let records = self.records(page)?;
        let decoded = percent_decoded(wanted);
        let is = |record: &SectionRecord, anchor: &str| {
            record.anchor == anchor || record.other_anchor.as_deref() == Some(anchor)
        };
        let as_written = records.iter().position(|record| is(record, wanted));
        let as_written =
            as_written.or_else(|| records.iter().position(|record| is(record, &decoded)));
        if let Some(found) = as_written {
            return Ok(found);
        }
        let key = loose_key(&decoded);
        let names = |record: &SectionRecord| {
            let anchors = [
                Some(record.anchor.clone()),
                record.other_anchor.clone(),
                Some(record.heading.clone()),
            ];
            anchors.into_iter().flatten().filter(|name| !name.is_empty()).collect::<Vec<_>>()
        };
        let loosely =
            |record: &Arc<SectionRecord>| names(record).iter().any(|name| loose_key(name) == key);
        // A page's title names its preamble only when no heading says the same.
        let heading = records.iter().position(|record| record.level > 0 && loosely(record));
        let found = heading.or_else(|| records.iter().position(loosely));
        if let Some(found) = found.filter(|_| !key.is_empty()) {
            return Ok(found);
        }
        let near = nearest(
            &key,
            records.iter().map(|record| (loose_key(&record.anchor), record.anchor.as_str())),
        );
        Err(LookupError::NoSection {
            path: self.pages[page].path.clone(),
            anchor: shown(wanted),
            near: near.filter(|near| !near.is_empty()).map(str::to_owned),
        })
    }

    /// The records of a page's sections, in order.
    pub(crate) fn records(&self, page: usize) -> Result<Vec<Arc<SectionRecord>>, IndexError> {
        let info = &self.pages[page];
        (info.first_section..info.first_section + info.n_sections)
            .map(|ordinal| self.section(ordinal))
            .collect()
    }

    /// The page that was probably meant: the same name elsewhere, less or more of the path, or a slip of the pen.
    fn nearest_page(&self, path: &str) -> Option<&str> {
        let bare = |path: &str| fold(path).trim_end_matches(".md").to_owned();
        let wanted = bare(path);
        let keys = || self.pages.iter().map(|page| (bare(&page.path), page.path.as_str()));
        let ends_with = |long: &str, short: &str| {
            long.strip_suffix(short).is_some_and(|head| head.is_empty() || head.ends_with('/'))
        };
        let related = keys()
            .filter(|(key, _)| {
                ends_with(key, &wanted)
                    || ends_with(&wanted, key)
                    || *key == format!("{wanted}/index")
            })
            .min_by_key(|(key, _)| key.len().abs_diff(wanted.len()))
            .map(|(_, path)| path);
        let file_name = wanted.rsplit('/').next().unwrap_or_default();
        related.or_else(|| nearest(&wanted, keys())).or_else(|| {
            keys().find(|(key, _)| key.rsplit('/').next() == Some(file_name)).map(|(_, path)| path)
        })
    }
}

/// Why a path names nothing in any tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Refusal {
    reason: &'static str,
    /// Whether a message may repeat the path.
    may_be_shown: bool,
}

/// Puts a typed path in order. It must stay inside the root by its words alone.
fn normalise(path: &str) -> Result<String, Refusal> {
    let refuse = |reason, may_be_shown| Err(Refusal { reason, may_be_shown });
    let bytes = path.as_bytes();
    if path.chars().any(char::is_control) {
        return refuse("page path holds a control character", false);
    }
    if path.starts_with('/') || path.contains("://") {
        return refuse("page path is absolute", false);
    }
    if bytes.len() > 1 && bytes[0].is_ascii_alphabetic() && bytes[1] == b':' {
        return refuse("page path names a drive", false);
    }
    if path.contains('\\') {
        return refuse("page path holds a backslash", false);
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                if parts.pop().is_none() {
                    return refuse("page path leaves the docs root", true);
                }
            }
            part => parts.push(part),
        }
    }
    if parts.is_empty() {
        return refuse("page path is empty", false);
    }
    Ok(parts.join("/"))
}

/// The name whose key is nearest to `wanted`: at most a third of its letters away, the first one among equals.
fn nearest<'a>(wanted: &str, names: impl Iterator<Item = (String, &'a str)>) -> Option<&'a str> {
    let n_wanted = wanted.chars().take(MAX_COMPARED_CHARS + 1).count();
    if n_wanted == 0 || n_wanted > MAX_COMPARED_CHARS {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for (key, name) in names {
        let n_chars = key.chars().count();
        let most = best.map_or(n_wanted.max(n_chars) / 3, |(least, _)| least.saturating_sub(1));
        if n_chars.abs_diff(n_wanted) > most {
            continue;
        }
        let n_edits = strsim::levenshtein(wanted, &key);
        if n_edits <= most && best.is_none_or(|(least, _)| n_edits < least) {
            best = Some((n_edits, name));
        }
    }
    best.map(|(_, name)| name)
}

/// A name as a message repeats it: short, on one line.
fn shown(name: &str) -> String {
    let mut shown: String = name
        .chars()
        .take(MAX_SHOWN_CHARS)
        .map(|c| if c.is_control() { '\u{fffd}' } else { c })
        .collect();
    if name.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// `%C3%BA` as a link may spell it; text that does not decode stays as it is.
pub fn percent_decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .filter(|_| byte == b'%')
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let decoded = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(decoded.unwrap_or(byte));
        rest = if decoded.is_some() { &after[2..] } else { after };
    }
    String::from_utf8(bytes).unwrap_or_else(|_| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{normalise, percent_decoded};

    #[test]
    fn paths_are_put_in_order_or_refused() {
        for (typed, expected) in [
            ("guide/x.md", Some("guide/x.md")),
            ("./guide//x.md", Some("guide/x.md")),
            ("guide/../guide/x.md", Some("guide/x.md")),
            ("index.md/", Some("index.md")),
            ("100%.md", Some("100%.md")),
            ("-flag.md", Some("-flag.md")),
            ("..a/b.md", Some("..a/b.md")),
            ("", None),
            (".", None),
            ("guide/..", None),
            ("..", None),
            ("../x.md", None),
            ("guide/../../x.md", None),
            ("/etc/x.md", None),
            ("//host/x.md", None),
            ("file:///x.md", None),
            ("C:x.md", None),
            ("a\\b.md", None),
            ("a\0.md", None),
        ] {
            assert_eq!(normalise(typed).ok().as_deref(), expected, "{typed:?}");
        }
    }

    #[test]
    fn links_spell_letters_in_percent() {
        for (typed, expected) in [
            ("b%C3%BAsqueda", "búsqueda"),
            ("100%", "100%"),
            ("%zz", "%zz"),
            ("%ff", "%ff"),
            ("a%20b", "a b"),
        ] {
            assert_eq!(percent_decoded(typed), expected);
        }
    }
}
