//! Folds text for comparison: case, accents and compatibility forms go, letters stay.
//!
//! Unicode NFKD, marks (Mn, Me) dropped, lower case, and the letters below that NFKD leaves whole. The same function
//! folds pages and queries; the manual's page on ranking lists the table.

use unicode_general_category::{GeneralCategory as G, get_general_category};
use unicode_normalization::char::decompose_compatible;

/// Letters that have no decomposition, and how they are written without their stroke, hook or ligature.
pub const FOLDED_LETTERS: &[(char, &str)] = &[
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ħ', "h"),
    ('ı', "i"),
    ('ł', "l"),
    ('ŧ', "t"),
    ('ŋ', "n"),
    ('ς', "σ"),
    ('ⱥ', "a"),
    ('ƀ', "b"),
    ('ɨ', "i"),
];

/// Appends the folded form of `c` to `out`: nothing for a mark, several characters for a ligature.
#[inline]
pub fn fold_char(c: char, out: &mut String) {
    if c.is_ascii() {
        out.push(c.to_ascii_lowercase());
    } else {
        fold_wide_char(c, out);
    }
}

fn fold_wide_char(c: char, out: &mut String) {
    decompose_compatible(c, |part| {
        for lower in part.to_lowercase() {
            // U+2044 is what NFKD puts into ½: a sign, not a letter.
            if lower == '\u{2044}' || is_dropped_mark(lower) {
                continue;
            }
            match FOLDED_LETTERS.iter().find(|(letter, _)| *letter == lower) {
                Some((_, plain)) => out.push_str(plain),
                None => out.push(lower),
            }
        }
    });
}

/// The folded form of a whole text.
pub fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        fold_char(c, &mut out);
    }
    out
}

fn is_dropped_mark(c: char) -> bool {
    !c.is_ascii() && matches!(get_general_category(c), G::NonspacingMark | G::EnclosingMark)
}

/// Whether `c` can stand in a word: a letter, a digit, or a mark on one.
#[inline]
pub fn is_word_char(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric();
    }
    if matches!(c, '\u{c0}'..='\u{24f}') {
        return c != '×' && c != '÷';
    }
    matches!(
        get_general_category(c),
        G::UppercaseLetter
            | G::LowercaseLetter
            | G::TitlecaseLetter
            | G::ModifierLetter
            | G::OtherLetter
            | G::DecimalNumber
            | G::LetterNumber
            | G::OtherNumber
            | G::NonspacingMark
            | G::SpacingMark
            | G::EnclosingMark
    )
}

/// Whether `c` belongs to a script that is written without spaces between words.
#[inline]
pub fn is_unspaced(c: char) -> bool {
    matches!(u32::from(c),
        0x0E00..=0x0EFF      // Thai, Lao
        | 0x1000..=0x109F    // Myanmar
        | 0x1780..=0x17FF    // Khmer
        | 0x3005..=0x3007
        | 0x3040..=0x30FF    // Hiragana, Katakana
        | 0x31F0..=0x31FF
        | 0x3400..=0x4DBF    // Han
        | 0x4E00..=0x9FFF
        | 0xF900..=0xFAFF
        | 0xFF66..=0xFF9D
        | 0x20000..=0x3FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_what_reads_alike_to_one_form() {
        for (input, expected) in [
            ("Reanudación", "reanudacion"),
            ("reanudacio\u{301}n", "reanudacion"),
            ("AÑO", "ano"),
            ("Straße", "strasse"),
            ("ẞ", "ss"),
            ("İstanbul", "istanbul"),
            ("ıI", "ii"),
            ("\u{212a}m", "km"),
            ("ﬁn", "fin"),
            ("Łódź", "lodz"),
            ("ΣΊΣΥΦΟΣ ς", "σισυφοσ σ"),
            ("Ⱥ", "a"),
            ("ａｂｃ１", "abc1"),
            ("\u{301}", ""),
        ] {
            assert_eq!(fold(input), expected, "{input:?}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for c in ('\0'..=char::MAX).filter(|c| !c.is_ascii()) {
            let once = fold(c.encode_utf8(&mut [0; 4]));
            assert_eq!(fold(&once), once, "{c:?}");
        }
    }
}
