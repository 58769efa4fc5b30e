//! The canonical form of a document (RFC 8785) and its SHA-256.

use sha2::{Digest, Sha256};

use super::json::{Json, Member, Node};

/// Lower-case hex SHA-256 of [`canonical`].
pub fn digest(node: &Node<'_>) -> String {
    use std::fmt::Write;

    let hash = Sha256::digest(canonical(node).as_bytes());
    hash.iter().fold(String::with_capacity(64), |mut hex, byte| {
        // Writing into a `String` cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

/// What `version` says: the integer of at least 0 in the document, 0 when absent, else nothing.
pub fn version(node: &Node<'_>) -> Option<u64> {
    match node.get("version").map(|version| &version.json) {
        None => Some(0),
        Some(Json::Number(number)) if *number >= 0.0 && number.fract() == 0.0 => {
            (*number <= 9_007_199_254_740_991.0).then_some(*number as u64)
        }
        Some(_) => None,
    }
}

/// RFC 8785: member names by UTF-16 code units, ECMAScript numbers, least escapes, no blanks, no normalization.
pub fn canonical(node: &Node<'_>) -> String {
    let mut out = String::new();
    write(node, &mut out);
    out
}

fn write(node: &Node<'_>, out: &mut String) {
    match &node.json {
        Json::Null => out.push_str("null"),
        Json::Bool(true) => out.push_str("true"),
        Json::Bool(false) => out.push_str("false"),
        Json::Number(number) => write_number(*number, out),
        Json::String(text) => write_string(text, out),
        Json::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        Json::Object(members) => {
            let mut sorted: Vec<&Member<'_>> = members.iter().collect();
            sorted.sort_by(|a, b| a.name.encode_utf16().cmp(b.name.encode_utf16()));
            out.push('{');
            for (at, member) in sorted.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(&member.name, out);
                out.push(':');
                write(&member.value, out);
            }
            out.push('}');
        }
    }
}

/// A number as ECMAScript prints it.
pub(super) fn write_number(number: f64, out: &mut String) {
    out.push_str(ryu_js::Buffer::new().format(number));
}

/// A string with the least escapes.
pub(super) fn write_string(text: &str, out: &mut String) {
    use std::fmt::Write;

    out.push('"');
    let mut run = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escaped = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            0x08 => "\\b",
            b'\t' => "\\t",
            b'\n' => "\\n",
            0x0c => "\\f",
            b'\r' => "\\r",
            0..=0x1f => "",
            _ => continue,
        };
        out.push_str(&text[run..at]);
        if escaped.is_empty() {
            // Writing into a `String` cannot fail.
            let _ = write!(out, "\\u{byte:04x}");
        } else {
            out.push_str(escaped);
        }
        run = at + 1;
    }
    out.push_str(&text[run..]);
    out.push('"');
}
