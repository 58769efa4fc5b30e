//! Points in time and spans of it, as users write and read them.

use std::fmt;
use std::str::FromStr;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Serialize, Serializer};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Longer spans are a slip of the pen: what shall last for ever has no end at all.
const MAX_SPAN: i64 = 3_650 * DAY;

/// A point in time, to the second. It is written as RFC 3339 in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment {
    /// Seconds since 1970-01-01T00:00:00Z.
    pub seconds: i64,
}

impl Moment {
    /// The present moment, by the system's clock.
    pub fn now() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { seconds: i64::try_from(since.as_secs()).unwrap_or(i64::MAX) }
    }

    /// This moment and so much later.
    #[must_use]
    pub fn after(self, span: Span) -> Self {
        Self { seconds: self.seconds.saturating_add(span.seconds) }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let date = OffsetDateTime::from_unix_timestamp(self.seconds).ok();
        match date.and_then(|date| date.format(&Rfc3339).ok()) {
            Some(text) => out.write_str(&text),
            // Beyond the calendar: a number is better than a failure.
            None => write!(out, "{} s", self.seconds),
        }
    }
}

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A span of time: `90s`, `15m`, `12h`, `30d`, `4w`; at least a second, at most ten years.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// Its length in seconds.
    pub seconds: i64,
}

/// A text that is no span of time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a span of time is a whole number with s, m, h, d or w, from 1s to 3650d, like 30d")]
pub struct SpanError;

impl FromStr for Span {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let at = text.char_indices().next_back().ok_or(SpanError)?.0;
        let (number, unit) = text.split_at(at);
        let unit = match unit {
            "s" => 1,
            "m" => MINUTE,
            "h" => HOUR,
            "d" => DAY,
            "w" => 7 * DAY,
            _ => return Err(SpanError),
        };
        let number: u32 = number.parse().map_err(|_| SpanError)?;
        match i64::from(number) * unit {
            seconds @ 1..=MAX_SPAN => Ok(Self { seconds }),
            _ => Err(SpanError),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Moment, Span, SpanError};

    #[test]
    fn spans_are_read() {
        let check = |text: &str, expected: Result<i64, SpanError>| {
            assert_eq!(text.parse::<Span>().map(|span| span.seconds), expected, "{text}");
        };
        check("90s", Ok(90));
        check("30d", Ok(2_592_000));
        check("2w", Ok(1_209_600));
        for wrong in ["", "d", "30", "0d", "-1d", "1.5h", "3651d", "99999999999d", "1y", "1ñ"] {
            check(wrong, Err(SpanError));
        }
    }

    #[test]
    fn moments_are_written_in_utc() {
        assert_eq!(Moment { seconds: 1_796_083_200 }.to_string(), "2026-12-01T00:00:00Z");
        assert_eq!(Moment { seconds: i64::MAX }.to_string(), "9223372036854775807 s");
    }
}
