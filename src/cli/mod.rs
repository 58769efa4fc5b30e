//! The command line, one file a verb.
//!
//! A verb takes its arguments and gives an [`Outcome`]: the text for standard output and whether it holds findings.
//! Everything else is said on standard error. Exit status: 0 fine, 1 findings, 2 wrong usage or a run that failed.

mod baseline;
mod completions;
mod config;
mod docs_args;
mod doctor;
mod eval;
mod explanation;
pub mod flow;
mod hits;
mod man;
mod mcp;
mod outline;
mod page;
mod progress;
mod reindex;
mod search;
pub mod serve;
mod token;
mod usage;
mod written;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

use clap::{CommandFactory as _, Parser, Subcommand};

use crate::diagnostics::{self, Format, StandardError};
use crate::error::ToolError;

/// Wider help is hard to read.
const MAX_HELP_WIDTH: usize = 100;

const EXAMPLES: &str = "Examples:
  botmesh-docs --docs docs                     serve docs/ to an agent
  botmesh-docs search --docs docs exact words  find sections from the command line
  botmesh-docs page --docs docs en/index.md    read a page";

/// Search bilingual Markdown docs and check bot flows: one MCP server and command line.
///
/// Without a command it is the MCP server on standard input and output.
#[derive(Debug, Parser)]
#[command(
    name = "botmesh-docs",
    version,
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    max_term_width = MAX_HELP_WIDTH,
    after_help = EXAMPLES
)]
struct Cli {
    #[command(flatten)]
    serve: serve::ServeArgs,
    #[command(subcommand)]
    verb: Option<Verb>,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Serve(serve::ServeArgs),
    Search(search::SearchArgs),
    Page(page::PageArgs),
    Outline(outline::OutlineArgs),
    Reindex(reindex::ReindexArgs),
    Eval(eval::EvalArgs),
    Doctor(doctor::DoctorArgs),
    /// Check, draw, compare, migrate, format and simulate flow documents
    Flow(flow::FlowArgs),
    Mcp(mcp::McpArgs),
    Token(token::TokenArgs),
    Config(config::ConfigArgs),
    Completions(completions::CompletionsArgs),
    Man(man::ManArgs),
}

/// What a verb ends with.
#[derive(Debug, Default)]
struct Outcome {
    /// For standard output; styles are taken out where they are not wanted.
    text: String,
    /// Whether something was found that a build should fail for.
    has_findings: bool,
}

impl From<String> for Outcome {
    fn from(text: String) -> Self {
        Self { text, has_findings: false }
    }
}

/// Why a run failed: one sentence, and what to do.
#[derive(Debug)]
struct Failure {
    message: String,
    help: Option<String>,
}

impl Failure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), help: None }
    }

    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

impl From<ToolError> for Failure {
    fn from(error: ToolError) -> Self {
        let help = error.hint.map(|hint| hint.replace("docs_outline", "`botmesh-docs outline`"));
        Self { message: error.message, help }
    }
}

/// Reads the command line, does what it says, and gives the exit status.
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    const FAILED: u8 = 2;
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    let cli = match Cli::try_parse_from(&arguments) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            say(&usage::failure(&error, &Cli::command(), &arguments));
            return ExitCode::from(FAILED);
        }
        // Help and version are results.
        Err(error) => return finish(Ok(error.render().ansi().to_string().into())),
    };
    // A server's settings say how its diagnostics look.
    if !matches!(cli.verb, None | Some(Verb::Serve(_))) {
        diagnostics::start(Format::Text);
    }
    finish(match cli.verb {
        None => serve::run(&cli.serve),
        Some(Verb::Serve(args)) => serve::run(&args),
        Some(Verb::Search(args)) => search::run(&args),
        Some(Verb::Page(args)) => page::run(&args),
        Some(Verb::Outline(args)) => outline::run(&args),
        Some(Verb::Reindex(args)) => reindex::run(&args),
        Some(Verb::Eval(args)) => eval::run(&args),
        Some(Verb::Doctor(args)) => doctor::run(&args),
        Some(Verb::Flow(args)) => run_flow(&args),
        Some(Verb::Mcp(args)) => mcp::run(&args),
        Some(Verb::Token(args)) => token::run(&args),
        Some(Verb::Config(args)) => config::run(&args),
        Some(Verb::Completions(args)) => Ok(completions::run(&args)),
        Some(Verb::Man(_)) => man::run(),
    })
}

fn run_flow(args: &flow::FlowArgs) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    let outcome = flow::run(args, &mut text, &mut StandardError)
        .map_err(|error| Failure::new(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|_| Failure::new("output is not UTF-8"))?;
    Ok(Outcome { text, has_findings: outcome == flow::Outcome::Findings })
}

/// What the system says, in its plainest words.
fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "no such file or folder".to_owned(),
        kind => kind.to_string(),
    }
}

fn finish(result: Result<Outcome, Failure>) -> ExitCode {
    const FAILED: u8 = 2;
    let failure = match result {
        Ok(Outcome { text, has_findings }) => match print(&text) {
            // Whoever closed the pipe has seen enough.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                Failure::new(format!("output cannot be written: {}", error.kind()))
            }
            _ => return ExitCode::from(u8::from(has_findings)),
        },
        Err(failure) => failure,
    };
    say(&failure);
    ExitCode::from(FAILED)
}

fn print(text: &str) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let mut output = anstream::stdout().lock();
    output.write_all(text.as_bytes())?;
    output.flush()
}

fn say(failure: &Failure) {
    let _ = writeln!(StandardError, "error: {}", failure.message);
    if let Some(help) = &failure.help {
        let _ = writeln!(StandardError, "  help: {help}");
    }
}
