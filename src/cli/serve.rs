//! `serve`: the MCP server on standard input and output.

use std::io;
use std::sync::Arc;

use crate::mcp::session::Server;
use crate::mcp::stdio;
use crate::tools::Context;

/// Serves one client over standard input and output, until it leaves.
///
/// # Errors
/// A thread cannot be started.
pub fn run(context: Context) -> io::Result<()> {
    stdio::serve(Arc::new(Server::new(context)), io::stdin(), io::stdout())
}
