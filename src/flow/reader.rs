//! Reads the text of a document without losing anything that decides its validity.
//!
//! RFC 8259 to the letter: no comments, no trailing commas, no `NaN`, nothing after the value. What a value cannot hold
//! is kept as a defect with the pointer of the value. One pass, O(bytes); nesting is bounded, so no input can exhaust
//! the stack.

use std::borrow::Cow;
use std::collections::HashSet;

use super::issue::{self, Issue};
use super::json::{Json, Member, Node, Span, plain};
use super::pointer::Path;

/// The deepest document that is accepted: a scalar has depth 0, a container one more than its deepest child.
pub const MAX_DEPTH: usize = 64;

const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// A text that was read.
#[derive(Clone, Debug)]
pub struct Document<'a> {
    /// The text.
    pub text: &'a str,
    /// Its value.
    pub root: Node<'a>,
    /// What the value cannot show: repeated names, unsafe integers, numbers without a finite double, lone surrogates.
    /// In the order of issues. A document with a defect is invalid and has no digest.
    pub defects: Vec<Issue>,
    /// Whether a number is written with an exponent: only then can the canonical form be longer than the text.
    pub has_exponent: bool,
}

/// Why a text is no document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The text is not JSON.
    #[error("{message} at line {line}, column {column}")]
    Syntax {
        /// What stands there.
        message: String,
        /// Byte offset.
        offset: usize,
        /// 1-based; CR, LF and CRLF end a line.
        line: usize,
        /// 1-based, in characters.
        column: usize,
    },
    /// The value is nested more than [`MAX_DEPTH`] levels deep.
    #[error("must NOT be nested more than {MAX_DEPTH} levels deep")]
    TooDeep {
        /// Where level 65 opens.
        offset: usize,
    },
}

/// 1-based line and column, in characters, of a byte offset.
pub fn position(text: &str, offset: usize) -> (usize, usize) {
    let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    let before = &text[..offset.unwrap_or(0)];
    let mut line = 1;
    let mut line_start = 0;
    let bytes = before.as_bytes();
    for (at, byte) in bytes.iter().enumerate() {
        let ends_line = match byte {
            b'\n' => true,
            b'\r' => text.as_bytes().get(at + 1) != Some(&b'\n'),
            _ => false,
        };
        if ends_line {
            line += 1;
            line_start = at + 1;
        }
    }
    (line, before[line_start..].chars().count() + 1)
}

/// Reads the text of one JSON value.
pub fn read(text: &str) -> Result<Document<'_>, ReadError> {
    let mut reader =
        Reader { text, bytes: text.as_bytes(), at: 0, faults: Vec::new(), exponent: false };
    reader.skip_blanks();
    let root = reader.value(0)?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.unexpected("the end of the text"));
    }
    let defects = if reader.faults.is_empty() {
        Vec::new()
    } else {
        reader.faults.sort_by_key(|fault| fault.offset);
        let mut issues = Vec::new();
        place(&root, &mut Path::default(), &reader.faults, &mut issues);
        issue::arrange(&mut issues);
        issues
    };
    Ok(Document { text, root, defects, has_exponent: reader.exponent })
}

#[derive(Clone, Copy)]
enum FaultKind {
    Duplicate,
    Unsafe,
    NotFinite,
    Surrogate,
    SurrogateName,
}

/// A defect at the value that starts at `offset`.
struct Fault {
    offset: usize,
    kind: FaultKind,
}

struct Reader<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    faults: Vec<Fault>,
    exponent: bool,
}

impl<'a> Reader<'a> {
    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn syntax(&self, offset: usize, message: impl Into<String>) -> ReadError {
        let (line, column) = position(self.text, offset);
        ReadError::Syntax { message: message.into(), offset, line, column }
    }

    fn unexpected(&self, wanted: &str) -> ReadError {
        let found = match self.text.get(self.at..).and_then(|rest| rest.chars().next()) {
            None => "the text ends".to_owned(),
            Some(c) if c.is_control() => format!("found U+{:04X}", u32::from(c)),
            Some(c) => format!("found '{c}'"),
        };
        self.syntax(self.at, format!("expected {wanted}, {found}"))
    }

