//! Reads single members of a JSON object and leaves the rest of it as text.
//!
//! A message is taken apart without building its values: an id keeps its digits, a tool's arguments keep their text,
//! and a member that is given twice is seen.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// How an object holds one member.
#[derive(Clone, Copy, Debug)]
pub(super) enum Member<'a> {
    /// Not at all.
    Absent,
    /// Once, with this value.
    Once(&'a RawValue),
    /// More than once: parsers disagree which one counts, so none does.
    Repeated,
}

impl<'a> Member<'a> {
    /// The value, unless it is absent, repeated or `null`.
    pub(super) fn value(self) -> Option<&'a RawValue> {
        match self {
            Self::Once(raw) if raw.get() != "null" => Some(raw),
            _ => None,
        }
    }

    /// The value if it is a string.
    pub(super) fn string(self) -> Option<String> {
        self.value().and_then(|raw| serde_json::from_str(raw.get()).ok())
    }
}

/// What kind of value a JSON text holds, told by its first character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Object,
    Array,
    Other,
}

/// The kind of `json`, which must be valid JSON.
pub(super) fn kind(json: &str) -> Kind {
    match json.trim_start_matches([' ', '\t', '\r', '\n']).as_bytes().first() {
        Some(b'{') => Kind::Object,
        Some(b'[') => Kind::Array,
        _ => Kind::Other,
    }
}

/// How deep arrays and objects nest in `json`, which must be valid JSON: 0 for a scalar.
///
/// The parser that leaves values as text never recurses and so has no limit of its own.
pub(super) fn depth(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let mut bytes = json.bytes();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' if in_string => drop(bytes.next()),
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// The members called `names` of the JSON object `object`.
///
/// # Errors
/// `object` is no JSON object, or a member's name is no Unicode text.
pub(super) fn pick<'a, const N: usize>(
    object: &'a str,
    names: [&'static str; N],
) -> Result<[Member<'a>; N], serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_str(object);
    let members = reader.deserialize_map(Pick { names })?;
    reader.end()?;
    Ok(members)
}

struct Pick<const N: usize> {
    names: [&'static str; N],
}

impl<'de, const N: usize> Visitor<'de> for Pick<N> {
    type Value = [Member<'de>; N];

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = [Member::Absent; N];
        while let Some(position) = map.next_key_seed(Position(&self.names))? {
            let Some(position) = position else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let value = map.next_value()?;
            members[position] = match members[position] {
                Member::Absent => Member::Once(value),
                _ => Member::Repeated,
            };
        }
        Ok(members)
    }
}

/// Reads a member's name as its position in the list of wanted names.
struct Position<'n>(&'n [&'static str]);

impl<'de> DeserializeSeed<'de> for Position<'_> {
    type Value = Option<usize>;

    fn deserialize<D: serde::Deserializer<'de>>(self, input: D) -> Result<Self::Value, D::Error> {
        input.deserialize_str(self)
    }
}

impl Visitor<'_> for Position<'_> {
    type Value = Option<usize>;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a member's name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|wanted| *wanted == name))
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Member, depth, kind, pick};

    fn check(object: &str, expected: &str) {
        let Ok([member]) = pick(object, ["a"]) else {
            assert_eq!("error", expected, "{object}");
            return;
        };
        let seen = match member {
            Member::Absent => "absent",
            Member::Once(raw) => raw.get(),
            Member::Repeated => "repeated",
        };
        assert_eq!(seen, expected, "{object}");
    }

    #[test]
    fn members_keep_their_text() {
        check(r#"{"a": 1.50e0, "b": [1]}"#, "1.50e0");
        check(r#"{"\u0061": {"x" : 1}}"#, r#"{"x" : 1}"#);
        check(r#"{"b": 1}"#, "absent");
        check(r#"{"a": 1, "a": 1}"#, "repeated");
        check(r#"{"a": null}"#, "null");
        check(r#"{"\ud800": 1}"#, "error");
        check("[1]", "error");
        check(r#"{"a": 1} x"#, "error");
    }

    #[test]
    fn depth_counts_containers_outside_strings() {
        assert_eq!(depth("1"), 0);
        assert_eq!(depth("[[], {}]"), 2);
        assert_eq!(depth(r#"{"[[[\"[[[": "\\", "b": [1]}"#), 2);
        assert_eq!(depth(&"[".repeat(100_000)), 100_000);
    }

    #[test]
    fn kind_is_told_by_the_first_character() {
        assert_eq!(kind(" \t{}"), Kind::Object);
        assert_eq!(kind("[1]"), Kind::Array);
        assert_eq!(kind("7"), Kind::Other);
    }
}
