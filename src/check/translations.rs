//! Pages that say the same in several languages: which are missing, and where they have drifted apart.

use std::collections::BTreeSet;

use botmesh_index::language;
use botmesh_index::section::Section;

use super::facts::{CodeBlock, Facts};
use super::{Rule, Site, found};
use crate::report::Finding;

/// At most so many names are listed in one message.
const MAX_NAMES: usize = 5;

/// Languages of code blocks that hold words for people.
const PROSE: [&str; 6] = ["", "text", "txt", "md", "markdown", "mermaid"];

/// The word in a block's info string that lets it differ.
const TRANSLATED: &str = "translated";

pub(super) fn translations(site: &Site<'_>) -> Vec<Finding> {
    let langs: BTreeSet<&str> =
        site.pages.keys().filter_map(|path| Some(language::of_path(path)?.code)).collect();
    let mut findings = Vec::new();
    for (path, facts) in &site.pages {
        match source(site, path) {
            Some(source) => drift(site.pages[source], facts, &mut findings),
            None => findings.extend(missing(site, facts, &langs)),
        }
    }
    findings
}

/// The page that this one is translated from: the twin in the tree's language, else the first one.
pub(super) fn source<'s>(site: &Site<'s>, path: &'s str) -> Option<&'s str> {
    let rank = |path: &'s str| (site.pages[path].page.lang != site.default_lang, path);
    let twins = site.twins.get(path)?.iter().copied();
    let first = twins.filter(|twin| site.pages.contains_key(twin)).map(rank).min()?;
    (first < rank(path)).then_some(first.1)
}

fn missing(site: &Site<'_>, facts: &Facts, langs: &BTreeSet<&str>) -> Option<Finding> {
    let own = language::of_path(&facts.page.path)?.code;
    let twins = site.twins.get(facts.page.path.as_str()).into_iter().flatten();
    let there: BTreeSet<&str> =
        twins.filter_map(|twin| Some(language::of_path(twin)?.code)).collect();
    let absent: Vec<&str> =
        langs.iter().copied().filter(|lang| *lang != own && !there.contains(lang)).collect();
    if absent.is_empty() {
        return None;
    }
    let message = format!("no translation: {}", absent.join(", "));
    let hint = "add the page at the same path under the language's folder";
    Some(found(Rule::MissingTranslation, facts, &(0..0), message).with_hint(hint).with_identity(""))
}

fn drift(source: &Facts, twin: &Facts, findings: &mut Vec<Finding>) {
    findings.extend(headings(source, twin));
    code(source, twin, findings);
    let names = |facts: &'_ Facts| -> BTreeSet<String> {
        facts.names.iter().filter(|name| is_identifier(name)).cloned().collect()
    };
    findings.extend(sets(Rule::NamesDrift, &names(source), &names(twin), source, twin));
    findings.extend(sets(Rule::NumbersDrift, &source.numbers, &twin.numbers, source, twin));
}

/// Code spans that no translator touches: one word with a sign, a digit or a capital in it.
fn is_identifier(name: &str) -> bool {
    let is_mark = |c: char| !c.is_alphabetic() || c.is_uppercase();
    name.len() > 1 && !name.contains(char::is_whitespace) && name.chars().skip(1).any(is_mark)
        || name.starts_with("--")
}

fn headings(source: &Facts, twin: &Facts) -> Option<Finding> {
    let sections = |facts| -> Vec<&Section> {
        Facts::sections(facts).filter(|section| section.level > 0).collect()
    };
    let (theirs, ours) = (sections(source), sections(twin));
    let level = |sections: &[&Section], at: usize| sections.get(at).map(|section| section.level);
    let at =
        (0..theirs.len().max(ours.len())).find(|at| level(&theirs, *at) != level(&ours, *at))?;
    let path = &source.page.path;
    let message = match theirs.get(at) {
        Some(Section { level, heading, start_line, .. }) => {
            let marks = "#".repeat((*level).into());
            format!("headings differ from `{path}`, line {start_line}: `{marks} {heading}`")
        }
        None => format!("headings differ from `{path}`, where this one is not"),
    };
    let end = twin.page.text.len();
    let span = ours.get(at).map_or(end..end, |section| twin.heading_line(section));
    let hint = "give both pages the same headings in the same order";
    Some(found(Rule::HeadingDrift, twin, &span, message).with_hint(hint).with_identity(""))
}

fn code(source: &Facts, twin: &Facts, findings: &mut Vec<Finding>) {
    let (theirs, ours) = (blocks(source), blocks(twin));
    let path = &source.page.path;
    if theirs.len() != ours.len() {
        let message = format!("{} blocks of code here, {} in `{path}`", ours.len(), theirs.len());
        let hint = "give both pages the same blocks in the same order";
        findings.push(
            found(Rule::CodeDrift, twin, &(0..0), message).with_hint(hint).with_identity("n"),
        );
        return;
    }
    for (at, (their, our)) in theirs.iter().zip(&ours).enumerate() {
        let is_free = our.info.split_whitespace().any(|word| word == TRANSLATED);
        if is_free || lang(their) == lang(our) && bare_code(&their.text) == bare_code(&our.text) {
            continue;
        }
        let line = their.first_line;
        let message = format!("block of code differs from `{path}`, line {line}");
        let hint = "only comments may differ, unless the word `translated` stands after the block's language";
        let start = our.span.start..our.span.start + 3;
        let finding = found(Rule::CodeDrift, twin, &start, message);
        findings.push(finding.with_hint(hint).with_identity(&at.to_string()));
    }
}

fn blocks(facts: &Facts) -> Vec<&CodeBlock> {
    facts.code.iter().filter(|block| !PROSE.contains(&lang(block))).collect()
}

fn lang(block: &CodeBlock) -> &str {
    block.info.split([' ', '{', ',', ':', '[']).next().unwrap_or_default()
}

/// Code without its comments and blanks.
fn bare_code(text: &str) -> String {
    let mut bare = String::new();
    for line in text.lines() {
        let line = line.trim();
        if ["#", "//", "<!--", "/*", "*", ";"].iter().any(|mark| line.starts_with(mark)) {
            continue;
        }
        let end = [" #", " //", " /*", " <!--"].iter().filter_map(|mark| line.find(mark)).min();
        let code = &line[..end.unwrap_or(line.len())];
        bare.extend(code.split_whitespace());
    }
    bare
}

fn sets(
    rule: Rule,
    theirs: &BTreeSet<String>,
    ours: &BTreeSet<String>,
    source: &Facts,
    twin: &Facts,
) -> Option<Finding> {
    let only = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> Vec<String> {
        one.difference(other).map(|name| format!("`{name}`")).collect()
    };
    let (absent, added) = (only(theirs, ours), only(ours, theirs));
    if absent.is_empty() && added.is_empty() {
        return None;
    }
    let path = &source.page.path;
    let mut parts = Vec::new();
    for (names, place) in [(absent, format!("only in `{path}`")), (added, "only here".to_owned())] {
        if names.is_empty() {
            continue;
        }
        let n_more = names.len().saturating_sub(MAX_NAMES);
        let more = if n_more > 0 { format!(" and {n_more} more") } else { String::new() };
        parts.push(format!("{place}: {}{more}", names[..names.len() - n_more].join(", ")));
    }
    let what = if rule == Rule::NamesDrift { "names differ" } else { "numbers differ" };
    let message = format!("{what}: {}", parts.join("; "));
    let hint = "look whether the translation says the same";
    Some(found(rule, twin, &(0..0), message).with_hint(hint).with_identity(""))
}
