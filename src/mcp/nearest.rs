//! The word that someone probably meant.

/// The word of `words` that is nearest to `given`: at most a third of its characters away, the first one among equals.
pub(super) fn nearest<'a>(
    given: &str,
    words: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    /// A longer word is no slip of the pen, and its comparison would cost what its sender likes.
    const MAX_CHARS: usize = 64;
    let given: Vec<char> = given.chars().take(MAX_CHARS + 1).collect();
    if given.len() > MAX_CHARS {
        return None;
    }
    let mut best: Option<(usize, &str)> = None;
    for word in words {
        let n_edits = edits(&given, word);
        let allowed = given.len().max(word.chars().count()) / 3;
        if n_edits <= allowed && best.is_none_or(|(least, _)| n_edits < least) {
            best = Some((n_edits, word));
        }
    }
    best.map(|(_, word)| word)
}

/// Levenshtein distance in characters, without regard to ASCII case.
fn edits(given: &[char], word: &str) -> usize {
    let mut row: Vec<usize> = (0..=given.len()).collect();
    for (line, wanted) in word.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], line + 1);
        for (column, found) in given.iter().enumerate() {
            let change = diagonal + usize::from(!found.eq_ignore_ascii_case(&wanted));
            diagonal = row[column + 1];
            row[column + 1] = change.min(row[column] + 1).min(diagonal + 1);
        }
    }
    row[given.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn a_slip_finds_its_word_and_a_stranger_none() {
        let words = ["docs_search", "docs_page", "flow_validate"];
        assert_eq!(nearest("doc_search", words), Some("docs_search"));
        assert_eq!(nearest("Docs-Search", words), Some("docs_search"));
        assert_eq!(nearest("docs_pages", words), Some("docs_page"));
        assert_eq!(nearest("weather", words), None);
        assert_eq!(nearest("", words), None);
        assert_eq!(nearest(&"docs_search".repeat(100), words), None);
    }
}
