//! `docs_search`: the sections that answer a query.

use botmesh_index::explain::Explanation;
use botmesh_index::place::Place;
use botmesh_index::search::{Hit, MAX_LIMIT, Query, SearchReply};
use botmesh_index::snapshot::Snapshot;
use serde_json::{Map, Value, json};

use super::docs;
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::ToolError;
use crate::scope::Scope;

pub(super) const TOOL: Tool = Tool {
    name: "docs_search",
    title: "Search the docs",
    description: "Find the sections of this project's docs, English and Spanish alike, that answer a question or hold an \
        exact name (function, flag, key, error text). Use it first, before answering from memory. Plain words, no \
        operators. Then read a hit with docs_page. `unmatched` names words that no section holds and what stood in for \
        them; `other_language` names better sections in the other language.",
    input_schema: r#"{
        "type": "object",
        "properties": {
            "query": {"type": "string", "minLength": 1, "maxLength": 1024, "description": "Words, a phrase or an exact name"},
            "limit": {"type": "integer", "minimum": 1, "maximum": 25, "default": 8},
            "lang": {"type": "string", "maxLength": 16, "description": "Only pages in this language: en, es"},
            "path": {"type": "string", "maxLength": 1024, "description": "Only pages below this folder, or matching this glob"},
            "explain": {"type": "boolean", "description": "Say how each score came about"}
        },
        "required": ["query"],
        "additionalProperties": false
    }"#,
    output_schema: r#"{
        "type": "object",
        "properties": {
            "results": {"type": "array", "items": {"type": "object", "properties": {
                "path": {"type": "string"}, "heading": {"type": "string"}, "anchor": {"type": "string"},
                "lang": {"type": "string"}, "snippet": {"type": "string"}, "score": {"type": "number"}}}},
            "total": {"type": "integer"},
            "unmatched": {"type": "array"},
            "without": {"type": "array"},
            "other_language": {"type": "array"},
            "outside_filter": {"type": "object"},
            "hint": {"type": "string"},
            "generation": {"type": "integer"},
            "page": {"type": "object"},
            "error": {"type": "object"}
        }
    }"#,
    scope: Scope::DocsRead,
    is_read_only: true,
    run,
};

/// Hits when the caller does not say how many.
pub const DEFAULT_LIMIT: usize = 8;

/// Hits named outside a filter that leaves nothing.
const MAX_OUTSIDE: usize = 3;

fn run(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let snapshot = docs::snapshot(context)?;
    let limit = docs::number(arguments, "limit").map_or(DEFAULT_LIMIT, |limit| limit as usize);
    let query = Query {
        text: docs::text(arguments, "query").unwrap_or_default().to_owned(),
        limit: limit.clamp(1, MAX_LIMIT),
        lang: docs::text(arguments, "lang").map(str::to_lowercase),
        path: docs::text(arguments, "path").map(|path| path.trim_start_matches('/').to_owned()),
        explain: arguments.get("explain").and_then(Value::as_bool).unwrap_or(false),
    };
    let answer = search(&snapshot, &query)?;
    let (value, text) = capped(search_value(&snapshot, &query, &answer), context.max_reply_bytes);
    Ok(ToolReply { value, text: Some(text) })
}

/// What a query found, and what it would have found without its filters when they leave nothing.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The reply under the filters.
    pub reply: SearchReply,
    /// The reply without them, if it has hits and the other has none.
    pub outside_filter: Option<SearchReply>,
}

/// Asks a snapshot.
///
/// # Errors
/// The path's glob cannot be read, or the index is damaged.
pub fn search(snapshot: &Snapshot, query: &Query) -> Result<Answer, ToolError> {
    let mut reply = snapshot.search(query).map_err(|error| docs::index_error(&error))?;
    if query.lang.as_ref().is_some_and(|lang| snapshot.languages().all(|(code, _)| code != lang)) {
        // The words are not to blame.
        reply.unmatched.clear();
    }
    let is_filtered = query.lang.is_some() || query.path.is_some();
    if !reply.hits.is_empty() || !is_filtered {
        return Ok(Answer { reply, outside_filter: None });
    }
    let unfiltered = Query { lang: None, path: None, limit: MAX_OUTSIDE, ..query.clone() };
    let outside = snapshot.search(&unfiltered).map_err(|error| docs::index_error(&error))?;
    Ok(Answer { reply, outside_filter: Some(outside).filter(|outside| !outside.hits.is_empty()) })
}

/// The answer as one value: what `docs_search` replies and `search --json` prints.
pub fn search_value(snapshot: &Snapshot, query: &Query, answer: &Answer) -> Value {
    let Answer { reply, outside_filter } = answer;
    // `json!` would copy the hits once more.
    let mut value = Value::Object(Map::new());
    value["results"] = reply.hits.iter().map(hit).collect();
    value["total"] = reply.total.into();
    let unmatched = reply.unmatched.iter();
    let unmatched =
        unmatched.map(|unmatched| json!({ "term": unmatched.term, "used": unmatched.used }));
    value["unmatched"] = unmatched.collect();
    if !reply.without.is_empty() {
        let without = reply.without.iter();
        let without =
            without.map(|without| json!({ "term": without.term, "sections": without.sections }));
        value["without"] = without.collect();
    }
    if !reply.other_language.is_empty() {
        value["other_language"] = reply.other_language.iter().map(brief).collect();
    }
    if let Some(outside) = outside_filter {
        let results: Vec<Value> = outside.hits.iter().map(brief).collect();
        value["outside_filter"] = json!({ "results": results, "total": outside.total });
    }
    if let Some(hint) = hint(snapshot, query, answer) {
        value["hint"] = hint.into();
    }
    value["generation"] = reply.generation.into();
    value
}

