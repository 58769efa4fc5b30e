//! A call's arguments, and the check against the tool's input schema that runs before the tool.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::Tool;
use crate::error::{ErrorCode, ToolError};
use crate::flow::json::Node;
use crate::flow::reader;
use crate::suggest;

/// Levels of nesting that an argument may have.
const MAX_NESTING: usize = 64;

/// The `arguments` object of a call: its values, and its text, because a flow document's text tells more than its
/// value does (duplicate member names, large integers).
#[derive(Clone, Debug, Default)]
pub struct Arguments {
    members: Vec<Member>,
    values: OnceLock<Map<String, Value>>,
    text: String,
}

#[derive(Clone, Debug)]
struct Member {
    name: String,
    raw: Box<str>,
    value: OnceLock<Value>,
}

impl Arguments {
    /// Reads the text of a JSON object. Only the outermost level is taken apart: neither depth nor odd numbers or
    /// escapes inside a value make it fail.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Vec<Member>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object of arguments")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Vec<Member>, A::Error> {
                let mut members = Vec::new();
                while let Some((name, raw)) = map.next_entry::<String, &'de RawValue>()? {
                    let raw = raw.get().into();
                    members.push(Member { name, raw, value: OnceLock::new() });
                }
                Ok(members)
            }
        }

        let mut deserializer = serde_json::Deserializer::from_str(text);
        let members = deserializer.deserialize_map(Members)?;
        deserializer.end()?;
        Ok(Self { members, values: OnceLock::new(), text: text.to_owned() })
    }

    /// The value of one argument. What a value cannot hold (a lone surrogate, a number without a finite double) is made
    /// readable; ask [`raw`](Self::raw) where it matters.
    pub fn get(&self, name: &str) -> Option<&Value> {
        let member = self.members.iter().rev().find(|member| member.name == name)?;
        Some(member.value.get_or_init(|| value_of(&member.raw)))
    }

    /// All arguments, in the order they were sent.
    pub fn values(&self) -> &Map<String, Value> {
        self.values.get_or_init(|| {
            let pair = |member: &Member| (member.name.clone(), value_of(&member.raw));
            self.members.iter().map(pair).collect()
        })
    }

    /// The text of one argument, as it was sent.
    pub fn raw(&self, name: &str) -> Option<&str> {
        self.members.iter().rev().find(|member| member.name == name).map(|member| &*member.raw)
    }

    /// The whole object as it was sent.
    pub fn text(&self) -> &str {
        &self.text
    }
}

fn value_of(raw: &str) -> Value {
    serde_json::from_str(raw).unwrap_or_else(|_| {
        reader::read(raw).map_or(Value::Null, |document| document.root.to_value())
    })
}

/// A tool's schema, read from its literal once.
fn schema(tool: &Tool) -> Arc<Value> {
    static SCHEMAS: Mutex<BTreeMap<&str, Arc<Value>>> = Mutex::new(BTreeMap::new());
    let mut schemas = SCHEMAS.lock().unwrap_or_else(PoisonError::into_inner);
    let read = || serde_json::from_str(tool.input_schema).expect("a schema is a JSON literal");
    schemas.entry(tool.name).or_insert_with(|| Arc::new(read())).clone()
}

/// Checks `arguments` against `tool.input_schema`.
///
/// # Errors
/// `invalid_argument` with one sentence that names the fault, and the nearest right word when there is one.
pub fn check(tool: &Tool, arguments: &Arguments) -> Result<(), ToolError> {
    let schema = schema(tool);
    let none = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&none);
    let fail = |fault: Fault| {
        let message = format!("invalid arguments for {}: {}", tool.name, fault.message);
        let error = ToolError::new(ErrorCode::InvalidArgument, message);
        match fault.near {
            Some(word) => error.with_hint(suggest::hint(&word)),
            None => error,
        }
    };
    let mut seen: Vec<&str> = Vec::new();
    for member in &arguments.members {
        if !properties.contains_key(&member.name) {
            let given = Value::from(member.name.as_str());
            let accepted = listed(properties.keys().map(String::as_str));
            let message = format!("unknown argument {given} (accepted: {accepted})");
            let names = properties.keys().map(String::as_str);
            let near = suggest::nearest(&member.name, names).map(str::to_owned);
            return Err(fail(Fault { message, near }));
        }
        if seen.contains(&member.name.as_str()) {
            return Err(fail(Fault::new(format!("argument \"{}\" is given twice", member.name))));
        }
        seen.push(&member.name);
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !seen.contains(&name) {
            return Err(fail(Fault::new(format!("missing argument \"{name}\""))));
        }
    }
    for member in &arguments.members {
        let schema = &properties[&member.name];
        check_value(schema, &member.raw, &member.name).map_err(fail)?;
        // A list of documents is one level deeper than its documents.
        let allowed = MAX_NESTING + usize::from(schema["type"] == "array");
        if nesting(&member.raw) > allowed {
            return Err(fail(too_deep(&member.name)));
        }
    }
    Ok(())
}

