//! The schema, compiled: the few keywords that it uses, and nothing else.
//!
//! Interpreting this small set ourselves gives the exact wording and pointers of the contract in one pass and without a
//! regular-expression engine; a property test holds the verdict equal to that of the `jsonschema` crate.

use std::collections::HashMap;
use std::sync::LazyLock;

use serde_json::{Map, Value};

use crate::flow::json::{Json, Node};
use crate::flow::text;

/// Index of a subschema.
pub(super) type RuleIdx = usize;

/// One subschema.
#[derive(Debug, Default)]
pub(super) struct Rules {
    pub(super) reference: Option<RuleIdx>,
    pub(super) types: Option<Types>,
    pub(super) constant: Option<(Node<'static>, String)>,
    pub(super) one_of: Option<(Vec<Node<'static>>, String)>,
    pub(super) required: Vec<String>,
    pub(super) properties: Vec<(String, RuleIdx)>,
    pub(super) additional: Option<Additional>,
    pub(super) property_names: Option<RuleIdx>,
    pub(super) items: Option<RuleIdx>,
    pub(super) unique_items: bool,
    pub(super) items_bounds: Bounds,
    pub(super) length_bounds: Bounds,
    pub(super) members_bounds: Bounds,
    pub(super) minimum: Option<f64>,
    pub(super) maximum: Option<f64>,
    pub(super) pattern: Option<Pattern>,
    pub(super) not: Option<RuleIdx>,
    pub(super) all_of: Vec<RuleIdx>,
    /// `allOf` of `if member = constant then …`, read as one look-up.
    pub(super) dispatch: Option<Dispatch>,
    pub(super) condition: Option<(RuleIdx, Option<RuleIdx>, Option<RuleIdx>)>,
}

/// The types that a value may have, as bits of [`type_bits`].
#[derive(Debug)]
pub(super) struct Types {
    pub(super) bits: u8,
    pub(super) text: String,
}

/// The types that a value has: a whole number has two.
pub(super) fn type_bits(node: &Node<'_>) -> u8 {
    match &node.json {
        Json::Null => bit_of("null"),
        Json::Bool(_) => bit_of("boolean"),
        Json::Number(number) if number.fract() == 0.0 => bit_of("number") | bit_of("integer"),
        Json::Number(_) => bit_of("number"),
        Json::String(_) => bit_of("string"),
        Json::Array(_) => bit_of("array"),
        Json::Object(_) => bit_of("object"),
    }
}

const fn bit_of(name: &str) -> u8 {
    // The first letters differ, except those of `number` and `null`.
    match name.as_bytes() {
        [b'n', b'u', b'l', ..] => 1,
        [b'b', ..] => 2,
        [b'n', ..] => 4,
        [b'i', ..] => 8,
        [b's', ..] => 16,
        [b'a', ..] => 32,
        _ => 64,
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Bounds {
    pub(super) least: usize,
    pub(super) most: Option<usize>,
}

#[derive(Debug)]
pub(super) enum Additional {
    Refused,
    Rules(RuleIdx),
}

#[derive(Debug)]
pub(super) struct Dispatch {
    pub(super) member: String,
    pub(super) cases: Vec<(String, RuleIdx)>,
}

#[derive(Debug)]
pub(super) struct Pattern {
    pub(super) text: String,
    pub(super) matches: fn(&str) -> bool,
}

/// All subschemas; the root is the first.
#[derive(Debug, Default)]
pub(super) struct Compiled {
    rules: Vec<Rules>,
    definitions: HashMap<String, RuleIdx>,
}

static COMPILED: LazyLock<Compiled> = LazyLock::new(|| {
    let schema = crate::flow::schema::schema();
    let mut compiled = Compiled::default();
    compiled.add(schema, schema);
    compiled
});

/// The compiled schema of documents.
pub(super) fn compiled() -> &'static Compiled {
    &COMPILED
}

impl Compiled {
    pub(super) fn at(&self, index: RuleIdx) -> &Rules {
        &self.rules[index]
    }

    fn add(&mut self, schema: &Value, root: &Value) -> RuleIdx {
        // A schema that only refers to another is that other one: half of all subschemas need no look of their own.
        if let Some(keywords) = schema.as_object()
            && keywords.len() == 1
            && let Some(reference) = keywords.get("$ref").and_then(Value::as_str)
        {
            return self.definition(reference, root);
        }
        let index = self.rules.len();
        self.rules.push(Rules::default());
        let rules = match schema.as_object() {
            Some(keywords) => self.rules_of(keywords, root),
            None => Rules::default(), // `true`
        };
        self.rules[index] = rules;
        index
    }

    fn definition(&mut self, reference: &str, root: &Value) -> RuleIdx {
        if let Some(index) = self.definitions.get(reference) {
            return *index;
        }
        let schema = root
            .pointer(reference.trim_start_matches('#'))
            .expect("every reference of the embedded schema resolves");
        // Noted before it is compiled, because definitions refer to themselves.
        let index = self.rules.len();
        self.definitions.insert(reference.to_owned(), index);
        self.add(schema, root)
    }

    fn rules_of(&mut self, keywords: &Map<String, Value>, root: &Value) -> Rules {
        let mut rules = Rules::default();
        let count = |value: &Value| value.as_u64().unwrap_or_default() as usize;
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$ref" => {
                    rules.reference =
                        Some(self.definition(value.as_str().unwrap_or_default(), root));
                }
                "type" => {
                    let names: Vec<String> = match value {
                        Value::Array(names) => {
                            names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
                        }
                        name => name.as_str().map(str::to_owned).into_iter().collect(),
                    };
                    rules.types = Some(Types {
                        bits: names.iter().fold(0, |bits, name| bits | bit_of(name)),
                        text: names.join(","),
                    });
                }
                "const" => rules.constant = Some((Node::from_value(value), value.to_string())),
                "enum" => {
                    let values = value.as_array().map_or(&[][..], Vec::as_slice);
                    let texts: Vec<String> = values.iter().map(Value::to_string).collect();
                    rules.one_of =
                        Some((values.iter().map(Node::from_value).collect(), texts.join(", ")));
                }
                "required" => rules.required = strings(value),
                "properties" => {
                    for (name, schema) in value.as_object().into_iter().flatten() {
                        let index = self.add(schema, root);
                        rules.properties.push((name.clone(), index));
                    }
                }
                "additionalProperties" => {
                    rules.additional = Some(match value {
                        Value::Bool(false) => Additional::Refused,
                        schema => Additional::Rules(self.add(schema, root)),
                    });
                }
                "propertyNames" => rules.property_names = Some(self.add(value, root)),
                "items" => rules.items = Some(self.add(value, root)),
                "uniqueItems" => rules.unique_items = value.as_bool().unwrap_or_default(),
                "minItems" => rules.items_bounds.least = count(value),
                "maxItems" => rules.items_bounds.most = Some(count(value)),
                "minLength" => rules.length_bounds.least = count(value),
                "maxLength" => rules.length_bounds.most = Some(count(value)),
                "minProperties" => rules.members_bounds.least = count(value),
                "maxProperties" => rules.members_bounds.most = Some(count(value)),
                "minimum" => rules.minimum = value.as_f64(),
                "maximum" => rules.maximum = value.as_f64(),
                "pattern" => {
                    let text = value.as_str().unwrap_or_default().to_owned();
                    let matches =
                        matcher(&text).expect("every pattern of the schema has a matcher");
                    rules.pattern = Some(Pattern { text, matches });
                }
                "not" => rules.not = Some(self.add(value, root)),
                "allOf" => {
                    let parts = value.as_array().map_or(&[][..], Vec::as_slice);
                    match self.dispatch(parts, root) {
                        Some(dispatch) => rules.dispatch = Some(dispatch),
                        None => {
                            rules.all_of = parts.iter().map(|part| self.add(part, root)).collect();
                        }
                    }
                }
                "if" => {
                    let mut branch =
                        |name: &str| keywords.get(name).map(|schema| self.add(schema, root));
                    let (then, otherwise) = (branch("then"), branch("else"));
                    rules.condition = Some((self.add(value, root), then, otherwise));
                }
                // Read with `if`, or no assertion.
                "then" | "else" | "$schema" | "$id" | "title" | "$defs" => {}
                other => unreachable!("the schema uses no `{other}`: a test compiles it"),
            }
        }
        rules
    }

