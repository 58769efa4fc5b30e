//! Rules on questions and menus: what a user may answer, and what then happens.

use std::collections::{HashMap, HashSet};

use super::Findings;
use super::facts::Facts;
use crate::flow::json::Node;
use crate::flow::model::{Kind, Slot};
use crate::flow::pointer::join;
use crate::flow::text::fold;

pub(super) fn lint(facts: &Facts<'_, '_>, keywords: &HashSet<String>, found: &mut Findings<'_>) {
    for (at, step) in facts.flow.steps.iter().enumerate() {
        if !matches!(step.kind, Kind::Ask | Kind::Choice) {
            continue;
        }
        let may_be_invalid = step.kind == Kind::Choice
            || !matches!(step.node.str_of("expect"), None | Some("text" | "any"))
            || step.node.get("min").is_some()
            || step.node.get("max").is_some();
        if may_be_invalid && step.exit(Slot::OnInvalid).is_none() {
            let message = "after the last invalid answer the flow ends: say where with `onInvalid`";
            found.add("missing-fallback", Some(at), step.path.clone(), message);
        }
        if step.exit(Slot::Timeout).is_none() {
            let message = "waits for ever: say for how long with `timeout`";
            found.add("missing-timeout", Some(at), step.path.clone(), message);
        }
        if step.kind == Kind::Choice {
            menu(facts, at, keywords, found);
        }
    }
}

fn menu(facts: &Facts<'_, '_>, at: usize, keywords: &HashSet<String>, found: &mut Findings<'_>) {
    let step = &facts.flow.steps[at];
    let options: Vec<_> = step.exits.iter().filter(|exit| exit.slot == Slot::Option).collect();
    if options.len() == 1 {
        let message = "a menu of one option asks nothing";
        found.add("single-option", Some(at), join(&step.path, "options"), message);
    }
    let mut by_id: HashMap<String, Vec<usize>> = HashMap::new();
    for (index, option) in options.iter().enumerate() {
        by_id.entry(fold(option.node.str_of("id").unwrap_or_default())).or_default().push(index);
    }
    let mut seen: HashMap<(&str, String), usize> = HashMap::new();
    for (index, option) in options.iter().enumerate() {
        let Some(label) = option.node.get("label") else { continue };
        let path = join(&option.path(&step.path), "label");
        let id_of = |index: usize| options[index].node.str_of("id").unwrap_or_default();
        for (locale, text) in shown(label, &facts.flow.locales) {
            let folded = fold(text);
            if let Some(first) = seen.get(&(locale, folded.clone())) {
                let message = format!("the same label as option `{}`", id_of(*first));
                found.add("duplicate-option-label", Some(at), path.clone(), message);
            }
            let by_position = folded
                .parse::<usize>()
                .ok()
                .filter(|position| (1..=options.len()).contains(position))
                .map(|position| position - 1)
                .filter(|other| *other != index && folded.bytes().all(|b| b.is_ascii_digit()));
            let other_id = by_id
                .get(&folded)
                .and_then(|indices| indices.iter().copied().find(|other| *other != index));
            if let Some(other) = other_id.or(by_position) {
                let message = format!("typing this label chooses option `{}`", id_of(other));
                found.add("shadowed-option", Some(at), path.clone(), message);
            }
            if keywords.contains(&folded) {
                let message = format!("typing this label starts a flow: `{folded}` is a keyword");
                found.add("option-is-keyword", Some(at), path.clone(), message);
            }
            seen.entry((locale, folded)).or_insert(index);
        }
    }
}

/// The texts that users see, by locale: a plain text is seen in every locale.
fn shown<'t>(label: &'t Node<'_>, locales: &[&'t str]) -> Vec<(&'t str, &'t str)> {
    match label.as_str() {
        Some(text) if locales.is_empty() => vec![("", text)],
        Some(text) => locales.iter().map(|locale| (*locale, text)).collect(),
        None => {
            let text = |locale: &&'t str| Some((*locale, label.str_of(locale)?));
            locales.iter().filter_map(text).collect()
        }
    }
}
