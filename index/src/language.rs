//! What the two languages of a tree need: codes in paths, function words, and telling a text's language.

use whatlang::{Detector, Lang as Detected};

use crate::fold::fold;
use crate::section::Section;

/// Language codes that a folder or a suffix may name. Codes that are common words in paths (`id`, `no`, `vi`, `cs`, …)
/// count only as the first part of a path.
const FIRST_PART_CODES: &[&str] = &[
    "ar", "bg", "bn", "ca", "cs", "da", "de", "el", "en", "es", "et", "eu", "fa", "fi", "fr", "gl",
    "he", "hi", "hr", "hu", "id", "it", "ja", "ko", "lt", "lv", "nl", "no", "pl", "pt", "ro", "ru",
    "sk", "sl", "sr", "sv", "th", "tr", "uk", "ur", "vi", "zh",
];
const ANYWHERE_CODES: &[&str] = &["en", "es"];

/// A language that a path names, and the same path without it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathLanguage<'a> {
    /// Lower-case code without a region.
    pub code: &'a str,
    /// The path without the part or suffix: equal for translations of one page.
    pub rest: String,
}

/// Whether `text` has the form of a language code (`es`, `pt-br`).
pub fn is_code(text: &str) -> bool {
    let primary = text.split(['-', '_']).next().unwrap_or_default();
    (2..=3).contains(&primary.len())
        && text.len() <= 16
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'))
        && primary.chars().all(|c| c.is_ascii_lowercase())
}

/// Whether a folder right under the root is a language's (`es`, `pt-BR`).
pub fn is_folder(name: &str) -> bool {
    code_of(name, FIRST_PART_CODES).is_some()
}

/// The language that a path names by a part (`es/guide.md`) or a suffix (`guide.es.md`); the first one wins.
pub fn of_path(path: &str) -> Option<PathLanguage<'_>> {
    let parts: Vec<&str> = path.split('/').collect();
    let (name, folders) = parts.split_last()?;
    for (i, folder) in folders.iter().enumerate() {
        let codes = if i == 0 { FIRST_PART_CODES } else { ANYWHERE_CODES };
        if let Some(code) = code_of(folder, codes) {
            let rest: Vec<&str> =
                parts.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, p)| *p).collect();
            return Some(PathLanguage { code, rest: rest.join("/") });
        }
    }
    let (stem, extension) = name.rsplit_once('.')?;
    let (base, suffix) = stem.rsplit_once('.')?;
    let code = code_of(suffix, FIRST_PART_CODES).filter(|_| !base.is_empty())?;
    let mut rest = folders.join("/");
    if !rest.is_empty() {
        rest.push('/');
    }
    Some(PathLanguage { code, rest: format!("{rest}{base}.{extension}") })
}

fn code_of<'a>(name: &'a str, codes: &[&'static str]) -> Option<&'a str> {
    let primary = name.split(['-', '_']).next()?;
    let region_fits = name.len() == primary.len() || (name.len() - primary.len() <= 5);
    (region_fits && codes.contains(&primary)).then_some(primary)
}

/// Texts shorter than this many words do not tell their language.
const MIN_WORDS_TO_DETECT: usize = 20;
/// The language is told from this many bytes of prose; more does not change the verdict.
const DETECT_BYTES: usize = 4096;

/// Tells English from Spanish by a page's text. `None` when the text is short or the verdict unsure.
pub fn detect(sections: &[Section]) -> Option<&'static str> {
    let mut sample = String::new();
    for section in sections {
        sample.push_str(&section.heading);
        sample.push('\n');
        sample.push_str(&section.text);
        sample.push('\n');
        if sample.len() > DETECT_BYTES {
            break;
        }
    }
    let mut end = sample.len().min(DETECT_BYTES);
    while !sample.is_char_boundary(end) {
        end -= 1;
    }
    let sample = &sample[..end];
    if sample.split_whitespace().take(MIN_WORDS_TO_DETECT).count() < MIN_WORDS_TO_DETECT {
        return None;
    }
    let detector = Detector::with_allowlist(vec![Detected::Eng, Detected::Spa]);
    let info = detector.detect(sample)?;
    if !info.is_reliable() {
        return None;
    }
    Some(if info.lang() == Detected::Spa { "es" } else { "en" })
}

