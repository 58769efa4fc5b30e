//! `outline`: the pages of a folder, or the headings of a page.

use std::fmt::Write as _;

use anstyle::{AnsiColor, Style};
use clap::Args;
use serde_json::Value;

use super::docs_args::DocsArgs;
use super::{Failure, Outcome};
use crate::tools;

const EXAMPLES: &str = "Examples:
  botmesh-docs outline --docs docs
  botmesh-docs outline --docs docs es/
  botmesh-docs outline --docs docs en/searching.md";

const NAME: Style = Style::new().bold();
const PLACE: Style = AnsiColor::Cyan.on_default();
const NOTE: Style = Style::new().dimmed();

/// List the pages, or the headings of one page
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct OutlineArgs {
    /// A page, or a folder; all pages without it
    path: Option<String>,
    #[command(flatten)]
    docs: DocsArgs,
    /// Only pages in this language
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
    /// Print what the `docs_outline` tool replies, uncut
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &OutlineArgs) -> Result<Outcome, Failure> {
    let (snapshot, _) = args.docs.snapshot()?;
    let lang = args.lang.as_ref().map(|lang| lang.to_lowercase());
    let (value, list) = tools::outline_value(&snapshot, args.path.as_deref(), lang.as_deref())?;
    if args.json {
        return Ok(format!("{value:#}\n").into());
    }
    let mut text = String::new();
    let entries = value[list].as_array().map_or(&[][..], Vec::as_slice);
    if list == "headings" {
        headings(&value, entries, &mut text);
    } else {
        pages(entries, &mut text);
    }
    if let Some(hint) = value["hint"].as_str() {
        let _ = writeln!(text, "{hint}");
    }
    Ok(text.into())
}

fn word<'a>(value: &'a Value, member: &str) -> &'a str {
    value[member].as_str().unwrap_or_default()
}

fn pages(pages: &[Value], text: &mut String) {
    let width =
        pages.iter().map(|page| word(page, "path").chars().count()).max().unwrap_or(0).min(60);
    for page in pages {
        let (path, title, lang) = (word(page, "path"), word(page, "title"), word(page, "lang"));
        let gap = " ".repeat(width.saturating_sub(path.chars().count()));
        let sections = tools::count(page["sections"].as_u64().unwrap_or(0) as usize, "section");
        let _ = writeln!(
            text,
            "{PLACE}{path}{PLACE:#}{gap}  {NAME}{title}{NAME:#}  {NOTE}{lang}, {sections}{NOTE:#}"
        );
    }
}

fn headings(page: &Value, headings: &[Value], text: &mut String) {
    let (path, title, lang) = (word(page, "path"), word(page, "title"), word(page, "lang"));
    let lines = &page["lines"];
    let _ = writeln!(
        text,
        "{PLACE}{path}{PLACE:#}  {NAME}{title}{NAME:#}  {NOTE}{lang}, {lines} lines{NOTE:#}"
    );
    for heading in headings {
        let level = heading["level"].as_u64().unwrap_or(0) as usize;
        let indent = "  ".repeat(level.max(1));
        let name = word(heading, "heading");
        let anchor = word(heading, "anchor");
        let sign = if anchor.is_empty() { "" } else { "#" };
        let (first, last, chars) = (&heading["lines"][0], &heading["lines"][1], &heading["chars"]);
        let _ = writeln!(
            text,
            "{indent}{name}  {PLACE}{sign}{anchor}{PLACE:#}  {NOTE}lines {first}-{last}, {chars} characters{NOTE:#}"
        );
    }
}
