//! Splits a page into its sections.
//!
//! The parser is pulldown-cmark; the rules of what a section is are ours. Two of its options stay off because they eat
//! text: metadata blocks (any `---` pair) and heading attributes (`GET /users/{id}`); [`crate::front_matter`] and
//! `attributes` below do that work.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag, TagEnd};

use crate::anchor::{Dialect, Slugger};

/// A heading and what stands below it, up to the next heading of any level.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Section {
    /// Plain text of the heading: no markup, no `{#id}`. [`split_sections`] leaves the preamble's empty; a page gives it
    /// its title.
    pub heading: String,
    /// 1 to 6; 0 for the preamble, the text before the first heading.
    pub level: u8,
    /// Texts of the headings above this one, outermost first.
    pub heading_path: Vec<String>,
    /// What links to this section name, in the page's dialect. Empty for the preamble.
    pub anchor: String,
    /// The same in the other dialect, when it differs.
    pub other_anchor: Option<String>,
    /// The section's bytes in the page. The first section begins at 0: front matter and leading blank lines are its.
    pub bytes: Range<usize>,
    /// First line, from 1: the heading's, or the one after the front matter.
    pub start_line: u32,
    /// Last line, inclusive: the one before the next section.
    pub end_line: u32,
    /// Plain text below the heading, code and tables included, markup left out.
    pub text: String,
    /// Which line each piece of `text` comes from: (offset in `text`, line), ascending.
    pub text_lines: Vec<(u32, u32)>,
}

impl Section {
    /// The line that the byte at `offset` of [`Section::text`] comes from.
    pub fn line_at(&self, offset: usize) -> u32 {
        line_at(&self.text_lines, self.start_line, offset)
    }
}

/// See [`Section::line_at`].
pub(crate) fn line_at(text_lines: &[(u32, u32)], start_line: u32, offset: usize) -> u32 {
    let after = text_lines.partition_point(|&(start, _)| start as usize <= offset);
    if after == 0 { start_line } else { text_lines[after - 1].1 }
}

/// Splits the text of a page into sections that tile it: joined in order they are the text again, byte for byte.
///
/// `front_matter_len` bytes at the start are not Markdown. A section runs from its heading (ATX or setext, not inside a
/// quotation or a list) to the next heading of any level. Text before the first heading is the preamble, a section of
/// level 0. A text of blanks has no sections.
///
/// Never fails: an unclosed block runs to the end of the page. Lines end with LF, CRLF or a lone CR.
///
/// Rules: `CommonMark` 0.31 sections 4.2 and 4.3; anchors: [`Slugger`].
pub fn split_sections(text: &str, front_matter_len: usize, dialect: Dialect) -> Vec<Section> {
    // Same length, so every offset holds: the parser knows only LF and CRLF.
    let markdown = lone_cr_to_lf(&text[front_matter_len..]);
    let lines = LineStarts::new(text);
    let mut splitter = Splitter::new(&markdown, front_matter_len, &lines, dialect);
    for (event, range) in Parser::new_ext(&markdown, OPTIONS).into_offset_iter() {
        splitter.event(event, range);
    }
    splitter.finish(text)
}

/// The extensions of Markdown that pages may use.
pub const OPTIONS: Options = Options::ENABLE_TABLES
    .union(Options::ENABLE_FOOTNOTES)
    .union(Options::ENABLE_STRIKETHROUGH)
    .union(Options::ENABLE_TASKLISTS);

/// The same text, byte for byte as long, with line ends that the parser knows.
pub fn lone_cr_to_lf(text: &str) -> String {
    if !text.contains('\r') {
        return text.to_owned();
    }
    text.replace("\r\n", "\u{1}\n").replace('\r', "\n").replace("\u{1}\n", "\r\n")
}

/// Byte offsets at which the lines of a text start.
struct LineStarts(Vec<usize>);

