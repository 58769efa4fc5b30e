//! Conditions that can only go one way, as far as it can be proved from the document alone.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use super::cases::EnumOf;
use crate::flow::check::fits;
use crate::flow::digest::canonical;
use crate::flow::json::Node;

/// What the condition always is, if that can be proved.
pub(super) fn decide(condition: &Node<'_>, enum_of: &EnumOf<'_, '_>) -> Option<bool> {
    let op = condition.str_of("op")?;
    let parts = || condition.get("of").map_or(&[][..], Node::items);
    match op {
        "not" => decide(condition.get("of")?, enum_of).map(|truth| !truth),
        "and" => all(parts(), enum_of),
        "or" => any(parts(), enum_of),
        "eq" | "ne" => equality(condition, enum_of).map(|truth| truth == (op == "eq")),
        "lt" | "gt" => with_itself(condition).then_some(false),
        "in" => {
            let name = condition.str_of("var")?;
            let values = condition.get("values")?.items();
            values.iter().all(|value| is_outside(name, value, enum_of)).then_some(false)
        }
        _ => None,
    }
}

/// What `eq` gives, if that is known.
fn equality(condition: &Node<'_>, enum_of: &EnumOf<'_, '_>) -> Option<bool> {
    if with_itself(condition) {
        return Some(true);
    }
    is_outside(condition.str_of("var")?, condition.get("value")?, enum_of).then_some(false)
}

fn with_itself(condition: &Node<'_>) -> bool {
    let operand = condition.get("value").and_then(|value| value.str_of("var"));
    operand.is_some() && operand == condition.str_of("var")
}

/// Whether a constant of the right type is outside the variable's `enum`.
fn is_outside(name: &str, value: &Node<'_>, enum_of: &EnumOf<'_, '_>) -> bool {
    if value.is_object() || value.is_null() {
        return false;
    }
    let Some(declaration) = enum_of(name) else { return false };
    fits(value, declaration.str_of("type").unwrap_or("any"))
        && !declaration
            .get("enum")
            .map_or(&[][..], Node::items)
            .iter()
            .any(|allowed| allowed.same(value))
}

fn all(parts: &[Node<'_>], enum_of: &EnumOf<'_, '_>) -> Option<bool> {
    let truths: Vec<Option<bool>> = parts.iter().map(|part| decide(part, enum_of)).collect();
    if truths.contains(&Some(false))
        || has_complement(parts)
        || differ(parts, "eq")
        || equal_and_not(parts)
        || has_empty_interval(parts)
    {
        return Some(false);
    }
    truths.iter().all(|truth| *truth == Some(true)).then_some(true)
}

fn any(parts: &[Node<'_>], enum_of: &EnumOf<'_, '_>) -> Option<bool> {
    let truths: Vec<Option<bool>> = parts.iter().map(|part| decide(part, enum_of)).collect();
    if truths.contains(&Some(true))
        || has_complement(parts)
        || differ(parts, "ne")
        || equal_and_not(parts)
    {
        return Some(true);
    }
    truths.iter().all(|truth| *truth == Some(false)).then_some(false)
}

/// `c` and `not c` side by side.
fn has_complement(parts: &[Node<'_>]) -> bool {
    let texts: HashSet<String> = parts.iter().map(canonical).collect();
    parts
        .iter()
        .filter(|part| part.str_of("op") == Some("not"))
        .filter_map(|part| part.get("of"))
        .any(|inner| texts.contains(&canonical(inner)))
}

/// The comparisons of that operator with constants: variable and constant.
fn constants<'n>(parts: &'n [Node<'_>], op: &str) -> Vec<(&'n str, String)> {
    parts
        .iter()
        .filter(|part| part.str_of("op") == Some(op))
        .filter_map(|part| {
            let value = part.get("value").filter(|value| !value.is_object())?;
            Some((part.str_of("var")?, canonical(value)))
        })
        .collect()
}

/// Two comparisons of one variable with different constants.
fn differ(parts: &[Node<'_>], op: &str) -> bool {
    let mut first: HashMap<&str, String> = HashMap::new();
    constants(parts, op)
        .into_iter()
        .any(|(name, value)| first.entry(name).or_insert_with(|| value.clone()) != &value)
}

/// `eq` and `ne` of one variable with one constant.
fn equal_and_not(parts: &[Node<'_>]) -> bool {
    let equal = constants(parts, "eq");
    constants(parts, "ne").iter().any(|pair| equal.contains(pair))
}

/// Bounds on one variable that no number keeps.
fn has_empty_interval(parts: &[Node<'_>]) -> bool {
    #[derive(Clone, Copy)]
    struct Interval {
        least: (f64, bool),
        most: (f64, bool),
    }
    let mut intervals: HashMap<&str, Interval> = HashMap::new();
    for part in parts {
        let (Some(op), Some(name)) = (part.str_of("op"), part.str_of("var")) else { continue };
        let Some(number) = part.get("value").and_then(Node::as_number) else { continue };
        let interval = intervals.entry(name).or_insert(Interval {
            least: (f64::NEG_INFINITY, false),
            most: (f64::INFINITY, false),
        });
        // The flag says that the bound itself is left out.
        let raise = |bound: (f64, bool)| match bound.0.total_cmp(&number) {
            Ordering::Less => (number, op == "gt"),
            Ordering::Equal => (number, bound.1 || op == "gt"),
            Ordering::Greater => bound,
        };
        let lower = |bound: (f64, bool)| match bound.0.total_cmp(&number) {
            Ordering::Greater => (number, op == "lt"),
            Ordering::Equal => (number, bound.1 || op == "lt"),
            Ordering::Less => bound,
        };
        match op {
            "gt" | "gte" => interval.least = raise(interval.least),
            "lt" | "lte" => interval.most = lower(interval.most),
            "eq" => {
                interval.least = raise(interval.least);
                interval.most = lower(interval.most);
            }
            _ => {}
        }
        let Interval { least, most } = *interval;
        if least.0 > most.0 || (least.0.total_cmp(&most.0).is_eq() && (least.1 || most.1)) {
            return true;
        }
    }
    false
}
