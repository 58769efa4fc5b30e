//! The tools of stored flows: which there are, what they say, running one, and what earlier runs gave.

use serde_json::{Value, json};

use super::arguments::nesting_error;
use super::docs::{self, number, text};
use super::paged::{Cursors, Part, piece};
use super::{Arguments, Context, Tool, ToolReply};
use crate::error::{ErrorCode, ToolError};
use crate::flow::analyze::validate_all;
use crate::flow::check::{Validation, summary, validate};
use crate::flow::digest::digest;
use crate::flow::issue::Issue;
use crate::flow::model::Flow;
use crate::flow::reader::{self, Document, ReadError};
use crate::flow::simulate::{Script, simulate};
use crate::flows::{Entry, FlowFolder, FlowsError};
use crate::moment::Moment;
use crate::scope::Scope;
use crate::state::State;
use crate::state::StateError;
use crate::state::runs::{NewRun, RunSummary};
use crate::suggest;

/// Entries of a list when the caller does not say how many.
const DEFAULT_LIMIT: usize = 20;

/// The tools of a folder of flows.
pub(super) const READING: &[Tool] = &[LIST, GET];

/// The tools that need a state folder as well.
pub(super) const RUNNING: &[Tool] = &[RUN, GET_RUN];

const LIST: Tool = Tool {
    name: "flow_list",
    title: "List stored flows",
    description: "The flows stored on this server, by name, with what each is made of. Use flow_get to read one, flow_run to run one.",
    input_schema: r#"{"type":"object","properties":{"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},"cursor":{"type":"string","maxLength":128,"description":"page.next_cursor of the last reply"}},"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"items":{"type":"array","items":{"type":"object"}},"total":{"type":"integer"},"page":{"type":"object"},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run: list,
};

const GET: Tool = Tool {
    name: "flow_get",
    title: "Read a stored flow",
    description: "The document of a stored flow, whether it is valid, and its digest; long ones in pieces of their steps. flow_list names the flows.",
    input_schema: r#"{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":1024,"description":"Name from flow_list"},"cursor":{"type":"string","maxLength":128,"description":"page.next_cursor of the last reply: more steps"}},"required":["name"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"page":{"type":"object"},"name":{"type":"string"},"document":{"type":"object"},"digest":{"type":"string"},"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run: get,
};

const RUN: Tool = Tool {
    name: "flow_run",
    title: "Run a stored flow",
    description: "Simulate a stored flow on scripted replies and record the run. Flows that it calls are taken from the stored ones. Answers run_id and what flow_simulate answers. An invalid flow is not run.",
    input_schema: r#"{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":1024,"description":"Name from flow_list"},"inputs":{"type":"array","maxItems":1000,"items":{"type":["string","object"],"properties":{"timeout":{"type":"boolean"},"type":{"type":"string"}},"additionalProperties":false},"description":"Replies in order: text, {\"timeout\":true} or {\"type\":\"image\"}"},"variables":{"type":"object","description":"Starting values; also \"contact.name\" etc."},"handlers":{"type":"object","additionalProperties":{"type":"array","items":{"type":"object"}},"description":"Handler name to results in order: {\"value\":…} or {\"error\":true}; the last repeats"},"locale":{"type":"string"},"maxSteps":{"type":"integer","minimum":1,"maximum":10000,"description":"Step limit (500)"}},"required":["name"],"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"run_id":{"type":"string"},"name":{"type":"string"},"digest":{"type":"string"},"status":{"type":"string"},"outcome":{"type":"string"},"at":{"type":"string"},"transcript":{"type":"array","items":{"type":"object"}},"visited":{"type":"array","items":{"type":"string"}},"variables":{"type":"object"},"output":{"type":"object"},"unusedInputs":{"type":"integer"},"coverage":{"type":"object"},"page":{"type":"object"},"valid":{"type":"boolean"},"issues":{"type":"array","items":{"type":"object"}},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRun,
    is_read_only: false,
    run: run_flow,
};