/// What to do when nothing was found.
pub fn hint(snapshot: &Snapshot, query: &Query, answer: &Answer) -> Option<String> {
    if !answer.reply.hits.is_empty() {
        return None;
    }
    if snapshot.n_pages() == 0 {
        return Some("the docs folder holds no page".to_owned());
    }
    let langs: Vec<&str> = snapshot.languages().map(|(code, _)| code).collect();
    if let Some(lang) = query.lang.as_ref().filter(|lang| !langs.contains(&lang.as_str())) {
        return Some(format!(
            "no page is in `{}`: the docs are in {}",
            docs::name(lang),
            langs.join(", ")
        ));
    }
    if let Some(outside) = &answer.outside_filter {
        let filters = [("lang", &query.lang), ("path", &query.path)];
        let named = filters
            .into_iter()
            .filter(|(_, filter)| filter.is_some())
            .map(|(name, _)| format!("`{name}`"));
        let named: Vec<String> = named.collect();
        let n = outside.total;
        return Some(format!(
            "nothing found with {}, {} without",
            named.join(" and "),
            docs::count(n, "section")
        ));
    }
    if !query.text.chars().any(char::is_alphanumeric) {
        return Some("the query holds no letter or digit".to_owned());
    }
    Some("try other words, or see the pages with docs_outline".to_owned())
}

fn hit(hit: &Hit) -> Value {
    let heading_path: Vec<String> =
        hit.heading_path.iter().map(|heading| docs::name(heading)).collect();
    let mut value = json!({
        "path": hit.path,
        "title": docs::name(&hit.title),
        "heading": docs::name(&hit.heading),
        "heading_path": heading_path,
        "anchor": docs::anchor(&hit.anchor),
        "level": hit.level,
        "lang": hit.lang,
        "lines": [hit.lines.0, hit.lines.1],
        "snippet": hit.snippet.text,
        "snippet_lines": [hit.snippet.lines.0, hit.snippet.lines.1],
        "score": hit.score,
    });
    docs::add_translations(&mut value, &hit.translations);
    if let Some(explanation) = &hit.explanation {
        value["explain"] = explain(explanation);
    }
    value
}

/// A hit that is only named.
fn brief(hit: &Hit) -> Value {
    json!({
        "path": hit.path,
        "heading": docs::name(&hit.heading),
        "anchor": docs::anchor(&hit.anchor),
        "lang": hit.lang,
        "lines": [hit.lines.0, hit.lines.1],
        "score": hit.score,
    })
}

fn explain(explanation: &Explanation) -> Value {
    let terms = explanation.terms.iter().map(|term| {
        json!({
            "term": term.term,
            "matched": term.matched,
            "sections": term.df,
            "idf": rounded(term.idf),
            "place": place(term.place),
            "place_weight": rounded(term.place_weight),
            "variant": rounded(term.variant),
            "score": rounded(term.score),
        })
    });
    json!({
        "terms": terms.collect::<Vec<_>>(),
        "base": rounded(explanation.base),
        "coverage": rounded(explanation.coverage),
        "coverage_factor": rounded(explanation.coverage_factor),
        "language_factor": rounded(explanation.language_factor),
        "heading_factor": rounded(explanation.heading_factor),
        "phrase_factor": rounded(explanation.phrase_factor),
        "near_factor": rounded(explanation.near_factor),
        "page_share": rounded(explanation.page_share),
        "translation_factor": rounded(explanation.translation_factor),
        "ideal": rounded(explanation.ideal),
    })
}

/// The word for where a term stands.
pub fn place(place: Place) -> &'static str {
    match place {
        Place::Heading => "heading",
        Place::Context => "title",
        Place::Trail => "trail",
        Place::Lead => "lead",
        Place::Text => "text",
    }
}

/// Six decimals: enough to multiply to a score of four.
fn rounded(number: f64) -> f64 {
    const UNIT: f64 = 1_000_000.0;
    (number * UNIT).round() / UNIT
}

/// The value with as many of its hits as a reply may hold, and its text.
fn capped(mut value: Value, max_bytes: usize) -> (Value, String) {
    let mut text = docs::shown(&value);
    while text.len() > max_bytes {
        let n_over = text.len() - max_bytes;
        if !shorten(&mut value, n_over) {
            break;
        }
        text = docs::shown(&value);
    }
    (value, text)
}

/// Takes the least useful part off: tail hits first, then words and hits that are only named. False when none is left.
fn shorten(value: &mut Value, n_over: usize) -> bool {
    for (list, least) in [("results", 1), ("unmatched", 4), ("other_language", 0), ("without", 0)] {
        let Some(list) = value.get_mut(list).and_then(Value::as_array_mut) else { continue };
        let mut n_taken = 0;
        while list.len() > least && n_taken < n_over {
            n_taken += list.pop().map_or(0, |last| docs::shown(&last).len());
        }
        if n_taken > 0 {
            value["page"] = json!({ "truncated": true });
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::capped;
    use crate::tools::MAX_REPLY_BYTES;

    #[test]
    fn a_reply_loses_its_tail_and_says_so() {
        let hits: Vec<_> =
            (0..25).map(|at| json!({ "at": at, "snippet": "x".repeat(3000) })).collect();
        let (value, text) = capped(json!({ "results": hits, "total": 25 }), MAX_REPLY_BYTES);
        assert!(text.len() <= MAX_REPLY_BYTES);
        let kept = value["results"].as_array().expect("a list");
        assert_eq!((kept.len(), &kept[0]["at"], &value["total"]), (10, &json!(0), &json!(25)));
        assert_eq!(value["page"]["truncated"], true);
    }
}
