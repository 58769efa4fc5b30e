//! `completions`: a script that completes this command line.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;

use super::{Cli, Outcome};

const EXAMPLES: &str = "Examples:
  botmesh-docs completions bash > ~/.local/share/bash-completion/completions/botmesh-docs
  botmesh-docs completions fish > ~/.config/fish/completions/botmesh-docs.fish";

/// Print a completion script for a shell
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

pub(super) fn run(args: &CompletionsArgs) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "botmesh-docs", &mut script);
    String::from_utf8_lossy(&script).into_owned().into()
}
