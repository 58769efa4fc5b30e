//! Cuts text into terms. Indexing and querying call the same function, [`cut`].
//!
//! A *word* is a maximal run of letters and digits; `_` joins inside one and is trimmed at its ends. Names are kept
//! whole and in parts: `appendLog` gives the word `appendlog` and the parts `append`, `log`; `docs_search` gives
//! `docssearch`, `docs`, `search`. Words joined by a sign without space also give one *whole* form (`live-reload`:
//! `livereload`, `bot.describe`: `botdescribe`), and words with signs that are part of their name a *sign* form
//! (`c++`, `.net`, `--port`, `interface{}`). Scripts without spaces are cut into overlapping pairs of characters.

use crate::fold::{fold_char, is_unspaced, is_word_char};

/// What a term is to the text it was cut from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermKind {
    /// A word; the only kind that advances the position.
    Word,
    /// A part of a word written in camelCase or `snake_case`.
    Part,
    /// Several words joined by signs, written as one.
    Whole,
    /// A word or whole together with the signs that belong to its name.
    Sign,
}

/// One term of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// The folded text.
    pub text: &'a str,
    /// What it is.
    pub kind: TermKind,
    /// Ordinal of the word it stands at (a whole or sign form: of its last word), from 0.
    pub position: u32,
    /// Where the word starts in the original, in bytes.
    pub start_byte: u32,
    /// Where it ends, exclusive.
    pub end_byte: u32,
}

/// Longer words are cut off here: a word is a name, not a blob of base64; tantivy refuses terms over 65,530 bytes.
pub const MAX_WORD_BYTES: usize = 128;
/// Words joined by signs beyond this count are a URL or a path; their whole form helps nobody.
const MAX_JOINED_WORDS: usize = 6;
/// At most this many parts are cut from one word, so that a generated name cannot flood the index.
const MAX_PARTS: usize = 12;

/// Signs that join words when they stand between them without space: `foo.bar`, `a::b`, `live-reload`, `don't`.
fn is_joiner(c: char) -> bool {
    matches!(c, '.' | ':' | '-' | '/' | '@' | '\'' | '’' | '#' | '+')
}