/// The error of an argument that is nested too deep, for tools that find it in a document given as a string.
pub(super) fn nesting_error(tool: &str, argument: &str) -> ToolError {
    let message = format!("invalid arguments for {tool}: {}", too_deep(argument).message);
    ToolError::new(ErrorCode::InvalidArgument, message)
}

fn too_deep(argument: &str) -> Fault {
    Fault::new(format!(
        "argument \"{argument}\" must NOT be nested more than {MAX_NESTING} levels deep"
    ))
}

struct Fault {
    message: String,
    near: Option<String>,
}

impl Fault {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), near: None }
    }
}

fn listed<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<String> = words.map(|word| Value::from(word).to_string()).collect();
    if words.is_empty() { "none".to_owned() } else { words.join(", ") }
}

/// The deepest nesting of brackets in a text that is known to be JSON. No recursion: any depth is counted.
fn nesting(raw: &str) -> usize {
    let mut depth: usize = 0;
    let mut deepest = 0;
    let mut in_string = false;
    let mut is_escaped = false;
    for byte in raw.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'{' | b'[' => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

fn type_of(raw: &str) -> &'static str {
    match raw.bytes().next() {
        Some(b'{') => "object",
        Some(b'[') => "array",
        Some(b'"') => "string",
        Some(b't' | b'f') => "boolean",
        Some(b'n') => "null",
        _ => "number",
    }
}

/// Checks one value against the keywords that input schemas use. Values below the outermost level that the schema does
/// not describe are not looked into: a flow document may be large, and has a validator of its own.
fn check_value(schema: &Value, raw: &str, name: &str) -> Result<(), Fault> {
    let fault = |message: String| {
        let name = Value::from(name);
        Err(Fault::new(format!("argument {name} {message}")))
    };
    let given = type_of(raw);
    if let Some(words) = schema["enum"].as_array() {
        let value = value_of(raw);
        if words.contains(&value) {
            return Ok(());
        }
        let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
        let message = format!(
            "argument {} must be one of {}",
            Value::from(name),
            listed(words.iter().copied())
        );
        let near = value.as_str().and_then(|given| suggest::nearest(given, words));
        return Err(Fault { message, near: near.map(str::to_owned) });
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    if types == ["integer"] {
        return check_integer(schema, raw, name);
    }
    if !types.is_empty() && !types.contains(&given) {
        return fault(format!("must be {}", types.join(" or ")));
    }
    let bound = |keyword: &str| schema[keyword].as_u64().map(|bound| bound as usize);
    let count = |count: usize, least: &str, most: &str, what: &str| {
        if let Some(least) = bound(least).filter(|least| count < *least) {
            return fault(format!("must NOT have fewer than {least} {what}"));
        }
        if let Some(most) = bound(most).filter(|most| count > *most) {
            return fault(format!("must NOT have more than {most} {what}"));
        }
        Ok(())
    };
    match given {
        "string" if bound("minLength").is_some() || bound("maxLength").is_some() => {
            let n_chars = value_of(raw).as_str().map_or(0, |text| text.chars().count());
            count(n_chars, "minLength", "maxLength", "characters")
        }
        "array" => {
            let items = parts(raw);
            count(items.len(), "minItems", "maxItems", "items")?;
            if let Some(item_schema) = schema.get("items") {
                for (at, item) in items.iter().enumerate() {
                    check_value(item_schema, item.get(), &format!("{name}[{at}]"))?;
                }
            }
            Ok(())
        }
        "object"
            if schema.get("properties").is_some() || schema["additionalProperties"].is_object() =>
        {
            check_members(schema, raw, name)
        }
        _ => Ok(()),
    }
}

fn check_integer(schema: &Value, raw: &str, name: &str) -> Result<(), Fault> {
    let number =
        Node::from_value(&value_of(raw)).as_number().filter(|number| number.fract() == 0.0);
    let least = schema["minimum"].as_f64();
    let most = schema["maximum"].as_f64();
    let fits = number.is_some_and(|number| {
        least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
    });
    if fits {
        return Ok(());
    }
    let range = match (least, most) {
        (Some(least), Some(most)) => format!("must be an integer between {least} and {most}"),
        (Some(least), None) => format!("must be an integer of at least {least}"),
        (None, Some(most)) => format!("must be an integer of at most {most}"),
        (None, None) => "must be an integer".to_owned(),
    };
    Err(Fault::new(format!("argument {} {range}", Value::from(name))))
}

fn check_members(schema: &Value, raw: &str, name: &str) -> Result<(), Fault> {
    let Ok(members) = Arguments::parse(raw) else { return Ok(()) };
    let empty = Map::new();
    let properties = schema["properties"].as_object().unwrap_or(&empty);
    for member in &members.members {
        let inner = format!("{name}.{}", member.name);
        match (properties.get(&member.name), &schema["additionalProperties"]) {
            (Some(schema), _) | (None, schema @ Value::Object(_)) => {
                check_value(schema, &member.raw, &inner)?;
            }
            (None, Value::Bool(false)) => {
                let accepted = listed(properties.keys().map(String::as_str));
                let given = Value::from(inner);
                let message = format!("unknown argument {given} (accepted: {accepted})");
                let names = properties.keys().map(String::as_str);
                let near = suggest::nearest(&member.name, names).map(str::to_owned);
                return Err(Fault { message, near });
            }
            (None, _) => {}
        }
    }
    for required in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if members.raw(required).is_none() {
            let inner = Value::from(format!("{name}.{required}"));
            return Err(Fault::new(format!("missing argument {inner}")));
        }
    }
    Ok(())
}

