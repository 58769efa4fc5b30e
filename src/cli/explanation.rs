//! How a score came about, as a table whose numbers multiply to it.

use std::fmt::Write as _;

use anstyle::Style;
use botmesh_index::explain::Explanation;

use crate::tools;

const NOTE: Style = Style::new().dimmed();

/// Writes the table of one hit.
pub(super) fn table(explanation: &Explanation, score: f64, indent: &str, out: &mut String) {
    let header = ["term", "found", "sections", "idf", "place", "weight", "variant", "score"];
    let mut rows: Vec<[String; 8]> = vec![header.map(str::to_owned)];
    for term in &explanation.terms {
        rows.push([
            term.term.clone(),
            term.matched.clone(),
            term.df.to_string(),
            format!("{:.4}", term.idf),
            tools::place(term.place).to_owned(),
            format!("{:.2}", term.place_weight),
            format!("{:.2}", term.variant),
            format!("{:.4}", term.score),
        ]);
    }
    let widths: Vec<usize> = (0..header.len())
        .map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0))
        .collect();
    for (at, row) in rows.iter().enumerate() {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let gap = " ".repeat(widths[column] - cell.chars().count());
            // Words to the left, numbers to the right.
            match column {
                0 | 1 | 4 => line.extend([cell.as_str(), &gap, "  "]),
                _ => line.extend([gap.as_str(), cell, "  "]),
            }
        }
        let line = line.trim_end();
        let _ = match at {
            0 => writeln!(out, "{indent}{NOTE}{line}{NOTE:#}"),
            _ => writeln!(out, "{indent}{line}"),
        };
    }
    let factors = [
        ("coverage", explanation.coverage_factor),
        ("language", explanation.language_factor),
        ("heading", explanation.heading_factor),
        ("phrase", explanation.phrase_factor),
        ("near", explanation.near_factor),
    ];
    let mut line = format!("{:.4}", explanation.base);
    for (name, factor) in factors {
        let _ = write!(line, " × {name} {factor:.4}");
    }
    let (share, ideal) = (explanation.page_share, explanation.ideal);
    let translation = explanation.translation_factor;
    let _ = writeln!(
        out,
        "{indent}100 × ({line} + page {share:.4}) × translation {translation:.4} / {ideal:.4} = {score:.4}"
    );
}
