//! Runs a valid flow on a script of replies: no clock, no randomness, no network, and never more steps than asked for.
//!
//! [`values`] is what a run computes with, [`answers`] how replies are understood, [`run`] the run itself.

mod answers;
mod run;
mod values;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::digest::canonical;
use super::json::Node;
use super::model::Flow;

/// What the user does next.
#[derive(Clone, Debug)]
pub enum Input {
    /// Writes something.
    Text(String),
    /// Does not answer in time.
    Timeout,
    /// Sends something that is no text: `image`, `location`, …
    Media(String),
}

/// What a handler does when it is called.
#[derive(Clone, Debug)]
pub enum HandlerResult {
    /// It answers.
    Value(Node<'static>),
    /// It fails.
    Error,
}

/// What a run starts from.
#[derive(Clone, Debug)]
pub struct Script {
    /// The replies, in order.
    pub inputs: Vec<Input>,
    /// Values of variables; `contact.name` and the like set system values.
    pub variables: Vec<(String, Node<'static>)>,
    /// Results of handlers by name, used in order; the last one repeats, none means null.
    pub handlers: BTreeMap<String, Vec<HandlerResult>>,
    /// The locale of the user; the flow's default when absent or not declared.
    pub locale: Option<String>,
    /// Steps after which the run stops.
    pub max_steps: usize,
}

impl Default for Script {
    fn default() -> Self {
        Self {
            inputs: Vec::new(),
            variables: Vec::new(),
            handlers: BTreeMap::new(),
            locale: None,
            max_steps: Self::DEFAULT_MAX_STEPS,
        }
    }
}

impl Script {
    /// Steps after which a run stops when nothing is said.
    pub const DEFAULT_MAX_STEPS: usize = 500;
    /// The most steps that may be asked for.
    pub const MAX_STEPS: usize = 10_000;

    /// The script of `{ inputs, variables, handlers, locale, maxSteps }`, checked against the tool's schema before.
    pub fn from_value(value: &Value) -> Self {
        let entries = |name: &str| value[name].as_object().into_iter().flatten();
        let input = |input: &Value| match (input.as_str(), input["type"].as_str()) {
            (Some(text), _) => Input::Text(text.to_owned()),
            (None, Some(media)) => Input::Media(media.to_owned()),
            (None, None) => Input::Timeout,
        };
        let result = |result: &Value| match result.get("error").and_then(Value::as_bool) {
            Some(true) => HandlerResult::Error,
            _ => HandlerResult::Value(Node::from_value(&result["value"])),
        };
        Self {
            inputs: value["inputs"].as_array().into_iter().flatten().map(input).collect(),
            variables: entries("variables")
                .map(|(name, value)| (name.clone(), Node::from_value(value)))
                .collect(),
            handlers: entries("handlers")
                .map(|(name, results)| {
                    (name.clone(), results.as_array().into_iter().flatten().map(result).collect())
                })
                .collect(),
            locale: value["locale"].as_str().map(str::to_owned),
            max_steps: value["maxSteps"]
                .as_f64()
                .map_or(Self::DEFAULT_MAX_STEPS, |steps| steps as usize),
        }
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The flow came to an end.
    Ended,
    /// The script has no more replies.
    Waiting,
    /// A person took over.
    HandedOff,
    /// The limit of steps was reached.
    StepLimit,
    /// A flow was called that was not given.
    SubflowMissing,
}

impl Status {
    /// The name in an answer.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Waiting => "waiting",
            Self::HandedOff => "handed-off",
            Self::StepLimit => "step-limit",
            Self::SubflowMissing => "subflow-missing",
        }
    }
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Simulation {
    /// How it ended.
    pub status: Status,
    /// The outcome of the flow, when it ended.
    pub outcome: Option<String>,
    /// The step at which it stopped, when it did not end.
    pub at: Option<String>,
    /// Everything said and done, in order.
    pub transcript: Vec<Value>,
    /// Steps in the order of the run; those of a subflow as `flow/step`.
    pub visited: Vec<String>,
    /// The document's variables at the end, by name.
    pub variables: Vec<(String, Node<'static>)>,
    /// What the `end` that was reached returns.
    pub output: Option<Vec<(String, Node<'static>)>>,
    /// Replies that nobody waited for.
    pub n_unused_inputs: usize,
    /// Steps of the document that were reached.
    pub n_visited: usize,
    /// Steps of the document.
    pub n_steps: usize,
    /// Ids of the steps that were not reached, in document order.
    pub missed: Vec<String>,
}

/// Runs a valid document; `subflows` are the flows it may call.
pub fn simulate(document: &Flow<'_>, subflows: &[Flow<'_>], script: &Script) -> Simulation {
    run::Run::new(document, subflows, script).finish()
}

impl Simulation {
    /// The answer of `flow_simulate`.
    pub fn to_value(&self) -> Value {
        let object = |members: &[(String, Node<'static>)]| -> Value {
            members
                .iter()
                .map(|(name, node)| (name.clone(), node.to_value()))
                .collect::<Map<_, _>>()
                .into()
        };
        let mut value = Map::new();
        value.insert("status".into(), json!(self.status.name()));
        if let Some(outcome) = &self.outcome {
            value.insert("outcome".into(), json!(outcome));
        }
        if let Some(at) = &self.at {
            value.insert("at".into(), json!(at));
        }
        value.insert("transcript".into(), json!(self.transcript));
        value.insert("visited".into(), json!(self.visited));
        value.insert("variables".into(), object(&self.variables));
        if let Some(output) = &self.output {
            value.insert("output".into(), object(output));
        }
        value.insert("unusedInputs".into(), json!(self.n_unused_inputs));
        value.insert(
            "coverage".into(),
            json!({
                "steps": {
                    "visited": self.n_visited,
                    "total": self.n_steps,
                    "missed": self.missed,
                }
            }),
        );
        Value::Object(value)
    }

    /// The transcript as a conversation to read.
    pub fn to_text(&self) -> String {
        use std::fmt::Write;

        let mut out = String::new();
        for entry in &self.transcript {
            let from = entry["from"].as_str().unwrap_or_default();
            let mut said = Vec::new();
            for (name, value) in entry.as_object().into_iter().flatten() {
                match (name.as_str(), value.as_str()) {
                    ("from" | "flow" | "step", _) => {}
                    ("text", Some(text)) => said.push(text.to_owned()),
                    ("options", _) => said.push(canonical(&Node::from_value(value))),
                    (name, Some(text)) => said.push(format!("{name} {text}")),
                    (name, None) => {
                        said.push(format!("{name} {}", canonical(&Node::from_value(value))));
                    }
                }
            }
            // Writing into a `String` cannot fail.
            let _ = writeln!(out, "{from:>6}: {}", said.join(" · "));
        }
        let outcome = self.outcome.as_ref().map(|outcome| format!(": {outcome}"));
        let at = self.at.as_ref().map(|at| format!(" at {at}"));
        let _ = writeln!(
            out,
            "{}{}{}; {} of {} steps visited",
            self.status.name(),
            outcome.unwrap_or_default(),
            at.unwrap_or_default(),
            self.n_visited,
            self.n_steps
        );
        out
    }
}