/// The items of an array, as they were sent.
pub(super) fn parts(raw: &str) -> Vec<&RawValue> {
    serde_json::from_str(raw).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::scope::Scope;
    use crate::tools::{Context, ToolReply};

    const TOOL: Tool = Tool {
        name: "probe",
        title: "Probe",
        description: "Probe",
        input_schema: r#"{"type":"object","properties":{
            "document":{"type":["object","string"]},
            "query":{"type":"string","minLength":1,"maxLength":3},
            "limit":{"type":"integer","minimum":1,"maximum":25},
            "format":{"type":"string","enum":["mermaid","json"]},
            "inputs":{"type":"array","maxItems":2,"items":{"type":["string","object"],
                "properties":{"timeout":{"type":"boolean"}},"additionalProperties":false}}
        },"required":["document"],"additionalProperties":false}"#,
        output_schema: "{}",
        scope: Scope::DocsRead,
        is_read_only: true,
        run: |_: &Context, _| Ok(ToolReply::from(json!({}))),
    };

    fn checked(text: &str) -> Result<(), String> {
        let arguments = Arguments::parse(text).map_err(|error| error.to_string())?;
        check(&TOOL, &arguments).map_err(|error| {
            let hint = error.hint.map(|hint| format!(" / {hint}")).unwrap_or_default();
            format!("{}{hint}", error.message)
        })
    }

    #[test]
    fn right_arguments_pass() {
        for text in [
            r#"{"document":{}}"#,
            r#"{"document":"{}","query":"ñññ","limit":25,"format":"json","inputs":["a",{"timeout":true}]}"#,
            r#"{"document":{"a":"\ud83d","a":1e999},"limit":2.0}"#,
        ] {
            assert_eq!(checked(text), Ok(()), "{text}");
        }
    }

    #[test]
    fn one_sentence_names_the_fault() {
        for (text, expected) in [
            ("{}", "missing argument \"document\""),
            (
                r#"{"documen":{}}"#,
                "unknown argument \"documen\" (accepted: \"document\", \"query\", \"limit\", \"format\", \"inputs\") / did you mean \"document\"?",
            ),
            (r#"{"document":{},"document":{}}"#, "argument \"document\" is given twice"),
            (r#"{"document":7}"#, "argument \"document\" must be object or string"),
            (
                r#"{"document":{},"query":""}"#,
                "argument \"query\" must NOT have fewer than 1 characters",
            ),
            (
                r#"{"document":{},"query":"abcd"}"#,
                "argument \"query\" must NOT have more than 3 characters",
            ),
            (
                r#"{"document":{},"limit":26}"#,
                "argument \"limit\" must be an integer between 1 and 25",
            ),
            (
                r#"{"document":{},"limit":1.5}"#,
                "argument \"limit\" must be an integer between 1 and 25",
            ),
            (
                r#"{"document":{},"format":"jsn"}"#,
                "argument \"format\" must be one of \"mermaid\", \"json\" / did you mean \"json\"?",
            ),
            (
                r#"{"document":{},"inputs":["a",1]}"#,
                "argument \"inputs[1]\" must be string or object",
            ),
            (
                r#"{"document":{},"inputs":[{"timeot":true}]}"#,
                "unknown argument \"inputs[0].timeot\" (accepted: \"timeout\") / did you mean \"timeout\"?",
            ),
            (
                r#"{"document":{},"inputs":["a","b","c"]}"#,
                "argument \"inputs\" must NOT have more than 2 items",
            ),
        ] {
            let expected = format!("invalid arguments for probe: {expected}");
            assert_eq!(checked(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn any_depth_is_refused_and_survived() {
        for depth in [64, 127, 129, 100_000] {
            let text =
                format!("{{\"document\":{{\"a\":{}{}}}}}", "[".repeat(depth), "]".repeat(depth));
            let message = "argument \"document\" must NOT be nested more than 64 levels deep";
            assert_eq!(checked(&text), Err(format!("invalid arguments for probe: {message}")));
            let arguments = Arguments::parse(&text).map(|arguments| arguments.values().len());
            assert_eq!(arguments.ok(), Some(1));
        }
        let text = format!("{{\"document\":{{\"a\":{}{}}}}}", "[".repeat(63), "]".repeat(63));
        assert_eq!(checked(&text), Ok(()));
    }
}
