//! A wrong command line, in the words and the form of every other error.

use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue};

use super::Failure;

/// What is wrong, and the nearest right word when there is one.
pub(super) fn failure(error: &clap::Error, command: &Command, arguments: &[OsString]) -> Failure {
    let text = error.render().to_string();
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let mut message = first.strip_prefix("error: ").unwrap_or(first).replace('\'', "`");
    if message.ends_with(':') {
        // Missing arguments stand on lines of their own.
        let missing: Vec<&str> =
            lines.take_while(|line| line.starts_with(['<', '-', '['])).collect();
        message = format!("{message} {}", missing.join(" "));
    }
    let words = |kind| match error.get(kind) {
        Some(ContextValue::String(word)) => vec![word.clone()],
        Some(ContextValue::Strings(words)) => words.clone(),
        _ => Vec::new(),
    };
    let accepted = words(ContextKind::ValidValue);
    if !accepted.is_empty() {
        message = format!("{message} (accepted: {})", accepted.join(", "));
    }
    let near =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    // The best one comes last.
    let help = match near.into_iter().find_map(|kind| words(kind).pop()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("see `{} --help`", asked(command, arguments)),
    };
    Failure::new(message).with_help(help)
}

/// The command that was asked for, as far as it is one.
fn asked(command: &Command, arguments: &[OsString]) -> String {
    let verb = arguments.iter().skip(1).find_map(|word| command.find_subcommand(word));
    let verb = verb.map(|verb| format!(" {}", verb.get_name())).unwrap_or_default();
    format!("{}{verb}", command.get_name())
}
