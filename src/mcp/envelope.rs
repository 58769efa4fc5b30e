//! JSON-RPC messages: ids, faults, replies, batches.
//!
//! Reads a text into messages and writes a [`Reply`]. Knows no method. Two rules are ours: an id is an integer
//! without fraction or exponent, or a string, and comes back with its very digits; and a message that gives one of
//! JSON-RPC's own members twice is refused, since readers disagree which of the two counts.

use std::borrow::Cow;

use serde::ser::{Error as _, SerializeMap};
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use super::members::{self, Kind, Member};
use super::revision::Revision;

/// Deepest nesting of arrays and objects in a message: what `serde_json` reads at most, so that no part of a message
/// that was accepted can fail for its depth later.
pub const MAX_DEPTH: usize = 127;

/// Most messages in a batch.
pub const MAX_BATCH_MESSAGES: usize = 256;

/// A request's id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    /// A string; `"1"` and `1` are two ids.
    Text(String),
    /// An integer of any size, as its digits.
    Integer(String),
}

impl Id {
    fn read(raw: &RawValue) -> Option<Self> {
        let text = raw.get();
        if text.starts_with('"') {
            return serde_json::from_str(text).ok().map(Self::Text);
        }
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_integer.then(|| Self::Integer(text.to_owned()))
    }

    /// The id in the JSON value `raw`, if it is one.
    pub(super) fn of(raw: Option<&RawValue>) -> Option<Self> {
        raw.and_then(Self::read)
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => to.serialize_str(text),
            Self::Integer(digits) => {
                RawValue::from_string(digits.clone()).map_err(S::Error::custom)?.serialize(to)
            }
        }
    }
}

/// Why a message has no result. A transport maps it to its own status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FaultKind {
    /// Not JSON, not UTF-8, or nested too deep.
    Unreadable,
    /// JSON, but no JSON-RPC message.
    NoMessage,
    /// The message is over the transport's limit.
    TooLong,
    /// A batch that is empty, too large, or not known to the revision.
    Batch,
    /// No such method in the message's era.
    UnknownMethod,
    /// A stateless request without the members that it must carry.
    IncompleteMeta,
    /// The parameters do not fit the method.
    InvalidParams,
    /// A stateless request under a revision that we do not serve.
    UnsupportedVersion,
    /// The headers of a stateless request are not what its body says.
    HeaderMismatch,
    /// A fault of the server.
    Internal,
}

impl FaultKind {
    /// The code on the wire.
    pub const fn code(self) -> i32 {
        match self {
            Self::Unreadable => -32700,
            Self::NoMessage | Self::TooLong | Self::Batch => -32600,
            Self::UnknownMethod => -32601,
            Self::IncompleteMeta | Self::InvalidParams => -32602,
            Self::HeaderMismatch => -32020,
            Self::UnsupportedVersion => -32022,
            Self::Internal => -32603,
        }
    }
}

/// A JSON-RPC error.
#[derive(Clone, Debug, PartialEq)]
pub struct Fault {
    /// What kind of error it is.
    pub kind: FaultKind,
    /// One sentence: what is wrong, and what to do.
    pub message: String,
    /// Facts for programs.
    pub data: Option<Value>,
}

impl Fault {
    /// An error without data.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), data: None }
    }

    /// For a line over the limit.
    pub fn too_long(max_chars: usize) -> Self {
        let message =
            format!("message over {max_chars} characters was dropped unread: send a shorter one");
        Self::new(FaultKind::TooLong, message)
    }

    /// For bytes that are no UTF-8.
    pub fn not_utf8() -> Self {
        Self::new(FaultKind::Unreadable, "message is not UTF-8: encode it as UTF-8")
    }
}

impl Serialize for Fault {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(None)?;
        members.serialize_entry("code", &self.kind.code())?;
        members.serialize_entry("message", &self.message)?;
        if let Some(data) = &self.data {
            members.serialize_entry("data", data)?;
        }
        members.end()
    }
}

/// An answer. When no id could be read there is none: `null` is refused by every revision's schema and by the strict
/// clients, a missing id is not.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The id of the request.
    pub id: Option<Id>,
    /// The revision that the answer follows; `None` when the message did not tell.
    pub revision: Option<Revision>,
    /// The result or the error.
    pub outcome: Result<Value, Fault>,
}

impl Reply {
    /// An error for a message of which nothing but perhaps its id could be read.
    pub fn refusal(id: Option<Id>, fault: Fault) -> Self {
        Self { id, revision: None, outcome: Err(fault) }
    }
}

