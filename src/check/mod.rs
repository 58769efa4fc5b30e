//! What is wrong with a docs tree: a function of a snapshot and of the files beside its pages. Nothing is fetched.
//!
//! [`Checker::check`] reads each page into [`facts::Facts`], once for as long as its text stays the same, and asks each
//! family of rules. Findings come in order of path, line, column and code; their paths are below the docs root.

mod facts;
mod findability;
mod flows;
mod history;
mod html;
mod links;
mod pages;
mod target;
mod translations;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::thread;

use botmesh_index::anchor::Dialect;
use botmesh_index::error::{IndexError, Problem};
use botmesh_index::snapshot::Snapshot;

use crate::report::{Finding, Severity};
use facts::Facts;

/// A tree to check.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// The pages.
    pub snapshot: &'a Snapshot,
    /// What reading them brought up.
    pub problems: &'a [Problem],
    /// The docs folder.
    pub root: &'a Path,
    /// Whose anchors and links the site uses.
    pub dialect: Dialect,
    /// Language of pages that do not tell theirs, and the one that translations are made from.
    pub default_lang: &'a str,
    /// Rules below this are not asked.
    pub least: Severity,
}

/// The rules, in the order of the manual.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// A link to a page or file that is not there.
    BrokenLink,
    /// A link to a heading that is not there.
    BrokenAnchor,
    /// An image that is not there.
    MissingImage,
    /// An anchor that only some sites find.
    InexactAnchor,
    /// An id that stands twice on a page.
    DuplicateAnchor,
    /// A page that no page leads to.
    OrphanPage,
    /// A page without a counterpart in a language of the tree.
    MissingTranslation,
    /// Twins whose headings do not match.
    HeadingDrift,
    /// Twins whose code does not match.
    CodeDrift,
    /// Twins that name other things in code spans.
    NamesDrift,
    /// Twins with other numbers.
    NumbersDrift,
    /// A page that changed after its translation.
    StaleTranslation,
    /// A section that its own heading does not find.
    UnfindableSection,
    /// Sections that one heading cannot tell apart.
    ShadowedHeading,
}

impl Rule {
    /// All rules.
    pub const ALL: [Self; 14] = [
        Self::BrokenLink,
        Self::BrokenAnchor,
        Self::MissingImage,
        Self::InexactAnchor,
        Self::DuplicateAnchor,
        Self::OrphanPage,
        Self::MissingTranslation,
        Self::HeadingDrift,
        Self::CodeDrift,
        Self::NamesDrift,
        Self::NumbersDrift,
        Self::StaleTranslation,
        Self::UnfindableSection,
        Self::ShadowedHeading,
    ];

    /// The stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::BrokenLink => "broken-link",
            Self::BrokenAnchor => "broken-anchor",
            Self::MissingImage => "missing-image",
            Self::InexactAnchor => "inexact-anchor",
            Self::DuplicateAnchor => "duplicate-anchor",
            Self::OrphanPage => "orphan-page",
            Self::MissingTranslation => "missing-translation",
            Self::HeadingDrift => "heading-drift",
            Self::CodeDrift => "code-drift",
            Self::NamesDrift => "names-drift",
            Self::NumbersDrift => "numbers-drift",
            Self::StaleTranslation => "stale-translation",
            Self::UnfindableSection => "unfindable-section",
            Self::ShadowedHeading => "shadowed-heading",
        }
    }

    /// How bad it is.
    pub fn severity(self) -> Severity {
        match self {
            Self::BrokenLink | Self::BrokenAnchor | Self::MissingImage => Severity::Error,
            Self::DuplicateAnchor
            | Self::MissingTranslation
            | Self::HeadingDrift
            | Self::CodeDrift => Severity::Warning,
            _ => Severity::Info,
        }
    }
}

/// The pages of a tree, with what links and translations ask of them.
struct Site<'a> {
    pages: BTreeMap<&'a str, &'a Facts>,
    /// The other pages of each page's translation group, by path.
    twins: BTreeMap<&'a str, Vec<&'a str>>,
    dialect: Dialect,
    default_lang: &'a str,
    root: Option<&'a Path>,
    /// Name of the docs folder: links from a site's root often begin with it.
    name: &'a str,
}

