//! `eval`: how well graded queries are answered, as a gate.

mod against;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use botmesh_index::search::Query;
use botmesh_index::snapshot::Snapshot;
use botmesh_index::tree::TreeOptions;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value, json};

use super::docs_args::{self, ConfigArg, DocsSettings};
use super::{Failure, Outcome};
use crate::diagnostics::StandardError;
use crate::quality::{DEPTH, Found, Judged, Scores, normal_path, score};
use against::Moved;

const EXAMPLES: &str = "Examples:
  botmesh-docs eval queries.jsonl --docs docs --min-ndcg 0.8
  botmesh-docs eval dev.jsonl --corpora corpora --by kind,lang --json
  botmesh-docs eval queries.jsonl --docs docs --against .index-of-main

A line of the file: {\"query\": \"route rewrites\", \"kind\": \"phrase\", \"lang\": \"en\", \"relevant\":
  [{\"path\": \"en/guide/routing.md\", \"heading\": \"Route Rewrites\", \"grade\": 3, \"group\": 1}]}";

/// Measure how well graded queries are answered
#[derive(Clone, Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct EvalArgs {
    /// Graded queries, a JSON object a line
    #[arg(value_name = "QUERIES.jsonl")]
    queries: PathBuf,
    /// Docs folder that all queries are asked of; without it `BOTMESH_DOCS_DIR` or the settings name it
    #[arg(long, value_name = "DIR", conflicts_with = "corpora")]
    docs: Option<PathBuf>,
    /// Folder that holds a docs folder for each query's `corpus`
    #[arg(long, value_name = "DIR")]
    corpora: Option<PathBuf>,
    /// Fail (exit 1) when nDCG@10 is below this
    #[arg(long, value_name = "X")]
    min_ndcg: Option<f64>,
    /// Say which queries moved since this index was written, and why
    #[arg(long, value_name = "INDEX", conflicts_with = "corpora")]
    against: Option<PathBuf>,
    /// Break the figures down by these
    #[arg(long, value_name = "KEYS", value_delimiter = ',', default_value = "kind,lang,corpus")]
    by: Vec<Key>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    config: ConfigArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Key {
    Kind,
    Lang,
    Corpus,
    Source,
}

impl Key {
    fn name(self) -> &'static str {
        match self {
            Self::Kind => "kind",
            Self::Lang => "lang",
            Self::Corpus => "corpus",
            Self::Source => "source",
        }
    }

    fn of(self, judged: &Judged) -> &str {
        match self {
            Self::Kind => &judged.kind,
            Self::Lang => &judged.lang,
            Self::Corpus => &judged.corpus,
            Self::Source => &judged.source,
        }
    }
}

type Row<'a> = (&'a Judged, Scores);

pub(super) fn run(args: &EvalArgs) -> Result<Outcome, Failure> {
    let queries = read(&args.queries)?;
    let mut rows: Vec<Row<'_>> = Vec::new();
    let mut missing: BTreeSet<(String, String)> = BTreeSet::new();
    let before = args.against.as_deref().map(docs_args::written).transpose()?;
    let mut moved: Vec<Moved<'_>> = Vec::new();
    for (corpus, folder, options) in folders(args, &queries)? {
        let snapshot = docs_args::read(&folder, options, None)?;
        for judged in
            queries.iter().filter(|judged| corpus.is_none_or(|corpus| judged.corpus == corpus))
        {
            rows.push((judged, score(judged, &ask(&snapshot, judged)?)));
            if let Some(before) = &before {
                let compared = against::compare(before, &snapshot, judged);
                moved.extend(compared.map_err(|error| docs_args::failure(&error))?);
            }
            let paths = judged.relevant.iter().map(|relevant| normal_path(&relevant.path));
            missing.extend(
                paths
                    .filter(|path| !snapshot.has_page(path))
                    .map(|path| (judged.corpus.clone(), path)),
            );
        }
    }
    for (corpus, path) in &missing {
        let of_corpus = if corpus.is_empty() { String::new() } else { format!(" of {corpus}") };
        let _ = writeln!(
            StandardError,
            "warning: expected page is not indexed: `{path}`{of_corpus}\n  help: correct the query, or bring the page back"
        );
    }
    let ndcg = Scores::mean(rows.iter().map(|(_, scores)| scores)).ndcg;
    let is_low = args.min_ndcg.is_some_and(|least| ndcg < least);
    if let Some(least) = args.min_ndcg.filter(|_| is_low) {
        let _ = writeln!(StandardError, "error: nDCG@10 is too low: {ndcg:.4}, not {least}");
    }
    let text = if args.json {
        let mut value = as_json(&rows, &args.by, &missing);
        if before.is_some() {
            value["moved"] = against::as_json(&moved);
        }
        format!("{value:#}\n")
    } else {
        let mut text = as_table(&rows, &args.by);
        if before.is_some() {
            text += &against::as_text(&moved, rows.len());
        }
        text
    };
    Ok(Outcome { text, has_findings: is_low })
}

/// A corpus, its folder and its rules.
type Asked<'q> = (Option<&'q str>, PathBuf, TreeOptions);

