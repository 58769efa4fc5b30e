//! Template strings: placeholders, names and references, and how replies and labels are folded for comparison.

/// What a template is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Printed as written.
    Text(&'a str),
    /// `{{ reference | fallback }}`.
    Placeholder {
        /// A name with up to seven `.part`s.
        reference: &'a str,
        /// What is printed when the reference is unset; trimmed.
        fallback: Option<&'a str>,
    },
}

/// A template, taken apart.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template<'a> {
    /// The pieces, in order.
    pub pieces: Vec<Piece<'a>>,
    /// Whether a `{{` starts no placeholder. It prints as written.
    pub is_malformed: bool,
}

impl<'a> Template<'a> {
    /// Takes a string apart, from left to right at each `{{`.
    pub fn parse(text: &'a str) -> Self {
        let mut template = Self::default();
        let mut printed = 0;
        let mut from = 0;
        while let Some(found) = text[from..].find("{{") {
            let open = from + found;
            if let Some((piece, end)) = placeholder(text, open) {
                if printed < open {
                    template.pieces.push(Piece::Text(&text[printed..open]));
                }
                template.pieces.push(piece);
                printed = end;
                from = end;
            } else {
                template.is_malformed = true;
                from = open + 2;
            }
        }
        if printed < text.len() {
            template.pieces.push(Piece::Text(&text[printed..]));
        }
        template
    }

    /// The references that are read, in order, with whether each has a fallback.
    pub fn references(&self) -> impl Iterator<Item = (&'a str, bool)> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(_) => None,
            Piece::Placeholder { reference, fallback } => Some((*reference, fallback.is_some())),
        })
    }

    /// The text outside placeholders.
    pub fn texts(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(*text),
            Piece::Placeholder { .. } => None,
        })
    }
}

fn placeholder(text: &str, open: usize) -> Option<(Piece<'_>, usize)> {
    let bytes = text.as_bytes();
    let skip_blanks = |mut at: usize| {
        while let Some(b' ' | b'\t') = bytes.get(at) {
            at += 1;
        }
        at
    };
    let start = skip_blanks(open + 2);
    let end = start + reference_len(&text[start..])?;
    let reference = &text[start..end];
    let mut at = skip_blanks(end);
    let mut fallback = None;
    if bytes.get(at) == Some(&b'|') {
        let from = at + 1;
        at = from + text[from..].find(['{', '}'])?;
        fallback = Some(text[from..at].trim_matches([' ', '\t']));
    }
    text[at..].starts_with("}}").then_some((Piece::Placeholder { reference, fallback }, at + 2))
}

/// The length of the longest reference at the start of `text`.
fn reference_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    if !matches!(bytes.first(), Some(b'A'..=b'Z' | b'a'..=b'z' | b'_')) {
        return None;
    }
    let word = |from: usize| {
        bytes[from..]
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count()
    };
    let mut end = word(0);
    if end > 64 {
        return None;
    }
    let mut n_parts = 0;
    while bytes.get(end) == Some(&b'.') {
        let len = word(end + 1);
        n_parts += 1;
        if len == 0 || len > 64 || n_parts > 7 {
            return None;
        }
        end += 1 + len;
    }
    Some(end)
}

/// Whether `text` is a variable's name: `[A-Za-z_][A-Za-z0-9_]{0,63}`.
pub fn is_name(text: &str) -> bool {
    reference_len(text) == Some(text.len()) && !text.contains('.')
}

/// Whether `text` is a reference: a name with up to seven `.part`s.
pub fn is_reference(text: &str) -> bool {
    reference_len(text) == Some(text.len())
}

/// The name that a reference starts with.
pub fn base_name(reference: &str) -> &str {
    reference.split('.').next().unwrap_or(reference)
}

/// ASCII lower case, runs of space, tab, CR and LF to one space, trimmed. Accents and other letters stay.
pub fn fold(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());
    for word in text.split([' ', '\t', '\r', '\n']).filter(|word| !word.is_empty()) {
        if !folded.is_empty() {
            folded.push(' ');
        }
        folded.extend(word.chars().map(|c| c.to_ascii_lowercase()));
    }
    folded
}

/// Code points without placeholders.
pub fn visible_len(text: &str) -> usize {
    Template::parse(text).texts().map(|text| text.chars().count()).sum()
}

/// Whether a letter stands outside placeholders: what a translator would have to translate.
pub fn has_letter(text: &str) -> bool {
    Template::parse(text).texts().flat_map(str::chars).any(|c| {
        c.is_ascii_alphabetic()
            || matches!(c, '\u{c0}'..='\u{24f}' | '\u{370}'..='\u{1fff}' | '\u{3040}'..='\u{d7ff}')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, pieces: &[Piece<'_>], is_malformed: bool) {
        assert_eq!(
            Template::parse(text),
            Template { pieces: pieces.to_vec(), is_malformed },
            "{text}"
        );
    }

    #[test]
    fn placeholders_are_found_and_the_rest_is_text() {
        let name = |fallback| Piece::Placeholder { reference: "name", fallback };
        check("", &[], false);
        check("Hola {{name}}.", &[Piece::Text("Hola "), name(None), Piece::Text(".")], false);
        check("{{\tname | tú }}", &[name(Some("tú"))], false);
        check("{{name|}}", &[name(Some(""))], false);
        check("a } }} {", &[Piece::Text("a } }} {")], false);
        check("{{first name}}", &[Piece::Text("{{first name}}")], true);
        check("{{x", &[Piece::Text("{{x")], true);
        check("{{}}{{name}}", &[Piece::Text("{{}}"), name(None)], true);
        check("{{name|a{b}}", &[Piece::Text("{{name|a{b}}")], true);
        check("{{name\n}}", &[Piece::Text("{{name\n}}")], true);
        check("{{a.b.0}}", &[Piece::Placeholder { reference: "a.b.0", fallback: None }], false);
        check("{{a.}}", &[Piece::Text("{{a.}}")], true);
        check("{{1a}}", &[Piece::Text("{{1a}}")], true);
    }

    #[test]
    fn references_are_bounded() {
        assert!(is_reference(&"a".repeat(64)));
        assert!(!is_reference(&"a".repeat(65)));
        assert!(is_reference("a.1.2.3.4.5.6.7"));
        assert!(!is_reference("a.1.2.3.4.5.6.7.8"));
        assert!(!is_name("a.b"));
        assert!(!is_name("año"));
        assert_eq!(base_name("a.b"), "a");
    }

    #[test]
    fn folding_keeps_accents() {
        assert_eq!(fold(" Sí,\t\r\nPOR  favor "), "sí, por favor");
        assert_eq!(fold("Ñ"), "Ñ");
        assert_eq!(visible_len("¡{{name|largo}}!"), 2);
        assert!(!has_letter("👋 {{name}} 12"));
        assert!(has_letter("日本") && has_letter("ñ") && has_letter("x"));
    }
}