    fn dispatch(&mut self, parts: &[Value], root: &Value) -> Option<Dispatch> {
        let mut dispatch = Dispatch { member: String::new(), cases: Vec::new() };
        for part in parts {
            let (member, schema) = part.get("if")?.get("properties")?.as_object()?.iter().next()?;
            if !dispatch.cases.is_empty() && dispatch.member != *member {
                return None;
            }
            dispatch.member.clone_from(member);
            let constant = schema.get("const")?.as_str()?.to_owned();
            let rules = self.add(part.get("then")?, root);
            dispatch.cases.push((constant, rules));
        }
        Some(dispatch)
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The schema's patterns as code. `$` is the end of the text, and `\S` is what ECMAScript calls it.
fn matcher(pattern: &str) -> Option<fn(&str) -> bool> {
    Some(match pattern {
        r"^[^\u0000-\u001f\u007f]*$" => no_controls,
        r"^[A-Za-z_][A-Za-z0-9_]{0,63}$" => text::is_name,
        r"^[A-Za-z_][A-Za-z0-9_]{0,63}(\.[A-Za-z0-9_]{1,64}){0,7}$" => text::is_reference,
        r"^[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?$" => is_locale,
        r"^(https?://|asset:|\{\{)\S*$" => is_url,
        _ => return None,
    })
}

fn no_controls(text: &str) -> bool {
    text.bytes().all(|byte| byte > 0x1f && byte != 0x7f)
}

fn is_locale(text: &str) -> bool {
    let mut parts = text.split('-');
    let is = |part: &str, len: usize, test: fn(&u8) -> bool| {
        part.len() == len && part.as_bytes().iter().all(test)
    };
    let Some(language) = parts.next() else { return false };
    if !is(language, 2, u8::is_ascii_lowercase) && !is(language, 3, u8::is_ascii_lowercase) {
        return false;
    }
    let mut next = parts.next();
    if let Some(script) = next
        && script.len() == 4
        && script.as_bytes()[0].is_ascii_uppercase()
        && script.as_bytes()[1..].iter().all(u8::is_ascii_lowercase)
    {
        next = parts.next();
    }
    let is_region = next.is_none_or(|region| {
        is(region, 2, u8::is_ascii_uppercase) || is(region, 3, u8::is_ascii_digit)
    });
    is_region && parts.next().is_none()
}

fn is_url(text: &str) -> bool {
    ["https://", "http://", "asset:", "{{"].iter().any(|start| text.starts_with(start))
        && !text.chars().any(is_ecmascript_space)
}

/// ECMAScript's `\s`: white space and line terminators; U+FEFF too, U+0085 not.
fn is_ecmascript_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_compiles_and_its_unions_are_look_ups() {
        let kinds = compiled().rules.iter().filter(|rules| rules.dispatch.is_some());
        assert_eq!(kinds.count(), 2, "steps by kind and conditions by op");
        assert!(compiled().rules.iter().all(|rules| rules.all_of.is_empty()));
    }

    #[test]
    fn patterns_match_what_they_say() {
        for (text, expected) in [
            ("es", true),
            ("fil", true),
            ("pt-BR", true),
            ("zh-Hant", true),
            ("zh-Hant-TW", true),
            ("es-419", true),
            ("", false),
            ("e", false),
            ("español", false),
            ("es-", false),
            ("es-br", false),
            ("es-BR-BR", false),
            ("es-BR-Hant", false),
            ("ñandú", false),
        ] {
            assert_eq!(is_locale(text), expected, "{text}");
        }
        assert!(is_url("asset:") && is_url("{{x}}") && is_url("http://a\u{85}"));
        assert!(!is_url("https://a\u{feff}") && !is_url("https://a b") && !is_url("ftp://a"));
        assert!(no_controls("¿abierto?\u{80}") && !no_controls("a\u{7f}") && !no_controls("a\n"));
    }
}
