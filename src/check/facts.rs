//! What the checks need to know of one page: a function of its text alone, so that a page that did not change is read once.

use std::collections::BTreeSet;
use std::ops::Range;

use botmesh_index::anchor::Dialect;
use botmesh_index::anchor::loose_key;
use botmesh_index::front_matter;
use botmesh_index::page::Page;
use botmesh_index::section::{OPTIONS, Section, explicit_id, lone_cr_to_lf};
use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

use super::html;

/// What takes text from elsewhere, in `VitePress` and Hugo: headings may come with it.
const INCLUDES: [&str; 3] = ["<!--@include", "{{%", "{{< include"];

/// One page as the checks see it. Offsets are bytes of `text`.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) page: Page,
    pub(super) links: Vec<Link>,
    /// Ids that headings and tags give themselves, in order.
    pub(super) ids: Vec<(String, Range<usize>)>,
    pub(super) code: Vec<CodeBlock>,
    /// Texts of the code spans outside headings.
    pub(super) names: BTreeSet<String>,
    /// Numbers of two digits and more in the text, without separators.
    pub(super) numbers: BTreeSet<String>,
    /// Whether parts of the page stand in other files, so that its anchors are not all known.
    pub(super) has_includes: bool,
}

/// A link or an image.
#[derive(Debug)]
pub(super) struct Link {
    pub(super) target: String,
    pub(super) span: Range<usize>,
    pub(super) is_image: bool,
    /// Whether it says in which window it opens: a site with a router then leaves it to the browser.
    pub(super) has_window: bool,
}

/// A fenced or indented block of code.
#[derive(Debug)]
pub(super) struct CodeBlock {
    pub(super) info: String,
    pub(super) text: String,
    /// The whole block with its fences.
    pub(super) span: Range<usize>,
    /// 1-based line where its text starts.
    pub(super) first_line: usize,
}

impl Facts {
    /// Reads a page from its decoded text.
    pub(super) fn read(path: &str, text: &str, dialect: Dialect, default_lang: &str) -> Self {
        let (page, _) = Page::read(path, text.as_bytes(), dialect, default_lang);
        let base = front_matter::read(text).map_or(0, |block| block.len);
        let markdown = lone_cr_to_lf(&text[base..]);
        let mut facts = Self {
            page,
            links: Vec::new(),
            ids: Vec::new(),
            code: Vec::new(),
            names: BTreeSet::new(),
            numbers: BTreeSet::new(),
            // A page of front matter alone is filled by the site's layout.
            has_includes: INCLUDES.iter().any(|mark| text.contains(mark))
                || base > 0 && text[base..].trim().is_empty(),
        };
        facts.walk(&markdown, base);
        facts
    }

    fn walk(&mut self, markdown: &str, base: usize) {
        let in_page = |range: &Range<usize>| base + range.start..base + range.end;
        let mut in_heading = false;
        let mut block: Option<CodeBlock> = None;
        for (event, range) in Parser::new_ext(markdown, OPTIONS).into_offset_iter() {
            match event {
                Event::Start(Tag::Heading { .. }) => {
                    in_heading = true;
                    if let Some(id) = explicit_id(markdown, &range) {
                        self.ids.push((id, in_page(&range)));
                    }
                }
                Event::End(TagEnd::Heading(_)) => in_heading = false,
                Event::Start(Tag::Link { dest_url, .. }) => {
                    self.link(&dest_url, markdown, &range, base, false);
                }
                Event::Start(Tag::Image { dest_url, .. }) => {
                    self.link(&dest_url, markdown, &range, base, true);
                }
                Event::Start(Tag::HtmlBlock) => {
                    self.html(&markdown[range.clone()], base + range.start);
                }
                Event::InlineHtml(tag) => self.html(&tag, base + range.start),
                Event::Start(Tag::CodeBlock(kind)) => {
                    let info = match kind {
                        CodeBlockKind::Fenced(info) => info.into_string(),
                        CodeBlockKind::Indented => String::new(),
                    };
                    let span = in_page(&range);
                    block = Some(CodeBlock { info, text: String::new(), span, first_line: 0 });
                }
                Event::End(TagEnd::CodeBlock) => self.code.extend(block.take()),
                Event::Text(text) => match &mut block {
                    Some(block) => {
                        if block.text.is_empty() {
                            block.first_line =
                                self.page.text[..base + range.start].split('\n').count();
                        }
                        block.text.push_str(&text);
                    }
                    None => self.numbers_in(&text),
                },
                Event::Code(name) if !in_heading => {
                    self.names.insert(name.into_string());
                }
                _ => {}
            }
        }
    }

