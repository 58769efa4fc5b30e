//! Retrieval quality: graded queries, what a search gave for them, and the usual measures.
//!
//! A query lists the sections that answer it with grades from 1 (related) to 3 (answers the need). Sections that are
//! translations of each other share a group, which is gained once. Only the first ten results count.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

mod headings;

/// Results that count.
pub const DEPTH: usize = 10;
/// A section of this grade is an answer, a lower one is only related.
const GOOD_GRADE: u32 = 2;

/// One graded query.
#[derive(Clone, Debug, Deserialize)]
pub struct Judged {
    /// Names the query in messages.
    #[serde(default)]
    pub id: String,
    /// The words asked for.
    pub query: String,
    /// The tree that is asked, when there are several.
    #[serde(default)]
    pub corpus: String,
    /// Language of the query.
    #[serde(default)]
    pub lang: String,
    /// What kind of query it is.
    #[serde(default)]
    pub kind: String,
    /// Where the query comes from.
    #[serde(default)]
    pub source: String,
    /// The sections that answer it.
    pub relevant: Vec<Relevant>,
}

/// A section that answers a query.
#[derive(Clone, Debug, Deserialize)]
pub struct Relevant {
    /// Its page.
    pub path: String,
    /// Its heading as the page writes it.
    #[serde(default)]
    pub heading: String,
    /// Whether it is the text before the first heading.
    #[serde(default)]
    pub preamble: bool,
    /// 1 to 3.
    pub grade: u32,
    /// Shared by translations of each other.
    #[serde(default)]
    pub group: Option<u64>,
}

/// A search result: page and heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The page.
    pub path: String,
    /// The section's heading.
    pub heading: String,
}

/// The measures of one query, or their means over several.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scores {
    /// Gain 2^grade − 1, discount log2, each group gained once, as a share of the best order.
    pub ndcg: f64,
    /// Reciprocal rank of the first answer.
    pub mrr: f64,
    /// Whether the first result is an answer.
    pub s1: f64,
    /// Whether one of the first five is.
    pub s5: f64,
    /// Share of the groups of answers that were found.
    pub recall: f64,
    /// As `ndcg`, but each section by itself.
    pub ndcg_each: f64,
    /// Reciprocal rank of the first page that holds an answer.
    pub page_mrr: f64,
    /// Whether one of the first five pages does.
    pub page_s5: f64,
}

impl Scores {
    /// Names and values, in the order of a report.
    pub fn columns(&self) -> [(&'static str, f64); 8] {
        [
            ("nDCG@10", self.ndcg),
            ("MRR@10", self.mrr),
            ("S@1", self.s1),
            ("S@5", self.s5),
            ("R@10", self.recall),
            ("nDCGi@10", self.ndcg_each),
            ("pageMRR", self.page_mrr),
            ("pageS@5", self.page_s5),
        ]
    }

    /// The means; all zero without any.
    pub fn mean<'a>(all: impl IntoIterator<Item = &'a Scores>) -> Self {
        let mut sum = Self::default();
        let mut n = 0.0_f64;
        for one in all {
            n += 1.0;
            sum.ndcg += one.ndcg;
            sum.mrr += one.mrr;
            sum.s1 += one.s1;
            sum.s5 += one.s5;
            sum.recall += one.recall;
            sum.ndcg_each += one.ndcg_each;
            sum.page_mrr += one.page_mrr;
            sum.page_s5 += one.page_s5;
        }
        let n = n.max(1.0);
        Self {
            ndcg: sum.ndcg / n,
            mrr: sum.mrr / n,
            s1: sum.s1 / n,
            s5: sum.s5 / n,
            recall: sum.recall / n,
            ndcg_each: sum.ndcg_each / n,
            page_mrr: sum.page_mrr / n,
            page_s5: sum.page_s5 / n,
        }
    }
}

struct Expected {
    path: String,
    forms: BTreeSet<String>,
    grade: u32,
    group: u64,
}

