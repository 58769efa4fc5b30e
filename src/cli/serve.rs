//! `serve`: the MCP server on standard input and output.

use std::io;

use crate::mcp::session::Server;
use crate::mcp::stdio;
use crate::tools::Context;

/// Serves one client over standard input and output, until it leaves.
///
/// # Errors
/// A thread cannot be started.
pub fn run(context: Context) -> io::Result<()> {
    stdio::serve(Server::new(context), io::stdin(), io::stdout())
}
