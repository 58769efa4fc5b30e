//! Skeletons of answers: see `tests/cases/stdio/README.md`.

use serde_json::Value;

/// Whether `skeleton` matches `value`, which is absent when `None`.
pub(crate) fn matches(skeleton: &Value, value: Option<&Value>) -> bool {
    if let Some((operator, operand)) = operator(skeleton) {
        return match operator {
            "$any" => value.is_some(),
            "$absent" => value.is_none(),
            "$type" => value.is_some_and(|value| type_of(value) == operand),
            "$has" => value.and_then(Value::as_str).is_some_and(|text| {
                let parts = operand.as_array().expect("$has takes a list");
                parts.iter().all(|part| text.contains(part.as_str().expect("$has takes strings")))
            }),
            "$oneOf" => {
                let choices = operand.as_array().expect("$oneOf takes a list");
                choices.iter().any(|choice| matches(choice, value))
            }
            "$array" => value.and_then(Value::as_array).is_some_and(|elements| {
                let skeletons = operand.as_array().expect("$array takes a list");
                let free = pair(skeletons, elements);
                free.is_ok_and(|free| free.is_empty())
            }),
            other => panic!("no such matcher: {other}"),
        };
    }
    match (skeleton, value) {
        (Value::Object(members), Some(Value::Object(found))) => {
            members.iter().all(|(name, member)| matches(member, found.get(name)))
        }
        (Value::Number(wanted), Some(Value::Number(found))) => {
            wanted.to_string() == found.to_string()
        }
        (wanted, Some(found)) => wanted == found,
        (_, None) => false,
    }
}

/// Gives each skeleton a value of its own; answers with the positions of the values that are left over, or with the
/// position of a skeleton that finds none.
pub(crate) fn pair(skeletons: &[Value], values: &[Value]) -> Result<Vec<usize>, usize> {
    let mut owners: Vec<Option<usize>> = vec![None; values.len()];
    for skeleton in 0..skeletons.len() {
        let mut tried = vec![false; values.len()];
        if !place(skeleton, skeletons, values, &mut owners, &mut tried) {
            return Err(skeleton);
        }
    }
    let free = owners.iter().enumerate().filter(|(_, owner)| owner.is_none());
    Ok(free.map(|(position, _)| position).collect())
}

/// One step of bipartite matching: finds a value for `skeleton`, moving others where that helps.
fn place(
    skeleton: usize,
    skeletons: &[Value],
    values: &[Value],
    owners: &mut [Option<usize>],
    tried: &mut [bool],
) -> bool {
    for position in 0..values.len() {
        if tried[position] || !matches(&skeletons[skeleton], Some(&values[position])) {
            continue;
        }
        tried[position] = true;
        let is_free = match owners[position] {
            None => true,
            Some(owner) => place(owner, skeletons, values, owners, tried),
        };
        if is_free {
            owners[position] = Some(skeleton);
            return true;
        }
    }
    false
}

fn operator(skeleton: &Value) -> Option<(&str, &Value)> {
    let members = skeleton.as_object().filter(|members| members.len() == 1)?;
    let (name, operand) = members.iter().next()?;
    name.starts_with('$').then_some((name, operand))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

#[test]
fn skeletons_match_what_they_say() {
    let check = |skeleton: &str, value: &str, expected: bool| {
        let read = |text: &str| serde_json::from_str::<Value>(text).expect("cases are JSON");
        assert_eq!(matches(&read(skeleton), Some(&read(value))), expected, "{skeleton} {value}");
    };
    check(r#"{"id":1}"#, r#"{"id":1,"x":2}"#, true);
    check(r#"{"id":1}"#, r#"{"id":"1"}"#, false);
    check(r#"{"id":9007199254740993}"#, r#"{"id":9007199254740992}"#, false);
    check(r#"{"id":{"$absent":true}}"#, r#"{"id":null}"#, false);
    check(r#"{"id":{"$absent":true}}"#, "{}", true);
    check(r#"{"$array":[1,{"$any":true}]}"#, "[2,1]", true);
    check(r#"{"$array":[{"$any":true},1]}"#, "[1,2]", true);
    check(r#"{"$array":[1]}"#, "[1,2]", false);
    check(r#"{"$has":["a","c"]}"#, r#""abc""#, true);
    check(r#"{"$oneOf":["a","b"]}"#, r#""c""#, false);
    check(r#"{"$type":"object"}"#, "{}", true);
}
