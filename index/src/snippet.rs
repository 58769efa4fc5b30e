//! The words of a section around the place that answers a query best: one or two sentences of plain text.

use unicode_segmentation::UnicodeSegmentation;

use crate::record::SectionRecord;

/// About two lines of a terminal.
const MAX_SNIPPET_BYTES: usize = 240;
/// How far a snippet looks back for the start of a sentence.
const LOOK_BACK_BYTES: usize = 100;

/// A piece of a section's text, blanks collapsed to single spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Snippet {
    /// Plain text; `…` where a sentence was cut.
    pub text: String,
    /// First and last line of the page that it comes from.
    pub lines: (u32, u32),
}

/// Cuts the snippet around the words `window` (ordinals in the text), or from the start.
pub(crate) fn snippet(record: &SectionRecord, window: Option<(usize, usize)>) -> Snippet {
    let text = record.text.as_str();
    let at = |word: usize| record.word_starts.get(word).map_or(0, |start| *start as usize);
    let (first, last) = window.map_or((0, 0), |(first, last)| (at(first), at(last)));
    let start = sentence_start(text, first);
    let limit = (start + MAX_SNIPPET_BYTES).min(text.len());
    let end = sentence_end(text, last.min(limit), limit);
    let mut shown = String::with_capacity(end - start + 6);
    if start > 0 && !starts_sentence(text, start) {
        shown.push('…');
    }
    for (i, word) in text[start..end].split_whitespace().enumerate() {
        if i > 0 {
            shown.push(' ');
        }
        shown.push_str(word);
    }
    if end < text.len() && !ends_sentence(&text[..end]) {
        shown.push('…');
    }
    if shown.is_empty() {
        return Snippet { text: shown, lines: (record.start_line, record.start_line) };
    }
    let lines = (record.line_at(start), record.line_at(end.saturating_sub(1).max(start)));
    Snippet { text: shown, lines: (lines.0, lines.1.max(lines.0)) }
}

/// The start of the sentence that holds `at`, or a word near it when that is far away.
fn sentence_start(text: &str, at: usize) -> usize {
    let floor = floor_char(text, at.saturating_sub(LOOK_BACK_BYTES));
    let back = &text[floor..at];
    let found = back.char_indices().rev().find_map(|(i, c)| {
        let after = i + c.len_utf8();
        let ends = c == '\n' || (is_stop(c) && back[after..].starts_with(char::is_whitespace));
        ends.then_some(after)
    });
    let start = match found {
        Some(after) => floor + after,
        None if floor == 0 => 0,
        // No sentence begins near: begin at a word.
        None => floor + back.find(char::is_whitespace).unwrap_or(0),
    };
    start + (text[start..].len() - text[start..].trim_start().len())
}

/// The end of the second sentence from `at`, of the first paragraph, or of the last whole word before `limit`.
fn sentence_end(text: &str, at: usize, limit: usize) -> usize {
    let at = floor_char(text, at);
    let limit = floor_char(text, limit);
    let ahead = &text[at..limit];
    let mut sentences = 0;
    for (i, c) in ahead.char_indices() {
        let after = at + i + c.len_utf8();
        let ends = is_stop(c) && text[after..].chars().next().is_none_or(char::is_whitespace);
        if c == '\n' && sentences > 0 || ends && sentences == 1 {
            return after;
        }
        sentences += usize::from(ends || c == '\n');
    }
    if limit == text.len() {
        return limit;
    }
    match ahead.rfind(char::is_whitespace) {
        Some(space) if space > 0 => at + space,
        // One word without end: cut between graphemes.
        _ => ahead.grapheme_indices(true).next_back().map_or(limit, |(last, _)| at + last),
    }
}

fn is_stop(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

fn starts_sentence(text: &str, start: usize) -> bool {
    ends_sentence(text[..start].trim_end_matches([' ', '\t']))
        || text[..start].trim_end_matches([' ', '\t']).ends_with('\n')
}

fn ends_sentence(text: &str) -> bool {
    text.ends_with('\n') || text.trim_end().ends_with(|c| is_stop(c) || matches!(c, ':' | ';'))
}

fn floor_char(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