/// Checks a tree again and again; a page is read anew only when its text has changed.
#[derive(Debug, Default)]
pub struct Checker {
    facts: BTreeMap<String, Arc<Facts>>,
}

impl Checker {
    /// Everything that is wrong, at least as bad as asked.
    ///
    /// # Errors
    /// The index library fails.
    pub fn check(&mut self, input: &Input<'_>) -> Result<Vec<Finding>, IndexError> {
        self.read(input)?;
        let summaries: Vec<_> = input.snapshot.outline().collect();
        let site = Site {
            pages: self.facts.iter().map(|(path, facts)| (path.as_str(), &**facts)).collect(),
            twins: summaries
                .iter()
                .map(|page| {
                    (page.path.as_str(), page.translations.iter().map(String::as_str).collect())
                })
                .collect(),
            dialect: input.dialect,
            default_lang: input.default_lang,
            root: Some(input.root),
            name: input.root.file_name().and_then(|name| name.to_str()).unwrap_or_default(),
        };
        let mut findings = pages::findings(input.problems);
        let mut reached = BTreeSet::new();
        for facts in site.pages.values() {
            findings.extend(links::links(&site, facts, &mut reached));
            findings.extend(links::duplicate_ids(facts));
            findings.extend(flows::flows(facts));
        }
        findings.extend(links::orphans(&site, &reached));
        findings.extend(translations::translations(&site));
        if input.least == Severity::Info {
            findings.extend(history::stale(&site, input.root));
            findings.extend(findability::findings(&site, input.snapshot)?);
        }
        findings.retain(|finding| finding.severity >= input.least);
        findings.sort_by(|a, b| key(a).cmp(&key(b)));
        number_repeats(&mut findings);
        Ok(findings)
    }

    /// Brings the facts up to date, with several threads.
    fn read(&mut self, input: &Input<'_>) -> Result<(), IndexError> {
        let paths: Vec<String> = input.snapshot.outline().map(|page| page.path).collect();
        let n_threads = crate::docs::threads();
        let known = &self.facts;
        let read = |path: &String| -> Result<(String, Arc<Facts>), IndexError> {
            let text = input.snapshot.text(path)?.unwrap_or_default();
            let facts = match known.get(path).filter(|facts| facts.page.text == text) {
                Some(facts) => Arc::clone(facts),
                None => Arc::new(Facts::read(path, &text, input.dialect, input.default_lang)),
            };
            Ok((path.clone(), facts))
        };
        let facts = in_parallel(&paths, n_threads, read)?;
        self.facts = facts.into_iter().collect();
        Ok(())
    }
}

/// Does the same to all of a list, and keeps its order.
fn in_parallel<T: Sync, R: Send, E: Send>(
    all: &[T],
    n_threads: usize,
    each: impl Fn(&T) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let share = all.len().div_ceil(n_threads).max(1);
    let each = &each;
    thread::scope(|scope| {
        let threads: Vec<_> = all
            .chunks(share)
            .map(|chunk| scope.spawn(move || chunk.iter().map(each).collect::<Result<Vec<R>, E>>()))
            .collect();
        let mut results = Vec::with_capacity(all.len());
        for thread in threads {
            let done = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            results.extend(done?);
        }
        Ok(results)
    })
}

fn key(finding: &Finding) -> (&str, usize, usize, &str, &str) {
    (&finding.path, finding.line, finding.column, &finding.code, &finding.message)
}

/// Gives the second and later of the same rule and name in a file a fingerprint of their own.
fn number_repeats(findings: &mut [Finding]) {
    let mut seen: BTreeMap<(String, String), usize> = BTreeMap::new();
    for finding in findings {
        let n = seen.entry((finding.code.clone(), finding.identity.clone())).or_default();
        *n += 1;
        if *n > 1 {
            finding.identity = format!("{}\n{n}", finding.identity);
        }
    }
}

/// A finding on a page.
fn found(rule: Rule, facts: &Facts, span: &Range<usize>, message: String) -> Finding {
    let (path, text) = (facts.page.path.as_str(), &facts.page.text);
    Finding::at(rule.code(), rule.severity(), path, message, text, span.clone(), 1)
}