const GET_RUN: Tool = Tool {
    name: "flow_get_run",
    title: "See recorded runs",
    description: "One recorded run with what it was given and what came of it, a long transcript in pieces, or, without run_id, the latest runs of one flow or of all.",
    input_schema: r#"{"type":"object","properties":{"run_id":{"type":"string","minLength":1,"maxLength":64,"description":"From flow_run"},"name":{"type":"string","minLength":1,"maxLength":1024,"description":"Only runs of this flow"},"limit":{"type":"integer","minimum":1,"maximum":100,"default":20},"cursor":{"type":"string","maxLength":128,"description":"page.next_cursor of the last reply"}},"additionalProperties":false}"#,
    output_schema: r#"{"type":"object","properties":{"runs":{"type":"array","items":{"type":"object"}},"page":{"type":"object"},"run_id":{"type":"string"},"name":{"type":"string"},"digest":{"type":"string"},"finished":{"type":"string"},"status":{"type":"string"},"request":{"type":"object"},"outcome":{"type":"string"},"at":{"type":"string"},"transcript":{"type":"array","items":{"type":"object"}},"visited":{"type":"array","items":{"type":"string"}},"variables":{"type":"object"},"output":{"type":"object"},"unusedInputs":{"type":"integer"},"coverage":{"type":"object"},"error":{"type":"object"}}}"#,
    scope: Scope::FlowRead,
    is_read_only: true,
    run: get_run,
};

fn list(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let entries = folder(context)?.list().map_err(|error| flows_error(&error))?;
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    let cursors = Cursors::new(&[&[LIST.name], &names[..]].concat());
    let start = start(LIST.name, arguments, &cursors)?;
    let limit = limit(arguments);
    // Only the flows that may be shown are read.
    let end = entries.len().min(start.saturating_add(limit));
    let items = entries.iter().enumerate().map(|(at, entry)| match (start..end).contains(&at) {
        true => described(entry),
        false => Value::Null,
    });
    let value = json!({ "items": items.collect::<Vec<_>>(), "total": entries.len() });
    let max_bytes = context.max_reply_bytes;
    let part = Part { list: "/items", start, limit, max_bytes };
    let (value, text) = piece(value, part, &cursors);
    Ok(ToolReply { value, text: Some(text) })
}

/// What a list says of a flow. One that cannot be read is listed, too: its owner should know.
fn described(entry: &Entry) -> Value {
    let mut value = json!({ "name": entry.name });
    let text = match entry.text() {
        Ok(text) => text,
        Err(error) => {
            value["valid"] = false.into();
            value["problem"] = error.to_string().into();
            return value;
        }
    };
    match reader::read(&text) {
        Ok(document) => {
            let validation = validate(&document);
            value["valid"] = validation.is_valid().into();
            if validation.is_valid() {
                let of_flow = summary(&Flow::new(&document.root));
                for member in ["id", "steps", "locales", "subflows"] {
                    value[member] = of_flow[member].clone();
                }
                value["digest"] = digest(&document.root).into();
            } else {
                value["problem"] = docs::count(validation.issues.len(), "issue").into();
            }
        }
        Err(error) => {
            value["valid"] = false.into();
            value["problem"] = format!("must be JSON: {error}").into();
        }
    }
    value
}

fn get(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let entry = find(folder(context)?, arguments)?;
    let text = entry.text().map_err(|error| flows_error(&error))?;
    let document = match open(&entry.name, &text)? {
        Ok(document) => document,
        Err(validation) => return Ok(named(&entry.name, validation.to_value()).into()),
    };
    let validation = validate(&document);
    let mut value = named(&entry.name, json!({ "valid": validation.is_valid() }));
    if validation.is_valid() {
        value["digest"] = digest(&document.root).into();
    } else {
        value["issues"] = validation.to_value()["issues"].take();
    }
    value["document"] = document.root.to_value();
    // A long document comes in pieces of its steps.
    let cursors = Cursors::new(&[GET.name, &entry.name, &text]);
    let start = start(GET.name, arguments, &cursors)?;
    if !value["document"]["steps"].is_array() {
        return Ok(value.into());
    }
    Ok(in_pieces(context, value, "/document/steps", start, &cursors))
}

