//! `page`: the Markdown of a page or of one section.

use clap::Args;

use super::docs_args::DocsArgs;
use super::{Failure, Outcome};
use crate::tools;

const EXAMPLES: &str = "Examples:
  botmesh-docs page --docs docs en/index.md
  botmesh-docs page --docs docs 'en/searching.md#exact-names'";

/// Print the Markdown of a page, or of one section with its subsections
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct PageArgs {
    /// Page below the docs folder, with `#anchor` for one section
    #[arg(value_name = "PATH[#ANCHOR]")]
    path: String,
    #[command(flatten)]
    docs: DocsArgs,
    /// Print what the `docs_page` tool replies, uncut
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &PageArgs) -> Result<Outcome, Failure> {
    let (snapshot, _) = args.docs.snapshot()?;
    let passage = tools::passage(&snapshot, &args.path, None)?;
    if args.json {
        let whole = passage.cut(None, usize::MAX, usize::MAX);
        let value = whole.map(|whole| tools::page_value(&passage, &whole)).unwrap_or_default();
        return Ok(format!("{value:#}\n").into());
    }
    // The blank lines before the next heading are not the section's business.
    let text = if passage.anchor.is_some() {
        passage.markdown.trim_end_matches(['\n', '\r'])
    } else {
        passage.markdown.strip_suffix('\n').unwrap_or(&passage.markdown)
    };
    let end = if text.is_empty() { "" } else { "\n" };
    Ok(format!("{text}{end}").into())
}
