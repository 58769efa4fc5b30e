//! Whether a section is found by its own heading: its rarest words must bring it among the first hits.

use std::collections::{BTreeMap, BTreeSet};

use botmesh_index::error::IndexError;
use botmesh_index::language::is_function_word;
use botmesh_index::search::Query;
use botmesh_index::section::Section;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::{fold::fold, terms};

use super::facts::Facts;
use super::{Rule, Site, found, in_parallel};
use crate::report::Finding;

/// So many hits are looked through before another query is tried.
const FIRST_HITS: usize = 3;
/// So many of a heading's words are asked for.
const MAX_WORDS: usize = 6;

pub(super) fn findings(site: &Site<'_>, snapshot: &Snapshot) -> Result<Vec<Finding>, IndexError> {
    let mut groups: BTreeMap<(&str, String), Vec<(&Facts, &Section)>> = BTreeMap::new();
    for facts in site.pages.values() {
        for section in facts.page.sections.iter().filter(|section| section.level > 0) {
            let key = (facts.page.lang.as_str(), fold(&section.heading));
            groups.entry(key).or_default().push((facts, section));
        }
    }
    let groups: Vec<_> = groups.into_iter().collect();
    let found = in_parallel(&groups, crate::docs::threads(), |((lang, _), sections)| {
        if sections.len() > FIRST_HITS {
            return Ok(Some(shadowed(sections)));
        }
        unfindable(snapshot, lang, sections)
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// More sections of one heading than a reader looks at: named once, at the first.
fn shadowed(sections: &[(&Facts, &Section)]) -> Finding {
    let (facts, section) = sections[0];
    let pages: BTreeSet<&str> =
        sections.iter().map(|(facts, _)| facts.page.path.as_str()).collect();
    let heading = &section.heading;
    let message = format!(
        "{} sections on {} are headed `{heading}`: a search for it shows {FIRST_HITS} of them first",
        sections.len(),
        crate::tools::count(pages.len(), "page")
    );
    finding(Rule::ShadowedHeading, facts, section, message)
        .with_hint("say in the heading what this one is about")
}

fn unfindable(
    snapshot: &Snapshot,
    lang: &str,
    sections: &[(&Facts, &Section)],
) -> Result<Option<Finding>, IndexError> {
    let words = rarest_words(snapshot, lang, &sections[0].1.heading)?;
    if words.is_empty() {
        return Ok(None);
    }
    let text = words.join(" ");
    let query = Query {
        text: text.clone(),
        limit: FIRST_HITS,
        lang: Some(lang.to_owned()),
        ..Query::default()
    };
    let hits = snapshot.search(&query)?.hits;
    for (facts, section) in sections {
        let is_it = |path: &str, anchor: &str| path == facts.page.path && anchor == section.anchor;
        // Its translation stands for it.
        let is_found = hits.iter().any(|hit| {
            is_it(&hit.path, &hit.anchor)
                || hit.translations.iter().any(|twin| twin == &facts.page.path)
        });
        if !is_found {
            let first = hits.first().map_or_else(String::new, |hit| {
                format!(", which finds `{}` of `{}`", hit.heading, hit.path)
            });
            let message = format!("not among the first {FIRST_HITS} hits of `{text}`{first}");
            let hint = "use the words in the heading that only this section is about";
            return Ok(Some(
                finding(Rule::UnfindableSection, facts, section, message).with_hint(hint),
            ));
        }
    }
    Ok(None)
}

/// The words of a heading that the fewest sections hold, in the heading's order and as it writes them.
fn rarest_words<'h>(
    snapshot: &Snapshot,
    lang: &str,
    heading: &'h str,
) -> Result<Vec<&'h str>, IndexError> {
    let mut words: Vec<(u32, usize, &str)> = Vec::new();
    for (at, written) in heading.split_whitespace().enumerate() {
        let mut parts: Vec<String> = Vec::new();
        terms::cut(written, |term| {
            if term.kind == terms::TermKind::Word && !is_function_word(term.text) {
                parts.push(term.text.to_owned());
            }
        });
        let mut rarest = u32::MAX;
        for part in &parts {
            rarest = rarest.min(snapshot.n_sections_with(lang, part)?);
        }
        let is_new = !words.iter().any(|(.., word)| fold(word) == fold(written));
        if !parts.is_empty() && is_new {
            words.push((rarest, at, written));
        }
    }
    words.sort_unstable();
    words.truncate(MAX_WORDS);
    words.sort_unstable_by_key(|(_, at, _)| *at);
    Ok(words.into_iter().map(|(.., word)| word).collect())
}

fn finding(rule: Rule, facts: &Facts, section: &Section, message: String) -> Finding {
    found(rule, facts, &facts.heading_line(section), message).with_identity(&section.heading)
}
