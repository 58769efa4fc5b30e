//! What a link to a heading names: slugs in GitHub's and in `VitePress`'s dialect.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use crate::fold::fold;

/// Whose rules turn a heading into its anchor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// GitHub's: letters keep their accents, every space is a hyphen, other signs go.
    #[default]
    GitHub,
    /// `VitePress`'s: accents go, runs of signs are one hyphen, `_` before a leading digit.
    VitePress,
}

/// Slugs one page's headings in order; no two get the same anchor.
#[derive(Debug)]
pub struct Slugger {
    dialect: Dialect,
    /// Anchors given out, and how often each was asked for again.
    taken: HashMap<String, usize>,
}

impl Slugger {
    /// A slugger for one page.
    pub fn new(dialect: Dialect) -> Self {
        Self { dialect, taken: HashMap::new() }
    }

    /// The anchor of the next heading: its explicit id as written, else the slug of its plain text, with `-1`, `-2`, …
    /// when it is taken.
    ///
    /// Source: npm `github-slugger` 2.0.0; npm `markdown-it-anchor` as `VitePress` calls it.
    pub fn anchor(&mut self, heading: &str, explicit: Option<&str>) -> String {
        let slug = match (explicit, self.dialect) {
            (Some(id), _) => id.to_owned(),
            (None, Dialect::GitHub) => github_slug(heading),
            (None, Dialect::VitePress) => vitepress_slug(heading),
        };
        let mut anchor = slug.clone();
        while self.taken.contains_key(&anchor) {
            let count = self.taken.entry(slug.clone()).or_default();
            *count += 1;
            anchor = format!("{slug}-{count}");
        }
        self.taken.insert(anchor.clone(), 0);
        anchor
    }
}

/// GitHub's slug: lower case; letters, marks, digits, `_`, `-` stay; each space becomes `-`.
fn github_slug(heading: &str) -> String {
    heading
        .to_lowercase()
        .chars()
        .filter_map(|c| match c {
            ' ' => Some('-'),
            '-' | '_' => Some(c),
            _ if c.is_ascii() => c.is_ascii_alphanumeric().then_some(c),
            _ => is_github_letter(c).then_some(c),
        })
        .collect()
}

fn is_github_letter(c: char) -> bool {
    use GeneralCategory as G;
    c.is_alphabetic()
        || matches!(
            get_general_category(c),
            G::NonspacingMark
                | G::SpacingMark
                | G::EnclosingMark
                | G::DecimalNumber
                | G::LetterNumber
                | G::ConnectorPunctuation
        )
}

/// `VitePress`'s slug, after npm `@mdit-vue/shared` 3.0.2.
fn vitepress_slug(heading: &str) -> String {
    let mut slug = String::with_capacity(heading.len());
    for c in heading.nfkd() {
        match c {
            '\u{300}'..='\u{36f}' | '\0'..='\u{1f}' => {}
            _ if c.is_whitespace() || c == '\u{feff}' || is_vitepress_special(c) => {
                if !slug.ends_with('-') {
                    slug.push('-');
                }
            }
            _ => slug.push(c),
        }
    }
    let slug = slug.trim_matches('-');
    let digit = if slug.starts_with(|c: char| c.is_ascii_digit()) { "_" } else { "" };
    format!("{digit}{}", slug.to_lowercase())
}

fn is_vitepress_special(c: char) -> bool {
    (c.is_ascii_punctuation()) || matches!(c, '“' | '”' | '‘' | '’')
}

/// A key under which both dialects' anchors, with or without accents and in any case, meet: letters and digits only.
///
/// Used for look-ups when no anchor is equal as written.
pub fn loose_key(anchor: &str) -> String {
    fold(anchor).chars().filter(|c| c.is_alphanumeric()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_in_both_dialects() {
        for (heading, github, vitepress) in [
            ("Búsqueda de páginas", "búsqueda-de-páginas", "busqueda-de-paginas"),
            ("flow_validate", "flow_validate", "flow-validate"),
            ("1. Instalación", "1-instalación", "_1-instalacion"),
            ("TLS/SSL setup", "tlsssl-setup", "tls-ssl-setup"),
            ("¿Qué es?", "qué-es", "¿que-es"),
            ("a & b", "a--b", "a-b"),
            ("Fin #", "fin-", "fin"),
            ("Dev 👩‍💻 tools", "dev--tools", "dev-👩‍💻-tools"),
            ("", "", ""),
        ] {
            assert_eq!(Slugger::new(Dialect::GitHub).anchor(heading, None), github);
            assert_eq!(Slugger::new(Dialect::VitePress).anchor(heading, None), vitepress);
        }
    }

    #[test]
    fn loose_keys_meet_across_dialects() {
        for (a, b) in [("búsqueda-rápida", "busqueda-rapida"), ("_1-uno", "1-uno"), ("A--b", "a-b")]
        {
            assert_eq!(loose_key(a), loose_key(b));
        }
    }
}
