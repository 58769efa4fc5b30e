//! Every message on the wire against the official JSON Schema of its revision.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

const SCHEMAS: [(&str, &str); 5] = [
    ("2024-11-05", include_str!("../cases/mcp-schemas/2024-11-05.json")),
    ("2025-03-26", include_str!("../cases/mcp-schemas/2025-03-26.json")),
    ("2025-06-18", include_str!("../cases/mcp-schemas/2025-06-18.json")),
    ("2025-11-25", include_str!("../cases/mcp-schemas/2025-11-25.json")),
    ("2026-07-28", include_str!("../cases/mcp-schemas/2026-07-28.json")),
];

/// Under this revision the server answers before any handshake.
const BEFORE_HANDSHAKE: &str = "2025-11-25";

/// An error without an id fits the schemas from this revision on. The older ones demand an id that nobody can know
/// when the message was unreadable (and refuse `null`): no answer at all could satisfy them, so this one must do.
const FIRST_WITH_OPTIONAL_ID: &str = "2025-11-25";

const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// What a client has sent, so that each answer is known by the method and the revision of its request.
#[derive(Debug)]
pub(crate) struct Conversation {
    negotiated: String,
    /// By id as JSON text.
    requests: BTreeMap<String, (String, String)>,
}

impl Default for Conversation {
    fn default() -> Self {
        Self { negotiated: BEFORE_HANDSHAKE.to_owned(), requests: BTreeMap::new() }
    }
}

impl Conversation {
    /// One request over HTTP, where each stands alone under the revision of its header.
    pub(crate) fn over_http(version: Option<&str>) -> Self {
        let is_known = |name: &&str| SCHEMAS.iter().any(|(known, _)| known == name);
        let negotiated = version.filter(is_known).unwrap_or("2025-03-26").to_owned();
        Self { negotiated, requests: BTreeMap::new() }
    }

    /// Notes the messages in `bytes`, which hold whole lines.
    pub(crate) fn sent(&mut self, bytes: &[u8]) {
        for line in bytes.split(|&byte| byte == b'\n') {
            let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
            match serde_json::from_slice(line) {
                Ok(Value::Array(messages)) => messages.iter().for_each(|one| self.note(one)),
                Ok(message) => self.note(&message),
                Err(_) => {}
            }
        }
    }

    fn note(&mut self, message: &Value) {
        let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) else {
            return;
        };
        let is_modern = message["params"]["_meta"].get(VERSION_KEY).is_some();
        let revision = if is_modern || method == "server/discover" {
            "2026-07-28".to_owned()
        } else {
            self.negotiated.clone()
        };
        if method == "initialize" && !is_modern {
            // What was agreed on stands in the answer; later requests may already be on their way, so it is foretold.
            let asked = message["params"]["protocolVersion"].as_str().unwrap_or_default();
            let is_known = SCHEMAS.iter().any(|(name, _)| *name == asked && *name != "2026-07-28");
            let agreed = if is_known { asked } else { "2025-06-18" };
            agreed.clone_into(&mut self.negotiated);
            self.requests.insert(id.to_string(), (method.to_owned(), self.negotiated.clone()));
        } else {
            self.requests.insert(id.to_string(), (method.to_owned(), revision));
        }
    }

    /// Checks an answer, or an array of them.
    pub(crate) fn check(&self, answer: &Value) -> Result<(), String> {
        let Value::Array(answers) = answer else { return self.check_one(answer) };
        let all_have_ids = answers.iter().all(|answer| answer.get("id").is_some());
        if self.negotiated == "2025-03-26" && all_have_ids {
            validate("2025-03-26", "JSONRPCBatchResponse", answer)?;
        }
        answers.iter().try_for_each(|answer| self.check_one(answer))
    }

    fn check_one(&self, answer: &Value) -> Result<(), String> {
        let request = answer.get("id").map(|id| self.requests.get(&id.to_string()));
        let (method, revision) = match request {
            None => ("", self.negotiated.as_str().max(FIRST_WITH_OPTIONAL_ID)),
            Some(Some((method, revision))) => (method.as_str(), revision.as_str()),
            // An id taken from a message that is no request, or that only the server could read.
            Some(None) => ("", self.negotiated.as_str()),
        };
        let is_old = revision < "2025-11-25";
        let Some(result) = answer.get("result") else {
            let envelope = if is_old { "JSONRPCError" } else { "JSONRPCErrorResponse" };
            return validate(revision, envelope, answer);
        };
        let envelope = if is_old { "JSONRPCResponse" } else { "JSONRPCResultResponse" };
        validate(revision, envelope, answer)?;
        let definition = match method {
            "initialize" => "InitializeResult",
            "server/discover" => "DiscoverResult",
            "tools/list" => "ListToolsResult",
            "tools/call" => "CallToolResult",
            "ping" => "EmptyResult",
            other => return Err(format!("a result for {other:?}: {answer}")),
        };
        validate(revision, definition, result)
    }
}

/// Checks `value` against one definition of a revision.
pub(crate) fn validate(revision: &str, definition: &str, value: &Value) -> Result<(), String> {
    let faults: Vec<String> = validator(revision, definition)
        .iter_errors(value)
        .map(|error| format!("{revision} {definition} at {}: {error}", error.instance_path()))
        .collect();
    if faults.is_empty() { Ok(()) } else { Err(format!("{}: {value}", faults.join("; "))) }
}

fn validator(revision: &str, definition: &str) -> Arc<Validator> {
    type Built = BTreeMap<(String, String), Arc<Validator>>;
    static BUILT: OnceLock<Mutex<Built>> = OnceLock::new();
    let mut built = BUILT.get_or_init(Mutex::default).lock().expect("no panic while it is held");
    let key = (revision.to_owned(), definition.to_owned());
    Arc::clone(built.entry(key).or_insert_with(|| {
        let (_, text) = SCHEMAS.iter().find(|(name, _)| *name == revision).expect("a revision");
        let schema: Value = serde_json::from_str(text).expect("a schema is JSON");
        let place = if schema.get("$defs").is_some() { "$defs" } else { "definitions" };
        assert!(schema[place].get(definition).is_some(), "{revision} has no {definition}");
        let one = json!({
            "$schema": schema["$schema"],
            place: schema[place],
            "$ref": format!("#/{place}/{definition}"),
        });
        Arc::new(jsonschema::validator_for(&one).expect("a schema is valid"))
    }))
}

#[test]
fn the_schemas_refuse_what_they_must() {
    for (revision, _) in SCHEMAS {
        let old = revision < "2025-11-25";
        let envelope = if old { "JSONRPCError" } else { "JSONRPCErrorResponse" };
        let error = json!({ "code": -32700, "message": "x" });
        let null = json!({ "jsonrpc": "2.0", "id": null, "error": error });
        assert!(validate(revision, envelope, &null).is_err(), "{revision}: null is no id");
        let none = json!({ "jsonrpc": "2.0", "error": error });
        assert_eq!(validate(revision, envelope, &none).is_err(), old, "{revision}: no id");
        let list = json!({ "tools": [{ "name": 5 }] });
        assert!(validate(revision, "ListToolsResult", &list).is_err(), "{revision}: tools");
    }
}
