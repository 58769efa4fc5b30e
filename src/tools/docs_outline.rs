//! `docs_outline`: which pages there are, or the headings of one page.

use std::collections::BTreeMap;

use botmesh_index::outline::{OutlineHeading, PageOutline, PageSummary};
use botmesh_index::snapshot::Snapshot;
use serde_json::{Map, Value, json};

use super::docs;
use super::paged::{Cursors, Part, piece};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
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
            "limit": {"type": "integer", "minimum": 1, "maximum": 100, "default": 20},
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

/// As many entries as an agent takes in at once; the rest is a cursor away, as with all lists.
const DEFAULT_LIMIT: usize = 20;
/// About as many entries as a reply holds.
const MAX_LIMIT: usize = 100;

fn run(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let snapshot = docs::snapshot(context)?;
    let path = docs::text(arguments, "path");
    let lang = docs::text(arguments, "lang").map(str::to_lowercase);
    let limit = docs::number(arguments, "limit").map_or(DEFAULT_LIMIT, |limit| limit as usize);
    let (value, list) = outline_value(&snapshot, path, lang.as_deref())?;
    let total = value[list].as_array().map_or(0, Vec::len).to_string();
    let generation = snapshot.generation().to_string();
    let asked = [list, path.unwrap_or_default(), lang.as_deref().unwrap_or_default()];
    let cursors = Cursors::new(&[&asked[..], &[&generation, &total]].concat());
    let start = match docs::text(arguments, "cursor") {
        None => 0,
        Some(cursor) => cursors.read(TOOL.name, cursor)? as usize,
    };
    let list = format!("/{list}");
    let (limit, max_bytes) = (limit.clamp(1, MAX_LIMIT), context.max_reply_bytes);
    let part = Part { list: &list, start, limit, max_bytes };
    let (value, text) = piece(value, part, &cursors);
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
