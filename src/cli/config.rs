//! `config`: which settings a server would run with, and who says so.

use clap::Args;
use serde_json::json;

use super::serve::ServeArgs;
use super::{Failure, Outcome};
use crate::config::settings::Setting;
use crate::config::{Config, Set, Source};

const EXAMPLES: &str = "Examples:
  botmesh-docs config --show
  botmesh-docs config --show --docs docs --json";

/// Show the settings that `serve` would use with the same flags
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ConfigArgs {
    /// Print every setting with its value and where it comes from
    #[arg(long, required = true)]
    show: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    serve: ServeArgs,
}

pub(super) fn run(args: &ConfigArgs) -> Result<Outcome, Failure> {
    let config = args.serve.settings()?;
    Ok(if args.json { as_json(&config) } else { as_text(&config) }.into())
}

/// Longer lines have their source right behind them.
const MAX_COLUMN: usize = 48;

/// One line a setting: a line for `botmesh-docs.toml`, and behind it where the value comes from.
fn as_text(config: &Config) -> String {
    let line = |(setting, set): (&Setting, &Set)| match &set.value {
        Some(value) => format!("{} = {value}", setting.key),
        None => format!("# {} is not set", setting.key),
    };
    let lines: Vec<(String, &Set)> = config.all().map(|pair| (line(pair), pair.1)).collect();
    let width = |line: &str| line.chars().count();
    let widths = lines.iter().map(|(line, _)| width(line)).filter(|width| *width <= MAX_COLUMN);
    let column = widths.max().unwrap_or(0);
    let with_source = |(line, set): &(String, &Set)| match (&set.value, source(config, set)) {
        (Some(_), source) => format!("{line:<column$}  # {source}\n"),
        (None, _) => format!("{line}\n"),
    };
    lines.iter().map(with_source).collect()
}

fn source(config: &Config, set: &Set) -> String {
    match set.source {
        Source::Flag => "flag".to_owned(),
        Source::Environment(name) => format!("environment: {name}"),
        Source::File(line) => format!("{}:{line}", file(config)),
        Source::Default => "default".to_owned(),
    }
}

fn file(config: &Config) -> String {
    config.file().map(|path| path.display().to_string()).unwrap_or_default()
}

fn as_json(config: &Config) -> String {
    let settings: Vec<_> = config
        .all()
        .map(|(setting, set)| {
            let source = match set.source {
                Source::Flag => json!({ "kind": "flag" }),
                Source::Environment(name) => json!({ "kind": "environment", "variable": name }),
                Source::File(line) => {
                    json!({ "kind": "file", "file": file(config), "line": line })
                }
                Source::Default => json!({ "kind": "default" }),
            };
            json!({ "key": setting.key, "value": set.value, "source": source })
        })
        .collect();
    format!("{:#}\n", json!({ "settings": settings }))
}
