//! `botmesh-docs flow …`: flow documents for people and CI.
//!
//! [`files`] reads and writes, [`check`] is `validate` and `analyze`, [`edit`] is `migrate` and `format`, [`show`] the
//! rest.

mod check;
mod edit;
mod files;
mod show;

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};

use crate::report::Format;

/// What `botmesh-docs flow` takes.
#[derive(Debug, Args)]
pub struct FlowArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: FlowCommand,
}

/// The verbs.
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub enum FlowCommand {
    /// Check that documents are right
    #[command(after_help = "Example:\n  botmesh-docs flow validate flows/ --format github")]
    Validate {
        /// Documents, folders of *.flow.json, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// How findings are written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
    },
    /// Validate, lint and draw documents
    #[command(
        after_help = "Examples:\n  botmesh-docs flow analyze flows/ --deny warning\n  botmesh-docs flow analyze order.flow.json --mermaid -o order.mmd"
    )]
    Analyze {
        /// Documents, folders of *.flow.json, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Flows that the documents call or start
        #[arg(long, value_name = "FILE", num_args = 1..)]
        subflows: Vec<PathBuf>,
        /// How findings are written
        #[arg(long, value_enum, default_value_t)]
        format: Format,
        /// Also fail on findings of this level and above
        #[arg(long, value_enum, value_name = "LEVEL")]
        deny: Option<Deny>,
        /// Write the drawing in Mermaid's language, of one document
        #[arg(long)]
        mermaid: bool,
        /// Where the drawing goes; standard output when absent
        #[arg(short, long, value_name = "FILE", requires = "mermaid")]
        output: Option<PathBuf>,
        /// Where the drawing grows to
        #[arg(long, value_parser = ["TD", "LR", "TB", "RL", "BT"], default_value = "TD", requires = "mermaid")]
        direction: String,
    },
    /// Bring documents of version 0 or 1 to a newer version
    #[command(after_help = "Example:\n  botmesh-docs flow migrate --write flows/")]
    Migrate {
        /// Documents, folders of *.flow.json, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// The version to reach
        #[arg(long, value_name = "VERSION", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=2))]
        target: u8,
        /// Change the files instead of printing
        #[arg(long)]
        write: bool,
    },
    /// Show what changed between two documents
    #[command(
        after_help = "Example:\n  botmesh-docs flow diff old.flow.json new.flow.json --exit-code"
    )]
    Diff {
        /// The document before
        left: PathBuf,
        /// The document after
        right: PathBuf,
        /// Print the answer of the tool instead of a review
        #[arg(long)]
        json: bool,
        /// Exit with 1 when something changed
        #[arg(long)]
        exit_code: bool,
    },
    /// Print the digests of documents
    #[command(after_help = "Example:\n  botmesh-docs flow digest order.flow.json")]
    Digest {
        /// Documents, folders of *.flow.json, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
    },
    /// Print the JSON Schema of documents
    #[command(after_help = "Example:\n  botmesh-docs flow schema > flow.schema.json")]
    Schema,
    /// Print a document that uses every kind of step
    #[command(after_help = "Example:\n  botmesh-docs flow example > demo.flow.json")]
    Example,
    /// Run a document on a script of replies
    #[command(
        after_help = "Examples:\n  botmesh-docs flow simulate greet.flow.json --input Ana\n  botmesh-docs flow simulate order.flow.json --script happy.json --subflows pay.flow.json"
    )]
    Simulate {
        /// The document
        file: PathBuf,
        /// A reply, in order; repeat it
        #[arg(long = "input", value_name = "TEXT", allow_hyphen_values = true)]
        inputs: Vec<String>,
        /// A JSON object with inputs, variables, handlers, locale, maxSteps
        #[arg(long, value_name = "FILE")]
        script: Option<PathBuf>,
        /// Flows that the document calls
        #[arg(long, value_name = "FILE", num_args = 1..)]
        subflows: Vec<PathBuf>,
        /// The user's locale
        #[arg(long)]
        locale: Option<String>,
        /// Print the answer of the tool instead of the conversation
        #[arg(long)]
        json: bool,
    },
    /// Lay documents out in the one way
    #[command(after_help = "Example:\n  botmesh-docs flow format --check flows/")]
    Format {
        /// Documents, folders of *.flow.json, or - for standard input
        #[arg(required = true, value_name = "FILE")]
        files: Vec<PathBuf>,
        /// Change the files instead of printing
        #[arg(long, conflicts_with = "check")]
        write: bool,
        /// Name the files that are laid out otherwise, and exit with 1 if there are any
        #[arg(long)]
        check: bool,
    },
}

/// The level from which findings fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Deny {
    /// Warnings and errors.
    Warning,
    /// Everything.
    Info,
}

/// How a run that worked came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Exit status 0.
    Fine,
    /// Exit status 1.
    Findings,
}

impl Outcome {
    fn of(has_findings: bool) -> Self {
        if has_findings { Self::Findings } else { Self::Fine }
    }
}

/// Why a run failed: exit status 2.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CliError {
    /// A file cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Read {
        /// As it was given.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// A file cannot be written.
    #[error("cannot write `{path}`: {reason}")]
    Write {
        /// As it was given.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// The command line asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
    /// The output is gone.
    #[error(transparent)]
    Output(#[from] io::Error),
}

/// Runs a verb. Results go to `stdout`, progress and diagnostics of the run to `stderr`. Both get styles: wrap them in
/// `anstream::AutoStream`, which strips styles where they are not wanted (no terminal, `NO_COLOR`).
pub fn run(
    args: &FlowArgs,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Outcome, CliError> {
    match &args.command {
        FlowCommand::Validate { files, format } => check::validate(files, *format, stdout, stderr),
        FlowCommand::Analyze { files, subflows, format, deny, mermaid, output, direction } => {
            let (subflows, output) = (subflows.as_slice(), output.as_deref());
            if *mermaid {
                check::draw(files, subflows, direction, output, *format, stdout)
            } else {
                check::analyze(files, subflows, *format, *deny, stdout, stderr)
            }
        }
        FlowCommand::Migrate { files, target, write } => {
            edit::migrate(files, u64::from(*target), *write, stdout, stderr)
        }
        FlowCommand::Format { files, write, check } => {
            edit::format(files, *write, *check, stdout, stderr)
        }
        FlowCommand::Diff { left, right, json, exit_code } => {
            show::diff(left, right, *json, *exit_code, stdout)
        }
        FlowCommand::Digest { files } => show::digest(files, stdout),
        FlowCommand::Schema => show::print(crate::flow::schema::SCHEMA, stdout),
        FlowCommand::Example => show::print(crate::flow::schema::EXAMPLE, stdout),
        FlowCommand::Simulate { file, inputs, script, subflows, locale, json } => {
            let script = show::script(inputs, script.as_deref(), locale.as_deref())?;
            show::simulate(file, subflows, &script, *json, stdout)
        }
    }
}
