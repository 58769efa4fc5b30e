//! A JSON value that remembers where it stood in its text.
//!
//! A plain parser loses what decides a document's validity and digest: repeated member names, integers that no double
//! holds, lone surrogates. [`read`](super::reader::read) keeps them as defects and builds this tree. Every number is a
//! double, because every number that a document may hold is one: `2`, `2.0` and `2e0` are the same value everywhere.

use std::borrow::Cow;
use std::cmp::Ordering;

use serde_json::Value;

/// Byte offsets into the text of the document: `start` inclusive, `end` exclusive. Both 0 for values that were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A value and its place.
#[derive(Clone, Debug)]
pub struct Node<'a> {
    /// The value.
    pub json: Json<'a>,
    /// Where it stands.
    pub span: Span,
}

/// The six kinds of JSON value. Nesting is at most [`MAX_DEPTH`](super::reader::MAX_DEPTH), so recursion is bounded.
#[derive(Clone, Debug)]
pub enum Json<'a> {
    /// `null`.
    Null,
    /// `true`, `false`.
    Bool(bool),
    /// A finite double, never `-0`.
    Number(f64),
    /// Text, unescaped.
    String(Cow<'a, str>),
    /// Items in order.
    Array(Vec<Node<'a>>),
    /// Members in the order of the text.
    Object(Vec<Member<'a>>),
}

/// A name and its value.
#[derive(Clone, Debug)]
pub struct Member<'a> {
    /// The name, unescaped.
    pub name: Cow<'a, str>,
    /// Where the name stands, quotes included.
    pub name_span: Span,
    /// The value.
    pub value: Node<'a>,
}

impl<'a> Member<'a> {
    /// A member that stands in no text.
    pub fn new(name: impl Into<Cow<'a, str>>, value: Node<'a>) -> Self {
        Self { name: name.into(), name_span: Span::default(), value }
    }
}

impl<'a> From<Json<'a>> for Node<'a> {
    fn from(json: Json<'a>) -> Self {
        Self { json, span: Span::default() }
    }
}

impl<'a> Node<'a> {
    /// A string that stands in no text.
    pub fn string(text: impl Into<Cow<'a, str>>) -> Self {
        Json::String(text.into()).into()
    }

    /// A number that stands in no text.
    pub fn number(number: f64) -> Self {
        Json::Number(number).into()
    }

    /// The value of a member. The last one wins when a name is repeated, which is a defect anyway.
    pub fn get(&self, name: &str) -> Option<&Node<'a>> {
        self.members().iter().rev().find(|member| member.name == name).map(|member| &member.value)
    }

    /// The members of an object; nothing for any other value.
    pub fn members(&self) -> &[Member<'a>] {
        if let Json::Object(members) = &self.json { members } else { &[] }
    }

    /// The items of an array; nothing for any other value.
    pub fn items(&self) -> &[Node<'a>] {
        if let Json::Array(items) = &self.json { items } else { &[] }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&str> {
        if let Json::String(text) = &self.json { Some(text) } else { None }
    }

    /// The value of a number.
    pub fn as_number(&self) -> Option<f64> {
        if let Json::Number(number) = self.json { Some(number) } else { None }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        if let Json::Bool(value) = self.json { Some(value) } else { None }
    }

    /// Whether it is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.json, Json::Null)
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.json, Json::Object(_))
    }

    /// Whether it is an array.
    pub fn is_array(&self) -> bool {
        matches!(self.json, Json::Array(_))
    }

    /// The text of a member that is a string.
    pub fn str_of(&self, name: &str) -> Option<&str> {
        self.get(name).and_then(Node::as_str)
    }

    /// 0 for a scalar, else one more than the deepest child.
    pub fn depth(&self) -> usize {
        match &self.json {
            Json::Array(items) => 1 + items.iter().map(Node::depth).max().unwrap_or(0),
            Json::Object(members) => {
                1 + members.iter().map(|member| member.value.depth()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    /// Whether both are the same JSON value: member order and place do not count.
    pub fn same(&self, other: &Node<'_>) -> bool {
        match (&self.json, &other.json) {
            (Json::Null, Json::Null) => true,
            (Json::Bool(a), Json::Bool(b)) => a == b,
            (Json::Number(a), Json::Number(b)) => a.total_cmp(b) == Ordering::Equal,
            (Json::String(a), Json::String(b)) => a == b,
            (Json::Array(a), Json::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b))
            }
            (Json::Object(a), Json::Object(b)) => {
                a.len() == b.len()
                    && sorted(a)
                        .iter()
                        .zip(sorted(b))
                        .all(|(a, b)| a.name == b.name && a.value.same(&b.value))
            }
            _ => false,
        }
    }

    /// The value at an RFC 6901 pointer.
    pub fn at(&self, pointer: &str) -> Option<&Node<'a>> {
        let mut node = self;
        for token in super::pointer::tokens(pointer) {
            node = match &node.json {
                Json::Array(items) => items.get(token.parse::<usize>().ok()?)?,
                Json::Object(_) => node.get(&token)?,
                _ => return None,
            };
        }
        Some(node)
    }

    /// The same value without borrowed text.
    pub fn into_owned(self) -> Node<'static> {
        let json = match self.json {
            Json::Null => Json::Null,
            Json::Bool(value) => Json::Bool(value),
            Json::Number(number) => Json::Number(number),
            Json::String(text) => Json::String(Cow::Owned(text.into_owned())),
            Json::Array(items) => Json::Array(items.into_iter().map(Node::into_owned).collect()),
            Json::Object(members) => Json::Object(
                members
                    .into_iter()
                    .map(|member| Member {
                        name: Cow::Owned(member.name.into_owned()),
                        name_span: member.name_span,
                        value: member.value.into_owned(),
                    })
                    .collect(),
            ),
        };
        Node { json, span: self.span }
    }

    /// The value as `serde_json` has it, member order kept.
    pub fn to_value(&self) -> Value {
        match &self.json {
            Json::Null => Value::Null,
            Json::Bool(value) => Value::Bool(*value),
            Json::Number(number) => number_value(*number),
            Json::String(text) => Value::String(text.to_string()),
            Json::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Json::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|member| (member.name.to_string(), member.value.to_value()))
                    .collect(),
            ),
        }
    }

    /// A `serde_json` value as a tree. Numbers that no double holds are rounded: use the reader for documents.
    pub fn from_value(value: &Value) -> Node<'static> {
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(plain(number.as_f64().unwrap_or(0.0))),
            Value::String(text) => Json::String(Cow::Owned(text.clone())),
            Value::Array(items) => Json::Array(items.iter().map(Node::from_value).collect()),
            Value::Object(members) => Json::Object(
                members
                    .iter()
                    .map(|(name, value)| Member::new(name.clone(), Node::from_value(value)))
                    .collect(),
            ),
        }
        .into()
    }
}

/// Zero without a sign, so that equal values stay equal (RFC 8785, erratum 7920).
pub(super) fn plain(number: f64) -> f64 {
    if number == 0.0 { 0.0 } else { number }
}

/// A double as a JSON number; whole ones without a fraction.
pub fn number_value(number: f64) -> Value {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    if number.trunc().total_cmp(&number) == Ordering::Equal && number.abs() <= SAFE {
        Value::from(number as i64)
    } else {
        serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

fn sorted<'m, 'a>(members: &'m [Member<'a>]) -> Vec<&'m Member<'a>> {
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| a.name.cmp(&b.name));
    sorted
}
