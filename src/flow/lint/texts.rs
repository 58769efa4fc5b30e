//! Rules on texts: placeholders and translations.

use std::collections::BTreeSet;

use serde_json::json;

use super::Findings;
use super::facts::Facts;
use super::reads::templates;
use crate::flow::check::texts;
use crate::flow::json::Node;
use crate::flow::pointer::join;
use crate::flow::text::{Template, has_letter};

pub(super) fn lint(facts: &Facts<'_, '_>, found: &mut Findings<'_>) {
    let locales = &facts.flow.locales;
    for (at, step) in facts.flow.steps.iter().enumerate() {
        for (text, path) in templates(step) {
            if Template::parse(text).is_malformed {
                let message = "`{{` starts no placeholder here and is shown as written";
                found.add("malformed-placeholder", Some(at), path, message);
            }
        }
        for (text, path) in texts(step) {
            if let Some(plain) = text.as_str() {
                if locales.len() >= 2 && has_letter(plain) {
                    let message =
                        format!("one text for all of {}: write one per locale", locales.join(", "));
                    found.add("untranslated-text", Some(at), path, message);
                }
                continue;
            }
            let Some((default, others)) = locales.split_first() else { continue };
            let default_text = text.str_of(default).unwrap_or_default();
            translations(text, default, others, default_text, &path, at, found);
        }
    }
}

fn translations(
    text: &Node<'_>,
    default: &str,
    others: &[&str],
    default_text: &str,
    path: &str,
    at: usize,
    found: &mut Findings<'_>,
) {
    let references = |text: &str| -> BTreeSet<String> {
        Template::parse(text).references().map(|(name, _)| name.to_owned()).collect()
    };
    let expected = references(default_text);
    let mut missing = Vec::new();
    for locale in others {
        let Some(translation) = text.str_of(locale) else {
            missing.push(*locale);
            continue;
        };
        let actual = references(translation);
        if actual != expected {
            let list = |names: &BTreeSet<String>| match names.len() {
                0 => "nothing".to_owned(),
                _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            };
            let message = format!(
                "`{locale}` uses {}, and `{default}` uses {}",
                list(&actual),
                list(&expected)
            );
            found.add("placeholder-mismatch", Some(at), join(path, locale), message);
        }
    }
    if !missing.is_empty() {
        let message = format!("no translation for {}", missing.join(", "));
        let fix = missing
            .iter()
            .map(|locale| json!({ "op": "add", "path": join(path, locale), "value": default_text }))
            .collect();
        found.add("missing-translation", Some(at), path.to_owned(), message).fix = Some(fix);
    }
}
