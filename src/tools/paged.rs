//! Lists that are handed out in pieces, and the cursors that lead from one to the next.

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::docs;
use crate::error::{ErrorCode, ToolError};

/// Places in a list as opaque texts. A cursor is good for one question and one state of the list alone.
pub(super) struct Cursors {
    /// Tool, arguments and state of the list: all that the meaning of a place depends on.
    asked: String,
}

impl Cursors {
    /// Cursors for one question.
    pub(super) fn new(asked: &[&str]) -> Self {
        Self { asked: asked.join("\n") }
    }

    /// The cursor of a place.
    pub(super) fn write(&self, place: u64) -> String {
        let digest = Sha256::digest(format!("{place}\n{}", self.asked));
        let half = digest.iter().take(8).fold(0_u64, |half, byte| (half << 8) | u64::from(*byte));
        format!("{place:x}.{half:016x}")
    }

    /// The place of a cursor that was made here.
    ///
    /// # Errors
    /// It was not: it is made up, or for another question, or what is listed has changed since.
    pub(super) fn read(&self, tool: &str, cursor: &str) -> Result<u64, ToolError> {
        let place = cursor.split('.').next().and_then(|place| u64::from_str_radix(place, 16).ok());
        place.filter(|place| self.write(*place) == cursor).ok_or_else(|| {
            let message = "`cursor` is unknown, or what it belongs to has changed since";
            ToolError::new(ErrorCode::InvalidArgument, message)
                .with_hint(format!("call {tool} again without `cursor`"))
        })
    }
}

/// What part of a list is asked for.
#[derive(Clone, Copy)]
pub(super) struct Part<'a> {
    /// JSON Pointer of the list in its value.
    pub(super) list: &'a str,
    /// The first entry, counted from 0.
    pub(super) start: usize,
    /// At most so many entries.
    pub(super) limit: usize,
    /// At most so many bytes of text, but one entry in any case.
    pub(super) max_bytes: usize,
}

/// `value` with the part of its list that a reply may hold, and its text. `cursors` lead on.
pub(super) fn piece(mut value: Value, part: Part<'_>, cursors: &Cursors) -> (Value, String) {
    let Part { list, start, limit, max_bytes } = part;
    let whole = value.pointer_mut(list).map(Value::take).unwrap_or_default();
    let whole = whole.as_array().map_or(&[][..], Vec::as_slice);
    let rest = whole.get(start..).unwrap_or_default();
    let mut n_shown = rest.len().min(limit);
    loop {
        if let Some(list) = value.pointer_mut(list) {
            *list = rest[..n_shown].into();
        }
        let next = start + n_shown;
        value["page"] = json!({ "truncated": next < whole.len() });
        if next < whole.len() {
            value["page"]["next_cursor"] = cursors.write(next as u64).into();
        }
        let text = docs::shown(&value);
        if text.len() <= max_bytes || n_shown <= 1 {
            return (value, text);
        }
        // Entries are alike in length: aim a little lower than the share that fits.
        n_shown = (n_shown * max_bytes / text.len()).clamp(1, n_shown - 1);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Cursors, Part, piece};

    const MAX_BYTES: usize = 9_000;

    #[test]
    fn all_pieces_joined_are_the_list() {
        let all: Vec<Value> = (0..1000)
            .map(|at| json!({ "path": format!("{at}.md"), "x": "y".repeat(at % 90) }))
            .collect();
        let whole = json!({ "pages": all, "total": 1000 });
        let cursors = Cursors::new(&["pages"]);
        let (mut seen, mut start) = (Vec::new(), 0);
        loop {
            let part = Part { list: "/pages", start, limit: 300, max_bytes: MAX_BYTES };
            let (value, text) = piece(whole.clone(), part, &cursors);
            assert!(text.len() <= MAX_BYTES);
            seen.extend(value["pages"].as_array().expect("a list").clone());
            let Some(cursor) = value["page"]["next_cursor"].as_str() else { break };
            start = cursors.read("docs_outline", cursor).expect("a good cursor") as usize;
        }
        assert_eq!(seen, all);
    }

    #[test]
    fn a_cursor_is_good_for_its_question_alone() {
        let cursors = Cursors::new(&["pages", "es", "1"]);
        let cursor = cursors.write(42);
        assert_eq!(cursors.read("t", &cursor), Ok(42));
        for other in [["pages", "en", "1"], ["pages", "es", "2"]] {
            assert!(Cursors::new(&other).read("t", &cursor).is_err());
        }
        let forged = cursor.replace("2a.", "2b.");
        for forged in ["", ".", "1.2", "x.y.z", &cursor.to_uppercase(), &forged] {
            assert!(cursors.read("t", forged).is_err(), "{forged}");
        }
    }
}
