//! The schema of documents: its bytes, and what is read out of it.
//!
//! Limits and kinds are written once, in `schema.json`; everything else asks for them here.

use std::sync::LazyLock;

use serde_json::Value;

/// The schema, draft 2020-12.
pub const SCHEMA: &str = include_str!("schema.json");

/// A document that uses every kind, validates and lints clean.
pub const EXAMPLE: &str = include_str!("example.json");

static PARSED: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(SCHEMA).expect("the embedded schema is JSON"));

/// The schema as a value.
pub fn schema() -> &'static Value {
    &PARSED
}

/// `$defs.limits.const`: every limit by name.
pub fn limits() -> &'static Value {
    &PARSED["$defs"]["limits"]["const"]
}

/// One limit.
pub fn limit(name: &str) -> usize {
    limits()[name].as_u64().expect("the schema defines every limit that is asked for") as usize
}

/// The kinds of step, in the order of the schema.
pub fn step_kinds() -> &'static Value {
    &PARSED["$defs"]["step"]["properties"]["kind"]["enum"]
}

/// The names of a definition's members, in schema order: `document` is the root.
pub fn member_order(definition: &str) -> Vec<&'static str> {
    let root = if definition == "document" { &*PARSED } else { &PARSED["$defs"][definition] };
    root["properties"]
        .as_object()
        .map(|members| members.keys().map(String::as_str).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::model::Kind;

    #[test]
    fn kinds_of_the_code_are_those_of_the_schema() {
        let names: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
        assert_eq!(*step_kinds(), serde_json::json!(names));
    }

    #[test]
    fn keywords_and_limits_agree() {
        let at = |pointer: &str| schema().pointer(pointer).and_then(Value::as_u64);
        for (name, pointers) in [
            ("maxSteps", &["/properties/steps/maxItems", "/$defs/block/maxItems"][..]),
            ("maxIdLength", &["/$defs/id/maxLength"]),
            ("maxNameLength", &["/properties/name/maxLength"]),
            (
                "maxTextLength",
                &["/$defs/text/else/maxLength", "/$defs/text/then/additionalProperties/maxLength"],
            ),
            (
                "maxLabelLength",
                &[
                    "/$defs/shortText/else/maxLength",
                    "/$defs/shortText/then/additionalProperties/maxLength",
                ],
            ),
            (
                "maxDescriptionLength",
                &[
                    "/properties/description/maxLength",
                    "/$defs/variable/properties/description/maxLength",
                ],
            ),
            ("maxUrlLength", &["/$defs/step_media/properties/url/maxLength"]),
            ("maxOptions", &["/$defs/step_choice/properties/options/maxItems"]),
            (
                "maxCases",
                &[
                    "/$defs/step_branch/properties/cases/maxItems",
                    "/$defs/step_switch/properties/cases/maxItems",
                    "/$defs/switchCase/properties/is/then/maxItems",
                ],
            ),
            ("maxConditionOperands", &["/$defs/condition/allOf/0/then/properties/of/maxItems"]),
            ("maxInValues", &["/$defs/condition/allOf/11/then/properties/values/maxItems"]),
            ("maxVariables", &["/properties/variables/maxProperties"]),
            (
                "maxAssignments",
                &[
                    "/$defs/step_set/properties/assign/maxProperties",
                    "/$defs/valueMap/maxProperties",
                ],
            ),
            ("maxLocales", &["/properties/locales/maxItems", "/$defs/text/then/maxProperties"]),
            ("maxKeywords", &["/properties/keywords/maxItems"]),
            (
                "maxRetries",
                &[
                    "/$defs/step_ask/properties/retries/maximum",
                    "/$defs/step_choice/properties/retries/maximum",
                ],
            ),
            ("maxTimeoutSeconds", &["/$defs/timeout/properties/seconds/maximum"]),
            ("maxWaitSeconds", &["/$defs/step_wait/properties/seconds/maximum"]),
            ("maxTypingSeconds", &["/$defs/step_say/properties/typing/maximum"]),
        ] {
            for pointer in pointers {
                assert_eq!(at(pointer), Some(limit(name) as u64), "{name} {pointer}");
            }
        }
        assert_eq!(limit("maxNesting"), crate::flow::reader::MAX_DEPTH);
    }
}
