//! Links and images that lead nowhere, anchors that are not there, ids that stand twice, pages that nothing leads to.

use std::collections::{BTreeMap, BTreeSet};

use botmesh_index::anchor::Dialect;

use super::facts::{Facts, Link};
use super::target::Target;
use super::{Rule, Site, found};
use crate::report::Finding;
use crate::suggest;

/// With more orphans than one page in so many, links are not how readers find their way.
const MAX_ORPHAN_SHARE: usize = 10;

/// What is wrong with the links of a page, and the pages that it leads to.
pub(super) fn links(
    site: &Site<'_>,
    facts: &Facts,
    reached: &mut BTreeSet<String>,
) -> Vec<Finding> {
    let from = facts.page.path.as_str();
    let mut findings = Vec::new();
    let is_free = |link: &&Link| link.has_window && site.dialect == Dialect::VitePress;
    for link in facts.links.iter().filter(|link| !is_free(link)) {
        match site.target(from, &link.target) {
            Target::Elsewhere | Target::File => {}
            Target::Page { path, fragment } => {
                let fragment = fragment.filter(|fragment| is_checked(fragment));
                let target = site.pages.get(path.as_str());
                if let (Some(fragment), Some(target)) = (fragment, target) {
                    findings.extend(anchor(site, facts, link, target, &fragment));
                }
                if path != from {
                    reached.insert(path);
                }
            }
            Target::Nothing { path } => findings.extend(nowhere(site, facts, link, &path)),
        }
    }
    findings
}

/// Fragments that no heading is asked for: the top of the page, text to mark, lines of code.
fn is_checked(fragment: &str) -> bool {
    let is_line = fragment
        .strip_prefix('L')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    !(fragment.is_empty() || fragment == "top" || fragment.starts_with(":~:") || is_line)
}

fn nowhere(site: &Site<'_>, facts: &Facts, link: &Link, path: &str) -> Option<Finding> {
    let shown = &link.target;
    if link.is_image {
        let message = format!("image not found: `{shown}`");
        let hint = format!("no file at `{path}`");
        return Some(
            found(Rule::MissingImage, facts, &link.span, message)
                .with_hint(hint)
                .with_identity(shown),
        );
    }
    // The site leaves other files to whatever hands them out.
    if site.dialect == Dialect::VitePress && Site::is_asset(path) {
        return None;
    }
    let message = format!("link leads nowhere: `{shown}`");
    let hint = match nearest_page(site, path) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("no page or file at `{path}`"),
    };
    Some(found(Rule::BrokenLink, facts, &link.span, message).with_hint(hint).with_identity(shown))
}

/// The page that was probably meant: the folder's own, the same name elsewhere, or a slip of the pen.
fn nearest_page<'s>(site: &'s Site<'_>, path: &str) -> Option<&'s str> {
    let bare = path.trim_end_matches('/').trim_end_matches(".html").trim_end_matches(".md");
    let index = format!("{bare}/index.md");
    let whole = format!("{bare}.md");
    let name = whole.rsplit('/').next().unwrap_or_default();
    let pages = || site.pages.keys().copied();
    pages()
        .find(|page| *page == index || *page == whole)
        .or_else(|| suggest::nearest(&whole, pages()))
        .or_else(|| {
            pages().find(|page| page.rsplit('/').next() == Some(name) && name != "index.md")
        })
}

fn anchor(
    site: &Site<'_>,
    facts: &Facts,
    link: &Link,
    target: &Facts,
    fragment: &str,
) -> Option<Finding> {
    if target.has_anchor(fragment) || target.has_includes {
        return None;
    }
    let (path, shown) = (&target.page.path, &link.target);
    let at =
        if *path == facts.page.path { "on this page".to_owned() } else { format!("in `{path}`") };
    let loose = target.loose_anchor(fragment);
    if let Some(loose) = loose.filter(|_| site.dialect == Dialect::GitHub) {
        let message = format!("anchor is written otherwise {at}: `#{fragment}`");
        let hint = format!("write `#{loose}`: not every site finds the other spelling");
        let finding = found(Rule::InexactAnchor, facts, &link.span, message);
        return Some(finding.with_hint(hint).with_identity(shown));
    }
    let message = format!("no such heading {at}: `#{fragment}`");
    let anchors = target.page.sections.iter().map(|section| section.anchor.as_str());
    let known = anchors.filter(|anchor| !anchor.is_empty());
    let hint = match loose.or_else(|| suggest::nearest(fragment, known)) {
        Some(near) => format!("did you mean `#{near}`?"),
        None => format!("`botmesh-docs outline {path}` lists the anchors"),
    };
    Some(found(Rule::BrokenAnchor, facts, &link.span, message).with_hint(hint).with_identity(shown))
}

/// Ids that a page gives to two places: links find the first alone.
pub(super) fn duplicate_ids(facts: &Facts) -> Vec<Finding> {
    let mut first: BTreeMap<&str, usize> = BTreeMap::new();
    let mut findings = Vec::new();
    for (id, span) in &facts.ids {
        let line = || crate::flow::reader::position(&facts.page.text, span.start).0;
        let Some(line) = first.get(id.as_str()) else {
            first.insert(id, line());
            continue;
        };
        let message = format!("id stands twice on this page: `{id}`, first in line {line}");
        let hint = "give one of them another id: links find the first alone";
        let finding = found(Rule::DuplicateAnchor, facts, span, message);
        findings.push(finding.with_hint(hint).with_identity(id));
    }
    findings
}

/// Pages that no other page leads to. The page of a folder is found without, and where many pages are not led to the
/// site has a navigation that we do not see.
pub(super) fn orphans(site: &Site<'_>, reached: &BTreeSet<String>) -> Vec<Finding> {
    let is_orphan = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
        let is_index = ["index.", "_index.", "readme."].iter().any(|start| name.starts_with(start));
        // A translation is reached by the switch of languages.
        let mut twins = site.twins.get(path).into_iter().flatten();
        !is_index && !reached.contains(path) && !twins.any(|twin| reached.contains(*twin))
    };
    let orphans: Vec<_> = site.pages.iter().filter(|(path, _)| is_orphan(path)).collect();
    if orphans.len() * MAX_ORPHAN_SHARE > site.pages.len() {
        return Vec::new();
    }
    let finding = |facts| {
        let hint = "link to it from where a reader would look for it";
        let message = "no page leads here".to_owned();
        found(Rule::OrphanPage, facts, &(0..0), message).with_hint(hint).with_identity("")
    };
    orphans.into_iter().map(|(_, facts)| finding(facts)).collect()
}
