//! `token`: who may call the HTTP server.

use std::io::Write as _;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::docs_args::ConfigArg;
use super::{Failure, Outcome, serve};
use crate::config::Value;
use crate::diagnostics::StandardError;
use crate::moment::{Moment, Span};
use crate::scope::{Scope, ScopeError, Scopes};
use crate::state::tokens::{NewToken, TokenRecord};
use crate::state::{State, StateError};
use crate::suggest;

const EXAMPLES: &str = "Examples:
  botmesh-docs token create --state .state --name ci --scope docs:read --expires 30d
  botmesh-docs token list --state .state
  botmesh-docs token revoke --state .state ci";

/// Make, list and revoke tokens for the HTTP server
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    verb: TokenVerb,
}

#[derive(Clone, Debug, Subcommand)]
enum TokenVerb {
    /// Make a token and print its secret, this once
    #[command(
        after_help = "Example:\n  botmesh-docs token create --state .state --name ana --scope docs:read,flow:read"
    )]
    Create(CreateArgs),
    /// Show all tokens
    #[command(after_help = "Example:\n  botmesh-docs token list --state .state --json")]
    List(StateArgs),
    /// Refuse a token from its next request on
    #[command(after_help = "Example:\n  botmesh-docs token revoke --state .state ci")]
    Revoke {
        /// Name of the token, or its id
        #[arg(value_name = "NAME")]
        token: String,
        #[command(flatten)]
        state: StateArgs,
    },
}

#[derive(Clone, Debug, Args)]
struct CreateArgs {
    /// A name to tell it by: letters, digits and `-_.`
    #[arg(long)]
    name: String,
    /// What it may do: docs:read, flow:read, flow:run, `mcp.<server>:call`, admin:*; several with commas
    #[arg(long, value_name = "SCOPES", required = true)]
    scope: Vec<String>,
    /// How long it is accepted, like 12h, 30d or 8w; for ever without it
    #[arg(long, value_name = "SPAN")]
    expires: Option<Span>,
    #[command(flatten)]
    state: StateArgs,
}

#[derive(Clone, Debug, Args)]
struct StateArgs {
    /// Folder of the state; without it `BOTMESH_STATE_DIR` or the settings name it
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigArg,
}

impl StateArgs {
    fn open(&self) -> Result<State, Failure> {
        let folder = self.state.as_ref().map(|path| path.to_string_lossy().into_owned());
        let flags = folder.map(|folder| ("state.dir", Value::Text(folder)));
        let config = self.config.load(flags.into_iter().collect())?;
        let folder = config.folder("state.dir").ok_or_else(|| {
            Failure::new("state folder not given").with_help(
                "pass `--state DIR`, set `BOTMESH_STATE_DIR`, or write `dir` under `[state]` in `botmesh-docs.toml`",
            )
        })?;
        serve::state(&folder)
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        Self::new(error.to_string()).with_help(error.help())
    }
}

pub(super) fn run(args: &TokenArgs) -> Result<Outcome, Failure> {
    let now = Moment::now();
    match &args.verb {
        TokenVerb::Create(args) => create(args, now),
        TokenVerb::List(args) => list(args, now),
        TokenVerb::Revoke { token, state } => revoke(token, state, now),
    }
}

fn create(args: &CreateArgs, now: Moment) -> Result<Outcome, Failure> {
    let scopes: Scopes = scopes(&args.scope)?;
    let expires = args.expires.map(|span| now.after(span));
    let made = args.state.open()?.tokens().create(&args.name, &scopes, now, expires)?;
    let NewToken { token, secret, .. } = &made;
    if args.state.json {
        let value = json!({
            "id": token.id,
            "name": token.name,
            "scopes": words(&token.scopes),
            "created": made.created,
            "expires": made.expires,
            "secret": secret,
        });
        return Ok(format!("{value:#}\n").into());
    }
    let until = made.expires.map_or("for ever".to_owned(), |end| format!("until {end}"));
    let _ = writeln!(
        StandardError,
        "token made: `{}` ({}), {}, accepted {until}\n  help: keep the secret now, it is shown only this once",
        token.name, token.id, token.scopes
    );
    Ok(format!("{secret}\n").into())
}

fn scopes(lists: &[String]) -> Result<Scopes, Failure> {
    let scopes: Scopes = lists.join(",").parse().map_err(|error: ScopeError| {
        let failure = Failure::new(error.to_string());
        match error.near {
            Some(near) => failure.with_help(suggest::hint(near)),
            None => failure.with_help("`docs:read` is enough to search and read the docs"),
        }
    })?;
    if scopes.is_empty() {
        return Err(Failure::new("a token without a scope may do nothing")
            .with_help("`--scope docs:read` is enough to search and read the docs"));
    }
    Ok(scopes)
}

fn words(scopes: &Scopes) -> Vec<String> {
    scopes.iter().map(Scope::to_string).collect()
}

fn list(args: &StateArgs, now: Moment) -> Result<Outcome, Failure> {
    let records = args.open()?.tokens().list()?;
    if args.json {
        let tokens: Vec<_> = records
            .iter()
            .map(|record| {
                json!({
                    "id": record.token.id,
                    "name": record.token.name,
                    "scopes": words(&record.token.scopes),
                    "created": record.created,
                    "last_used": record.last_used,
                    "expires": record.expires,
                    "state": record.validity(now),
                })
            })
            .collect();
        return Ok(format!("{:#}\n", json!({ "tokens": tokens })).into());
    }
    Ok(table(&records, now).into())
}

/// One line a token, in columns as wide as their widest word.
fn table(records: &[TokenRecord], now: Moment) -> String {
    if records.is_empty() {
        return "no token\n".to_owned();
    }
    let heads = ["name", "id", "scopes", "created", "last used", "expires", "state"];
    let moment = |moment: Option<Moment>| moment.map_or("never".to_owned(), |at| at.to_string());
    let rows = records.iter().map(|record| {
        [
            record.token.name.clone(),
            record.token.id.clone(),
            record.token.scopes.to_string(),
            record.created.to_string(),
            moment(record.last_used),
            moment(record.expires),
            record.validity(now).name().to_owned(),
        ]
    });
    let rows: Vec<_> = std::iter::once(heads.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let widths: Vec<usize> = (0..heads.len()).map(|column| width(column).unwrap_or(0)).collect();
    let line = |row: &[String; 7]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn revoke(name: &str, args: &StateArgs, now: Moment) -> Result<Outcome, Failure> {
    let state = args.open()?;
    let Some(token) = state.tokens().revoke(name, now)? else {
        let records = state.tokens().list()?;
        let shown = name.escape_debug();
        let failure = Failure::new(format!("no such token: `{shown}`"));
        let names = records.iter().map(|record| record.token.name.as_str());
        return Err(match suggest::nearest(name, names) {
            Some(near) => failure.with_help(suggest::hint(near)),
            None => failure.with_help("`botmesh-docs token list` names the tokens"),
        });
    };
    if args.json {
        let value = json!({ "id": token.id, "name": token.name, "state": "revoked" });
        return Ok(format!("{value:#}\n").into());
    }
    Ok(format!("revoked: `{}` ({})\n", token.name, token.id).into())
}
