//! `serve`, and the program without a verb: the MCP server on standard input and output.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use botmesh_index::watch::Watch;
use clap::{Args, ValueEnum};

use super::docs_args::{TreeArgs, written};
use super::{Failure, Outcome};
use crate::diagnostics::StandardError;
use crate::docs::{self, DocsHandle, Source};
use crate::http;
use crate::mcp::session::Server;
use crate::mcp::stdio;
use crate::state::State;
use crate::tools::Context;

const EXAMPLES: &str = "Examples:
  botmesh-docs serve --docs docs
  botmesh-docs serve --docs docs --index .index
  botmesh-docs serve --docs docs --http 127.0.0.1:6060 --state .state
  BOTMESH_DOCS_DIR=docs botmesh-docs";

/// Serve MCP over standard input and output, or over HTTP
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
    #[command(flatten)]
    http: HttpArgs,
}

/// How the server is reached over HTTP.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
struct HttpArgs {
    /// Serve Streamable HTTP at this address instead of standard input and output, such as 127.0.0.1:6060
    #[arg(long, value_name = "ADDR")]
    http: Option<SocketAddr>,
    /// Folder with the tokens that `botmesh-docs token create` makes
    #[arg(long, value_name = "DIR", env = "BOTMESH_STATE_DIR", requires = "http")]
    state: Option<PathBuf>,
    /// Ask nobody for a token; only on a loopback address
    #[arg(long, requires = "http", conflicts_with = "state")]
    insecure_no_auth: bool,
    /// URL of the server for its clients, behind a proxy
    #[arg(long, value_name = "URL", requires = "http")]
    public_url: Option<String>,
    /// Host that requests may name, besides loopback's and that of `--public-url`; may be given again
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Do not say at /mcp/server-card where the server is
    #[arg(long, requires = "http")]
    no_server_card: bool,
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
    let server = Server::new(context);
    match args.http.http {
        Some(address) => args.http.serve(address, server)?,
        None => stdio::serve(server, io::stdin(), io::stdout()).map_err(cannot_start)?,
    }
    Ok(Outcome::default())
}

impl HttpArgs {
    fn serve(&self, address: SocketAddr, server: Server) -> Result<(), Failure> {
        let state = match &self.state {
            Some(folder) => Some(Arc::new(open_state(folder)?)),
            None if !self.insecure_no_auth => {
                let help = "name the folder of its tokens with `--state DIR`, after `botmesh-docs token create --state DIR`; on loopback `--insecure-no-auth` serves everybody";
                return Err(Failure::new("the HTTP server needs tokens").with_help(help));
            }
            None if !address.ip().is_loopback() => {
                let message = format!("`--insecure-no-auth` serves loopback only, not {address}");
                let help = "listen on 127.0.0.1, or ask for tokens with `--state DIR`";
                return Err(Failure::new(message).with_help(help));
            }
            None => None,
        };
        let options = http::Options {
            address,
            public_url: self.public_url.clone(),
            hosts: self.allow_host.clone(),
            server_card: !self.no_server_card,
        };
        let announce = |url: &str| {
            let _ = writeln!(StandardError, "serving MCP at {url}");
        };
        http::serve(server, options, state, announce).map_err(|error| {
            let reason = match error.kind() {
                io::ErrorKind::AddrInUse => "another program listens there".to_owned(),
                kind => kind.to_string(),
            };
            Failure::new(format!("server cannot listen on {address}: {reason}"))
                .with_help("name another address with `--http ADDR`")
        })
    }
}

fn open_state(folder: &Path) -> Result<State, Failure> {
    State::open(folder).map_err(|error| Failure::new(error.to_string()))
}
