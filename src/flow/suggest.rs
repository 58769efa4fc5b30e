//! "Did you mean": the nearest known word, when it is near enough to be worth saying.

/// The candidate that `given` most likely stands for, if any.
///
/// A candidate counts when it is equal after ASCII lower-casing, or at an optimal-string-alignment distance of at most
/// three and at most a third of its length. The closest wins; the first on ties.
pub fn nearest<'c>(given: &str, candidates: impl IntoIterator<Item = &'c str>) -> Option<&'c str> {
    let given_chars: Vec<char> = given.chars().collect();
    let mut best: Option<(usize, &str)> = None;
    for candidate in candidates {
        if candidate == given {
            continue;
        }
        let n_chars = candidate.chars().count();
        let limit = (n_chars / 3).min(3);
        let distance = if candidate.eq_ignore_ascii_case(given) {
            0
        } else if given_chars.len().abs_diff(n_chars) > limit {
            continue;
        } else {
            let chars: Vec<char> = candidate.chars().collect();
            match distance(&given_chars, &chars) {
                distance if distance <= limit => distance,
                _ => continue,
            }
        };
        if best.is_none_or(|(least, _)| distance < least) {
            best = Some((distance, candidate));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// `did you mean "menu"?`
pub fn hint(candidate: &str) -> String {
    format!("did you mean {}?", serde_json::Value::from(candidate))
}

/// Optimal string alignment: insert, delete, replace, or swap two neighbours, no part edited twice.
fn distance(a: &[char], b: &[char]) -> usize {
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before_last[j - 2] + 1);
            }
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
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
    }
}
