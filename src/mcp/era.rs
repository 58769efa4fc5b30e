//! Which revision's rules a message is under.
//!
//! A stateless message says so itself, by one key in `params._meta`; `_meta` as such tells nothing, since older clients
//! send it too. Everything else is under the rules of the handshake, or of the transport when there was none.

use serde_json::json;
use serde_json::value::RawValue;

use super::envelope::{Fault, FaultKind};
use super::members::{self, Kind, Member};
use super::revision::Revision;

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY: &str = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_KEY: &str = "io.modelcontextprotocol/logLevel";
const LOG_LEVELS: [&str; 8] =
    ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/// Whether the message with these parameters speaks the stateless dialect, of whatever version.
pub(super) fn is_modern(params: Option<&RawValue>) -> bool {
    !matches!(meta(params), [Member::Absent, ..])
}

/// The version that a stateless request names, when it can be read.
pub(super) fn version(params: Option<&RawValue>) -> Option<String> {
    let [version, ..] = meta(params);
    version.string()
}

/// Checks what a stateless request must carry.
pub(super) fn check_modern(params: Option<&RawValue>) -> Result<(), Fault> {
    let incomplete = |message: String| Err(Fault::new(FaultKind::IncompleteMeta, message));
    let [version, capabilities, log_level] = meta(params);
    let Some(version) = version.string() else {
        return incomplete(format!("`_meta` needs `{VERSION_KEY}` once, as a string"));
    };
    if Revision::of_name(&version).is_none_or(|revision| !revision.rules().modern) {
        return Err(unsupported(&version));
    }
    let is_object = |raw: &RawValue| members::kind(raw.get()) == Kind::Object;
    if !capabilities.value().is_some_and(is_object) {
        return incomplete(format!("`_meta` needs `{CAPABILITIES_KEY}` once, as an object"));
    }
    if !matches!(log_level, Member::Absent)
        && !log_level.string().is_some_and(|level| LOG_LEVELS.contains(&level.as_str()))
    {
        let levels = LOG_LEVELS.join(", ");
        return incomplete(format!("`{LOG_LEVEL_KEY}` is none of {levels}"));
    }
    Ok(())
}

/// The error for a version that we do not serve; its data is what clients look for when they choose another.
pub(super) fn unsupported(version: &str) -> Fault {
    let supported = modern_names();
    let message = format!("protocol version not supported: use {}", supported.join(" or "));
    Fault {
        kind: FaultKind::UnsupportedVersion,
        message,
        data: Some(json!({ "supported": supported, "requested": version })),
    }
}

/// The revisions that a client may put into `_meta`. The ones with a handshake are left out: whoever reads the list
/// uses an entry for its next stateless request.
pub(super) fn modern_names() -> Vec<&'static str> {
    let modern = Revision::ALL.into_iter().filter(|revision| revision.rules().modern);
    modern.map(Revision::name).collect()
}

fn meta(params: Option<&RawValue>) -> [Member<'_>; 3] {
    const NOTHING: [Member<'_>; 3] = [Member::Absent; 3];
    let Some(params) = params.filter(|params| members::kind(params.get()) == Kind::Object) else {
        return NOTHING;
    };
    let meta = match members::pick(params.get(), ["_meta"]) {
        Ok([Member::Once(meta)]) => meta,
        // Given twice, it may hide a version from whoever reads the other one: it is refused as incomplete.
        Ok([Member::Repeated]) => return [Member::Repeated; 3],
        _ => return NOTHING,
    };
    members::pick(meta.get(), [VERSION_KEY, CAPABILITIES_KEY, LOG_LEVEL_KEY]).unwrap_or(NOTHING)
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::{check_modern, is_modern};

    fn check(meta: &str, expected: &str) {
        let params = format!(r#"{{"_meta":{meta}}}"#);
        let params: &RawValue = serde_json::from_str(&params).expect("cases are JSON");
        let seen = if is_modern(Some(params)) {
            match check_modern(Some(params)) {
                Ok(()) => "modern".to_owned(),
                Err(fault) => fault.kind.code().to_string(),
            }
        } else {
            "legacy".to_owned()
        };
        assert_eq!(seen, expected, "{meta}");
    }

    #[test]
    fn only_the_version_key_makes_a_message_modern() {
        check("{}", "legacy");
        check("null", "legacy");
        check("[]", "legacy");
        check(r#"{"progressToken":0}"#, "legacy");
        check(r#"{"io.modelcontextprotocol/clientCapabilities":{}}"#, "legacy");
    }

    #[test]
    fn a_modern_message_carries_version_and_capabilities() {
        let version = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;
        let capabilities = r#""io.modelcontextprotocol/clientCapabilities""#;
        let log_level = r#""io.modelcontextprotocol/logLevel""#;
        check(&format!("{{{version},{capabilities}:{{}}}}"), "modern");
        check(&format!("{{{version}}}"), "-32602");
        check(&format!("{{{version},{capabilities}:[]}}"), "-32602");
        check(&format!("{{{version},{version},{capabilities}:{{}}}}"), "-32602");
        check(&format!("{{{version},{capabilities}:{{}},{log_level}:\"info\"}}"), "modern");
        check(&format!("{{{version},{capabilities}:{{}},{log_level}:\"loud\"}}"), "-32602");
        check(r#"{"io.modelcontextprotocol/protocolVersion":7}"#, "-32602");
        check(r#"{"io.modelcontextprotocol/protocolVersion":null}"#, "-32602");
        check(r#"{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}"#, "-32022");
        check(r#"{"io.modelcontextprotocol/protocolVersion":"2099-01-01"}"#, "-32022");
    }
}