fn run_flow(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let (folder, state) = (folder(context)?, state(context)?);
    let entry = find(folder, arguments)?;
    let text = entry.text().map_err(|error| flows_error(&error))?;
    let document = match open(&entry.name, &text)? {
        Ok(document) => document,
        Err(validation) => return Ok(named(&entry.name, validation.to_value()).into()),
    };
    let texts = others(folder, &entry)?;
    let subflows = called(&document, &texts);
    let validation = validate_all(&document, &subflows);
    if !validation.is_valid() {
        return Ok(named(&entry.name, validation.to_value()).into());
    }
    let mut request = json!({});
    for name in ["inputs", "variables", "handlers", "locale", "maxSteps"] {
        if let Some(value) = arguments.get(name) {
            request[name] = value.clone();
        }
    }
    let flow = Flow::new(&document.root);
    let flows: Vec<Flow<'_>> = subflows.iter().map(|subflow| Flow::new(&subflow.root)).collect();
    let result = simulate(&flow, &flows, &Script::from_value(&request)).to_value();
    let digest = digest(&document.root);
    let run = NewRun {
        flow: &entry.name,
        digest: &digest,
        finished: Moment::now(),
        request: &request,
        result: &result,
    };
    let id = state.runs().record(run).map_err(|error| state_error(&error))?;
    let value = json!({ "run_id": id, "name": entry.name, "digest": digest });
    let cursors = Cursors::new(&[GET_RUN.name, &id]);
    Ok(in_pieces(context, joined(value, result), "/transcript", 0, &cursors))
}

fn get_run(context: &Context, arguments: &Arguments) -> Result<ToolReply, ToolError> {
    let runs = state(context)?.runs();
    if let Some(id) = text(arguments, "run_id") {
        let run = runs.get(id).map_err(|error| state_error(&error))?.ok_or_else(|| {
            ToolError::new(ErrorCode::NotFound, "no such run")
                .with_hint("flow_get_run without `run_id` lists the runs")
        })?;
        let cursors = Cursors::new(&[GET_RUN.name, id]);
        let start = start(GET_RUN.name, arguments, &cursors)?;
        let mut value = shown(&run.summary);
        value["request"] = run.request;
        return Ok(in_pieces(context, joined(value, run.result), "/transcript", start, &cursors));
    }
    let flow = text(arguments, "name");
    let cursors = Cursors::new(&[GET_RUN.name, flow.unwrap_or_default()]);
    let below = match text(arguments, "cursor") {
        None => None,
        Some(cursor) => Some(cursors.read(GET_RUN.name, cursor)?),
    };
    let limit = limit(arguments);
    // One more than is shown tells whether there is a next piece.
    let mut found = runs.list(flow, below, limit + 1).map_err(|error| state_error(&error))?;
    let is_cut = found.len() > limit;
    found.truncate(limit);
    let mut value = json!({ "runs": found.iter().map(shown).collect::<Vec<_>>() });
    value["page"] = json!({ "truncated": is_cut });
    if let Some(last) = found.last().filter(|_| is_cut) {
        value["page"]["next_cursor"] = cursors.write(last.number).into();
    }
    Ok(value.into())
}

fn shown(run: &RunSummary) -> Value {
    json!({
        "run_id": run.id,
        "name": run.flow,
        "digest": run.digest,
        "finished": run.finished,
        "status": run.status,
    })
}

/// An answer about a flow, with its name in front.
fn named(name: &str, answer: Value) -> Value {
    joined(json!({ "name": name }), answer)
}

/// The members of two objects, in their order.
fn joined(mut first: Value, mut second: Value) -> Value {
    for (member, content) in second.as_object_mut().into_iter().flatten() {
        first[member] = content.take();
    }
    first
}

/// Where the list of a reply goes on.
fn start(tool: &str, arguments: &Arguments, cursors: &Cursors) -> Result<usize, ToolError> {
    match text(arguments, "cursor") {
        None => Ok(0),
        Some(cursor) => cursors.read(tool, cursor).map(|place| place as usize),
    }
}

/// A reply with as much of its list as it may hold.
fn in_pieces(
    context: &Context,
    value: Value,
    list: &str,
    start: usize,
    cursors: &Cursors,
) -> ToolReply {
    let max_bytes = context.max_reply_bytes;
    let (value, text) = piece(value, Part { list, start, limit: usize::MAX, max_bytes }, cursors);
    ToolReply { value, text: Some(text) }
}

fn limit(arguments: &Arguments) -> usize {
    number(arguments, "limit").map_or(DEFAULT_LIMIT, |limit| limit as usize)
}

