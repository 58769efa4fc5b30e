//! `docs_outline`: which pages there are, or the headings of one page.

use std::collections::BTreeMap;

use botmesh_index::outline::{OutlineHeading, PageOutline, PageSummary};
use botmesh_index::snapshot::Snapshot;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};

use super::docs::{self, MAX_REPLY_BYTES};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::{ErrorCode, ToolError};
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "docs_outline",
    title: "List docs pages or headings",
    description: "See what there is to read: all pages, those below a folder, or, with the path of a page, its headings \
        with anchors, lines and sizes. Use docs_search to find something, this to get an overview.",
    input_schema: r#"{
        "type": "object",
        "properties": {
            "path": {"type": "string", "maxLength": 1024, "description": "A page, or a folder"},
            "lang": {"type": "string", "maxLength": 16, "description": "Only pages in this language"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 500, "default": 100},
            "cursor": {"type": "string", "maxLength": 128, "description": "page.next_cursor of the last reply"}
        },
        "additionalProperties": false
    }"#,
    output_schema: r#"{
        "type": "object",
        "properties": {
            "pages": {"type": "array"},
            "path": {"type": "string"}, "title": {"type": "string"}, "lang": {"type": "string"},
            "headings": {"type": "array"},
            "total": {"type": "integer"}, "hint": {"type": "string"},
            "page": {"type": "object", "properties": {"truncated": {"type": "boolean"}, "next_cursor": {"type": "string"}}},
            "error": {"type": "object"}
        }
    }"#,
    scope: Scope::DocsRead,
    is_read_only: true,
    run,
};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 500;

fn run(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let snapshot = docs::snapshot(context)?;
    let path = docs::text(arguments, "path");
    let lang = docs::text(arguments, "lang").map(str::to_lowercase);
    let limit = docs::number(arguments, "limit").map_or(DEFAULT_LIMIT, |limit| limit as usize);
    let (value, list) = outline_value(&snapshot, path, lang.as_deref())?;
    let list = Paged {
        list,
        generation: snapshot.generation(),
        asked: format!("{}\n{}", path.unwrap_or_default(), lang.as_deref().unwrap_or_default()),
    };
    let start = match docs::text(arguments, "cursor") {
        None => 0,
        Some(cursor) => list.position(&value, cursor).ok_or_else(|| {
            ToolError::new(
                ErrorCode::InvalidArgument,
                "`cursor` is unknown, or the docs have changed since",
            )
            .with_hint("call docs_outline again without `cursor`")
        })?,
    };
    let (value, text) = list.piece(value, start, limit.clamp(1, MAX_LIMIT));
    Ok(ToolReply { value, text: Some(text) })
}

/// The whole outline as one value and the name of its list: the headings of a page, or the pages of a folder.
///
/// # Errors
/// There is no such page or folder.
pub fn outline_value(
    snapshot: &Snapshot,
    path: Option<&str>,
    lang: Option<&str>,
) -> Result<(Value, &'static str), ToolError> {
    let Some(path) = path else { return Ok((pages(snapshot, "", lang), "pages")) };
    match snapshot.page_outline(path) {
        Ok(outline) => Ok((headings(&outline, snapshot.generation()), "headings")),
        Err(error) => {
            let folder = format!("{}/", path.trim_start_matches("./").trim_matches('/'));
            if folder == "./" || folder == "/" {
                return Ok((pages(snapshot, "", lang), "pages"));
            }
            if snapshot.outline().any(|page| page.path.starts_with(&folder)) {
                return Ok((pages(snapshot, &folder, lang), "pages"));
            }
            Err(docs::lookup_error(&error))
        }
    }
}

fn pages(snapshot: &Snapshot, folder: &str, lang: Option<&str>) -> Value {
    let mut pages: Vec<Value> = Vec::new();
    let mut languages: BTreeMap<String, u32> = BTreeMap::new();
    for page in snapshot.outline().filter(|page| page.path.starts_with(folder)) {
        if lang.is_none_or(|lang| page.lang == lang) {
            pages.push(summary(&page));
        }
        *languages.entry(page.lang).or_default() += 1;
    }
    let total = pages.len();
    let mut value = Value::Object(Map::new());
    value["pages"] = pages.into();
    value["total"] = total.into();
    if total == 0 {
        let codes: Vec<&str> = languages.keys().map(String::as_str).collect();
        let hint = match lang {
            Some(lang) if !codes.is_empty() => {
                format!(
                    "no page is in `{}`: the docs are in {}",
                    docs::name(lang),
                    codes.join(", ")
                )
            }
            _ => "the docs folder holds no page".to_owned(),
        };
        value["hint"] = hint.into();
    }
    value["languages"] = docs::counts(languages.iter().map(|(code, n)| (code.as_str(), *n)));
    value["generation"] = snapshot.generation().into();
    value
}

