//! `serve`, and the program without a verb: the MCP server on standard input and output, or over HTTP.

mod over_http;

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};

use over_http::HttpArgs;

use super::docs_args::{DocsSettings, TreeArgs, written};
use super::{Failure, Outcome};
use crate::config::{Config, Value};
use crate::diagnostics::StandardError;
use crate::docs::{self, DocsHandle, Source};
use crate::flows::FlowFolder;
use crate::mcp::session::Server;
use crate::mcp::stdio;
use crate::state::State;
use crate::tools::exposure::{Exposure, ExposureError};
use crate::tools::{self, Context, Tool};

const EXAMPLES: &str = "Examples:
  botmesh-docs serve --docs docs
  botmesh-docs serve --docs docs --index .index
  botmesh-docs serve --docs docs --flows flows --state .state
  botmesh-docs serve --docs docs --http 127.0.0.1:6060 --state .state
  BOTMESH_DOCS_DIR=docs botmesh-docs";

/// Serve MCP over standard input and output, or over HTTP
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct ServeArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` or the settings name it, and without all there are no docs tools
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Index that `reindex --index DIR` wrote, for a quick start; without it the one in your cache folder. It is only read
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// How changes of the docs are noticed; `auto` without it
    #[arg(long, value_enum, value_name = "HOW")]
    watch: Option<WatchArg>,
    /// Serve the docs as they are at the start
    #[arg(long, conflicts_with = "watch")]
    no_watch: bool,
    /// Folder of stored flows, `*.flow.json`
    #[arg(long, value_name = "DIR")]
    flows: Option<PathBuf>,
    /// Folder for tokens and recorded runs; without it `BOTMESH_STATE_DIR` or the settings name it
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    #[command(flatten)]
    tree: TreeArgs,
    #[command(flatten)]
    http: HttpArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum WatchArg {
    /// By events of the file system; every second when there are none
    Auto,
    /// By looking every second, for mounts that send no events
    Poll,
}

impl ServeArgs {
    /// The settings of the server.
    pub(super) fn settings(&self) -> Result<Config, Failure> {
        let mut flags = self.tree.flags(self.docs.as_deref(), self.index.as_deref());
        let watch = match self.watch {
            _ if self.no_watch => Some("off"),
            Some(WatchArg::Auto) => Some("auto"),
            Some(WatchArg::Poll) => Some("poll"),
            None => None,
        };
        let path = |path: &Option<PathBuf>| Some(path.as_ref()?.to_string_lossy().into_owned());
        let texts = [
            ("docs.watch", watch.map(str::to_owned)),
            ("flows.dir", path(&self.flows)),
            ("state.dir", path(&self.state)),
        ];
        let texts = texts.into_iter().filter_map(|(key, text)| Some((key, Value::Text(text?))));
        flags.extend(texts);
        flags.extend(self.http.flags());
        self.tree.config.load(flags)
    }
}

/// Serves one client until it leaves. A docs folder that is not there is reported, and the docs tools stay away.
pub(super) fn run(args: &ServeArgs) -> Result<Outcome, Failure> {
    let config = args.settings()?;
    let context = context(&config)?;
    let tools = offered(&config, &context)?;
    let server = Server::with_tools(context, tools);
    if args.http.is_asked() {
        args.http.serve(&config, server)?;
    } else {
        stdio::serve(server, io::stdin(), io::stdout()).map_err(|error| cannot_start(&error))?;
    }
    Ok(Outcome::default())
}

fn cannot_start(error: &io::Error) -> Failure {
    Failure::new(format!("server cannot start: {}", error.kind()))
}

/// What the tools run with.
fn context(config: &Config) -> Result<Context, Failure> {
    let mut context = Context::default();
    let DocsSettings { folder, index, options, watch } = DocsSettings::of(config);
    if let Some(folder) = folder {
        match docs::open(&folder, &options) {
            Ok(_) => {
                let source = Source { folder, options, index, watch };
                let handle = DocsHandle::start(source, &context.closing)
                    .map_err(|error| cannot_start(&error))?;
                context.docs = Some(handle);
            }
            Err(error) => {
                let help = "serving without the docs tools; name a folder with `--docs DIR`";
                let _ = writeln!(StandardError, "warning: {error}\n  help: {help}");
            }
        }
    } else if let Some(index) = &index {
        context.docs = Some(DocsHandle::ready(written(index)?));
    }
    if let Some(folder) = config.folder("flows.dir") {
        context.flows = Some(stored_flows(&folder)?);
    }
    if let Some(folder) = config.folder("state.dir") {
        context.state = Some(Arc::new(state(&folder)?));
    }
    if let Some(max_bytes) = config.number("mcp.max_output_bytes") {
        context.max_reply_bytes = max_bytes;
    }
    Ok(context)
}

fn stored_flows(folder: &Path) -> Result<FlowFolder, Failure> {
    FlowFolder::open(folder).map_err(|error| {
        Failure::new(format!("{error}: `{}`", folder.display()))
            .with_help("name the folder that holds the *.flow.json with `--flows DIR`")
    })
}

/// The state in a folder.
pub(super) fn state(folder: &Path) -> Result<State, Failure> {
    State::open(folder).map_err(Failure::from)
}

/// The tools that the settings let out.
fn offered(config: &Config, context: &Context) -> Result<Vec<&'static Tool>, Failure> {
    let (include, exclude) = (config.list("mcp.include"), config.list("mcp.exclude"));
    let exposure = Exposure::new(include, exclude).map_err(|error| {
        let failure = Failure::new(format!("settings cannot be used: `mcp`: {error}"));
        match error {
            ExposureError::Unknown { near: Some(near), .. } => {
                failure.with_help(format!("did you mean `{near}`?"))
            }
            ExposureError::Unknown { near: None, .. } => {
                failure.with_help("name a capability like `docs` or an operation like `flow.run`")
            }
            ExposureError::Denied { .. } => {
                failure.with_help("take it out of `include` under `[mcp]`")
            }
        }
    })?;
    Ok(tools::catalogue(context).into_iter().filter(|tool| exposure.allows(tool)).collect())
}