fn folder(context: &Context) -> Result<&FlowFolder, ToolError> {
    context.flows.as_ref().ok_or_else(|| {
        ToolError::new(ErrorCode::Unavailable, "this server has no stored flows")
            .with_hint("start it with `--flows DIR`")
    })
}

fn state(context: &Context) -> Result<&State, ToolError> {
    context.state.as_deref().ok_or_else(|| {
        ToolError::new(ErrorCode::Unavailable, "this server keeps no runs")
            .with_hint("start it with `--state DIR`")
    })
}

/// The flow that the argument `name` names, by the listing.
fn find(folder: &FlowFolder, arguments: &Arguments) -> Result<Entry, ToolError> {
    const MAX_SHOWN_CHARS: usize = 80;
    let name = text(arguments, "name").unwrap_or_default();
    let entries = folder.list().map_err(|error| flows_error(&error))?;
    if let Some(entry) = entries.iter().find(|entry| entry.name == name) {
        return Ok(entry.clone());
    }
    let shown: String = name.escape_debug().take(MAX_SHOWN_CHARS).collect();
    let error =
        ToolError::new(ErrorCode::NotFound, format!("no stored flow of this name: `{shown}`"));
    Err(match suggest::nearest(name, entries.iter().map(|entry| entry.name.as_str())) {
        Some(near) => error.with_hint(suggest::hint(near)),
        None => error.with_hint("flow_list names the flows"),
    })
}

/// Reads a document. The second answer is what is wrong with it.
fn open<'t>(name: &str, text: &'t str) -> Result<Result<Document<'t>, Validation>, ToolError> {
    let invalid = |message: String| Ok(Err(Validation::of_issues(vec![Issue::new("", message)])));
    match reader::read(text) {
        Ok(document) if !document.defects.is_empty() => {
            Ok(Err(Validation::of_issues(document.defects)))
        }
        Ok(document) if !document.root.is_object() => invalid("must be object".to_owned()),
        Ok(document) => Ok(Ok(document)),
        Err(ReadError::TooDeep { .. }) => Err(nesting_error(GET.name, name)),
        Err(error) => invalid(format!("must be JSON: {error}")),
    }
}

/// The texts of all stored flows but one. What cannot be read is missing where it is called.
fn others(folder: &FlowFolder, but: &Entry) -> Result<Vec<String>, ToolError> {
    let entries = folder.list().map_err(|error| flows_error(&error))?;
    let others = entries.iter().filter(|entry| *entry != but);
    Ok(others.filter_map(|entry| entry.text().ok()).collect())
}

/// The valid flows among `texts` that a document calls, directly or through another; of two with one id the first.
fn called<'t>(document: &Document<'_>, texts: &'t [String]) -> Vec<Document<'t>> {
    let read = texts.iter().filter_map(|text| reader::read(text).ok());
    let mut stored: Vec<Document<'t>> =
        read.filter(|document| validate(document).is_valid()).collect();
    let ids = |document: &Document<'_>| -> Vec<String> {
        let flow = Flow::new(&document.root);
        flow.references().into_iter().map(|(_, id, _)| id.to_owned()).collect()
    };
    let mut wanted = ids(document);
    let mut found: Vec<Document<'t>> = Vec::new();
    let own = document.root.str_of("id").unwrap_or_default().to_owned();
    while let Some(id) = wanted.pop() {
        let is_it = |document: &Document<'_>| document.root.str_of("id") == Some(&id);
        if id == own || found.iter().any(is_it) {
            continue;
        }
        if let Some(at) = stored.iter().position(is_it) {
            let subflow = stored.remove(at);
            wanted.extend(ids(&subflow));
            found.push(subflow);
        }
    }
    found
}

fn flows_error(error: &FlowsError) -> ToolError {
    ToolError::new(ErrorCode::Unavailable, error.to_string())
        .with_hint("the server's owner can mend the folder of `--flows DIR`")
}

/// An error of the state as a caller may see it: the place is its owner's business.
fn state_error(error: &StateError) -> ToolError {
    tracing::error!(%error, "state");
    ToolError::new(ErrorCode::Unavailable, "the server's state cannot be read or written")
        .with_hint("try again; the server's log says why")
}
