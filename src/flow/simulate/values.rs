//! Variables, templates, values and conditions of a run.

use std::collections::BTreeMap;

use crate::flow::digest::canonical;
use crate::flow::json::{Json, Node};
use crate::flow::text::{Piece, Template, fold};

/// What a step can read.
pub(super) struct Scope<'s> {
    pub(super) variables: &'s BTreeMap<String, Node<'static>>,
    /// `contact.name` and the like.
    pub(super) system: &'s BTreeMap<String, Node<'static>>,
}

impl Scope<'_> {
    /// The value of a reference; nothing when it is unset or leads nowhere.
    pub(super) fn get(&self, reference: &str) -> Option<&Node<'static>> {
        let mut parts = reference.split('.');
        let name = parts.next()?;
        if matches!(name, "contact" | "message" | "flow") {
            return self.system.get(reference);
        }
        let mut node = self.variables.get(name)?;
        for part in parts {
            node = match &node.json {
                Json::Array(items) => items.get(part.parse::<usize>().ok()?)?,
                _ => node.get(part)?,
            };
        }
        (!node.is_null()).then_some(node)
    }

    /// A template with its placeholders filled in.
    pub(super) fn render(&self, template: &str) -> String {
        let mut out = String::new();
        for piece in Template::parse(template).pieces {
            match piece {
                Piece::Text(text) => out.push_str(text),
                Piece::Placeholder { reference, fallback } => match self.get(reference) {
                    Some(value) => match value.as_str() {
                        Some(text) => out.push_str(text),
                        None => out.push_str(&canonical(value)),
                    },
                    None => out.push_str(fallback.unwrap_or_default()),
                },
            }
        }
        out
    }

    /// A Value: a template, a constant, a copy, a sum or a literal.
    pub(super) fn value(&self, value: &Node<'_>) -> Node<'static> {
        if let Some(template) = value.as_str() {
            return Node::string(self.render(template));
        }
        if let Some(literal) = value.get("literal") {
            return literal.clone().into_owned();
        }
        let Some(reference) = value.str_of("var") else { return value.clone().into_owned() };
        let current = self.get(reference).cloned();
        match value.get("add").and_then(Node::as_number) {
            Some(add) => {
                let number = current.as_ref().and_then(Node::as_number).unwrap_or(0.0);
                // A sum that no double holds stays at the greatest one: an answer is JSON.
                Node::number((number + add).clamp(f64::MIN, f64::MAX))
            }
            None => current.unwrap_or(Json::Null.into()),
        }
    }

    /// Whether a condition holds. No coercion: numbers are compared with numbers, strings with strings.
    pub(super) fn holds(&self, condition: &Node<'_>) -> bool {
        let op = condition.str_of("op").unwrap_or_default();
        let null: Node<'static> = Json::Null.into();
        let left = condition.str_of("var").and_then(|name| self.get(name)).unwrap_or(&null);
        let value = condition.get("value").unwrap_or(&null);
        let right = match value.str_of("var") {
            Some(name) => self.get(name).unwrap_or(&null),
            None => value,
        };
        let parts = || condition.get("of").map_or(&[][..], Node::items).iter();
        let order = || match (&left.json, &right.json) {
            (Json::Number(left), Json::Number(right)) => Some(left.total_cmp(right)),
            (Json::String(left), Json::String(right)) => Some(left.cmp(right)),
            _ => None,
        };
        match op {
            "and" => parts().all(|part| self.holds(part)),
            "or" => parts().any(|part| self.holds(part)),
            "not" => !condition.get("of").is_some_and(|inner| self.holds(inner)),
            "exists" => !left.is_null(),
            "empty" => {
                left.is_null()
                    || left.as_str() == Some("")
                    || (left.is_array() && left.items().is_empty())
            }
            "eq" => left.same(right),
            "ne" => !left.same(right),
            "lt" => order().is_some_and(std::cmp::Ordering::is_lt),
            "lte" => order().is_some_and(std::cmp::Ordering::is_le),
            "gt" => order().is_some_and(std::cmp::Ordering::is_gt),
            "gte" => order().is_some_and(std::cmp::Ordering::is_ge),
            "in" => condition
                .get("values")
                .map_or(&[][..], Node::items)
                .iter()
                .any(|value| left.same(value)),
            "contains" if left.is_array() => left.items().iter().any(|item| item.same(right)),
            "contains" => folded(left, right).is_some_and(|(text, part)| text.contains(&part)),
            "startsWith" => folded(left, right).is_some_and(|(text, part)| text.starts_with(&part)),
            _ => false,
        }
    }
}

fn folded(left: &Node<'_>, right: &Node<'_>) -> Option<(String, String)> {
    Some((fold(left.as_str()?), fold(right.as_str()?)))
}
