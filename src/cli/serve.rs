//! `serve`, and the program without a verb: the MCP server on standard input and output.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use super::docs_args::TreeArgs;
use super::{Failure, Outcome};
use crate::diagnostics::StandardError;
use crate::docs::{self, DocsHandle};
use crate::mcp::session::Server;
use crate::mcp::stdio;
use crate::tools::Context;

const EXAMPLES: &str = "Examples:
  botmesh-docs serve --docs docs
  BOTMESH_DOCS_DIR=docs botmesh-docs";

/// Serve MCP over standard input and output
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` names it, and without both there are no docs tools
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArgs,
}

/// Serves one client until it leaves. A docs folder that is not there is reported, and the docs tools stay away.
pub(super) fn run(args: &ServeArgs) -> Result<Outcome, Failure> {
    let cannot_start =
        |error: io::Error| Failure::new(format!("server cannot start: {}", error.kind()));
    let mut context = Context::default();
    if let Some(folder) = docs::folder(args.docs.clone()) {
        match docs::open(&folder, &args.tree.options()) {
            Ok(tree) => {
                let handle = DocsHandle::start(tree, &context.closing).map_err(cannot_start)?;
                context.docs = Some(handle);
            }
            Err(error) => {
                let help = "serving without the docs tools; name a folder with `--docs DIR`";
                let _ = writeln!(StandardError, "warning: {error}\n  help: {help}");
            }
        }
    }
    stdio::serve(Server::new(context), io::stdin(), io::stdout()).map_err(cannot_start)?;
    Ok(Outcome::default())
}