/// Calls `emit` for every term of `text`, in order of position; parts, wholes and signs follow their (last) word.
pub fn cut(text: &str, mut emit: impl FnMut(Term<'_>)) {
    let mut cutter = Cutter::default();
    let mut at = 0;
    while let Some(c) = char_at(text, at) {
        if !(is_word_char(c) || c == '_') {
            at += c.len_utf8();
            continue;
        }
        cutter.start_word();
        if is_unspaced(c) {
            at = cutter.pairs(text, at, &mut emit);
            continue;
        }
        let start = at;
        while let Some(c) = char_at(text, at).filter(|c| continues_word(*c)) {
            cutter.push(c);
            at += c.len_utf8();
        }
        cutter.finish_word(text, start, at, &mut emit);
    }
}

/// The character that begins at a byte; most are ASCII.
fn char_at(text: &str, at: usize) -> Option<char> {
    let byte = *text.as_bytes().get(at)?;
    if byte.is_ascii() { Some(char::from(byte)) } else { text[at..].chars().next() }
}

/// Whether a word that has begun goes on with `c`.
fn continues_word(c: char) -> bool {
    c == '_' || is_word_char(c) && !is_unspaced(c)
}

/// The word that `text` begins with, as it is written: what [`cut`] takes for the first word there.
pub(crate) fn word_at(text: &str) -> &str {
    let mut chars = text.char_indices();
    let first = chars.next().map_or(' ', |(_, c)| c);
    let end = if is_unspaced(first) {
        let second = chars.next().filter(|(_, c)| is_unspaced(*c));
        second.map_or(first.len_utf8(), |(at, c)| at + c.len_utf8())
    } else {
        chars.find(|(_, c)| !continues_word(*c)).map_or(text.len(), |(at, _)| at)
    };
    &text[..end]
}

#[derive(Default)]
struct Cutter {
    position: u32,
    /// The folded word, without underscores.
    word: String,
    /// Where parts of `word` start.
    part_starts: Vec<usize>,
    /// Class of the character before, and how many capitals stand before it in a row.
    previous: Class,
    capitals: usize,
    /// A part that begins at the last capital of several, if two small letters follow: `HTTPServer`, not `URLs`.
    pending: Option<usize>,
    /// The words joined so far, and where the first began and the last ended.
    joined: String,
    n_joined: usize,
    joined_start: usize,
    last_end: usize,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Class {
    #[default]
    Start,
    Lower,
    Upper,
    Underscore,
}

impl Cutter {
    fn start_word(&mut self) {
        self.word.clear();
        self.part_starts.clear();
        self.previous = Class::Start;
        self.capitals = 0;
        self.pending = None;
    }

    fn push(&mut self, c: char) {
        let at = self.word.len();
        let class = match c {
            '_' => Class::Underscore,
            _ if c.is_uppercase() => Class::Upper,
            _ => Class::Lower,
        };
        if let Some(start) = self.pending.take()
            && class == Class::Lower
        {
            self.part_starts.push(start);
        }
        match (self.previous, class) {
            (Class::Start | Class::Underscore, Class::Lower | Class::Upper)
            | (Class::Lower, Class::Upper) => self.part_starts.push(at),
            (Class::Upper, Class::Lower) if self.capitals > 1 => {
                self.pending = Some(at - self.word.chars().next_back().map_or(0, char::len_utf8));
            }
            _ => {}
        }
        self.capitals = if class == Class::Upper { self.capitals + 1 } else { 0 };
        self.previous = class;
        if class != Class::Underscore && at < MAX_WORD_BYTES {
            fold_char(c, &mut self.word);
        }
    }

    fn finish_word(
        &mut self,
        text: &str,
        start: usize,
        end: usize,
        emit: &mut impl FnMut(Term<'_>),
    ) {
        if self.word.is_empty() {
            return;
        }
        let (start_byte, end_byte) = (start as u32, end as u32);
        let position = self.position;
        emit(Term { text: &self.word, kind: TermKind::Word, position, start_byte, end_byte });
        for part in parts(&self.word, &self.part_starts) {
            emit(Term { text: part, kind: TermKind::Part, position, start_byte, end_byte });
        }
        let between = &text[self.last_end..start];
        if self.n_joined > 0 && joins(between) {
            self.n_joined += 1;
        } else {
            self.joined.clear();
            self.n_joined = 1;
            self.joined_start = start;
        }
        if self.n_joined <= MAX_JOINED_WORDS && self.joined.len() < MAX_WORD_BYTES {
            self.joined.push_str(&self.word);
        }
        self.last_end = end;
        self.position += 1;
        if self.n_joined > MAX_JOINED_WORDS || joins_on(&text[end..]) {
            return;
        }
        let whole_start = self.joined_start as u32;
        if self.n_joined > 1 {
            emit(Term {
                text: &self.joined,
                kind: TermKind::Whole,
                position,
                start_byte: whole_start,
                end_byte,
            });
        }
        let before = sign_before(&text[..self.joined_start]);
        let after = sign_after(&text[end..]);
        if !before.is_empty() || !after.is_empty() {
            let sign = format!("{before}{}{after}", self.joined);
            let start_byte = whole_start;
            emit(Term { text: &sign, kind: TermKind::Sign, position, start_byte, end_byte });
        }
    }

    /// Emits the overlapping pairs of a run in a script without spaces; a lone character stands for itself. Returns
    /// where the run ends.
    fn pairs(&mut self, text: &str, start: usize, emit: &mut impl FnMut(Term<'_>)) -> usize {
        let run = &text[start..];
        let end = start
            + run
                .char_indices()
                .find(|(_, c)| !(is_unspaced(*c) || (is_word_char(*c) && !c.is_alphanumeric())))
                .map_or(run.len(), |(at, _)| at);
        let mut folded = String::new();
        let mut chars: Vec<(usize, usize)> = Vec::new(); // folded start, original start
        for (at, c) in text[start..end].char_indices() {
            chars.push((folded.len(), start + at));
            fold_char(c, &mut folded);
        }
        chars.push((folded.len(), end));
        let n = chars.len() - 1;
        for i in 0..n.saturating_sub(1).max(1) {
            let last = (i + 2).min(n);
            let pair = &folded[chars[i].0..chars[last].0];
            if pair.is_empty() {
                continue;
            }
            emit(Term {
                text: pair,
                kind: TermKind::Word,
                position: self.position,
                start_byte: chars[i].1 as u32,
                end_byte: chars[last].1 as u32,
            });
            self.position += 1;
        }
        self.n_joined = 0;
        self.last_end = end;
        end
    }
}

/// The parts of a word, when it has at least two. A lone letter goes with what follows (`OAuth`), and a lone letter at
/// the end with what stands before (`URLs`).
fn parts<'w>(word: &'w str, starts: &[usize]) -> impl Iterator<Item = &'w str> {
    let mut bounds = [0; MAX_PARTS + 1];
    let mut n = 1;
    for &start in starts.iter().skip(1) {
        if start >= bounds[n - 1] + 2 && word.len() >= start + 2 && n < MAX_PARTS {
            bounds[n] = start;
            n += 1;
        }
    }
    bounds[n] = word.len();
    (0..if n > 1 { n } else { 0 }).filter_map(move |i| word.get(bounds[i]..bounds[i + 1]))
}

/// Whether what stands between two words joins them: one or two joining signs, nothing else.
fn joins(between: &str) -> bool {
    (1..=3).contains(&between.len())
        && between.chars().count() <= 2
        && between.chars().all(is_joiner)
}

/// Whether another word is joined after this one.
fn joins_on(after: &str) -> bool {
    if after.as_bytes().first().is_none_or(|byte| byte.is_ascii() && !is_joiner(char::from(*byte)))
    {
        return false;
    }
    let signs = after.char_indices().take(3).find(|(_, c)| !is_joiner(*c));
    match signs {
        Some((at, c)) => {
            at > 0 && joins(&after[..at]) && (is_word_char(c) && !is_unspaced(c) || c == '_')
        }
        None => false,
    }
}

/// The signs before a word that belong to its name: `--port`, `-p`, `.NET`, `@vue`, `$env`.
fn sign_before(before: &str) -> &'static str {
    if !matches!(before.as_bytes().last(), Some(b'-' | b'.' | b'@' | b'$')) {
        return "";
    }
    for sign in ["--", "-", ".", "@", "$"] {
        if let Some(rest) = before.strip_suffix(sign) {
            let free = rest.chars().next_back().is_none_or(|c| {
                c.is_whitespace()
                    || matches!(c, '(' | '[' | '{' | '"' | '\'' | '`' | '|' | ',' | '=')
            });
            if free {
                return sign;
            }
        }
    }
    ""
}

/// The signs after a word that belong to its name: `C++`, `C#`, `interface{}`, `run()`.
fn sign_after(after: &str) -> &'static str {
    if !matches!(after.as_bytes().first(), Some(b'+' | b'#' | b'{' | b'[' | b'(')) {
        return "";
    }
    for sign in ["++", "#", "{}", "[]", "()"] {
        if let Some(rest) = after.strip_prefix(sign)
            && !rest.chars().next().is_some_and(is_word_char)
        {
            return sign;
        }
    }
    ""
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        let mut got = Vec::new();
        cut(text, |term| {
            let mark = match term.kind {
                TermKind::Word => "",
                TermKind::Part => "/",
                TermKind::Whole => "=",
                TermKind::Sign => "!",
            };
            got.push(format!("{mark}{}", term.text));
        });
        assert_eq!(got.join(" "), expected, "{text:?}");
    }

    #[test]
    fn cuts_words_names_and_signs() {
        check("", "");
        check("Reanudación automática.", "reanudacion automatica");
        check("appendLog", "appendlog /append /log");
        check("docs_search _emphasis_ __", "docssearch /docs /search emphasis");
        check(
            "HTTPServer URLs OAuth2PasswordBearer",
            "httpserver /http /server urls oauth2passwordbearer /oauth2 /password /bearer",
        );
        check("eth_sendRawTransaction", "ethsendrawtransaction /eth /send /raw /transaction");
        check("live-reload foo.bar a::b", "live reload =livereload foo bar =foobar a b =ab");
        check(
            "app:setTimeout(callback, delay)",
            "app settimeout /set /timeout =appsettimeout callback delay",
        );
        check("bot.describe()", "bot describe =botdescribe !botdescribe()");
        check(
            "--no-watch -p .NET C++ C# interface{} v1.2.3",
            "no watch =nowatch !--nowatch p !-p net !.net c !c++ c !c# interface !interface{} v1 2 3 =v123",
        );
        check("don’t mustn't", "don t =dont mustn t =mustnt");
        check("end. Next sentence - here", "end next sentence here");
        check("\"sin cerrar *x* (y)", "sin cerrar x y");
        check("权威事实 好", "权威 威事 事实 好");
        check("Straße 2½", "strasse 212");
        check("a/b/c/d/e/f/g/h", "a b c d e f g h");
    }

    #[test]
    fn offsets_cut_the_original() {
        let text = "İİ diana Straße ẞ ﬁn";
        let mut words = Vec::new();
        cut(text, |t| words.push(&text[t.start_byte as usize..t.end_byte as usize]));
        assert_eq!(words, ["İİ", "diana", "Straße", "ẞ", "ﬁn"]);
    }

    proptest! {
        #[test]
        fn any_text_is_cut_on_character_borders_in_order(text in "\\PC*|[a-zA-Z_.:\\-+#(){}ñéİ权 ]{0,80}") {
            let mut position = 0;
            cut(&text, |term| {
                assert!(text.get(term.start_byte as usize..term.end_byte as usize).is_some());
                assert!(!term.text.is_empty());
                let written = text.get(term.start_byte as usize..term.end_byte as usize);
                if term.kind == TermKind::Word && term.text.is_ascii() {
                    assert_eq!(written, Some(word_at(&text[term.start_byte as usize..])));
                }
                assert!(term.position >= position);
                position = term.position;
            });
        }
    }
}
