//! Finds what breaks the schema: one short issue per fault, each at the offending value.

use std::collections::HashMap;

use super::rules::{Additional, Compiled, RuleIdx, Rules, compiled, type_bits};
use super::{Draft, Near};
use crate::flow::digest::canonical;
use crate::flow::json::{Json, Node};
use crate::flow::pointer::Path;

/// Everything in `root` that breaks the schema, in no particular order.
pub(super) fn violations(root: &Node<'_>) -> Vec<Draft> {
    let mut walk = Walk { compiled: compiled(), path: Path::default(), found: Vec::new() };
    walk.check(0, root);
    walk.found
}

struct Walk<'n> {
    compiled: &'static Compiled,
    path: Path<'n>,
    found: Vec<Draft>,
}

impl<'n> Walk<'n> {
    fn report(&mut self, message: impl Into<String>) {
        self.found.push(Draft::new(self.path.pointer(), message));
    }

    fn check(&mut self, index: RuleIdx, node: &'n Node<'_>) {
        let rules = self.compiled.at(index);
        if let Some(reference) = rules.reference {
            self.check(reference, node);
        }
        if let Some(types) = &rules.types
            && types.bits & type_bits(node) == 0
        {
            self.report(format!("must be {}", types.text));
        }
        if let Some((constant, text)) = &rules.constant
            && !node.same(constant)
        {
            self.report(format!("must be equal to constant: {text}"));
        }
        if let Some((values, text)) = &rules.one_of
            && !values.iter().any(|value| node.same(value))
        {
            let message = format!("must be equal to one of the allowed values: {text}");
            let mut draft = Draft::new(self.path.pointer(), message);
            if let Some(given) = node.as_str() {
                draft.near = Some((given.to_owned(), Near::Words(rules)));
            }
            self.found.push(draft);
        }
        match &node.json {
            Json::Object(_) => self.check_object(rules, node),
            Json::Array(items) => self.check_array(rules, items),
            Json::String(text) => self.check_string(rules, text),
            Json::Number(number) => self.check_number(rules, *number),
            Json::Null | Json::Bool(_) => {}
        }
        if let Some(not) = rules.not
            && self.holds(not, node)
        {
            self.report("must NOT have both 'steps' and 'goto'");
        }
        for part in &rules.all_of {
            self.check(*part, node);
        }
        if let Some(dispatch) = &rules.dispatch
            && let Some(word) = node.str_of(&dispatch.member)
            && let Some((_, then)) = dispatch.cases.iter().find(|(case, _)| case == word)
        {
            self.check(*then, node);
        }
        if let Some((test, then, otherwise)) = rules.condition {
            let branch = if self.holds(test, node) { then } else { otherwise };
            if let Some(branch) = branch {
                self.check(branch, node);
            }
        }
    }

    fn check_object(&mut self, rules: &'static Rules, node: &'n Node<'_>) {
        let members = node.members();
        for name in &rules.required {
            if node.get(name).is_none() {
                self.report(format!("must have required property '{name}'"));
            }
        }
        if members.len() < rules.members_bounds.least {
            self.report(format!(
                "must NOT have fewer than {} properties",
                rules.members_bounds.least
            ));
        }
        if let Some(most) = rules.members_bounds.most
            && members.len() > most
        {
            self.report(format!("must NOT have more than {most} properties"));
        }
        if rules.properties.is_empty()
            && rules.additional.is_none()
            && rules.property_names.is_none()
        {
            return;
        }
        for member in members {
            let declared = rules.properties.iter().find(|(name, _)| *name == member.name);
            self.path.push_name(&member.name);
            if let Some(names) = rules.property_names
                && let Some(pattern) = &self.compiled.at(names).pattern
                && !(pattern.matches)(&member.name)
            {
                self.report(format!("property name must match pattern \"{}\"", pattern.text));
            }
            match (declared, &rules.additional) {
                (Some((_, index)), _) | (None, Some(Additional::Rules(index))) => {
                    self.check(*index, &member.value);
                }
                (None, Some(Additional::Refused)) => {
                    let pointer = self.path.pointer();
                    let mut draft = Draft::new(pointer, "must NOT have additional properties");
                    draft.near = Some((member.name.to_string(), Near::Members(rules)));
                    self.found.push(draft);
                }
                (None, None) => {}
            }
            self.path.pop();
        }
    }

    fn check_array(&mut self, rules: &'static Rules, items: &'n [Node<'_>]) {
        if items.len() < rules.items_bounds.least {
            self.report(format!("must NOT have fewer than {} items", rules.items_bounds.least));
        }
        if let Some(most) = rules.items_bounds.most
            && items.len() > most
        {
            self.report(format!("must NOT have more than {most} items"));
        }
        if rules.unique_items
            && let Some((first, second)) = repeated(items)
        {
            self.report(format!(
                "must NOT have duplicate items (items ## {first} and {second} are identical)"
            ));
        }
        if let Some(index) = rules.items {
            for (at, item) in items.iter().enumerate() {
                self.path.push_index(at);
                self.check(index, item);
                self.path.pop();
            }
        }
    }

    fn check_string(&mut self, rules: &Rules, text: &str) {
        let bounds = rules.length_bounds;
        // Bytes bound characters, so most texts need no counting.
        if bounds.least > 0 && text.chars().take(bounds.least).count() < bounds.least {
            self.report(format!("must NOT have fewer than {} characters", bounds.least));
        }
        if let Some(most) = bounds.most
            && text.len() > most
            && text.chars().count() > most
        {
            self.report(format!("must NOT have more than {most} characters"));
        }
        if let Some(pattern) = &rules.pattern
            && !(pattern.matches)(text)
        {
            self.report(format!("must match pattern \"{}\"", pattern.text));
        }
    }

    fn check_number(&mut self, rules: &Rules, number: f64) {
        if let Some(minimum) = rules.minimum
            && number < minimum
        {
            self.report(format!("must be >= {minimum}"));
        }
        if let Some(maximum) = rules.maximum
            && number > maximum
        {
            self.report(format!("must be <= {maximum}"));
        }
    }

    /// Whether `node` satisfies a test of `if` or `not`: types, constants and required members.
    fn holds(&self, index: RuleIdx, node: &Node<'_>) -> bool {
        let rules = self.compiled.at(index);
        rules.types.as_ref().is_none_or(|types| types.bits & type_bits(node) != 0)
            && rules.constant.as_ref().is_none_or(|(constant, _)| node.same(constant))
            && (!node.is_object()
                || (rules.required.iter().all(|name| node.get(name).is_some())
                    && rules.properties.iter().all(|(name, index)| {
                        node.get(name).is_none_or(|value| self.holds(*index, value))
                    })))
    }
}

/// The last item that is equal to one before it, with the nearest such one.
fn repeated(items: &[Node<'_>]) -> Option<(usize, usize)> {
    let mut last_seen: HashMap<String, usize> = HashMap::new();
    let mut found = None;
    for (at, item) in items.iter().enumerate() {
        if let Some(earlier) = last_seen.insert(canonical(item), at) {
            found = Some((earlier, at));
        }
    }
    found
}
