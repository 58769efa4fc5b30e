//! One layout for documents: members in schema order, two spaces, texts untouched. The digest cannot change.

use std::fmt::Write;

use super::digest::{write_number, write_string};
use super::json::{Json, Member, Node};
use super::schema::member_order;

const MAX_SAFE: f64 = 9_007_199_254_740_991.0;

/// The document in its one layout, with a final newline.
pub fn format(root: &Node<'_>) -> String {
    let mut out = String::new();
    write_node(root, Shape::Document, 0, &mut out);
    out.push('\n');
    out
}

/// What the members of an object mean, which decides their order.
#[derive(Clone, Copy)]
enum Shape {
    Document,
    Steps,
    Step,
    Variables,
    Variable,
    Options,
    Option,
    Cases(&'static str),
    Case(&'static str),
    Exit,
    Timeout,
    Condition,
    /// Names that the author chose, and free JSON: their order stays.
    Free,
}

fn write_node(node: &Node<'_>, shape: Shape, depth: usize, out: &mut String) {
    match &node.json {
        Json::Null => out.push_str("null"),
        Json::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        // Written out as an integer, a number beyond the safe ones would be refused when it is read again.
        Json::Number(number) if number.abs() > MAX_SAFE => {
            // Writing into a `String` cannot fail.
            let _ = write!(out, "{number:e}");
        }
        Json::Number(number) => write_number(*number, out),
        Json::String(text) => write_string(text, out),
        Json::Array(items) if items.is_empty() => out.push_str("[]"),
        Json::Object(members) if members.is_empty() => out.push_str("{}"),
        Json::Array(items) => {
            let shape = match shape {
                Shape::Steps => Shape::Step,
                Shape::Options => Shape::Option,
                Shape::Cases(definition) => Shape::Case(definition),
                Shape::Condition => Shape::Condition,
                _ => Shape::Free,
            };
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                break_line(at > 0, depth + 1, out);
                write_node(item, shape, depth + 1, out);
            }
            break_line(false, depth, out);
            out.push(']');
        }
        Json::Object(members) => {
            out.push('{');
            for (at, member) in ordered(node, members, shape).into_iter().enumerate() {
                break_line(at > 0, depth + 1, out);
                write_string(&member.name, out);
                out.push_str(": ");
                write_node(&member.value, inner(shape, node, &member.name), depth + 1, out);
            }
            break_line(false, depth, out);
            out.push('}');
        }
    }
}

fn break_line(has_before: bool, depth: usize, out: &mut String) {
    if has_before {
        out.push(',');
    }
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

/// Members that the schema knows in its order, then the others by name.
fn ordered<'m, 'a>(
    node: &Node<'a>,
    members: &'m [Member<'a>],
    shape: Shape,
) -> Vec<&'m Member<'a>> {
    let order = match shape {
        Shape::Free | Shape::Variables | Shape::Steps | Shape::Options | Shape::Cases(_) => {
            return members.iter().collect();
        }
        Shape::Document => member_order("document"),
        Shape::Step => {
            let kind = node.str_of("kind").unwrap_or_default();
            let order = member_order(&format!("step_{kind}"));
            if order.is_empty() { vec!["id", "kind", "label", "note"] } else { order }
        }
        Shape::Variable => member_order("variable"),
        Shape::Option => member_order("option"),
        Shape::Case(definition) => member_order(definition),
        Shape::Exit => member_order("exit"),
        Shape::Timeout => member_order("timeout"),
        Shape::Condition => vec!["op", "var", "value", "values", "of"],
    };
    let mut sorted: Vec<_> = members.iter().collect();
    sorted.sort_by(|a, b| {
        let rank =
            |name: &str| order.iter().position(|known| *known == name).unwrap_or(order.len());
        rank(&a.name).cmp(&rank(&b.name)).then_with(|| {
            if rank(&a.name) == order.len() {
                a.name.cmp(&b.name)
            } else {
                std::cmp::Ordering::Equal
            }
        })
    });
    sorted
}

fn inner(shape: Shape, node: &Node<'_>, name: &str) -> Shape {
    match (shape, name) {
        (
            Shape::Document | Shape::Exit | Shape::Timeout | Shape::Option | Shape::Case(_),
            "steps",
        ) => Shape::Steps,
        (Shape::Document, "variables") => Shape::Variables,
        (Shape::Variables, _) => Shape::Variable,
        (Shape::Step, "options") => Shape::Options,
        (Shape::Step, "cases") if node.str_of("kind") == Some("switch") => {
            Shape::Cases("switchCase")
        }
        (Shape::Step, "cases") => Shape::Cases("case"),
        (Shape::Step, "else" | "default" | "onInvalid" | "onError") => Shape::Exit,
        (Shape::Step, "timeout") => Shape::Timeout,
        (Shape::Case(_), "when") | (Shape::Condition, "of") => Shape::Condition,
        _ => Shape::Free,
    }
}

#[cfg(test)]
mod tests {
    use super::format;
    use crate::flow::digest::digest;
    use crate::flow::reader::read;

    #[test]
    fn large_numbers_stay_doubles() {
        for text in ["888888e11", "-1e21", "1.7976931348623157e308", "9007199254740992.0", "0.1"] {
            let number = read(text).expect("JSON");
            let laid_out = format(&number.root);
            let again = read(&laid_out).expect("a layout is JSON");
            assert!(again.defects.is_empty(), "{laid_out}");
            assert_eq!(digest(&again.root), digest(&number.root), "{laid_out}");
        }
    }

    #[test]
    fn members_follow_the_schema() {
        let text = r#"{"steps":[{"kind":"say","zzz":1,"aaa":2,"text":{"es":"a\u00e9","en":"b"},"id":"a"}],
            "id":"x","metadata":{"b":1,"a":[]},"version":2.0}"#;
        let document = read(text).expect("JSON");
        let expected = "{\n  \"version\": 2,\n  \"id\": \"x\",\n  \"metadata\": {\n    \"b\": 1,\n    \"a\": []\n  },\n  \"steps\": [\n    {\n      \"id\": \"a\",\n      \"kind\": \"say\",\n      \"text\": {\n        \"es\": \"aé\",\n        \"en\": \"b\"\n      },\n      \"aaa\": 2,\n      \"zzz\": 1\n    }\n  ]\n}\n";
        assert_eq!(format(&document.root), expected);
        let again = read(expected).expect("JSON");
        assert_eq!(format(&again.root), expected);
    }
}
