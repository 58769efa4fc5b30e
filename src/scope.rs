//! What a caller may do: the scopes that a token carries and a tool asks for.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::suggest;

/// Scopes that are a plain name, as users write them.
const NAMES: [&str; 4] = ["docs:read", "flow:read", "flow:run", "admin:*"];

/// Longest name of an outbound server in a scope: it is part of tool names, which clients bound at 64 characters.
const MAX_SERVER_CHARS: usize = 32;

/// One permission.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Scope {
    /// `docs:read`: search and read the docs.
    DocsRead,
    /// `flow:read`: the flow tools that leave nothing behind, and the stored flows and runs.
    FlowRead,
    /// `flow:run`: run a stored flow, which records the run.
    FlowRun,
    /// `mcp.<server>:call`: call the tools of one outbound server.
    McpCall(String),
    /// `admin:*`: everything, and the settings page.
    Admin,
}

impl fmt::Display for Scope {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DocsRead => out.write_str("docs:read"),
            Self::FlowRead => out.write_str("flow:read"),
            Self::FlowRun => out.write_str("flow:run"),
            Self::McpCall(server) => write!(out, "mcp.{server}:call"),
            Self::Admin => out.write_str("admin:*"),
        }
    }
}

/// A word that is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown scope `{}` (accepted: {}, mcp.<server>:call)", given.escape_debug(), NAMES.join(", "))]
pub struct ScopeError {
    /// The word, cut to a bearable length.
    pub given: String,
    /// The nearest scope, if one is near.
    pub near: Option<&'static str>,
}

impl FromStr for Scope {
    type Err = ScopeError;

    fn from_str(word: &str) -> Result<Self, ScopeError> {
        const MAX_SHOWN_CHARS: usize = 64;
        match word {
            "docs:read" => return Ok(Self::DocsRead),
            "flow:read" => return Ok(Self::FlowRead),
            "flow:run" => return Ok(Self::FlowRun),
            "admin:*" => return Ok(Self::Admin),
            _ => {}
        }
        let server = word.strip_prefix("mcp.").and_then(|rest| rest.strip_suffix(":call"));
        match server {
            Some(server) if is_server_name(server) => Ok(Self::McpCall(server.to_owned())),
            _ => Err(ScopeError {
                given: word.chars().take(MAX_SHOWN_CHARS).collect(),
                near: suggest::nearest(word, NAMES),
            }),
        }
    }
}

/// Whether a word can name an outbound server: 1 to 32 of `a-z`, `0-9`, `_` and `-`.
pub fn is_server_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
    (1..=MAX_SERVER_CHARS).contains(&name.len()) && name.chars().all(is_plain)
}

/// A set of scopes, in a fixed order. It reads a list separated by commas or spaces, and writes one with spaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes(BTreeSet<Scope>);

impl Scopes {
    /// Whether a caller with these scopes may do what asks for `scope`. `admin:*` may do everything.
    pub fn allows(&self, scope: &Scope) -> bool {
        self.0.contains(scope) || self.0.contains(&Scope::Admin)
    }

    /// The scopes in order.
    pub fn iter(&self) -> impl Iterator<Item = &Scope> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<Scope> for Scopes {
    fn from_iter<T: IntoIterator<Item = Scope>>(scopes: T) -> Self {
        Self(scopes.into_iter().collect())
    }
}

impl FromStr for Scopes {
    type Err = ScopeError;

    fn from_str(list: &str) -> Result<Self, ScopeError> {
        let words = list.split([',', ' ']).filter(|word| !word.is_empty());
        words.map(Scope::from_str).collect()
    }
}

impl fmt::Display for Scopes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, scope) in self.0.iter().enumerate() {
            let space = if at == 0 { "" } else { " " };
            write!(out, "{space}{scope}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{Scope, Scopes};

    #[test]
    fn lists_are_read_and_written() {
        let check = |given: &str, expected: Result<&str, Option<&str>>| {
            let read = given.parse::<Scopes>();
            match (&read, expected) {
                (Ok(scopes), Ok(expected)) => assert_eq!(scopes.to_string(), expected, "{given}"),
                (Err(error), Err(near)) => assert_eq!(error.near, near, "{given}"),
                _ => panic!("{given}: {read:?}"),
            }
        };
        check("", Ok(""));
        check("flow:run, docs:read docs:read", Ok("docs:read flow:run"));
        check("admin:*,mcp.git-hub:call", Ok("mcp.git-hub:call admin:*"));
        check("docs:raed", Err(Some("docs:read")));
        check("DOCS:READ", Err(Some("docs:read")));
        check("mcp.:call", Err(None));
        check("mcp.../x:call", Err(None));
        check("mcp.GitHub:call", Err(None));
        check("*", Err(None));
    }

    #[test]
    fn only_admin_allows_what_is_not_named() {
        let check = |scopes: &str, scope: Scope, expected: bool| {
            let scopes: Scopes = scopes.parse().expect("scopes");
            assert_eq!(scopes.allows(&scope), expected, "{scopes}: {scope}");
        };
        check("", Scope::DocsRead, false);
        check("docs:read", Scope::DocsRead, true);
        check("flow:run", Scope::FlowRead, false);
        check("mcp.a:call", Scope::McpCall("a".to_owned()), true);
        check("mcp.a:call", Scope::McpCall("b".to_owned()), false);
        check("docs:read flow:read flow:run", Scope::Admin, false);
        check("admin:*", Scope::McpCall("b".to_owned()), true);
    }
}