/// English words that carry grammar, not meaning; folded.
const ENGLISH_FUNCTION_WORDS: &[&str] = &[
    "a", "about", "after", "all", "also", "an", "and", "any", "are", "as", "at", "be", "been",
    "before", "being", "between", "both", "but", "by", "can", "could", "did", "do", "does",
    "doing", "during", "each", "for", "from", "had", "has", "have", "having", "he", "her", "here",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "me", "more", "most", "my",
    "no", "not", "of", "on", "only", "or", "other", "our", "out", "over", "same", "she", "should",
    "so", "some", "such", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "until", "up", "us", "very", "was", "we",
    "were", "what", "when", "where", "which", "while", "who", "why", "will", "with", "without",
    "would", "you", "your",
];

/// Spanish ones; folded, so `él` and `el` are one.
const SPANISH_FUNCTION_WORDS: &[&str] = &[
    "a", "al", "algo", "algun", "alguna", "algunas", "algunos", "ante", "antes", "aqui", "asi",
    "aunque", "cada", "como", "con", "contra", "cual", "cuales", "cuando", "cuanto", "de", "del",
    "desde", "donde", "dos", "durante", "e", "el", "ella", "ellas", "ellos", "en", "entonces",
    "entre", "era", "es", "esa", "esas", "ese", "eso", "esos", "esta", "estan", "estas", "este",
    "esto", "estos", "fue", "ha", "hace", "hacia", "han", "hasta", "hay", "la", "las", "le", "les",
    "lo", "los", "mas", "me", "mi", "mis", "mucho", "muy", "nada", "ni", "no", "nos", "nosotros",
    "o", "os", "otra", "otras", "otro", "otros", "para", "pero", "por", "porque", "puede",
    "pueden", "puedo", "que", "quien", "se", "sea", "segun", "ser", "si", "sin", "sobre", "son",
    "su", "sus", "tambien", "tan", "te", "tiene", "tienen", "todo", "todos", "tu", "tus", "u",
    "un", "una", "unas", "uno", "unos", "y", "ya", "yo",
];

/// Whether a folded word is a function word of English or Spanish.
pub fn is_function_word(word: &str) -> bool {
    ENGLISH_FUNCTION_WORDS.binary_search(&word).is_ok()
        || SPANISH_FUNCTION_WORDS.binary_search(&word).is_ok()
}

/// All of them, English first.
pub fn function_words() -> impl Iterator<Item = &'static str> {
    ENGLISH_FUNCTION_WORDS.iter().chain(SPANISH_FUNCTION_WORDS).copied()
}

/// What a folded word says of its text's language: 1 for a Spanish function word, −1 for an English one, 0 for others.
pub fn vote(word: &str) -> i32 {
    i32::from(SPANISH_FUNCTION_WORDS.binary_search(&word).is_ok())
        - i32::from(ENGLISH_FUNCTION_WORDS.binary_search(&word).is_ok())
}

/// Whether a text has letters or signs that English does without.
pub fn has_spanish_letters(text: &str) -> bool {
    let is_marked = |c: char| c.is_alphabetic() && fold(&c.to_string()).is_ascii();
    text.chars().any(|c| !c.is_ascii() && (matches!(c, 'ñ' | 'Ñ' | '¿' | '¡') || is_marked(c)))
}

/// The stem of a folded word: what its forms share. Light on purpose: plural, gender and the commonest verb endings.
/// Words of other languages are their own stem.
pub fn stem<'w>(lang: &str, word: &'w str) -> &'w str {
    if !word.is_ascii() || word.len() < 4 || word.bytes().any(|b| b.is_ascii_digit()) {
        return word;
    }
    match lang {
        "en" => english_stem(word),
        "es" => spanish_stem(word),
        _ => word,
    }
}

fn has_vowel(stem: &str) -> bool {
    stem.bytes().any(|b| matches!(b, b'a' | b'e' | b'i' | b'o' | b'u' | b'y'))
}