impl Serialize for Reply {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut members = to.serialize_map(None)?;
        members.serialize_entry("jsonrpc", "2.0")?;
        if let Some(id) = &self.id {
            members.serialize_entry("id", id)?;
        }
        match &self.outcome {
            Ok(result) => members.serialize_entry("result", result)?,
            Err(fault) => members.serialize_entry("error", fault)?,
        }
        members.end()
    }
}

/// One message, its parameters still text.
#[derive(Debug)]
pub(super) enum Message<'a> {
    /// Wants one answer.
    Request { id: Id, method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Wants none, whatever becomes of it.
    Notification { method: Cow<'a, str>, params: Option<&'a RawValue> },
    /// Answers a request. We send none, so it is ignored.
    Response,
    /// Cannot be carried out.
    Refused { id: Option<Id>, fault: Fault },
}

impl Message<'_> {
    fn refused(id: Option<Id>, message: impl Into<String>) -> Self {
        Self::Refused { id, fault: Fault::new(FaultKind::NoMessage, message) }
    }

    /// The parameters, where the message has some that are an object.
    pub(super) fn params(&self) -> Option<&RawValue> {
        match self {
            Self::Request { params, .. } | Self::Notification { params, .. } => {
                params.filter(|params| members::kind(params.get()) == Kind::Object)
            }
            Self::Response | Self::Refused { .. } => None,
        }
    }
}

/// What one text holds.
#[derive(Debug)]
pub(super) enum Incoming<'a> {
    One(Message<'a>),
    Batch(Vec<Message<'a>>),
}

/// Reads one text.
pub(super) fn read(text: &str) -> Incoming<'_> {
    let raw: &RawValue = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => return Incoming::One(unreadable(None, &error)),
    };
    if members::depth(raw.get()) > MAX_DEPTH {
        let message = format!("message nests over {MAX_DEPTH} levels deep: flatten it");
        let fault = Fault::new(FaultKind::Unreadable, message);
        return Incoming::One(Message::Refused { id: id_of(raw), fault });
    }
    if members::kind(raw.get()) == Kind::Array {
        read_batch(raw)
    } else {
        Incoming::One(read_message(raw))
    }
}

fn read_batch(raw: &RawValue) -> Incoming<'_> {
    let refuse = |message: String| {
        let fault = Fault::new(FaultKind::Batch, message);
        Incoming::One(Message::Refused { id: None, fault })
    };
    let Ok(members) = serde_json::from_str::<Vec<&RawValue>>(raw.get()) else {
        return refuse("batch cannot be read: send its messages one by one".to_owned());
    };
    if members.is_empty() {
        return refuse("batch is empty: put at least one message in it".to_owned());
    }
    if members.len() > MAX_BATCH_MESSAGES {
        let n_members = members.len();
        return refuse(format!(
            "batch holds {n_members} messages, over the limit of {MAX_BATCH_MESSAGES}: split it"
        ));
    }
    Incoming::Batch(members.into_iter().map(read_message).collect())
}

fn unreadable<'a>(id: Option<Id>, error: &serde_json::Error) -> Message<'a> {
    let message = format!("message is not JSON: {error}: send one JSON-RPC message on one line");
    Message::Refused { id, fault: Fault::new(FaultKind::Unreadable, message) }
}

fn id_of(raw: &RawValue) -> Option<Id> {
    if members::kind(raw.get()) != Kind::Object {
        return None;
    }
    let [id] = members::pick(raw.get(), ["id"]).ok()?;
    Id::of(id.value())
}

