//! The protocol's revisions, and what differs between them, as data.

/// A revision of the protocol, oldest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Revision {
    /// The first one.
    V2024_11_05,
    /// Adds batches and annotations.
    V2025_03_26,
    /// Adds structured content, titles and output schemas.
    V2025_06_18,
    /// The last one with a handshake.
    V2025_11_25,
    /// Stateless: every request names its revision.
    V2026_07_28,
}

/// What an answer under one revision looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// The revision's name on the wire.
    pub name: &'static str,
    /// Whether a tool carries `annotations`.
    pub annotations: bool,
    /// Whether a tool carries `title` and `outputSchema`, and a result `structuredContent`.
    pub structured: bool,
    /// Whether there is no handshake: results carry `resultType`, `_meta` and, where clients may cache, a lifetime.
    pub modern: bool,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// Answered to an `initialize` that asks for a revision we do not know. The specification allows any that the
    /// server supports; this one is understood by every client that was tried.
    pub const FALLBACK: Self = Self::V2025_06_18;

    /// Rules for a request that comes over a pipe before any handshake: the newest that has one.
    pub const BEFORE_HANDSHAKE: Self = Self::V2025_11_25;

    /// Rules for a legacy HTTP request without a version header, as the specification says.
    pub const WITHOUT_HEADER: Self = Self::V2025_03_26;

    /// What answers under this revision look like.
    pub const fn rules(self) -> Rules {
        let (name, annotations, structured, modern) = match self {
            Self::V2024_11_05 => ("2024-11-05", false, false, false),
            Self::V2025_03_26 => ("2025-03-26", true, false, false),
            Self::V2025_06_18 => ("2025-06-18", true, true, false),
            Self::V2025_11_25 => ("2025-11-25", true, true, false),
            Self::V2026_07_28 => ("2026-07-28", true, true, true),
        };
        Rules { name, annotations, structured, modern }
    }

    /// The revision's name on the wire.
    pub const fn name(self) -> &'static str {
        self.rules().name
    }

    /// The revision of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.name() == name)
    }

    /// What to answer to an `initialize` that asks for `asked`. Never a revision without a handshake: a client that
    /// reads one in an `initialize` result stops speaking the handshake's dialect.
    pub fn negotiate(asked: &str) -> Self {
        match Self::of_name(asked) {
            Some(revision) if !revision.rules().modern => revision,
            _ => Self::FALLBACK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Revision;

    #[test]
    fn a_handshake_gets_what_it_asks_for_or_the_fallback() {
        let cases = [
            ("2024-11-05", "2024-11-05"),
            ("2025-03-26", "2025-03-26"),
            ("2025-06-18", "2025-06-18"),
            ("2025-11-25", "2025-11-25"),
            ("2026-07-28", "2025-06-18"),
            ("1.0.0", "2025-06-18"),
            ("2099-01-01", "2025-06-18"),
            ("", "2025-06-18"),
        ];
        for (asked, expected) in cases {
            assert_eq!(Revision::negotiate(asked).name(), expected, "asked for {asked:?}");
        }
    }

    #[test]
    fn names_are_unique_and_read_back() {
        for revision in Revision::ALL {
            assert_eq!(Revision::of_name(revision.name()), Some(revision));
        }
    }
}
