//! `man`: the manual pages, made from the definition of the command line.

use clap::{Args, CommandFactory as _};

use super::{Cli, Failure, Outcome};

const EXAMPLES: &str = "Examples:
  botmesh-docs man | man -l -
  botmesh-docs man > botmesh-docs.1";

/// Print the manual page
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ManArgs {}

/// The page of the program, then one of each verb.
pub(super) fn run() -> Result<Outcome, Failure> {
    let mut command = Cli::command();
    command.build();
    let mut pages = Vec::new();
    let verbs = command.get_subcommands().cloned();
    for page in std::iter::once(command.clone()).chain(verbs) {
        let name = page.get_bin_name().unwrap_or_else(|| page.get_name()).replace(' ', "-");
        clap_mangen::Man::new(page.display_name(name))
            .render(&mut pages)
            .map_err(|error| Failure::new(format!("manual cannot be written: {}", error.kind())))?;
    }
    Ok(String::from_utf8_lossy(&pages).into_owned().into())
}
