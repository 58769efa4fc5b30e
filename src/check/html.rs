//! The tags of raw HTML in a page, with the attributes that have a value in quotes.

use std::ops::Range;

/// An opening tag.
#[derive(Debug)]
pub(super) struct OpenTag {
    /// Lower case.
    pub(super) name: String,
    pub(super) attributes: Vec<Attribute>,
}

/// `name="value"`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Attribute {
    /// Lower case.
    pub(super) name: String,
    pub(super) value: String,
    /// Bytes of the value.
    pub(super) span: Range<usize>,
}

/// The opening tags of a piece of HTML, in order; those in comments, scripts and styles are none.
pub(super) fn tags(source: &str) -> Vec<OpenTag> {
    let mut tags = Vec::new();
    let mut at = 0;
    while let Some(open) = source[at..].find('<').map(|found| at + found) {
        let rest = &source[open..];
        if rest.starts_with("<!--") {
            at = end_of(source, open, "-->");
            continue;
        }
        let name: String =
            rest[1..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if name.is_empty() {
            at = open + 1;
            continue;
        }
        let (attributes, end) = attributes(source, open + 1 + name.len());
        let name = name.to_ascii_lowercase();
        at = match name.as_str() {
            "script" | "style" => end_of(source, end, &format!("</{name}")),
            _ => end,
        };
        tags.push(OpenTag { name, attributes });
    }
    tags
}

fn end_of(source: &str, from: usize, mark: &str) -> usize {
    source[from..].find(mark).map_or(source.len(), |found| from + found + mark.len())
}

/// The attributes from `at` on, and where the tag ends.
fn attributes(source: &str, mut at: usize) -> (Vec<Attribute>, usize) {
    let mut attributes = Vec::new();
    loop {
        let rest = &source[at..];
        at += rest.len() - rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/').len();
        let rest = &source[at..];
        let n_name = rest
            .find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/' | '<' | '"' | '\''))
            .unwrap_or(rest.len());
        if n_name == 0 {
            match rest.chars().next() {
                None | Some('<') => return (attributes, at),
                Some('>') => return (attributes, at + 1),
                Some(stray) => at += stray.len_utf8(),
            }
            continue;
        }
        let name = rest[..n_name].to_ascii_lowercase();
        at += n_name;
        let Some(quoted) = source[at..].strip_prefix('=') else { continue };
        at += 1;
        let Some(quote) = quoted.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let Some(len) = quoted[1..].find(quote) else { return (attributes, source.len()) };
        let span = at + 1..at + 1 + len;
        attributes.push(Attribute {
            name,
            value: source[span.clone()].to_owned(),
            span: span.clone(),
        });
        at = span.end + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::tags;

    #[test]
    fn attributes_are_found_and_nothing_hangs() {
        for (source, expected) in [
            (r#"<a href="x.md">t</a>"#, "a:href=x.md"),
            (r"<IMG alt='a' SRC='b.png' />", "img:alt=a,src=b.png"),
            (r#"<!-- <a href="no"> --><a id="yes">"#, "a:id=yes"),
            (r#"<script>const a = '<a href="no">'</script><b id="x">"#, "script:;b:id=x"),
            (r#"<a href="open"#, "a:"),
            (r#"<a href=bare title="t">"#, "a:title=t"),
            ("a < b <", ""),
            ("<a é=\"1\" / = \" <b>", "a:é=1;b:"),
        ] {
            let found: Vec<String> = tags(source)
                .iter()
                .map(|tag| {
                    let each = tag.attributes.iter().map(|a| format!("{}={}", a.name, a.value));
                    format!("{}:{}", tag.name, each.collect::<Vec<_>>().join(","))
                })
                .collect();
            assert_eq!(found.join(";"), expected, "{source}");
        }
    }
}