    fn value(&mut self, depth: usize) -> Result<Node<'a>, ReadError> {
        let start = self.at;
        let json = match self.bytes.get(self.at) {
            Some(b'{') => self.object(depth + 1)?,
            Some(b'[') => self.array(depth + 1)?,
            Some(b'"') => {
                let (text, well_formed) = self.string()?;
                if !well_formed {
                    self.faults.push(Fault { offset: start, kind: FaultKind::Surrogate });
                }
                Json::String(text)
            }
            Some(b'-' | b'0'..=b'9') => self.number()?,
            Some(b't') => self.word("true", Json::Bool(true))?,
            Some(b'f') => self.word("false", Json::Bool(false))?,
            Some(b'n') => self.word("null", Json::Null)?,
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Node { json, span: Span { start, end: self.at } })
    }

    fn word(&mut self, word: &str, json: Json<'a>) -> Result<Json<'a>, ReadError> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(json)
        } else {
            Err(self.unexpected("a value"))
        }
    }

    fn array(&mut self, depth: usize) -> Result<Json<'a>, ReadError> {
        if depth > MAX_DEPTH {
            return Err(ReadError::TooDeep { offset: self.at });
        }
        self.at += 1;
        let mut items = Vec::new();
        self.skip_blanks();
        if self.bytes.get(self.at) == Some(&b']') {
            self.at += 1;
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.skip_blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b']') => {
                    self.at += 1;
                    return Ok(Json::Array(items));
                }
                _ => return Err(self.unexpected("',' or ']'")),
            }
            self.skip_blanks();
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, ReadError> {
        if depth > MAX_DEPTH {
            return Err(ReadError::TooDeep { offset: self.at });
        }
        let opened = self.at;
        self.at += 1;
        let mut members = Vec::with_capacity(6);
        let mut ill_named = Vec::new();
        self.skip_blanks();
        if self.bytes.get(self.at) == Some(&b'}') {
            self.at += 1;
            return Ok(Json::Object(Vec::new()));
        }
        loop {
            if self.bytes.get(self.at) != Some(&b'"') {
                return Err(self.unexpected("a member name in double quotes"));
            }
            let name_start = self.at;
            let (name, well_formed) = self.string()?;
            let name_span = Span { start: name_start, end: self.at };
            if !well_formed {
                self.faults.push(Fault { offset: opened, kind: FaultKind::SurrogateName });
                ill_named.push(members.len());
            }
            self.skip_blanks();
            if self.bytes.get(self.at) != Some(&b':') {
                return Err(self.unexpected("':'"));
            }
            self.at += 1;
            self.skip_blanks();
            let value = self.value(depth)?;
            members.push(Member { name, name_span, value });
            self.skip_blanks();
            match self.bytes.get(self.at) {
                Some(b',') => self.at += 1,
                Some(b'}') => {
                    self.at += 1;
                    break;
                }
                _ => return Err(self.unexpected("',' or '}'")),
            }
            self.skip_blanks();
        }
        self.find_repeated(&members, &ill_named);
        Ok(Json::Object(members))
    }

    fn find_repeated(&mut self, members: &[Member<'a>], ill_named: &[usize]) {
        // Comparing pairs is faster than hashing for the objects of a flow, which are small.
        const FEW: usize = 12;
        let is_small = members.len() <= FEW;
        let mut seen = HashSet::new();
        for (at, member) in members.iter().enumerate() {
            let repeated = if is_small {
                members[..at].iter().any(|earlier| earlier.name == member.name)
            } else {
                !seen.insert(&member.name)
            };
            // A name with a lone surrogate was made readable, so it may look like another one that it is not.
            if repeated && !ill_named.contains(&at) {
                let offset = member.value.span.start;
                self.faults.push(Fault { offset, kind: FaultKind::Duplicate });
            }
        }
    }

    fn number(&mut self) -> Result<Json<'a>, ReadError> {
        let start = self.at;
        let is_negative = self.bytes[self.at] == b'-';
        self.at += usize::from(is_negative);
        let digits_start = self.at;
        match self.bytes.get(self.at) {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return Err(self.unexpected("a digit")),
        }
        let n_digits = self.at - digits_start;
        let mut is_integer = true;
        if self.bytes.get(self.at) == Some(&b'.') {
            is_integer = false;
            self.at += 1;
            self.at_least_one_digit()?;
        }
        if let Some(b'e' | b'E') = self.bytes.get(self.at) {
            is_integer = false;
            self.exponent = true;
            self.at += 1;
            if let Some(b'+' | b'-') = self.bytes.get(self.at) {
                self.at += 1;
            }
            self.at_least_one_digit()?;
        }
        // Fifteen digits always fit both an integer and a double.
        if is_integer && n_digits <= 15 {
            let mut number: i64 = 0;
            for digit in &self.bytes[digits_start..self.at] {
                number = number * 10 + i64::from(digit - b'0');
            }
            return Ok(Json::Number(if is_negative { -number } else { number } as f64));
        }
        let number: f64 = self.text[start..self.at].parse().unwrap_or(f64::INFINITY);
        // 2^53 and 2^53 + 1 read as one double, hence the test on the digits.
        let is_safe = number.abs() < MAX_SAFE
            || self.text[digits_start..self.at].parse::<u64>() == Ok(9_007_199_254_740_991);
        let fault = match (is_integer, number.is_finite()) {
            (true, _) if !is_safe => Some(FaultKind::Unsafe),
            (false, false) => Some(FaultKind::NotFinite),
            _ => None,
        };
        if let Some(kind) = fault {
            self.faults.push(Fault { offset: start, kind });
            return Ok(Json::Number(0.0));
        }
        Ok(Json::Number(plain(number)))
    }

    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.bytes.get(self.at) {
            self.at += 1;
        }
    }

    fn at_least_one_digit(&mut self) -> Result<(), ReadError> {
        match self.bytes.get(self.at) {
            Some(b'0'..=b'9') => {
                self.skip_digits();
                Ok(())
            }
            _ => Err(self.unexpected("a digit")),
        }
    }

    /// The text, and whether every surrogate escape has its partner.
    fn string(&mut self) -> Result<(Cow<'a, str>, bool), ReadError> {
        let opened = self.at;
        self.at += 1;
        let mut run = self.at;
        let mut owned: Option<String> = None;
        let mut well_formed = true;
        loop {
            match self.bytes.get(self.at) {
                None => return Err(self.syntax(opened, "string without an end")),
                Some(b'"') => {
                    let rest = &self.text[run..self.at];
                    self.at += 1;
                    return Ok(match owned {
                        None => (Cow::Borrowed(rest), well_formed),
                        Some(mut text) => {
                            text.push_str(rest);
                            (Cow::Owned(text), well_formed)
                        }
                    });
                }
                Some(b'\\') => {
                    let text = owned.get_or_insert_with(String::new);
                    text.push_str(&self.text[run..self.at]);
                    let c = self.escape()?;
                    well_formed &= c.is_some();
                    owned.get_or_insert_with(String::new).push(c.unwrap_or('\u{fffd}'));
                    run = self.at;
                }
                Some(0..=0x1f) => {
                    return Err(self.unexpected("an escape instead of a raw control character"));
                }
                Some(_) => {
                    self.at += plain_len(&self.bytes[self.at..]);
                }
            }
        }
    }

    /// The escaped character; nothing for a lone surrogate.
    fn escape(&mut self) -> Result<Option<char>, ReadError> {
        let escape = self.at;
        self.at += 2;
        let c = match self.bytes.get(escape + 1) {
            Some(b'"') => '"',
            Some(b'\\') => '\\',
            Some(b'/') => '/',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            Some(b'u') => {
                let high = self.hex(escape)?;
                let mut unit = high;
                if (0xd800..0xdc00).contains(&high) && self.bytes[self.at..].starts_with(b"\\u") {
                    let low_escape = self.at;
                    self.at += 2;
                    let low = self.hex(low_escape)?;
                    if (0xdc00..0xe000).contains(&low) {
                        unit = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
                    } else {
                        // The second escape stands for itself: it is read again.
                        self.at = low_escape;
                    }
                }
                return Ok(char::from_u32(unit));
            }
            _ => return Err(self.syntax(escape, "unknown escape")),
        };
        Ok(Some(c))
    }

    fn hex(&mut self, escape: usize) -> Result<u32, ReadError> {
        let digits = self.bytes.get(self.at..self.at + 4);
        let unit = digits.and_then(|digits| {
            digits.iter().try_fold(0, |unit, digit| {
                char::from(*digit).to_digit(16).map(|value| unit * 16 + value)
            })
        });
        match unit {
            Some(unit) => {
                self.at += 4;
                Ok(unit)
            }
            None => Err(self.syntax(escape, "\\u without four hexadecimal digits")),
        }
    }
}