impl LineStarts {
    fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut starts = vec![0];
        for (at, &byte) in bytes.iter().enumerate() {
            if byte == b'\n' || (byte == b'\r' && bytes.get(at + 1) != Some(&b'\n')) {
                starts.push(at + 1);
            }
        }
        Self(starts)
    }

    /// The line of a byte, from 1.
    fn line_of(&self, byte: usize) -> u32 {
        self.0.partition_point(|&start| start <= byte) as u32
    }
}

struct Splitter<'a> {
    markdown: &'a str,
    base: usize,
    lines: &'a LineStarts,
    sections: Vec<Section>,
    slugger: Slugger,
    other_slugger: Slugger,
    /// Quotations, lists and footnotes around the current event: a heading inside one starts no section.
    containers: usize,
    heading: Option<HeadingText>,
    /// Level and text of the headings that the next one may stand under, outermost first.
    open_headings: Vec<(u8, String)>,
    /// Inside an HTML block: whether a comment or a tag is open across lines.
    html: HtmlState,
    in_code_block: bool,
    in_metadata: bool,
    cells: usize,
}

struct HeadingText {
    level: HeadingLevel,
    range: Range<usize>,
    text: String,
    /// Where the trailing attribute block starts, and the id in it.
    attributes: Option<(usize, Option<String>)>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum HtmlState {
    #[default]
    Text,
    Tag,
    Comment,
}

impl<'a> Splitter<'a> {
    fn new(markdown: &'a str, base: usize, lines: &'a LineStarts, dialect: Dialect) -> Self {
        let other = match dialect {
            Dialect::GitHub => Dialect::VitePress,
            Dialect::VitePress => Dialect::GitHub,
        };
        let preamble = Section { start_line: lines.line_of(base), ..Section::default() };
        Self {
            markdown,
            base,
            lines,
            sections: vec![preamble],
            slugger: Slugger::new(dialect),
            other_slugger: Slugger::new(other),
            containers: 0,
            heading: None,
            open_headings: Vec::new(),
            html: HtmlState::Text,
            in_code_block: false,
            in_metadata: false,
            cells: 0,
        }
    }

    fn event(&mut self, event: Event<'_>, range: Range<usize>) {
        match event {
            Event::Start(Tag::Heading { level, .. }) => self.start_heading(level, range),
            Event::End(TagEnd::Heading(_)) => self.end_heading(),
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text, &range),
            Event::Code(code) => self.text(&code, &range),
            Event::SoftBreak => self.push(" ", range.start),
            Event::HardBreak if self.heading.is_some() => self.push(" ", range.start),
            Event::HardBreak => self.push("\n", range.start),
            Event::Html(html) => self.html(&html, &range),
            // An inline tag is markup; the words around it stay apart.
            Event::InlineHtml(_) if self.heading.is_none() => self.separate(' '),
            _ => {}
        }
    }

    fn start_heading(&mut self, level: HeadingLevel, range: Range<usize>) {
        let attributes = attributes(self.markdown, &range);
        self.heading = Some(HeadingText { level, range, text: String::new(), attributes });
    }

    fn end_heading(&mut self) {
        let Some(heading) = self.heading.take() else { return };
        let text = heading.text.trim().to_owned();
        let explicit = heading.attributes.and_then(|(_, id)| id);
        let anchor = self.slugger.anchor(&text, explicit.as_deref());
        let other = self.other_slugger.anchor(&text, explicit.as_deref());
        if self.containers > 0 {
            self.separate('\n');
            self.append(&text, heading.range.start);
            self.separate('\n');
            return;
        }
        let start = self.base + heading.range.start;
        let level = heading.level as u8;
        let heading_path = self.heading_path(level, &text);
        self.sections.push(Section {
            heading: text,
            level,
            heading_path,
            other_anchor: (other != anchor).then_some(other),
            anchor,
            bytes: start..start,
            start_line: self.lines.line_of(start),
            ..Section::default()
        });
    }