/// Measures one query. A section that is found twice takes up two ranks and counts once.
pub fn score(judged: &Judged, results: &[Found]) -> Scores {
    let expected: Vec<Expected> = judged.relevant.iter().enumerate().map(expected).collect();
    let good_paths: BTreeSet<&str> = expected
        .iter()
        .filter(|one| one.grade >= GOOD_GRADE)
        .map(|one| one.path.as_str())
        .collect();
    let mut seen = BTreeSet::new();
    let mut best: BTreeMap<u64, u32> = BTreeMap::new();
    let mut found_groups = BTreeSet::new();
    let (mut grades, mut gains, mut is_good_page) = (Vec::new(), Vec::new(), Vec::new());
    for result in results.iter().take(DEPTH) {
        let path = normal_path(&result.path);
        let forms = headings::forms(&result.heading);
        let fits = |one: &Expected| one.path == path && !one.forms.is_disjoint(&forms);
        let mut hit: Option<usize> = None;
        for (at, one) in expected.iter().enumerate() {
            if fits(one)
                && !seen.contains(&at)
                && hit.is_none_or(|hit| one.grade > expected[hit].grade)
            {
                hit = Some(at);
            }
        }
        is_good_page.push(good_paths.contains(path.as_str()));
        let Some(hit) = hit else {
            grades.push(0);
            gains.push(0.0);
            continue;
        };
        seen.insert(hit);
        let Expected { grade, group, .. } = expected[hit];
        let known = best.entry(group).or_default();
        grades.push(grade);
        gains.push((gain(grade) - gain(*known)).max(0.0));
        *known = grade.max(*known);
        if grade >= GOOD_GRADE {
            found_groups.insert(group);
        }
    }
    let mut top: BTreeMap<u64, u32> = BTreeMap::new();
    for one in &expected {
        let known = top.entry(one.group).or_default();
        *known = one.grade.max(*known);
    }
    let n_wanted = top.values().filter(|grade| **grade >= GOOD_GRADE).count();
    let first = grades.iter().position(|grade| *grade >= GOOD_GRADE);
    let first_page = is_good_page.iter().position(|is_good| *is_good);
    let each: Vec<f64> = grades.iter().map(|grade| gain(*grade)).collect();
    Scores {
        ndcg: share(dcg(&gains), ideal(top.values().copied())),
        mrr: reciprocal(first),
        s1: f64::from(u8::from(first == Some(0))),
        s5: f64::from(u8::from(first.is_some_and(|at| at < 5))),
        recall: share(found_groups.len() as f64, n_wanted.min(DEPTH) as f64),
        ndcg_each: share(dcg(&each), ideal(expected.iter().map(|one| one.grade))),
        page_mrr: reciprocal(first_page),
        page_s5: f64::from(u8::from(first_page.is_some_and(|at| at < 5))),
    }
}

/// The grade of a result, if it is one of the sections that answer the query.
pub fn grade(judged: &Judged, result: &Found) -> Option<u32> {
    let (path, forms) = (normal_path(&result.path), headings::forms(&result.heading));
    let expected = judged.relevant.iter().enumerate().map(expected);
    expected
        .filter(|one| one.path == path && !one.forms.is_disjoint(&forms))
        .map(|one| one.grade)
        .max()
}

fn expected((at, relevant): (usize, &Relevant)) -> Expected {
    let mut forms = headings::forms(&relevant.heading);
    if relevant.preamble {
        forms.insert(String::new());
    }
    Expected {
        path: normal_path(&relevant.path),
        forms,
        grade: relevant.grade,
        group: relevant.group.unwrap_or(at as u64),
    }
}

/// A path as two lists may write it differently: no leading dots or slashes, no anchor.
pub fn normal_path(path: &str) -> String {
    let path = path.replace('\\', "/");
    let path = path.trim_start_matches(['.', '/']);
    path.split('#').next().unwrap_or_default().to_owned()
}

fn gain(grade: u32) -> f64 {
    2.0_f64.powi(grade.min(30).cast_signed()) - 1.0
}

fn dcg(gains: &[f64]) -> f64 {
    gains.iter().enumerate().map(|(at, gain)| gain / (at as f64 + 2.0).log2()).sum()
}

fn ideal(grades: impl Iterator<Item = u32>) -> f64 {
    let mut gains: Vec<f64> = grades.map(gain).collect();
    gains.sort_by(|a, b| b.total_cmp(a));
    gains.truncate(DEPTH);
    dcg(&gains)
}

fn share(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

fn reciprocal(at: Option<usize>) -> f64 {
    at.map_or(0.0, |at| 1.0 / (at as f64 + 1.0))
}

#[cfg(test)]
mod tests;
