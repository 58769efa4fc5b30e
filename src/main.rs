//! Entry point: parse, run, exit status.

use std::io::Write;
use std::process::ExitCode;

use botmesh_docs::cli::flow::{CliError, FlowArgs, Outcome, run};
use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(version, about)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Check, draw, compare, migrate, format and simulate flow documents
    Flow(FlowArgs),
}

fn main() -> ExitCode {
    let Command::Flow(args) = Cli::parse().command;
    let mut stdout = anstream::AutoStream::auto(std::io::stdout().lock());
    let mut stderr = anstream::AutoStream::auto(std::io::stderr().lock());
    let outcome = run(&args, &mut stdout, &mut stderr).and_then(|outcome| {
        stdout.flush()?;
        Ok(outcome)
    });
    match outcome {
        Ok(Outcome::Fine) => ExitCode::SUCCESS,
        Ok(Outcome::Findings) => ExitCode::from(1),
        // A reader that has seen enough is no failure of ours.
        Err(CliError::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            // Nothing can be said when even standard error is gone.
            let _ = writeln!(stderr, "error: {error}");
            ExitCode::from(2)
        }
    }
}
