//! A wrong command line, in the words and the form of every other error.

use clap::error::{ContextKind, ContextValue};

use super::Failure;

/// What is wrong, and the nearest right word when there is one.
pub(super) fn failure(error: &clap::Error) -> Failure {
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
    let suggestions =
        [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand, ContextKind::SuggestedValue];
    let near = suggestions.into_iter().find_map(|kind| match error.get(kind)? {
        ContextValue::String(word) => Some(word.clone()),
        // The best one comes last.
        ContextValue::Strings(words) => words.last().cloned(),
        _ => None,
    });
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("see `{} --help`", command(&text)),
    };
    Failure::new(message).with_help(help)
}

/// The command whose usage the text shows.
fn command(text: &str) -> String {
    let usage =
        text.lines().find_map(|line| line.strip_prefix("Usage: ")).unwrap_or("botmesh-docs");
    let words = usage.split(' ').take_while(|word| !word.starts_with(['[', '<', '-']));
    words.collect::<Vec<_>>().join(" ")
}
