//! Hits as a person reads them: rank, headings, a place to click on, the snippet with the query's words in bold.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anstyle::{AnsiColor, Style};
use botmesh_index::language::stem;
use botmesh_index::search::{Hit, Query};
use botmesh_index::snapshot::Snapshot;
use botmesh_index::terms::cut;

use super::explanation;
use crate::tools::{self, Answer};

/// Snippets are wrapped to this width: a comfortable line that fits most terminals.
const WIDTH: usize = 88;
const INDENT: &str = "    ";

const RANK: Style = Style::new().dimmed();
const ABOVE: Style = Style::new().dimmed();
const HEADING: Style = Style::new().bold();
const PLACE: Style = AnsiColor::Cyan.on_default();
const FOUND: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = Style::new().dimmed();

/// What the terminal can do besides colours.
pub(super) struct Look {
    /// The docs folder, when places are to be links.
    pub(super) link_root: Option<PathBuf>,
}

/// The whole answer.
pub(super) fn render(snapshot: &Snapshot, query: &Query, answer: &Answer, look: &Look) -> String {
    let reply = &answer.reply;
    let words = Words::of(snapshot, query, answer);
    let mut out = String::new();
    for (at, hit) in reply.hits.iter().enumerate() {
        if at > 0 {
            out.push('\n');
        }
        one(at + 1, hit, &words, look, &mut out);
    }
    let notes = notes(snapshot, query, answer, look);
    if !reply.hits.is_empty() && !notes.is_empty() {
        out.push('\n');
    }
    out.push_str(&notes);
    out
}

fn one(rank: usize, hit: &Hit, words: &Words, look: &Look, out: &mut String) {
    let mut above = hit.heading_path.join(" › ");
    if !above.is_empty() {
        above.push_str(" › ");
    }
    let (heading, score) = (&hit.heading, hit.score);
    let _ = writeln!(
        out,
        "{RANK}{rank:>2}{RANK:#}  {ABOVE}{above}{ABOVE:#}{HEADING}{heading}{HEADING:#}  {NOTE}{score:.1}{NOTE:#}"
    );
    let _ = writeln!(out, "{INDENT}{}", place(hit, look));
    wrap(&hit.snippet.text, &words.found_in(&hit.snippet.text, &hit.lang), out);
    if !hit.translations.is_empty() {
        let _ = writeln!(out, "{INDENT}{NOTE}also: {}{NOTE:#}", hit.translations.join(", "));
    }
    if let Some(explanation) = &hit.explanation {
        explanation::table(explanation, hit.score, INDENT, out);
    }
}

/// `path:line`, which terminals and editors open; a link where the terminal knows links.
fn place(hit: &Hit, look: &Look) -> String {
    let text = format!("{}:{}", hit.path, hit.lines.0);
    let shown = format!("{PLACE}{text}{PLACE:#}");
    match &look.link_root {
        Some(root) => {
            format!("\x1b]8;;{}\x1b\\{shown}\x1b]8;;\x1b\\", file_url(&root.join(&hit.path)))
        }
        None => shown,
    }
}

/// A `file:` address, RFC 8089: bytes that are not unreserved are written in percent.
fn file_url(path: &Path) -> String {
    let mut url = "file://".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'.' | b'_' | b'~' => {
                url.push(char::from(*byte));
            }
            byte => {
                let _ = write!(url, "%{byte:02X}");
            }
        }
    }
    url
}

