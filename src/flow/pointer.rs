//! RFC 6901 pointers: how issues name a place, and the order in which places are listed.

use std::cmp::Ordering;
use std::fmt::Write;

/// One step of a path while a tree is walked.
#[derive(Clone, Copy, Debug)]
pub enum Token<'a> {
    /// A member's name.
    Name(&'a str),
    /// An item's position.
    Index(usize),
}

/// The path of the value that is being looked at.
#[derive(Clone, Debug, Default)]
pub struct Path<'a>(Vec<Token<'a>>);

impl<'a> Path<'a> {
    /// Goes into a member.
    pub fn push_name(&mut self, name: &'a str) {
        self.0.push(Token::Name(name));
    }

    /// Goes into an item.
    pub fn push_index(&mut self, index: usize) {
        self.0.push(Token::Index(index));
    }

    /// Goes back out.
    pub fn pop(&mut self) {
        self.0.pop();
    }

    /// The pointer of the path.
    pub fn pointer(&self) -> String {
        let mut pointer = String::new();
        for token in &self.0 {
            match token {
                Token::Name(name) => push_name(&mut pointer, name),
                Token::Index(index) => push_index(&mut pointer, *index),
            }
        }
        pointer
    }

    /// The pointer of a member of the path.
    pub fn pointer_of(&self, name: &str) -> String {
        let mut pointer = self.pointer();
        push_name(&mut pointer, name);
        pointer
    }
}

/// Appends `/name`, escaped.
pub fn push_name(pointer: &mut String, name: &str) {
    pointer.push('/');
    for c in name.chars() {
        match c {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            c => pointer.push(c),
        }
    }
}

/// Appends `/index`.
pub fn push_index(pointer: &mut String, index: usize) {
    // Writing into a `String` cannot fail.
    let _ = write!(pointer, "/{index}");
}

/// `base` with `/name` appended.
pub fn join(base: &str, name: &str) -> String {
    let mut pointer = String::with_capacity(base.len() + name.len() + 1);
    pointer.push_str(base);
    push_name(&mut pointer, name);
    pointer
}

/// `base` with `/index` appended.
pub fn join_index(base: &str, index: usize) -> String {
    let mut pointer = String::with_capacity(base.len() + 4);
    pointer.push_str(base);
    push_index(&mut pointer, index);
    pointer
}

/// The unescaped tokens of a pointer.
pub fn tokens(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|token| token.replace("~1", "/").replace("~0", "~"))
}

/// The order of issues and diagnostics: token by token, a prefix first, numbers by value and before names, names by code
/// point.
pub fn compare(left: &str, right: &str) -> Ordering {
    let mut left = left.split('/').skip(1);
    let mut right = right.split('/').skip(1);
    loop {
        match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(_)) => return Ordering::Less,
            (Some(_), None) => return Ordering::Greater,
            (Some(a), Some(b)) if a == b => {}
            (Some(a), Some(b)) => return compare_tokens(a, b),
        }
    }
}

fn compare_tokens(a: &str, b: &str) -> Ordering {
    match (is_index(a), is_index(b)) {
        (true, true) => a.len().cmp(&b.len()).then_with(|| a.cmp(b)),
        (true, false) => Ordering::Less,
        (false, true) => Ordering::Greater,
        // Bytes of UTF-8 sort like code points; `~` and `/` are the only escaped ones.
        (false, false) => unescaped(a).cmp(unescaped(b)),
    }
}

fn unescaped(token: &str) -> impl Iterator<Item = u8> {
    let mut bytes = token.bytes();
    std::iter::from_fn(move || match bytes.next()? {
        b'~' => Some(if bytes.next() == Some(b'1') { b'/' } else { b'~' }),
        byte => Some(byte),
    })
}

/// Decimal digits as an array index is written: no leading zero, so equal values are equal texts.
fn is_index(token: &str) -> bool {
    token == "0"
        || (!token.is_empty()
            && !token.starts_with('0')
            && token.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_listed_by_value_then_by_name() {
        let mut paths = vec!["/b", "/a/10", "/a/9", "/a/x", "/a", "", "/a~1b", "/a~0b", "/a/01"];
        paths.sort_by(|a, b| compare(a, b));
        assert_eq!(paths, ["", "/a", "/a/9", "/a/10", "/a/01", "/a/x", "/a~1b", "/a~0b", "/b"]);
    }

    #[test]
    fn a_pointer_gives_its_tokens_back() {
        let pointer = join(&join_index(&join("", "a/b~1"), 3), "");
        assert_eq!(pointer, "/a~1b~01/3/");
        assert_eq!(tokens(&pointer).collect::<Vec<_>>(), ["a/b~1", "3", ""]);
    }
}
