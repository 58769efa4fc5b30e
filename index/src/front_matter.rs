//! The YAML block at the top of a page. Only a block at the very start counts, and only if it holds a mapping.

use serde::Deserialize;
use serde_json::Value;

/// What a page says of itself. Every field may be missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrontMatter {
    /// The page's title.
    pub title: Option<String>,
    /// The page's language, lower case, as written otherwise.
    pub lang: Option<String>,
    /// `description`, `keywords`, `tags` and `aliases`: words that a search finds the page by.
    pub keywords: Vec<String>,
}

/// The block found at the start of a page.
#[derive(Debug, PartialEq, Eq)]
pub struct Block {
    /// Length of the block with its two delimiter lines, in bytes.
    pub len: usize,
    /// What it says; empty when it cannot be read.
    pub front_matter: FrontMatter,
    /// Why it cannot be read, when it cannot.
    pub fault: Option<String>,
}

/// Finds and reads the front matter of `text`: a first line `---`, up to the next line `---` at column 0.
///
/// A block without an end, or one that is no mapping, is ordinary text: `None`. A mapping that YAML refuses is still
/// front matter, with its `fault`.
pub fn read(text: &str) -> Option<Block> {
    let body_start = delimiter_line(text)?;
    let mut at = body_start;
    let (body, len) = loop {
        let rest = text.get(at..).filter(|rest| !rest.is_empty())?;
        if let Some(end) = delimiter_line(rest) {
            break (&text[body_start..at], at + end);
        }
        at += line_len(rest);
    };
    let body = body.replace("\r\n", "\n").replace('\r', "\n");
    match serde_saphyr::from_str::<Loose>(&body) {
        Ok(Loose(Value::Object(members))) => {
            Some(Block { len, front_matter: pick(&members), fault: None })
        }
        Ok(Loose(Value::Null)) if body.trim().is_empty() => {
            Some(Block { len, front_matter: FrontMatter::default(), fault: None })
        }
        Err(error) if looks_like_mapping(&body) => {
            let fault = error.to_string();
            let fault = fault.lines().next().unwrap_or_default().trim();
            let fault = fault.strip_prefix("error: ").unwrap_or(fault);
            // What the library would have its caller do.
            let fault = fault.split(", set ").next().unwrap_or(fault).to_owned();
            Some(Block { len, front_matter: FrontMatter::default(), fault: Some(fault) })
        }
        _ => None,
    }
}

/// Any YAML value as JSON; a member that stands twice keeps its last value.
struct Loose(Value);

impl<'de> Deserialize<'de> for Loose {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Loose)
    }
}

fn looks_like_mapping(body: &str) -> bool {
    body.lines().find(|line| !line.trim().is_empty() && !line.starts_with('#')).is_some_and(
        |line| {
            line.split_once(':').is_some_and(|(key, value)| {
                !key.is_empty()
                    && key
                        .chars()
                        .all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '"' | '\''))
                    && (value.is_empty() || value.starts_with([' ', '\t']))
            })
        },
    )
}

fn pick(members: &serde_json::Map<String, Value>) -> FrontMatter {
    let keywords = ["description", "keywords", "tags", "aliases"]
        .iter()
        .filter_map(|key| members.get(*key))
        .flat_map(texts)
        .collect();
    FrontMatter {
        title: members.get("title").and_then(scalar_text),
        lang: members.get("lang").and_then(scalar_text).map(|lang| lang.to_lowercase()),
        keywords,
    }
}

fn texts(value: &Value) -> Vec<String> {
    match value {
        Value::Array(items) => items.iter().filter_map(scalar_text).collect(),
        _ => scalar_text(value).into_iter().collect(),
    }
}

fn scalar_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty()).then_some(text)
}

/// The length of the first line of `text` if it is a delimiter, its line end included.
fn delimiter_line(text: &str) -> Option<usize> {
    let len = line_len(text);
    (text[..len].trim_end() == "---" && text.starts_with("---")).then_some(len)
}

/// The length of the first line with its line end (LF, CRLF or CR).
fn line_len(text: &str) -> usize {
    match text.find(['\n', '\r']) {
        Some(at) if text[at..].starts_with("\r\n") => at + 2,
        Some(at) => at + 1,
        None => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Option<(usize, Option<&str>)>) {
        let block = read(text);
        let got = block.as_ref().map(|b| (b.len, b.front_matter.title.as_deref()));
        assert_eq!(got, expected, "{text:?}");
    }

    #[test]
    fn only_a_mapping_at_the_very_start_is_front_matter() {
        check("---\ntitle: A\n---\nx", Some((17, Some("A"))));
        check("---\r\ntitle: A\r\n---\r\n", Some((20, Some("A"))));
        check("---\rtitle: A\r---\rx", Some((17, Some("A"))));
        check("---\ntitle: 2024\n---", Some((19, Some("2024"))));
        check("---\n---\n", Some((8, None)));
        check("--- x ---\n\n---\n", None);
        check("---\n\n# no end", None);
        check("---\n\njust a rule\n\n---\n", None);
        check("---\n# a heading\n\n---\n", None);
        check("text\n---\ntitle: A\n---\n", None);
        check("", None);
    }

    #[test]
    fn keeps_what_a_search_needs() {
        let block = read(
            "---\ntitle: T\nlang: ES\ntags: [a, 2]\ndescription: >\n  one\n  two\naliases: x y\n---\n",
        );
        let front = block.expect("front matter").front_matter;
        assert_eq!(front.lang.as_deref(), Some("es"));
        assert_eq!(front.keywords, ["one two", "a", "2", "x y"]);
    }

    #[test]
    fn a_fault_is_kept_as_a_value() {
        let block = read("---\ntitle: [a\n---\nx").expect("front matter");
        assert!(block.fault.is_some());
        assert_eq!(block.len, 18);
    }
}