    /// The texts of the headings that a new heading of `level` stands under. The stack holds the open headings alone,
    /// so a page of a hundred thousand headings costs no more a heading than a page of ten.
    fn heading_path(&mut self, level: u8, text: &str) -> Vec<String> {
        while self.open_headings.last().is_some_and(|(above, _)| *above >= level) {
            self.open_headings.pop();
        }
        let path = self.open_headings.iter().map(|(_, text)| text.clone()).collect();
        self.open_headings.push((level, text.to_owned()));
        path
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_) => self.containers += 1,
            Tag::CodeBlock(_) => {
                self.in_code_block = true;
                self.separate('\n');
            }
            Tag::MetadataBlock(_) => self.in_metadata = true,
            Tag::HtmlBlock => self.html = HtmlState::Text,
            Tag::TableRow | Tag::TableHead => self.cells = 0,
            Tag::TableCell => {
                if self.cells > 0 {
                    self.raw(" | ");
                }
                self.cells += 1;
            }
            _ => {}
        }
        if matches!(tag, Tag::Item | Tag::Paragraph | Tag::Table(_) | Tag::FootnoteDefinition(_)) {
            self.separate('\n');
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition => {
                self.containers = self.containers.saturating_sub(1);
                self.separate('\n');
            }
            TagEnd::CodeBlock => {
                self.in_code_block = false;
                self.separate('\n');
            }
            TagEnd::MetadataBlock(_) => self.in_metadata = false,
            TagEnd::HtmlBlock => {
                self.html = HtmlState::Text;
                self.separate('\n');
            }
            TagEnd::Paragraph | TagEnd::Item | TagEnd::TableRow | TagEnd::TableHead => {
                self.separate('\n');
            }
            _ => {}
        }
    }

    fn text(&mut self, text: &str, range: &Range<usize>) {
        if let Some(heading) = &mut self.heading {
            let end = heading.attributes.as_ref().map_or(usize::MAX, |(start, _)| *start);
            if range.start >= end {
                return;
            }
            // Text events are slices of the source unless an entity was decoded, so the cut is exact.
            let kept = if range.end > end && text.len() == range.len() {
                &text[..end - range.start]
            } else {
                text
            };
            heading.text.push_str(kept);
            return;
        }
        let is_mark = text.starts_with(":::") && !self.in_code_block && self.at_line_start();
        let text = if is_mark { text.trim_start_matches(':').trim_start() } else { text };
        self.push(text, range.end - text.len().min(range.len()));
    }

    /// Whether the section's text ends with a line end. `::: tip Title` is a container's mark there: its colons are no
    /// text.
    fn at_line_start(&self) -> bool {
        let ends = |text: &str| text.is_empty() || text.ends_with('\n');
        self.sections.last().is_none_or(|section| ends(&section.text))
    }

    /// Keeps the text of an HTML block and drops its tags and comments.
    fn html(&mut self, html: &str, range: &Range<usize>) {
        let mut rest = html;
        while !rest.is_empty() {
            let at = range.start + (html.len() - rest.len());
            let (taken, next) = match self.html {
                HtmlState::Text => {
                    let end = rest.find('<').unwrap_or(rest.len());
                    let text = rest[..end].trim_start();
                    if !text.is_empty() {
                        self.push(text, at + (end - text.len()));
                    }
                    let next = if rest[end..].starts_with("<!--") {
                        HtmlState::Comment
                    } else if end < rest.len() {
                        HtmlState::Tag
                    } else {
                        HtmlState::Text
                    };
                    (end, next)
                }
                HtmlState::Tag => match rest.find('>') {
                    Some(end) => (end + 1, HtmlState::Text),
                    None => (rest.len(), HtmlState::Tag),
                },
                HtmlState::Comment => match rest.find("-->") {
                    Some(end) => (end + 3, HtmlState::Text),
                    None => (rest.len(), HtmlState::Comment),
                },
            };
            self.html = next;
            rest = &rest[taken..];
        }
    }

    /// Adds text to the open heading or section; `at` is where it stands in the Markdown.
    fn push(&mut self, text: &str, at: usize) {
        match &mut self.heading {
            Some(heading) => heading.text.push_str(text),
            None => self.append(text, at),
        }
    }

    fn append(&mut self, text: &str, at: usize) {
        let lines = self.lines;
        let base = self.base;
        let Some(section) = self.sections.last_mut() else { return };
        let mut start = 0;
        // One entry a line of text; a piece without a line end has exactly one.
        for piece in text.split_inclusive('\n') {
            let line = lines.line_of(base + at + start);
            if section.text_lines.last().is_none_or(|&(_, last)| last != line) {
                section.text_lines.push((section.text.len() as u32, line));
            }
            section.text.push_str(piece);
            start += piece.len();
        }
    }

    fn raw(&mut self, text: &str) {
        if let Some(section) = self.sections.last_mut() {
            section.text.push_str(text);
        }
    }

    /// Ends the current line (or word) of the section's text, once.
    fn separate(&mut self, by: char) {
        if let Some(section) = self.sections.last_mut()
            && !section.text.is_empty()
            && !section.text.ends_with(['\n', by])
        {
            section.text.push(by);
        }
    }

    /// Sets the ranges: each section ends where the next begins. Drops a preamble of blanks.
    fn finish(mut self, text: &str) -> Vec<Section> {
        let first_start = self.sections.get(1).map_or(text.len(), |section| section.bytes.start);
        let only_blanks = text[self.base..first_start].trim().is_empty();
        let has_front_matter = self.base > 0;
        if only_blanks && (self.sections.len() > 1 || !has_front_matter) {
            self.sections.remove(0);
        }
        let mut end = text.len();
        let last_line = self.lines.line_of(text.len().saturating_sub(1));
        let mut end_line = last_line;
        for section in self.sections.iter_mut().rev() {
            section.bytes.end = end;
            section.end_line = end_line.max(section.start_line.min(last_line));
            end = section.bytes.start;
            end_line = section.start_line.saturating_sub(1);
            section.text.truncate(section.text.trim_end().len());
        }
        if let Some(first) = self.sections.first_mut() {
            first.bytes.start = 0;
            first.start_line = first.start_line.min(last_line);
        }
        self.sections
    }
}