/// The folders to ask, each with the corpus that it answers for and its rules.
fn folders<'q>(args: &EvalArgs, queries: &'q [Judged]) -> Result<Vec<Asked<'q>>, Failure> {
    let Some(corpora) = &args.corpora else {
        let help = "pass `--docs DIR`, or `--corpora DIR` for several";
        let config = args.config.load(docs_args::folder_flags(args.docs.as_deref(), None))?;
        let docs = DocsSettings::of(&config);
        return Ok(vec![(None, docs.required_folder(help)?, docs.options)]);
    };
    let names: BTreeSet<&str> = queries.iter().map(|judged| judged.corpus.as_str()).collect();
    let is_plain = |name: &str| !name.is_empty() && !name.contains(['/', '\\']) && name != "..";
    if let Some(odd) = names.iter().find(|name| !is_plain(name)) {
        return Err(Failure::new(format!("corpus is no folder's name: `{odd}`"))
            .with_help("give each query a `corpus`, or pass `--docs DIR`"));
    }
    let folder = |name| (Some(name), corpora.join(name), TreeOptions::default());
    Ok(names.into_iter().map(folder).collect())
}

fn read(file: &Path) -> Result<Vec<Judged>, Failure> {
    let name = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::new(format!("queries cannot be read: `{name}`: {}", super::reason(&error)))
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let mut queries = Vec::new();
    for (at, line) in lines {
        let judged = serde_json::from_str(line).map_err(|error| {
            Failure::new(format!("query cannot be read: `{name}:{}`: {error}", at + 1))
                .with_help("each line is a JSON object with `query` and `relevant`")
        })?;
        queries.push(judged);
    }
    if queries.is_empty() {
        return Err(Failure::new(format!("no queries: `{name}`")));
    }
    Ok(queries)
}

fn ask(snapshot: &Snapshot, judged: &Judged) -> Result<Vec<Found>, Failure> {
    let query = Query { text: judged.query.clone(), limit: DEPTH, ..Query::default() };
    let reply = snapshot.search(&query).map_err(|error| docs_args::failure(&error))?;
    let found = reply.hits.into_iter().map(|hit| Found { path: hit.path, heading: hit.heading });
    Ok(found.collect())
}

/// The rows of each value of a key, in the values' order.
fn groups<'r, 'q>(rows: &'r [Row<'q>], key: Key) -> BTreeMap<&'q str, Vec<&'r Scores>> {
    let mut groups: BTreeMap<&str, Vec<&Scores>> = BTreeMap::new();
    for (judged, scores) in rows {
        groups.entry(key.of(judged)).or_default().push(scores);
    }
    groups
}

fn as_table(rows: &[Row<'_>], by: &[Key]) -> String {
    let mut text = format!("{:<22} {:>4} ", "", "n");
    let names = Scores::default().columns().map(|(name, _)| format!("{name:>8}"));
    let _ = writeln!(text, "{}", names.join(" "));
    let mut line = |name: &str, scores: &[&Scores]| {
        let means =
            Scores::mean(scores.iter().copied()).columns().map(|(_, mean)| format!("{mean:>8.3}"));
        let _ = writeln!(text, "{name:<22} {:>4} {}", scores.len(), means.join(" "));
    };
    line("all", &rows.iter().map(|(_, scores)| scores).collect::<Vec<_>>());
    for &key in by {
        for (value, scores) in groups(rows, key) {
            // A file whose lines say nothing of the key has nothing to break down.
            if value.is_empty() && scores.len() == rows.len() {
                continue;
            }
            line(&format!("{}={value}", key.name()), &scores);
        }
    }
    text
}

fn as_json(rows: &[Row<'_>], by: &[Key], missing: &BTreeSet<(String, String)>) -> Value {
    let means = |scores: &[&Scores]| {
        let mut value = json!({ "n": scores.len() });
        for (name, mean) in Scores::mean(scores.iter().copied()).columns() {
            value[name] = json!((mean * 10_000.0).round() / 10_000.0);
        }
        value
    };
    let all: Vec<&Scores> = rows.iter().map(|(_, scores)| scores).collect();
    let mut groups_by = Map::new();
    for &key in by {
        let each =
            groups(rows, key).into_iter().map(|(value, scores)| (value.to_owned(), means(&scores)));
        groups_by.insert(key.name().to_owned(), Value::Object(each.collect()));
    }
    let missing = missing.iter().map(|(corpus, path)| json!({ "corpus": corpus, "path": path }));
    json!({
        "all": means(&all),
        "by": groups_by,
        "not_indexed": missing.collect::<Vec<_>>(),
    })
}
