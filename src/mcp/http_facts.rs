//! What an HTTP request says besides its body, and the check of a stateless request's headers against it.
//!
//! Source: Streamable HTTP, revision 2026-07-28, `basic/transports/streamable-http`.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::envelope::{Fault, FaultKind};
use super::members;
use crate::scope::Scopes;

/// A header of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Header {
    /// It is not there.
    #[default]
    Absent,
    /// Its value, without blanks around it.
    Once(String),
    /// It is there twice, or its bytes are no text: readers would disagree.
    Unclear,
}

/// What the dispatcher asks of an HTTP request.
#[derive(Clone, Debug, Default)]
pub struct HttpFacts {
    /// `MCP-Protocol-Version`.
    pub version: Header,
    /// `Mcp-Method`.
    pub method: Header,
    /// `Mcp-Name`.
    pub name: Header,
    /// What the caller may do; `None` when nobody asks who it is.
    pub scopes: Option<Scopes>,
    /// What comes back in each reply.
    pub trace: Trace,
}

/// Names of a request for logs, in every reply over HTTP.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The `X-Request-ID`.
    pub request_id: String,
    /// The trace that the caller says it belongs to, 32 hex digits: from the header or from `_meta`.
    pub trace_id: Option<String>,
}

impl Trace {
    /// The same for one message, which may name its trace in `_meta` instead.
    pub(super) fn of(&self, params: Option<&RawValue>) -> Self {
        let of_message = || {
            let [meta] = members::pick(params?.get(), ["_meta"]).ok()?;
            let [parent] = members::pick(meta.value()?.get(), ["traceparent"]).ok()?;
            trace_id(&parent.string()?)
        };
        let trace_id = self.trace_id.clone().or_else(of_message);
        Self { request_id: self.request_id.clone(), trace_id }
    }

    /// `{ request_id, trace_id? }`.
    pub(super) fn to_value(&self) -> Value {
        let mut value = json!({ "request_id": self.request_id });
        if let Some(trace_id) = &self.trace_id {
            value["trace_id"] = trace_id.as_str().into();
        }
        value
    }
}

impl HttpFacts {
    /// Whether the caller may do what needs a scope.
    pub fn allows(&self, scope: &crate::scope::Scope) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.allows(scope))
    }

    /// A version in the body must be the header's.
    pub(super) fn check_version(&self, body: &str) -> Result<(), Fault> {
        match &self.version {
            Header::Once(version) if version == body => Ok(()),
            Header::Absent => Err(mismatch("`MCP-Protocol-Version` is missing: send the body's")),
            Header::Once(_) => Err(mismatch("`MCP-Protocol-Version` is not the body's version")),
            Header::Unclear => Err(mismatch("`MCP-Protocol-Version` is given twice: send it once")),
        }
    }

    /// `Mcp-Method` and `Mcp-Name` must be the body's method and, for `tools/call`, its `params.name`.
    pub(super) fn check_call(&self, method: &str, params: Option<&RawValue>) -> Result<(), Fault> {
        compare("Mcp-Method", &self.method, method)?;
        let named = match method {
            "tools/call" | "prompts/get" => "name",
            "resources/read" => "uri",
            _ => return Ok(()),
        };
        let name = params.and_then(|params| members::pick(params.get(), [named]).ok());
        // A body without a name is refused for that, with words of its own.
        match name.as_ref().and_then(|[name]| name.string()) {
            Some(name) => compare("Mcp-Name", &self.name, &name),
            None => Ok(()),
        }
    }
}

fn compare(name: &str, header: &Header, expected: &str) -> Result<(), Fault> {
    match header {
        Header::Absent => Err(mismatch(&format!("`{name}` is missing: send the body's"))),
        Header::Unclear => Err(mismatch(&format!("`{name}` is given twice: send it once"))),
        Header::Once(value) => match decoded(value) {
            Some(value) if value == expected => Ok(()),
            Some(_) => Err(mismatch(&format!("`{name}` is not what the body says"))),
            None => Err(mismatch(&format!("`{name}` is no base64 of UTF-8"))),
        },
    }
}

/// `=?base64?…?=` holds text that a header cannot.
fn decoded(value: &str) -> Option<String> {
    let Some(inner) = value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?="))
    else {
        return Some(value.to_owned());
    };
    String::from_utf8(STANDARD.decode(inner).ok()?).ok()
}

fn mismatch(message: &str) -> Fault {
    Fault::new(FaultKind::HeaderMismatch, message)
}

/// The trace id of a W3C `traceparent`; anything else is ignored.
pub fn trace_id(traceparent: &str) -> Option<String> {
    let is_hex = |part: &str, len: usize| {
        part.len() == len && part.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
    };
    let mut parts = traceparent.split('-');
    let (version, trace, parent, flags) =
        (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    let is_valid = is_hex(version, 2)
        && version != "ff"
        && (version != "00" || parts.next().is_none())
        && is_hex(trace, 32)
        && is_hex(parent, 16)
        && is_hex(flags, 2)
        && trace.bytes().any(|b| b != b'0')
        && parent.bytes().any(|b| b != b'0');
    is_valid.then(|| trace.to_owned())
}

#[cfg(test)]
mod tests {
    use super::{decoded, trace_id};

    #[test]
    fn traces_are_read_or_ignored() {
        let id = "0af7651916cd43dd8448eb211c80319c";
        for (given, expected) in [
            (format!("00-{id}-b7ad6b7169203331-01"), Some(id)),
            (format!("cc-{id}-b7ad6b7169203331-01-what"), Some(id)),
            (format!("00-{id}-b7ad6b7169203331-01-what"), None),
            (format!("ff-{id}-b7ad6b7169203331-01"), None),
            (format!("00-{}-b7ad6b7169203331-01", "0".repeat(32)), None),
            (format!("00-{id}-{}-01", "0".repeat(16)), None),
            (format!("00-{}-b7ad6b7169203331-01", id.to_uppercase()), None),
            (id.to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(trace_id(&given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn names_may_be_encoded() {
        for (given, expected) in [
            ("docs_search", Some("docs_search")),
            ("=?base64?w7E=?=", Some("ñ")),
            ("=?base64?/w==?=", None),
            ("=?base64?!?=", None),
            ("=?BASE64?w7E=?=", Some("=?BASE64?w7E=?=")),
        ] {
            assert_eq!(decoded(given).as_deref(), expected, "{given}");
        }
    }
}