/// The id that a heading gives itself (`## Title {#id}`), at its bytes in the Markdown.
pub fn explicit_id(markdown: &str, heading: &Range<usize>) -> Option<String> {
    attributes(markdown, heading).and_then(|(_, id)| id)
}

/// The attribute block at the end of a heading (`{#id .class key=value}`): where it starts, and its id.
///
/// Braces that hold anything else are text, and so are braces inside a code span or after a backslash.
fn attributes(markdown: &str, heading: &Range<usize>) -> Option<(usize, Option<String>)> {
    let source = markdown[heading.clone()].trim_end();
    let is_atx = source.trim_start().starts_with('#');
    let content = if is_atx {
        let open = source.trim_end_matches('#');
        // A closing run of # counts only after a space.
        if open.len() < source.len() && open.ends_with([' ', '\t']) {
            open.trim_end()
        } else {
            source
        }
    } else {
        source[..source.rfind('\n').unwrap_or(source.len())].trim_end()
    };
    let inner = content.strip_suffix('}')?;
    let open = inner.rfind('{')?;
    if content[..open].ends_with('\\') || content[..open].matches('`').count() % 2 == 1 {
        return None;
    }
    let mut id = None;
    let mut marked = false;
    for token in inner[open + 1..].split_whitespace() {
        let name = token.get(1..).unwrap_or_default();
        match token.chars().next() {
            Some('#') if !name.is_empty() => {
                id.get_or_insert_with(|| name.to_owned());
                marked = true;
            }
            Some('.') if !name.is_empty() => marked = true,
            _ if token.contains('=') => {}
            _ => return None,
        }
    }
    marked.then_some((heading.start + open, id))
}
