//! The HTTP side of `serve`: its flags, what it refuses, and what it says at the start.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::Arc;

use clap::{Args, ValueEnum};

use super::super::Failure;
use crate::config::{Config, Flags, Value};
use crate::diagnostics::StandardError;
use crate::http;
use crate::mcp::session::Server;
use crate::moment::Moment;
use crate::state::State;

/// How the server is reached over HTTP.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Over HTTP")]
pub(super) struct HttpArgs {
    /// Serve Streamable HTTP at this address instead of standard input and output; without ADDR at that of the settings,
    /// else at 127.0.0.1:6060
    #[arg(long, value_name = "ADDR", num_args = 0..=1)]
    http: Option<Vec<SocketAddr>>,
    /// Ask nobody for a token; only on a loopback address
    #[arg(long, requires = "http")]
    insecure_no_auth: bool,
    /// URL of the server for its clients, behind a proxy
    #[arg(long, value_name = "URL", requires = "http")]
    public_url: Option<String>,
    /// Host that requests may name, besides loopback's and that of `--public-url`; may be given again
    #[arg(long, value_name = "HOST", requires = "http")]
    allow_host: Vec<String>,
    /// Write the log as text or as JSON, a line an event
    #[arg(long, value_enum, value_name = "FORMAT", requires = "http")]
    log_format: Option<LogFormat>,
    /// Write the arguments of calls into the log
    #[arg(long, requires = "http")]
    log_queries: bool,
    /// Do not say at /mcp/server-card where the server is
    #[arg(long, requires = "http")]
    no_server_card: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

impl LogFormat {
    fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

impl HttpArgs {
    /// Whether HTTP was asked for. Settings alone never open a port.
    pub(super) fn is_asked(&self) -> bool {
        self.http.is_some()
    }

    /// What the flags say.
    pub(super) fn flags(&self) -> Flags {
        let address = self.http.as_ref().and_then(|given| given.first());
        let address = address.map(|address| Value::Text(address.to_string()));
        let hosts = (!self.allow_host.is_empty()).then(|| Value::List(self.allow_host.clone()));
        let flags = [
            ("http.addr", address),
            ("http.public_url", self.public_url.clone().map(Value::Text)),
            ("http.allowed_hosts", hosts),
            ("logs.format", self.log_format.map(|format| Value::Text(format.name().to_owned()))),
            ("logs.queries", self.log_queries.then_some(Value::Switch(true))),
            ("mcp.server_card", self.no_server_card.then_some(Value::Switch(false))),
        ];
        flags.into_iter().filter_map(|(key, value)| Some((key, value?))).collect()
    }

    /// Serves until the process is asked to end.
    pub(super) fn serve(&self, config: &Config, server: Server) -> Result<(), Failure> {
        let address = config.text("http.addr").and_then(|text| text.parse().ok());
        let address: SocketAddr = address.expect("the settings take addresses alone");
        let state = self.door(address, server.context().state.clone())?;
        let options = http::Options {
            address,
            public_url: config.text("http.public_url").map(str::to_owned),
            hosts: config.list("http.allowed_hosts").to_vec(),
            log_queries: config.is_on("logs.queries"),
            server_card: config.is_on("mcp.server_card"),
        };
        let announce = |url: &str, public: Option<&str>| {
            let public = public.map_or(String::new(), |public| format!(", for clients {public}"));
            let _ = writeln!(StandardError, "serving MCP at {url}{public}");
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

    /// The tokens to ask for; `None` when nobody is asked.
    fn door(
        &self,
        address: SocketAddr,
        state: Option<Arc<State>>,
    ) -> Result<Option<Arc<State>>, Failure> {
        if self.insecure_no_auth {
            if address.ip().is_loopback() {
                return Ok(None);
            }
            let message = format!("`--insecure-no-auth` serves loopback only, not {address}");
            let help = "listen on 127.0.0.1, or ask for tokens with `--state DIR`";
            return Err(Failure::new(message).with_help(help));
        }
        let Some(state) = state else {
            let help = "name the folder of its tokens with `--state DIR`, after `botmesh-docs token create --state DIR`; on loopback `--insecure-no-auth` serves everybody";
            return Err(Failure::new("the HTTP server needs tokens").with_help(help));
        };
        if !state.tokens().has_active(Moment::now())? {
            let help =
                "make one with `botmesh-docs token create`; the server need not be started again";
            let _ = writeln!(StandardError, "warning: no token is accepted yet\n  help: {help}");
        }
        Ok(Some(state))
    }
}
