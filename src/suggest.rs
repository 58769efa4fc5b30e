//! "Did you mean": the nearest known word, when it is near enough to be worth saying.

/// More edits than these are another word.
const MAX_EDITS: usize = 3;

/// The candidate that `given` most likely stands for, if any.
///
/// A candidate counts when it is equal after ASCII lower-casing, or at an optimal-string-alignment distance of at most
/// [`MAX_EDITS`] and at most a third of its length. The closest wins; the first on ties.
pub fn nearest<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let n_given = given.chars().count();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates.into_iter().filter(|candidate| *candidate != given) {
        let n_chars = candidate.chars().count();
        let limit = (n_chars / 3).min(MAX_EDITS);
        let edits = if candidate.eq_ignore_ascii_case(given) {
            0
        } else if n_given.abs_diff(n_chars) > limit {
            continue;
        } else {
            strsim::osa_distance(given, candidate)
        };
        if edits <= limit && best.is_none_or(|(least, _)| edits < least) {
            best = Some((edits, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean "menu"?`
pub fn hint(candidate: &str) -> String {
    format!("did you mean {}?", serde_json::Value::from(candidate))
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_offered_and_far_ones_are_not() {
        let check = |given, candidates: &[&'static str], expected| {
            assert_eq!(nearest(given, candidates.iter().copied()), expected, "{given}");
        };
        check("sya", &["say", "set"], Some("say"));
        check("SAY", &["set", "say"], Some("say"));
        check("regex", &["and", "exists", "startsWith"], None);
        check("value", &["op", "var", "values"], Some("values"));
        check("gto", &["steps", "goto"], Some("goto"));
        check("go", &["steps", "goto"], None);
        check("menú", &["menu"], Some("menu"));
        check("abcd", &["abcx", "abcy"], Some("abcx"));
        check("", &["a", "ab"], None);
        let tools = &["docs_search", "docs_page", "flow_validate"];
        check("doc_search", tools, Some("docs_search"));
        check("Docs-Search", tools, Some("docs_search"));
        check("docs_pages", tools, Some("docs_page"));
        check("weather", tools, None);
        check("docs_search_docs_search_docs_search", tools, None);
    }
}
