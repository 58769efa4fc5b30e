//! `search`: what `docs_search` finds, for a person or as JSON.

use std::io::IsTerminal as _;

use botmesh_index::search::{MAX_LIMIT, Query};
use clap::Args;

use super::docs_args::DocsArgs;
use super::hits::{Look, render};
use super::{Failure, Outcome};
use crate::tools;

const EXAMPLES: &str = "Examples:
  botmesh-docs search --docs docs how ranking works
  botmesh-docs search --docs docs --lang es --limit 3 reanudar una conversación
  botmesh-docs search --docs docs --json -- --min-ndcg";

/// Find the sections that answer a query
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SearchArgs {
    /// Words to look for; no character is an operator
    #[arg(required = true, value_name = "QUERY")]
    words: Vec<String>,
    #[command(flatten)]
    docs: DocsArgs,
    /// At most so many sections, 1 to 25
    #[arg(
        long,
        value_name = "N",
        default_value_t = tools::DEFAULT_LIMIT as u8,
        value_parser = clap::value_parser!(u8).range(1..=MAX_LIMIT as i64)
    )]
    limit: u8,
    /// Only pages in this language
    #[arg(long, value_name = "LANG")]
    lang: Option<String>,
    /// Only pages below this folder, or matching this glob
    #[arg(long, value_name = "PATH")]
    path: Option<String>,
    /// Print what the `docs_search` tool replies
    #[arg(long)]
    json: bool,
    /// Say how each score came about
    #[arg(long)]
    explain: bool,
}

pub(super) fn run(args: &SearchArgs) -> Result<Outcome, Failure> {
    let query = Query {
        text: args.words.join(" "),
        limit: usize::from(args.limit),
        lang: args.lang.as_ref().map(|lang| lang.to_lowercase()),
        path: args.path.as_ref().map(|path| path.trim_start_matches('/').to_owned()),
        explain: args.explain,
    };
    let (snapshot, folder) = args.docs.snapshot()?;
    let answer = tools::search(&snapshot, &query)?;
    if args.json {
        let value = tools::search_value(&snapshot, &query, &answer);
        return Ok(format!("{value:#}\n").into());
    }
    let link_root = folder.filter(|_| std::io::stdout().is_terminal());
    Ok(render(&snapshot, &query, &answer, &Look { link_root }).into())
}
