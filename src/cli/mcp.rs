//! `mcp config`: a snippet for an MCP client. It writes no file.

use std::io::Write as _;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;

use super::docs_args::{ConfigArg, folder_flags};
use super::{Failure, Outcome};
use crate::clients::{self, Client, Note, Snippet, Transport};
use crate::config::settings::Kind;
use crate::config::{self, Value};
use crate::diagnostics::StandardError;

const EXAMPLES: &str = "Examples:
  botmesh-docs mcp config --client cursor --docs docs
  botmesh-docs mcp config --client codex --http https://docs.example.com/mcp";

/// Connect MCP clients
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct McpArgs {
    #[command(subcommand)]
    verb: McpVerb,
}

#[derive(Clone, Debug, Subcommand)]
enum McpVerb {
    /// Print what to write into a client's settings
    #[command(after_help = EXAMPLES)]
    Config(SnippetArgs),
}

#[derive(Clone, Debug, Args)]
struct SnippetArgs {
    /// The client
    #[arg(long, value_parser = PossibleValuesParser::new(Client::ALL.map(Client::name)))]
    client: String,
    /// URL of a running server; without it the client starts the program itself
    #[arg(long, value_name = "URL", conflicts_with = "docs")]
    http: Option<String>,
    /// Docs folder for the client to name; without it that of the settings, else `docs`
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// As text to paste, or as JSON for programs
    #[arg(short, long, value_enum, default_value_t)]
    output: OutputFormat,
    #[command(flatten)]
    config: ConfigArg,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum OutputFormat {
    #[default]
    Text,
    Json,
}

pub(super) fn run(args: &McpArgs) -> Result<Outcome, Failure> {
    let McpVerb::Config(args) = &args.verb;
    let client = Client::ALL.into_iter().find(|client| client.name() == args.client);
    let client = client.expect("clap takes the names of `Client::ALL` alone");
    if let Some(url) = &args.http {
        let url = url.as_str();
        if !config::fits(Kind::Url, &Value::Text(url.to_owned())) {
            let message = format!("`--http` must be {}", Kind::Url.wanted());
            return Err(Failure::new(message)
                .with_help("give the server's address, like http://127.0.0.1:6060/mcp"));
        }
        let url = clients::endpoint(url);
        let snippet = client.snippet(Transport::Http { url: &url });
        let snippet = snippet.ok_or_else(|| no_place(client))?;
        return Ok(show(args, client, "http", &snippet, Some(&clients::card_url(&url))));
    }
    let config = args.config.load(folder_flags(args.docs.as_deref(), None))?;
    let docs = config.folder("docs.dir").unwrap_or_else(|| "docs".into());
    let snippet = client.snippet(Transport::Stdio { docs: &docs.to_string_lossy() });
    let snippet = snippet.ok_or_else(|| no_place(client))?;
    Ok(show(args, client, "stdio", &snippet, None))
}

fn no_place(client: Client) -> Failure {
    let title = client.title();
    Failure::new(format!("{title} takes no HTTP server with a token in its file"))
        .with_help(format!("leave out `--http`: {title} then starts botmesh-docs itself"))
}

fn show(
    args: &SnippetArgs,
    client: Client,
    transport: &str,
    snippet: &Snippet,
    card: Option<&str>,
) -> Outcome {
    if args.output == OutputFormat::Json {
        let mut data = json!({
            "client": client.name(),
            "transport": transport,
            "file": snippet.file,
            "format": snippet.format.name(),
            "snippet": snippet.text,
        });
        let note = snippet.note.map(|note| note.to_string());
        let optional = [("command", snippet.command.clone()), ("note", note)];
        let card = card.map(str::to_owned);
        for (name, text) in optional.into_iter().chain([("server_card", card)]) {
            if let Some(text) = text {
                data[name] = text.into();
            }
        }
        return format!("{:#}\n", json!({ "data": data })).into();
    }
    if let Some(file) = snippet.file {
        let _ = writeln!(StandardError, "write this into `{file}`:");
    }
    if let Some(command) = &snippet.command {
        let _ = writeln!(StandardError, "or run: {command}");
    }
    if card.is_some() && snippet.note != Some(Note::AsksForToken) {
        let variable = clients::TOKEN_VARIABLE;
        let _ = writeln!(StandardError, "the token comes from the environment: {variable}");
    }
    if let Some(note) = snippet.note {
        let _ = writeln!(StandardError, "note: {note}");
    }
    let card = card.map(|url| format!("{url}\n")).unwrap_or_default();
    format!("{card}{}", snippet.text).into()
}