fn english_stem(word: &str) -> &str {
    let singular = if let Some(base) = word.strip_suffix("ies").filter(|b| b.len() > 2) {
        &word[..=base.len()] // policies: polici, as policy below
    } else if let Some(base) = word.strip_suffix("sses") {
        &word[..base.len() + 2]
    } else if ["xes", "ches", "shes", "zes"].iter().any(|end| word.ends_with(end)) {
        &word[..word.len() - 2]
    } else if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) {
        &word[..word.len() - 1]
    } else {
        word
    };
    let base = ["ing", "ed"]
        .iter()
        .find_map(|end| singular.strip_suffix(end))
        .filter(|base| base.len() >= 3 && has_vowel(base))
        .map_or(singular, undouble);
    trim_vowel(base, &['e', 'y', 'i'])
}

fn undouble(base: &str) -> &str {
    let bytes = base.as_bytes();
    let n = bytes.len();
    if n > 3
        && bytes[n - 1] == bytes[n - 2]
        && !matches!(bytes[n - 1], b'l' | b's' | b'z' | b'e' | b'o')
    {
        &base[..n - 1]
    } else {
        base
    }
}

fn spanish_stem(word: &str) -> &str {
    let singular = if word.ends_with("ces") && word.len() > 4 {
        &word[..word.len() - 3] // veces: ve, luces: lu, as vez below
    } else if let Some(base) =
        word.strip_suffix("es").filter(|b| b.ends_with(['d', 'j', 'l', 'n', 'r', 's', 'z']))
    {
        base
    } else {
        // After a consonant too: Spanish docs are full of `pods`, `logs` and `strings`.
        word.strip_suffix('s').filter(|b| !b.ends_with('s')).unwrap_or(word)
    };
    let singular = singular.strip_suffix('z').unwrap_or(singular);
    for end in ["iendo", "ando", "ado", "ada", "ido", "ida", "ar", "er", "ir"] {
        if let Some(base) = singular.strip_suffix(end)
            && base.len() >= 3
        {
            return base;
        }
    }
    trim_vowel(singular, &['a', 'e', 'o'])
}

/// Drops one final vowel, when at least three letters stay.
fn trim_vowel<'w>(word: &'w str, vowels: &[char]) -> &'w str {
    word.strip_suffix(vowels).filter(|base| base.len() >= 3).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn word_lists_are_sorted_and_folded() {
        for list in [ENGLISH_FUNCTION_WORDS, SPANISH_FUNCTION_WORDS, FIRST_PART_CODES] {
            assert!(list.is_sorted());
            assert!(list.iter().all(|word| fold(word) == *word));
        }
    }

    #[test]
    fn forms_of_a_word_share_a_stem() {
        for (lang, forms) in [
            ("en", "flow flows"),
            ("en", "deploy deploying deployed deploys"),
            ("en", "route routes routing routed"),
            ("en", "run running runs"),
            ("en", "policy policies"),
            ("en", "configure configured configuring"),
            ("en", "index indexes indexing"),
            ("es", "ruta rutas"),
            ("es", "flujo flujos"),
            ("es", "seccion secciones"),
            ("es", "configurar configurado configurando"),
            ("es", "capaz capaces"),
            ("es", "desplegar desplegando desplegado"),
            ("es", "pod pods"),
        ] {
            let mut words = forms.split(' ');
            let first = words.next().expect("a word");
            for word in words {
                assert_eq!(stem(lang, word), stem(lang, first), "{word} as {first}");
            }
        }
    }

    #[test]
    fn paths_name_languages() {
        for (path, expected) in [
            ("es/guide/a.md", Some(("es", "guide/a.md"))),
            ("guide/es/a.md", Some(("es", "guide/a.md"))),
            ("pt-BR/a.md", Some(("pt", "a.md"))),
            ("guide.es.md", Some(("es", "guide.md"))),
            ("x/guide.es.md", Some(("es", "x/guide.md"))),
            ("guide/id/a.md", None),
            ("essay/a.md", None),
            ("es.md", None),
            ("release-1.2.md", None),
        ] {
            let found = of_path(path);
            assert_eq!(found.as_ref().map(|f| (f.code, f.rest.as_str())), expected, "{path}");
        }
    }
}