/// How many bytes at the start are plain text of a string: no quote, no backslash, no control character. Eight bytes at a
/// time, because texts are most of a document.
fn plain_len(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGHS: u64 = ONES * 0x80;
    let has_zero = |word: u64| word.wrapping_sub(ONES) & !word & HIGHS;
    let (words, _) = bytes.as_chunks::<8>();
    let mut len = 0;
    for word in words {
        let word = u64::from_le_bytes(*word);
        let below_space = word.wrapping_sub(ONES * 0x20) & !word & HIGHS;
        let quote = has_zero(word ^ (ONES * u64::from(b'"')));
        let backslash = has_zero(word ^ (ONES * u64::from(b'\\')));
        let special = below_space | quote | backslash;
        if special != 0 {
            // A borrow may mark bytes after the first special one, never one before it.
            return len + special.trailing_zeros() as usize / 8;
        }
        len += 8;
    }
    let is_special = |byte: &u8| matches!(byte, b'"' | b'\\' | 0..=0x1f);
    len + bytes[len..].iter().position(is_special).unwrap_or(bytes.len() - len)
}

/// Gives the faults their pointers: they are sorted by offset, like the values in the text.
fn place<'n>(node: &'n Node<'_>, path: &mut Path<'n>, faults: &[Fault], issues: &mut Vec<Issue>) {
    let from = faults.partition_point(|fault| fault.offset < node.span.start);
    let to = faults.partition_point(|fault| fault.offset < node.span.end);
    let faults = &faults[from..to];
    if faults.is_empty() {
        return;
    }
    for fault in faults.iter().take_while(|fault| fault.offset == node.span.start) {
        let message = match fault.kind {
            FaultKind::Unsafe => "must be a safe integer (magnitude at most 9007199254740991)",
            FaultKind::NotFinite => "must be a finite number",
            FaultKind::Surrogate | FaultKind::SurrogateName => "must be well-formed Unicode",
            FaultKind::Duplicate => continue,
        };
        issues.push(Issue::new(path.pointer(), message));
    }
    match &node.json {
        Json::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                path.push_index(at);
                place(item, path, faults, issues);
                path.pop();
            }
        }
        Json::Object(members) => {
            for member in members {
                let start = member.value.span.start;
                let at = faults.partition_point(|fault| fault.offset < start);
                path.push_name(&member.name);
                if faults[at..]
                    .iter()
                    .take_while(|fault| fault.offset == start)
                    .any(|fault| matches!(fault.kind, FaultKind::Duplicate))
                {
                    let message = format!("must NOT have duplicate property '{}'", member.name);
                    issues.push(Issue::new(path.pointer(), message));
                }
                place(&member.value, path, faults, issues);
                path.pop();
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_end_at_the_first_special_byte() {
        for special in ['"', '\\', '\u{0}', '\u{1f}'] {
            for at in 0..20 {
                let mut text = "é~ \u{7f}ÿ€!#[]".repeat(4);
                let at =
                    (at..text.len()).find(|at| text.is_char_boundary(*at)).expect("a boundary");
                text.insert(at, special);
                text.push(special);
                assert_eq!(plain_len(text.as_bytes()), at, "{special:?} at {at}");
            }
        }
        assert_eq!(plain_len("é \u{7f}".as_bytes()), 4);
        assert_eq!(plain_len(b""), 0);
    }

    #[test]
    fn lone_surrogates_and_pairs() {
        let check = |text: &str, expected: &str, n_defects: usize| {
            let document = read(text).expect("JSON");
            assert_eq!(document.root.as_str(), Some(expected), "{text}");
            assert_eq!(document.defects.len(), n_defects, "{text}");
        };
        check(r#""\ud83d\ude00""#, "😀", 0);
        check(r#""\ud83d""#, "\u{fffd}", 1);
        check(r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀", 1);
        check(r#""\ude00\u0041""#, "\u{fffd}A", 1);
    }

    #[test]
    fn numbers_keep_their_value_or_are_defects() {
        let check = |text: &str, number: f64, n_defects: usize| {
            let document = read(text).expect("JSON");
            assert_eq!(document.root.as_number(), Some(number), "{text}");
            assert_eq!(document.defects.len(), n_defects, "{text}");
        };
        check("-0", 0.0, 0);
        check("9007199254740991", 9_007_199_254_740_991.0, 0);
        check("-9007199254740991", -9_007_199_254_740_991.0, 0);
        check("9007199254740992", 0.0, 1);
        check("9007199254740993.0", 9_007_199_254_740_992.0, 0);
        check("1e999", 0.0, 1);
        check("1e-999", 0.0, 0);
        check("123456789012345", 123_456_789_012_345.0, 0);
    }
}