/// What else there is to say, a line each.
fn notes(snapshot: &Snapshot, query: &Query, answer: &Answer, look: &Look) -> String {
    let reply = &answer.reply;
    let mut notes = String::new();
    if reply.hits.is_empty() {
        let _ = writeln!(notes, "nothing found for `{}`", query.text);
    } else if reply.total > reply.hits.len() {
        let _ = writeln!(notes, "{NOTE}{} of {} sections{NOTE:#}", reply.hits.len(), reply.total);
    }
    let of_lang = query.lang.as_ref().map_or_else(String::new, |lang| format!(" in `{lang}`"));
    for unmatched in &reply.unmatched {
        let used: Vec<String> = unmatched.used.iter().map(|word| format!("`{word}`")).collect();
        let _ = match used.as_slice() {
            [] => writeln!(notes, "no section{of_lang} holds `{}`", unmatched.term),
            used => writeln!(
                notes,
                "no section{of_lang} holds `{}`: looked for {}",
                unmatched.term,
                used.join(", ")
            ),
        };
    }
    if !reply.without.is_empty() {
        let counts =
            reply.without.iter().map(|one| format!("{} without `{}`", one.sections, one.term));
        let _ = writeln!(
            notes,
            "no section holds all words: {}",
            counts.collect::<Vec<_>>().join(", ")
        );
    }
    if let Some(hint) = tools::hint(snapshot, query, answer) {
        let _ = writeln!(notes, "{}", hint.replace("docs_outline", "`botmesh-docs outline`"));
    }
    let other = answer.outside_filter.iter().flat_map(|outside| &outside.hits);
    for hit in other {
        let _ = writeln!(notes, "{INDENT}{}  {}", place(hit, look), hit.heading);
    }
    let mut lang = None;
    for hit in &reply.other_language {
        if lang != Some(&hit.lang) {
            let _ = writeln!(notes, "also in {}:", language_name(&hit.lang));
            lang = Some(&hit.lang);
        }
        let _ = writeln!(notes, "{INDENT}{}  {}", place(hit, look), hit.heading);
    }
    notes
}

fn language_name(code: &str) -> &str {
    match code {
        "en" => "English",
        "es" => "Spanish",
        code => code,
    }
}

/// The words of a query, as they are found in snippets.
struct Words {
    /// Whole words and names.
    texts: BTreeSet<String>,
    /// Stems with their language.
    stems: BTreeSet<(String, String)>,
}

impl Words {
    fn of(snapshot: &Snapshot, query: &Query, answer: &Answer) -> Self {
        let mut texts = BTreeSet::new();
        cut(&query.text, |term| {
            texts.insert(term.text.to_owned());
        });
        texts.extend(
            answer.reply.unmatched.iter().flat_map(|unmatched| unmatched.used.iter().cloned()),
        );
        let stems = snapshot
            .languages()
            .flat_map(|(lang, _)| {
                texts.iter().map(move |text| (lang.to_owned(), stem(lang, text).to_owned()))
            })
            .collect();
        Self { texts, stems }
    }

    /// Where in `text` words of the query stand.
    fn found_in(&self, text: &str, lang: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        cut(text, |term| {
            let stem = || (lang.to_owned(), stem(lang, term.text).to_owned());
            if self.texts.contains(term.text) || self.stems.contains(&stem()) {
                found.push(term.start_byte as usize..term.end_byte as usize);
            }
        });
        found.sort_by_key(|range| (range.start, std::cmp::Reverse(range.end)));
        found.dedup_by(|next, kept| next.start < kept.end);
        found
    }
}

/// Writes `text` in lines, the ranges in bold.
fn wrap(text: &str, bold: &[Range<usize>], out: &mut String) {
    if text.is_empty() {
        return;
    }
    let mut column = 0;
    let mut at = 0;
    out.push_str(INDENT);
    for word in text.split(' ') {
        let n_chars = word.chars().count();
        if column > 0 && column + 1 + n_chars > WIDTH - INDENT.len() {
            out.push('\n');
            out.push_str(INDENT);
            column = 0;
        } else if column > 0 {
            out.push(' ');
            column += 1;
        }
        column += n_chars;
        let mut start = at;
        let end = at + word.len();
        for range in bold.iter().filter(|range| range.start < end && range.end > at) {
            let (from, to) = (range.start.max(start), range.end.min(end));
            let _ = write!(out, "{}{FOUND}{}{FOUND:#}", &text[start..from], &text[from..to]);
            start = to;
        }
        out.push_str(&text[start..end]);
        at = end + 1;
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::{FOUND, file_url, wrap};

    #[test]
    fn lines_break_between_words_and_bold_stays_inside() {
        let text = "uno ".repeat(30).trim_end().to_owned() + " dos";
        let mut out = String::new();
        wrap(&text, &[0..3, text.len() - 3..text.len()], &mut out);
        assert!(out.starts_with(&format!("    {FOUND}uno{FOUND:#} uno")), "{out:?}");
        assert!(out.ends_with(&format!(" {FOUND}dos{FOUND:#}\n")), "{out:?}");
        assert_eq!(out.lines().count(), 2);
    }

    #[test]
    fn links_hold_no_odd_byte() {
        assert_eq!(file_url("/a b/ñ#.md".as_ref()), "file:///a%20b/%C3%B1%23.md");
    }
}
