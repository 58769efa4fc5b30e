//! `serve`, and the program without a verb: the MCP server on standard input and output.

use std::io::{self, Write as _};
use std::path::PathBuf;

use botmesh_index::watch::Watch;
use clap::{Args, ValueEnum};

use super::docs_args::{TreeArgs, written};
use super::{Failure, Outcome};
use crate::diagnostics::StandardError;
use crate::docs::{self, DocsHandle, Source};
use crate::mcp::session::Server;
use crate::mcp::stdio;
use crate::tools::Context;

const EXAMPLES: &str = "Examples:
  botmesh-docs serve --docs docs
  botmesh-docs serve --docs docs --index .index
  BOTMESH_DOCS_DIR=docs botmesh-docs";

/// Serve MCP over standard input and output
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` names it, and without both there are no docs tools
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Index that `reindex --index DIR` wrote, for a quick start; without it the one in your cache folder. It is only read
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// How changes of the docs are noticed
    #[arg(long, value_enum, default_value_t, value_name = "HOW")]
    watch: WatchArg,
    /// Serve the docs as they are at the start
    #[arg(long, conflicts_with = "watch")]
    no_watch: bool,
    #[command(flatten)]
    tree: TreeArgs,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum WatchArg {
    /// By events of the file system; every second when there are none
    #[default]
    Auto,
    /// By looking every second, for mounts that send no events
    Poll,
}

impl ServeArgs {
    fn watch(&self) -> Watch {
        match self.watch {
            _ if self.no_watch => Watch::Off,
            WatchArg::Auto => Watch::Events,
            WatchArg::Poll => Watch::Poll,
        }
    }
}

/// Serves one client until it leaves. A docs folder that is not there is reported, and the docs tools stay away.
pub(super) fn run(args: &ServeArgs) -> Result<Outcome, Failure> {
    let cannot_start =
        |error: io::Error| Failure::new(format!("server cannot start: {}", error.kind()));
    let mut context = Context::default();
    if let Some(folder) = docs::folder(args.docs.clone()) {
        let (options, index, watch) = (args.tree.options(), args.index.clone(), args.watch());
        match docs::open(&folder, &options) {
            Ok(_) => {
                let source = Source { folder, options, index, watch };
                let handle = DocsHandle::start(source, &context.closing).map_err(cannot_start)?;
                context.docs = Some(handle);
            }
            Err(error) => {
                let help = "serving without the docs tools; name a folder with `--docs DIR`";
                let _ = writeln!(StandardError, "warning: {error}\n  help: {help}");
            }
        }
    } else if let Some(index) = &args.index {
        context.docs = Some(DocsHandle::ready(written(index)?));
    }
    stdio::serve(Server::new(context), io::stdin(), io::stdout()).map_err(cannot_start)?;
    Ok(Outcome::default())
}