fn summary(page: &PageSummary) -> Value {
    let mut value = json!({
        "path": page.path,
        "title": docs::name(&page.title),
        "lang": page.lang,
        "sections": page.n_sections,
    });
    docs::add_translations(&mut value, &page.translations);
    value
}

fn headings(outline: &PageOutline, generation: u64) -> Value {
    let headings: Vec<Value> = outline.headings.iter().map(heading).collect();
    let page = &outline.page;
    let mut value = json!({
        "path": page.path,
        "title": docs::name(&page.title),
        "lang": page.lang,
        "lines": outline.n_lines,
    });
    docs::add_translations(&mut value, &page.translations);
    value["total"] = headings.len().into();
    value["headings"] = headings.into();
    value["generation"] = generation.into();
    value
}

fn heading(heading: &OutlineHeading) -> Value {
    json!({
        "level": heading.level,
        "heading": docs::name(&heading.heading),
        "anchor": docs::anchor(&heading.anchor),
        "lines": [heading.lines.0, heading.lines.1],
        "chars": heading.n_chars,
    })
}

/// A value whose list is handed out in pieces.
struct Paged {
    /// The list's member.
    list: &'static str,
    generation: u64,
    /// What was asked for: a cursor is good for that alone.
    asked: String,
}

impl Paged {
    /// The value with the part of its list that a reply may hold, from `start` on, and its text.
    fn piece(&self, mut value: Value, start: usize, limit: usize) -> (Value, String) {
        let whole = value[self.list].take();
        let total = whole.as_array().map_or(0, Vec::len);
        let whole = whole.as_array().map_or(&[][..], Vec::as_slice);
        let rest = whole.get(start..).unwrap_or_default();
        let mut n_shown = rest.len().min(limit);
        loop {
            value[self.list] = rest[..n_shown].into();
            let next = start + n_shown;
            value["page"] = json!({ "truncated": next < total });
            if next < total {
                value["page"]["next_cursor"] = self.cursor(next, total).into();
            }
            let text = docs::shown(&value);
            if text.len() <= MAX_REPLY_BYTES || n_shown <= 1 {
                return (value, text);
            }
            // Entries are alike in length: aim a little lower than the share that fits.
            n_shown = (n_shown * MAX_REPLY_BYTES / text.len()).clamp(1, n_shown - 1);
        }
    }

    fn cursor(&self, position: usize, total: usize) -> String {
        format!("{:x}.{position:x}.{}", self.generation, self.checksum(position, total))
    }

    fn checksum(&self, position: usize, total: usize) -> String {
        let text =
            format!("{}\n{}\n{position}\n{total}\n{}", self.list, self.generation, self.asked);
        let digest = Sha256::digest(text.as_bytes());
        let half = digest.iter().take(8).fold(0_u64, |half, byte| (half << 8) | u64::from(*byte));
        format!("{half:016x}")
    }

    /// Where a cursor points; `None` when it was not made here, for this question and for this state of the docs.
    fn position(&self, value: &Value, cursor: &str) -> Option<usize> {
        let total = value[self.list].as_array().map_or(0, Vec::len);
        let position = usize::from_str_radix(cursor.split('.').nth(1)?, 16).ok()?;
        (position < total && self.cursor(position, total) == cursor).then_some(position)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_REPLY_BYTES, Paged};

    fn paged(asked: &str, generation: u64) -> Paged {
        Paged { list: "pages", generation, asked: asked.to_owned() }
    }

    #[test]
    fn all_pieces_joined_are_the_list() {
        let all: Vec<Value> = (0..1000)
            .map(|at| json!({ "path": format!("{at}.md"), "x": "y".repeat(at % 90) }))
            .collect();
        let whole = json!({ "pages": all, "total": 1000 });
        let list = paged("", 1);
        let (mut seen, mut start) = (Vec::new(), 0);
        loop {
            let (value, text) = list.piece(whole.clone(), start, 300);
            assert!(text.len() <= MAX_REPLY_BYTES);
            seen.extend(value["pages"].as_array().expect("a list").clone());
            let Some(cursor) = value["page"]["next_cursor"].as_str() else { break };
            start = list.position(&whole, cursor).expect("a good cursor");
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_cursor_is_good_for_its_question_alone() {
        let whole = json!({ "pages": [1, 2, 3] });
        let cursor = paged("es", 1).cursor(2, 3);
        assert_eq!(paged("es", 1).position(&whole, &cursor), Some(2));
        assert_eq!(paged("en", 1).position(&whole, &cursor), None);
        assert_eq!(paged("es", 2).position(&whole, &cursor), None);
        assert_eq!(paged("es", 1).position(&json!({ "pages": [1, 2] }), &cursor), None);
        for forged in [
            "",
            ".",
            "1.2",
            "1.2.0",
            "x.y.z",
            &cursor.to_uppercase(),
            &cursor.replace(".2.", ".1."),
        ] {
            assert_eq!(paged("es", 1).position(&whole, forged), None, "{forged}");
        }
    }
}
