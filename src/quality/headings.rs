//! When two spellings are the same heading.

use std::collections::BTreeSet;

use unicode_normalization::UnicodeNormalization as _;

/// The normal forms of a heading; two headings are the same when they share one.
///
/// Dropped: case, blanks and signs, a trailing `{#anchor}`, backticks, emphasis, link targets. HTML outside code is
/// tried both without and with its tags, so `<Content />` and a trailing badge both compare as a reader sees them.
/// Never empty: a heading of signs alone has the empty form, which is also a preamble's.
pub(super) fn forms(heading: &str) -> BTreeSet<String> {
    let heading = without_links(without_anchor(heading).trim());
    let pieces = pieces(&heading);
    let joined = |show: fn(&str) -> String| {
        pieces
            .iter()
            .map(|piece| if piece.is_code { piece.text.clone() } else { show(&piece.text) })
            .collect::<String>()
    };
    let mut forms: BTreeSet<String> = [joined(without_tags), joined(str::to_owned), heading]
        .iter()
        .map(|text| squash(text))
        .collect();
    if forms.len() > 1 {
        forms.remove("");
    }
    forms
}

/// Letters and digits in lower case, everything else as single blanks.
fn squash(text: &str) -> String {
    let text: String = unescaped(text).nfkc().flat_map(char::to_lowercase).collect();
    let text = text.replace('ß', "ss").replace('ς', "σ");
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

/// Without a trailing `{#anchor}`.
fn without_anchor(heading: &str) -> &str {
    let trimmed = heading.trim_end();
    let Some(body) = trimmed.strip_suffix('}') else { return heading };
    let Some(open) = body.find('{').filter(|_| !body.contains('}')).or_else(|| body.rfind('{'))
    else {
        return heading;
    };
    let inside = &body[open + 1..];
    if inside.trim_start().starts_with('#') && !inside.contains('}') {
        &heading[..open]
    } else {
        heading
    }
}

/// `[text](target)` and `![alt](target)` as their texts.
fn without_links(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(open) = rest.find('[') {
        let link = rest[open + 1..].split_once("](").and_then(|(label, after)| {
            let end = after.find(')')?;
            (!label.contains(']')).then(|| (label, &after[end + 1..]))
        });
        if let Some((label, after)) = link {
            out.push_str(rest[..open].strip_suffix('!').unwrap_or(&rest[..open]));
            out.push_str(label);
            rest = after;
        } else {
            out.push_str(&rest[..=open]);
            rest = &rest[open + 1..];
        }
    }
    out.push_str(rest);
    out
}

struct Piece {
    text: String,
    is_code: bool,
}

/// Text and code spans, the backticks left out. Backticks without a partner are text.
fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut rest = text;
    let mut plain = String::new();
    while let Some(open) = rest.find('`') {
        let n_ticks = rest[open..].len() - rest[open..].trim_start_matches('`').len();
        let ticks = &rest[open..open + n_ticks];
        let after = &rest[open + n_ticks..];
        if let Some(close) = after.find(ticks).filter(|close| *close > 0) {
            plain.push_str(&rest[..open]);
            pieces.push(Piece { text: std::mem::take(&mut plain), is_code: false });
            pieces.push(Piece { text: after[..close].to_owned(), is_code: true });
            rest = &after[close + n_ticks..];
        } else {
            plain.push_str(&rest[..open + n_ticks]);
            rest = after;
        }
    }
    plain.push_str(rest);
    pieces.push(Piece { text: plain, is_code: false });
    pieces
}

/// HTML tags as blanks.
fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(close) = rest.find('>') {
        match rest[..close].rfind('<') {
            Some(open) => {
                out.push_str(&rest[..open]);
                out.push(' ');
            }
            None => out.push_str(&rest[..=close]),
        }
        rest = &rest[close + 1..];
    }
    out.push_str(rest);
    out
}

/// The character references that headings use.
fn unescaped(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        let body = &rest[at + 1..];
        let found = body.split_once(';').and_then(|(name, after)| Some((reference(name)?, after)));
        if let Some((c, after)) = found {
            out.push(c);
            rest = after;
        } else {
            out.push('&');
            rest = body;
        }
    }
    out.push_str(rest);
    out
}

fn reference(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::forms;

    #[test]
    fn spellings_of_one_heading_meet() {
        for (written, shown) in [
            ("Reescritura de Ruta {#route-rewrites}", "reescritura de ruta"),
            ("`<Content />`", "<Content />"),
            ("Routing <Badge type=\"tip\" text=\"beta\" />", "Routing"),
            ("The [`app`](./app.md) object", "The app object"),
            ("**Fast** &amp; _small_", "Fast & small"),
            ("Straße", "STRASSE"),
            ("``a`b``", "a`b"),
            ("![logo](x.svg) Start", "logo Start"),
        ] {
            assert!(!forms(written).is_disjoint(&forms(shown)), "{written:?} {shown:?}");
        }
        assert!(forms("Routing").is_disjoint(&forms("Routes")));
        assert_eq!(forms("---").into_iter().collect::<Vec<_>>(), [""]);
    }
}
