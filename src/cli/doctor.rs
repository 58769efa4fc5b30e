//! `doctor`: whether docs, index, watches and server are as they should be, tried for real.

mod determinism;
mod handshake;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use botmesh_index::anchor::Dialect;
use botmesh_index::error::IndexError;
use botmesh_index::live::Live;
use botmesh_index::store::{Stored, Writing, who_writes};
use botmesh_index::tree::{DocsTree, TreeOptions};
use botmesh_index::update::Touched;
use botmesh_index::watch::{Watch, Watcher};
use clap::Args;
use serde_json::json;

use super::docs_args::{NAME_DOCS, TreeArgs, failure};
use super::written::what_changed;
use super::{Failure, Outcome};
use crate::cache::IndexFolder;
use crate::docs;
use crate::tools::count;

const EXAMPLES: &str = "Examples:
  botmesh-docs doctor --docs docs
  botmesh-docs doctor --docs docs --index .index --json
  botmesh-docs doctor --docs docs --determinism";

/// Look whether docs, index, watches and server are in order
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct DoctorArgs {
    /// Docs folder; without it `BOTMESH_DOCS_DIR` or the settings name it
    #[arg(long, value_name = "DIR")]
    docs: Option<PathBuf>,
    /// Index to look at; without it the one in your cache folder
    #[arg(long, value_name = "DIR")]
    index: Option<PathBuf>,
    /// Also index the docs in several ways and compare the results byte by byte
    #[arg(long)]
    determinism: bool,
    /// Print the checks as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tree: TreeArgs,
}

/// How a check ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    Fine,
    /// Worth knowing, and no fault.
    Note,
    Fault,
}

impl Health {
    fn name(self) -> &'static str {
        match self {
            Self::Fine => "ok",
            Self::Note => "note",
            Self::Fault => "fault",
        }
    }
}

/// One line of the report.
#[derive(Clone, Debug)]
struct Check {
    name: &'static str,
    health: Health,
    message: String,
    help: Option<String>,
}

impl Check {
    fn new(name: &'static str, health: Health, message: impl Into<String>) -> Self {
        Self { name, health, message: message.into(), help: None }
    }

    fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

pub(super) fn run(args: &DoctorArgs) -> Result<Outcome, Failure> {
    let settings = args.tree.docs(args.docs.as_deref(), args.index.as_deref())?;
    let docs = settings.required_folder(NAME_DOCS)?;
    let options = settings.options;
    let tree = docs::open(&docs, &options).map_err(|error| failure(&error))?;
    let scan = tree.scan();
    let anchors = match tree.dialect() {
        Dialect::GitHub => "GitHub's",
        Dialect::VitePress => "VitePress's",
    };
    let pages = count(scan.paths.len(), "page");
    let problems = count(scan.problems.len(), "problem");
    let mut checks = vec![Check::new(
        "docs",
        Health::Fine,
        format!(
            "`{}`: {pages}, {problems} of files and folders, {anchors} anchors",
            docs.display()
        ),
    )];
    let index = match &settings.index {
        Some(path) => Some(IndexFolder::given(path)),
        None => IndexFolder::of_tree(&docs),
    };
    match index {
        Some(index) => {
            checks.extend([look_at_index(&index, &tree, &options), look_at_lock(&index)]);
        }
        None => checks.push(
            Check::new("index", Health::Note, "you have no cache folder")
                .with_help("name a folder with `--index DIR`"),
        ),
    }
    checks.push(look_at_watches(tree.root(), &scan.folders));
    checks.push(handshake::check(&docs, args));
    if args.determinism {
        checks.push(determinism::check(&tree, &scan.paths).map_err(|error| failure(&error))?);
    }
    let has_findings = checks.iter().any(|check| check.health == Health::Fault);
    let text = if args.json { as_json(&checks) } else { checks.iter().map(line).collect() };
    Ok(Outcome { text, has_findings })
}

fn look_at_index(folder: &IndexFolder, tree: &DocsTree, options: &TreeOptions) -> Check {
    let shown = &folder.shown;
    match Stored::open(&folder.path) {
        Ok(None) => Check::new("index", Health::Note, format!("`{shown}`: none yet"))
            .with_help("`botmesh-docs reindex` writes it; servers start quicker with it"),
        Err(error) => Check::new("index", Health::Fault, format!("`{shown}`: {}", error.reason()))
            .with_help("`botmesh-docs reindex` makes it anew"),
        Ok(Some(stored)) => {
            let rules = stored.rules().clone();
            let globs = |flag: &str, globs: &[String]| -> Vec<String> {
                globs.iter().map(|glob| format!(", {flag} `{glob}`")).collect()
            };
            let rules =
                [globs("--exclude", &rules.exclude), globs("--include", &rules.include)].concat();
            let rules = rules.concat();
            let mut live = Live::from_stored(tree.root(), options, stored);
            let snapshot = live.snapshot();
            let sections = count(snapshot.n_sections(), "section");
            let size = count(snapshot.n_pages(), "page");
            let held = format!("`{shown}`: {sections} in {size}{rules}");
            match live.refresh(&Touched::new(), SystemTime::now(), docs::threads(), &|_, _| ()) {
                Ok(changes) if changes.is_empty() => {
                    Check::new("index", Health::Fine, format!("{held}: fresh"))
                }
                Ok(changes) => Check::new(
                    "index",
                    Health::Note,
                    format!("{held}: stale: {}", what_changed(&changes)),
                )
                .with_help(
                    "servers bring it up to date in memory; `botmesh-docs reindex` does it for all",
                ),
                Err(error) => Check::new("index", Health::Fault, format!("{held}: {error}")),
            }
        }
    }
}

fn look_at_lock(folder: &IndexFolder) -> Check {
    let message = match who_writes(&folder.path) {
        Writing::Nobody => "nobody is writing the index".to_owned(),
        Writing::Process(Some(id)) => format!("process {id} is writing the index"),
        Writing::Process(None) => "another process is writing the index".to_owned(),
    };
    Check::new("writer", Health::Fine, message)
}

fn look_at_watches(root: &Path, folders: &[String]) -> Check {
    const LIMITS: [&str; 2] = ["max_user_watches", "max_user_instances"];
    let limit = |name: &&str| {
        let limit = fs::read_to_string(format!("/proc/sys/fs/inotify/{name}")).ok()?;
        Some(format!(", fs.inotify.{name} = {}", limit.trim()))
    };
    let limits: String = LIMITS.iter().filter_map(limit).collect();
    match Watcher::new(root, Watch::Events).follow(folders) {
        Ok(_) => {
            let message = format!("{} can be watched{limits}", count(folders.len(), "folder"));
            Check::new("watch", Health::Fine, message)
        }
        Err(error) => Check::new("watch", Health::Note, format!("{error}{limits}"))
            .with_help("raise the limit; until then servers look at the docs every second"),
    }
}

fn line(check: &Check) -> String {
    let style = match check.health {
        Health::Fine => anstyle::AnsiColor::Green,
        Health::Note => anstyle::AnsiColor::Yellow,
        Health::Fault => anstyle::AnsiColor::Red,
    };
    let (name, health) = (check.name, check.health.name());
    let style = style.on_default();
    let help = check.help.as_ref().map(|help| format!("{:20}help: {help}\n", ""));
    let help = help.unwrap_or_default();
    format!("{style}{health:<5}{style:#}  {name:<11}  {}\n{help}", check.message)
}

fn as_json(checks: &[Check]) -> String {
    let checks: Vec<_> = checks
        .iter()
        .map(|check| {
            let mut value = json!({
                "name": check.name,
                "health": check.health.name(),
                "message": check.message,
            });
            if let Some(help) = &check.help {
                value["help"] = help.as_str().into();
            }
            value
        })
        .collect();
    format!("{:#}\n", json!({ "checks": checks }))
}