fn read_message(raw: &RawValue) -> Message<'_> {
    const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    if members::kind(raw.get()) != Kind::Object {
        return Message::refused(None, "message is not an object: send a JSON-RPC request");
    }
    let found = match members::pick(raw.get(), NAMES) {
        Ok(found) => found,
        Err(error) => return unreadable(None, &error),
    };
    let [jsonrpc, id, method, params, result, error] = found;
    let readable_id = Id::of(id.value());
    for (name, member) in NAMES.into_iter().zip(found) {
        if matches!(member, Member::Repeated) {
            let message = format!("message gives `{name}` twice: give it once");
            return Message::refused(readable_id, message);
        }
    }
    let is_response = matches!(result, Member::Once(_)) || matches!(error, Member::Once(_));
    if matches!(method, Member::Absent) && is_response {
        return Message::Response;
    }
    if jsonrpc.string().as_deref() != Some("2.0") {
        return Message::refused(
            readable_id,
            "message is not JSON-RPC 2.0: set `jsonrpc` to \"2.0\"",
        );
    }
    let Some(method) = method.string() else {
        return Message::refused(readable_id, "message names no method: set `method` to a string");
    };
    let method = Cow::Owned(method);
    let params = params.value();
    match (id, readable_id) {
        (Member::Absent, _) => Message::Notification { method, params },
        (_, Some(id)) => Message::Request { id, method, params },
        (_, None) => Message::refused(None, "`id` must be a string or an integer"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Fault, FaultKind, Incoming, MAX_BATCH_MESSAGES, MAX_DEPTH, Message, Reply, read};

    fn describe(message: &Message<'_>) -> String {
        match message {
            Message::Request { id, method, .. } => {
                format!("request {} {method}", serde_json::to_string(id).expect("ids are JSON"))
            }
            Message::Notification { method, .. } => format!("notification {method}"),
            Message::Response => "response".to_owned(),
            Message::Refused { id, fault } => {
                let id = id.as_ref().map(|id| serde_json::to_string(id).expect("ids are JSON"));
                format!("{} {}", fault.kind.code(), id.unwrap_or_else(|| "-".to_owned()))
            }
        }
    }

    fn check(text: &str, expected: &str) {
        let seen = match read(text) {
            Incoming::One(message) => describe(&message),
            Incoming::Batch(messages) => {
                let all: Vec<String> = messages.iter().map(describe).collect();
                format!("[{}]", all.join(", "))
            }
        };
        assert_eq!(seen, expected, "{text}");
    }

    #[test]
    fn a_request_keeps_the_digits_of_its_id() {
        for id in ["1", "0", "-5", "9007199254740993", "18446744073709551616", "\"1\"", "\"\""] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
            check(&text, &format!("request {id} ping"));
        }
        check(r#"{"method":"ping","id":"\u00e9","jsonrpc":"2.0"}"#, "request \"\u{e9}\" ping");
    }

    #[test]
    fn other_ids_are_refused_without_one() {
        for id in ["null", "1.5", "1.0", "1e3", "true", "[1]", "{}", "\"\\ud800\""] {
            check(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#), "-32600 -");
        }
    }

    #[test]
    fn shapes_that_are_no_request() {
        check(r#"{"jsonrpc":"2.0","method":"x"}"#, "notification x");
        check(r#"{"jsonrpc":"2.0","id":5,"result":{}}"#, "response");
        check(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}"#, "response");
        check("5", "-32600 -");
        check("\"x\"", "-32600 -");
        check("{}", "-32600 -");
        check(r#"{"id":7,"method":"ping"}"#, "-32600 7");
        check(r#"{"jsonrpc":"1.0","id":7,"method":"ping"}"#, "-32600 7");
        check(r#"{"jsonrpc":"2.0","id":7,"method":5}"#, "-32600 7");
        check(r#"{"jsonrpc":"2.0","id":7}"#, "-32600 7");
    }

    #[test]
    fn a_member_given_twice_is_refused() {
        check(r#"{"jsonrpc":"2.0","id":7,"method":"ping","method":"x"}"#, "-32600 7");
        check(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#, "-32600 -");
        check(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{},"params":{}}"#, "-32600 7");
        check(r#"{"jsonrpc":"2.0","id":7,"method":"ping","x":1,"x":2}"#, "request 7 ping");
    }

    #[test]
    fn text_that_is_not_one_value_is_unreadable() {
        check("", "-32700 -");
        check("not json", "-32700 -");
        check(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0"}"#, "-32700 -");
        check(r#"{"jsonrpc":"2.0","id":3,"method":"ping"} x"#, "-32700 -");
    }

    #[test]
    fn deep_nesting_is_refused_under_the_id() {
        let deep = |depth: usize| {
            let (open, close) = ("[".repeat(depth), "]".repeat(depth));
            format!(r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{{"x":{open}{close}}}}}"#)
        };
        check(&deep(MAX_DEPTH - 2), "request 9 ping");
        check(&deep(MAX_DEPTH - 1), "-32700 9");
        check(&deep(1_000_000), "-32700 9");
        check(&"[".repeat(1_000_000), "-32700 -");
    }

    #[test]
    fn batches() {
        check("[]", "-32600 -");
        check(
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"x"},5]"#,
            "[request 1 ping, notification x, -32600 -]",
        );
        let many = |n: usize| format!("[{}]", vec!["5"; n].join(","));
        assert!(matches!(read(&many(MAX_BATCH_MESSAGES)), Incoming::Batch(_)));
        check(&many(MAX_BATCH_MESSAGES + 1), "-32600 -");
    }

    #[test]
    fn a_reply_without_an_id_has_no_such_member() {
        let reply = Reply::refusal(None, Fault::new(FaultKind::NoMessage, "no"));
        assert_eq!(
            serde_json::to_string(&reply).expect("replies are JSON"),
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#
        );
    }
}
