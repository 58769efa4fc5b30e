//! Bytes to lines: one message a line, ended by LF.
//!
//! Owns the limit on a line's length and the decision which lines are no text at all. Knows no JSON.

/// Longest line that is read, in characters (Unicode scalar values, the line's CR included).
pub const MAX_LINE_CHARS: usize = 16 * 1024 * 1024;

/// UTF-8 takes at most four bytes a character; a line over this many bytes is too long whatever its bytes are, so
/// bytes that start no character cannot grow the buffer for ever.
const MAX_BYTES_PER_CHAR: usize = 4;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line of input that is not blank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Frame {
    /// The line's text, without its LF or CRLF.
    Line(String),
    /// The line was over the limit. It was dropped while it was read.
    TooLong,
    /// The line is not UTF-8.
    NotUtf8,
}

/// Cuts a stream of bytes into [`Frame`]s. Where the stream is cut into chunks makes no difference.
///
/// Only LF ends a line (U+2028 and the like are text). A CR before it, blank lines, and a byte-order mark at the start
/// of the stream are skipped. A line over the limit is reported once, as soon as it is over, and never kept.
#[derive(Debug)]
pub struct Frames {
    max_chars: usize,
    line: Vec<u8>,
    n_chars: usize,
    dropping: bool,
    first_line: bool,
}

impl Default for Frames {
    fn default() -> Self {
        Self::with_limit(MAX_LINE_CHARS)
    }
}

impl Frames {
    /// Frames of at most `max_chars` characters each.
    pub fn with_limit(max_chars: usize) -> Self {
        Self { max_chars, line: Vec::new(), n_chars: 0, dropping: false, first_line: true }
    }

    /// Takes the next bytes and hands every frame that they complete to `emit`.
    pub fn push(&mut self, mut bytes: &[u8], mut emit: impl FnMut(Frame)) {
        while let Some(end) = bytes.iter().position(|&byte| byte == b'\n') {
            self.take(&bytes[..end], &mut emit);
            self.end_line(&mut emit);
            bytes = &bytes[end + 1..];
        }
        self.take(bytes, &mut emit);
    }

    /// Ends the stream: a last line without LF counts.
    pub fn finish(&mut self, mut emit: impl FnMut(Frame)) {
        self.end_line(&mut emit);
    }

    fn take(&mut self, piece: &[u8], emit: &mut impl FnMut(Frame)) {
        if self.dropping {
            return;
        }
        self.n_chars += piece.iter().filter(|&&byte| byte & 0b1100_0000 != 0b1000_0000).count();
        let max_bytes = self.max_chars.saturating_mul(MAX_BYTES_PER_CHAR);
        if self.n_chars > self.max_chars || self.line.len() + piece.len() > max_bytes {
            self.dropping = true;
            self.line = Vec::new();
            emit(Frame::TooLong);
        } else {
            self.line.extend_from_slice(piece);
        }
    }

    fn end_line(&mut self, emit: &mut impl FnMut(Frame)) {
        let mut line = std::mem::take(&mut self.line);
        self.n_chars = 0;
        let first_line = std::mem::replace(&mut self.first_line, false);
        if std::mem::replace(&mut self.dropping, false) {
            return;
        }
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if first_line && line.starts_with(BYTE_ORDER_MARK) {
            line.drain(..BYTE_ORDER_MARK.len());
        }
        if line.iter().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
            return;
        }
        emit(String::from_utf8(line).map_or(Frame::NotUtf8, Frame::Line));
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Frames};

    fn frames(limit: usize, chunks: &[&[u8]]) -> Vec<Frame> {
        let mut frames = Frames::with_limit(limit);
        let mut seen = Vec::new();
        for chunk in chunks {
            frames.push(chunk, |frame| seen.push(frame));
        }
        frames.finish(|frame| seen.push(frame));
        seen
    }

    /// Frames as one string: lines joined by `|`, `LONG` and `BYTES` for the two faults.
    fn check(limit: usize, input: &[u8], expected: &str) {
        let show = |seen: Vec<Frame>| {
            let words = seen.into_iter().map(|frame| match frame {
                Frame::Line(line) => line,
                Frame::TooLong => "LONG".to_owned(),
                Frame::NotUtf8 => "BYTES".to_owned(),
            });
            words.collect::<Vec<_>>().join("|")
        };
        assert_eq!(show(frames(limit, &[input])), expected, "whole: {input:?}");
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        assert_eq!(show(frames(limit, &bytes)), expected, "byte by byte: {input:?}");
    }

    #[test]
    fn only_a_line_feed_ends_a_line() {
        check(99, b"a\nb\n", "a|b");
        check(99, b"a\r\nb\rc\n", "a|b\rc");
        check(99, "a\u{2028}b\u{2029}c\u{85}d\n".as_bytes(), "a\u{2028}b\u{2029}c\u{85}d");
        check(99, b"a\nlast", "a|last");
        check(99, b"", "");
        check(99, b"\n", "");
    }

    #[test]
    fn blank_lines_and_a_leading_mark_are_skipped() {
        check(99, b"\n \t\r\n\r\na\n\n", "a");
        check(99, b"\xef\xbb\xbfa\nb\n", "a|b");
        check(99, b"\xef\xbb\xbf\na\n", "a");
        check(99, b"a\n\xef\xbb\xbfb\n", "a|\u{feff}b");
    }

    #[test]
    fn a_line_that_is_not_utf_8_is_one_fault() {
        check(99, b"\xff\xfe\nb\n", "BYTES|b");
        check(99, b"a\xc3", "BYTES");
        check(99, "\u{f1}-\u{1f389}\n".as_bytes(), "\u{f1}-\u{1f389}");
    }

    #[test]
    fn a_line_over_the_limit_is_one_fault_and_the_next_line_is_read() {
        check(3, b"abc\nd\n", "abc|d");
        check(3, b"abcd\ne\n", "LONG|e");
        check(3, b"abcdefghijkl\ne", "LONG|e");
        check(3, b"abcdefghijkl", "LONG");
        check(3, "\u{1f389}\u{1f389}\u{1f389}\n".as_bytes(), "\u{1f389}\u{1f389}\u{1f389}");
        check(3, &[0x80; 12], "BYTES");
        check(3, &[0x80; 13], "LONG");
    }

    #[test]
    fn a_line_over_the_limit_is_not_kept() {
        let mut frames = Frames::with_limit(1024);
        let mut n_frames = 0;
        for _ in 0..10_000 {
            frames.push(&[b'A'; 1024], |_| n_frames += 1);
            assert!(frames.line.capacity() <= 4096);
        }
        assert_eq!(n_frames, 1);
    }
}
