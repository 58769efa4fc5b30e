//! Rules on `branch` and `switch`: cases that are always or never taken.

use std::collections::HashMap;

use super::Findings;
use super::constant::decide;
use super::facts::Facts;
use super::reads::conditions;
use crate::flow::digest::canonical;
use crate::flow::json::Node;
use crate::flow::model::{Kind, Slot};
use crate::flow::pointer::join;

pub(super) fn lint(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    for (at, step) in facts.flow.steps.iter().enumerate() {
        match step.kind {
            Kind::Branch => branch(facts, at, found),
            Kind::Switch => {
                let mut seen: HashMap<String, usize> = HashMap::new();
                for exit in step.exits.iter().filter(|exit| exit.slot == Slot::Case) {
                    let Some(is) = exit.node.get("is") else { continue };
                    let values = if is.is_array() { is.items() } else { std::slice::from_ref(is) };
                    let texts: Vec<String> = values.iter().map(canonical).collect();
                    if let Some((text, first)) =
                        texts.iter().find_map(|text| Some((text, seen.get(text)?)))
                    {
                        let message = format!("{text} is listed before, in case {first}");
                        found.add(
                            "shadowed-case",
                            Some(at),
                            join(&exit.path(&step.path), "is"),
                            message,
                        );
                    }
                    for text in texts {
                        seen.entry(text).or_insert(exit.index);
                    }
                }
            }
            _ => {}
        }
    }
}

fn branch(facts: &Facts<'_, '_>, at: usize, found: &mut Findings<'_>) {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let mut always: Option<usize> = None;
    for (index, (condition, path)) in conditions(&facts.flow.steps[at]).into_iter().enumerate() {
        let text = canonical(condition);
        if let Some(first) = always {
            let message = format!("never reached: case {first} always holds");
            found.add("shadowed-case", Some(at), path.clone(), message);
        } else if let Some(first) = seen.get(&text) {
            let message = format!("the same condition as case {first}");
            found.add("shadowed-case", Some(at), path.clone(), message);
        }
        seen.entry(text).or_insert(index);
        let enum_of =
            |name: &str| facts.declaration(name).filter(|node| node.get("enum").is_some());
        if let Some(truth) = decide(condition, &|name| enum_of(name)) {
            let word = if truth { "always" } else { "never" };
            found.add("constant-condition", Some(at), path, format!("{word} holds"));
            if truth && always.is_none() {
                always = Some(index);
            }
        }
    }
}

/// The declaration of a variable with an `enum`.
pub(super) type EnumOf<'c, 'd> = dyn Fn(&str) -> Option<&'d Node<'d>> + 'c;