    fn link(
        &mut self,
        target: &str,
        markdown: &str,
        range: &Range<usize>,
        base: usize,
        is_image: bool,
    ) {
        // Where the target stands, when it stands here: a reference defines it elsewhere.
        let source = &markdown[range.clone()];
        let span = match source.rfind(target).filter(|_| !target.is_empty()) {
            Some(at) => range.start + at..range.start + at + target.len(),
            None => range.clone(),
        };
        let span = base + span.start..base + span.end;
        // Attributes as `markdown-it-attrs` reads them: `[text](target){target="_self"}`.
        let attributes = markdown[range.end..].strip_prefix('{');
        let attributes = attributes.and_then(|rest| rest.split_once('}'));
        let has_window = attributes.is_some_and(|(inside, _)| inside.contains("target="));
        self.links.push(Link { target: target.to_owned(), span, is_image, has_window });
    }

    fn html(&mut self, source: &str, at: usize) {
        for tag in html::tags(source) {
            let has_window = tag.attributes.iter().any(|attribute| attribute.name == "target");
            for attribute in &tag.attributes {
                let span = at + attribute.span.start..at + attribute.span.end;
                let target = attribute.value.clone();
                match (tag.name.as_str(), attribute.name.as_str()) {
                    ("a", "href") => {
                        self.links.push(Link { target, span, is_image: false, has_window });
                    }
                    ("img", "src") => {
                        self.links.push(Link { target, span, is_image: true, has_window });
                    }
                    (_, "id") | ("a", "name") => self.ids.push((target, span)),
                    _ => {}
                }
            }
        }
    }

    fn numbers_in(&mut self, text: &str) {
        const MIN_DIGITS: usize = 2; // smaller ones are often written as words
        let is_digit = |c: char| c.is_ascii_digit();
        let mut digits = String::new();
        let mut rest = text;
        while let Some(start) = rest.find(is_digit) {
            let run = &rest[start..];
            let n = run.find(|c| !is_digit(c)).unwrap_or(run.len());
            digits.push_str(&run[..n]);
            rest = &run[n..];
            if !goes_on(rest) {
                if digits.len() >= MIN_DIGITS {
                    self.numbers.insert(digits.clone());
                }
                digits.clear();
            }
        }
    }

    /// Everything a fragment may name here: anchors in the site's dialect, and explicit ids.
    pub(super) fn has_anchor(&self, fragment: &str) -> bool {
        self.page.sections.iter().any(|section| section.anchor == fragment)
            || self.ids.iter().any(|(id, _)| id == fragment)
    }

    /// The anchor that a fragment would name in the other dialect, or without accents.
    pub(super) fn loose_anchor(&self, fragment: &str) -> Option<&str> {
        let key = loose_key(fragment);
        let sections = self.page.sections.iter().filter(|section| !section.anchor.is_empty());
        sections
            .filter(|section| {
                section.other_anchor.as_deref() == Some(fragment)
                    || loose_key(&section.anchor) == key
            })
            .map(|section| section.anchor.as_str())
            .next()
    }

    /// The page's sections, in order.
    pub(super) fn sections(&self) -> impl Iterator<Item = &Section> {
        self.page.sections.iter()
    }

    /// The bytes of the line with a section's heading.
    pub(super) fn heading_line(&self, section: &Section) -> Range<usize> {
        let text = &self.page.text[section.bytes.clone()];
        let skipped = text.len() - text.trim_start().len();
        let line = text[skipped..].lines().next().unwrap_or_default();
        let start = section.bytes.start + skipped;
        start..start + line.len()
    }
}

/// Whether a number goes on after a sign: `16,384`, `16.384` and `16 384` are one, and so is `0.5`.
fn goes_on(rest: &str) -> bool {
    let mut rest = rest.chars();
    let sign = rest.next();
    let n_digits = rest.take_while(char::is_ascii_digit).count();
    match sign {
        Some('.' | ',') => n_digits > 0,
        Some(' ' | '\u{a0}' | '\u{202f}') => n_digits == 3,
        _ => false,
    }
}
