//! The run: one step after another, frames for subflows, a transcript of everything.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde_json::{Map, Value, json};

use super::answers::{answer, choose};
use super::values::Scope;
use super::{HandlerResult, Input, Script, Simulation, Status};
use crate::flow::json::{Member, Node};
use crate::flow::model::{Exit, Flow, Kind, Slot, Step};
use crate::flow::text::is_name;

const DEFAULT_RETRIES: f64 = 2.0;

/// One flow that is running.
struct Frame {
    flow: usize,
    /// The step that called it, in the frame below.
    caller: Option<usize>,
    /// The step to run; none is the end of the steps.
    next: Option<usize>,
    variables: BTreeMap<String, Node<'static>>,
}

/// What a step leads to.
enum Turn {
    Go(Option<usize>),
    End(String, Option<Vec<(String, Node<'static>)>>),
    Call(usize),
    Stop(Status, bool),
}

pub(super) struct Run<'f, 'd> {
    flows: Vec<&'f Flow<'d>>,
    by_id: HashMap<&'d str, usize>,
    script: &'f Script,
    inputs: VecDeque<&'f Input>,
    n_calls: BTreeMap<&'f str, usize>,
    system: BTreeMap<String, Node<'static>>,
    frames: Vec<Frame>,
    transcript: Vec<Value>,
    visited: Vec<String>,
    reached: BTreeSet<usize>,
}

impl<'f, 'd> Run<'f, 'd> {
    pub(super) fn new(
        document: &'f Flow<'d>,
        subflows: &'f [Flow<'d>],
        script: &'f Script,
    ) -> Self {
        let flows: Vec<&Flow<'d>> = std::iter::once(document).chain(subflows).collect();
        let by_id = flows.iter().enumerate().rev().map(|(at, flow)| (flow.id, at)).collect();
        let mut run = Self {
            flows,
            by_id,
            script,
            inputs: script.inputs.iter().collect(),
            n_calls: BTreeMap::new(),
            system: BTreeMap::new(),
            frames: Vec::new(),
            transcript: Vec::new(),
            visited: Vec::new(),
            reached: BTreeSet::new(),
        };
        if let Some(locale) = &script.locale {
            run.system.insert("contact.locale".to_owned(), Node::string(locale.clone()));
        }
        let mut given = BTreeMap::new();
        for (name, value) in &script.variables {
            let is_system = ["contact.", "message.", "flow."].iter().any(|s| name.starts_with(s));
            if value.is_null() {
                continue;
            }
            if is_system {
                run.system.insert(name.clone(), value.clone());
            } else if is_name(name) {
                given.insert(name.clone(), value.clone());
            }
        }
        run.enter(0, None, given);
        run
    }

    fn enter(
        &mut self,
        flow: usize,
        caller: Option<usize>,
        given: BTreeMap<String, Node<'static>>,
    ) {
        let root = self.flows[flow].root;
        let mut variables = BTreeMap::new();
        for member in root.get("variables").map_or(&[][..], Node::members) {
            if let Some(default) = member.value.get("default").filter(|value| !value.is_null()) {
                variables.insert(member.name.to_string(), default.clone().into_owned());
            }
        }
        variables.extend(given);
        let next = self.flows[flow].entry();
        self.frames.push(Frame { flow, caller, next, variables });
        self.name_flow(flow);
    }

    fn name_flow(&mut self, flow: usize) {
        let flow = self.flows[flow];
        self.system.insert("flow.id".to_owned(), Node::string(flow.id.to_owned()));
        let name = flow.root.str_of("name").unwrap_or_default();
        self.system.insert("flow.name".to_owned(), Node::string(name.to_owned()));
    }

    pub(super) fn finish(mut self) -> Simulation {
        let (status, outcome, at, output) = self.run();
        let document = self.flows[0];
        let missed = (0..document.steps.len())
            .filter(|step| !self.reached.contains(step))
            .map(|step| document.steps[step].id.to_owned());
        Simulation {
            status,
            outcome,
            at,
            missed: missed.collect(),
            transcript: self.transcript,
            visited: self.visited,
            variables: self
                .frames
                .drain(..)
                .next()
                .map_or_else(Vec::new, |frame| frame.variables.into_iter().collect()),
            output,
            n_unused_inputs: self.inputs.len(),
            n_visited: self.reached.len(),
            n_steps: document.steps.len(),
        }
    }

    #[expect(clippy::type_complexity, reason = "taken apart by its only caller")]
    fn run(
        &mut self,
    ) -> (Status, Option<String>, Option<String>, Option<Vec<(String, Node<'static>)>>) {
        let completed = || "completed".to_owned();
        loop {
            let Some(frame) = self.frames.last() else {
                return (Status::Ended, Some(completed()), None, None);
            };
            let turn = match frame.next {
                None => Turn::End(completed(), None),
                Some(at) if self.visited.len() >= self.script.max_steps => {
                    return (Status::StepLimit, None, Some(self.label(at)), None);
                }
                Some(at) => {
                    self.visited.push(self.label(at));
                    if frame.flow == 0 {
                        self.reached.insert(at);
                    }
                    self.step(at)
                }
            };
            match turn {
                Turn::Go(next) => self.frame().next = next,
                Turn::End(outcome, output) => {
                    if self.frames.len() == 1 {
                        return (Status::Ended, Some(outcome), None, output);
                    }
                    self.give_back(&outcome, output.unwrap_or_default());
                }
                Turn::Call(at) => {
                    if !self.call(at) {
                        return (Status::SubflowMissing, None, Some(self.label(at)), None);
                    }
                }
                Turn::Stop(status, shows_place) => {
                    let at = self.frames.last().and_then(|frame| frame.next);
                    let at = at.filter(|_| shows_place).map(|at| self.label(at));
                    return (status, None, at, None);
                }
            }
        }
    }

    fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("a run has a frame until it ends")
    }

    fn flow(&self) -> &'f Flow<'d> {
        let frame = self.frames.last().expect("a run has a frame until it ends");
        self.flows[frame.flow]
    }

    fn label(&self, at: usize) -> String {
        let flow = self.flow();
        let id = flow.steps[at].id;
        if std::ptr::eq(flow, self.flows[0]) { id.to_owned() } else { format!("{}/{id}", flow.id) }
    }

    fn scope(&self) -> Scope<'_> {
        let frame = self.frames.last().expect("a run has a frame until it ends");
        Scope { variables: &frame.variables, system: &self.system }
    }

    fn write(&mut self, name: &str, value: Node<'static>) {
        let variables = &mut self.frame().variables;
        if value.is_null() {
            variables.remove(name);
        } else {
            variables.insert(name.to_owned(), value);
        }
    }

    fn log(&mut self, from: &str, step: &Step<'_>, entry: Vec<(&str, Value)>) {
        let mut value = Map::new();
        value.insert("from".into(), json!(from));
        value.insert("flow".into(), json!(self.flow().id));
        value.insert("step".into(), json!(step.id));
        value.extend(entry.into_iter().map(|(name, entry)| (name.to_owned(), entry)));
        self.transcript.push(Value::Object(value));
    }

    /// A Text in the user's locale, rendered.
    fn text(&self, text: &Node<'_>) -> String {
        let locale = self.script.locale.as_deref();
        let template = text
            .as_str()
            .or_else(|| text.str_of(locale?))
            .or_else(|| text.str_of(self.flow().locales.first()?))
            .unwrap_or_default();
        self.scope().render(template)
    }

    fn evaluated(&self, members: &[Member<'_>]) -> Vec<(String, Node<'static>)> {
        let scope = self.scope();
        members.iter().map(|member| (member.name.to_string(), scope.value(&member.value))).collect()
    }

    /// The evaluated members of a step's member; nothing when it is absent.
    fn object(&self, step: &Step<'_>, name: &str) -> Option<Value> {
        step.node.get(name)?;
        let members = self.evaluated(step.members(name)).into_iter();
        Some(members.map(|(name, node)| (name, node.to_value())).collect::<Map<_, _>>().into())
    }

    fn exit(&self, at: usize, exit: Option<&Exit<'_>>) -> Turn {
        let flow = self.flow();
        match exit {
            Some(exit)
                if exit.slot == Slot::Timeout && exit.goto.is_none() && exit.block.is_none() =>
            {
                Turn::End("timeout".to_owned(), None)
            }
            Some(exit) => Turn::Go(flow.target(at, exit)),
            None => Turn::Go(flow.continuation(at)),
        }
    }

    fn step(&mut self, at: usize) -> Turn {
        let flow = self.flow();
        let step = &flow.steps[at];
        let onward = Turn::Go(flow.continuation(at));
        match step.kind {
            Kind::Say => {
                let text = step.node.get("text").map(|text| self.text(text)).unwrap_or_default();
                self.log("bot", step, vec![("text", json!(text))]);
                onward
            }
            Kind::Media => {
                let render =
                    |name: &str| step.node.str_of(name).map(|text| self.scope().render(text));
                let mut entry = vec![("media", json!(step.node.str_of("media")))];
                entry.push(("url", json!(render("url"))));
                entry.extend(render("filename").map(|name| ("filename", json!(name))));
                let caption = step.node.get("caption").map(|text| self.text(text));
                entry.extend(caption.map(|text| ("text", json!(text))));
                self.log("bot", step, entry);
                onward
            }
            Kind::Ask | Kind::Choice => self.ask(at, step),
            Kind::Set => {
                for (name, value) in self.evaluated(step.members("assign")) {
                    self.write(&name, value);
                }
                onward
            }
            Kind::Branch => {
                let scope = self.scope();
                let case = step.exits.iter().find(|exit| {
                    exit.node.get("when").is_some_and(|condition| scope.holds(condition))
                });
                self.exit(at, case.or_else(|| step.exit(Slot::Else)))
            }
            Kind::Switch => {
                let null: Node<'static> = crate::flow::json::Json::Null.into();
                let scope = self.scope();
                let on = step.node.str_of("on").and_then(|name| scope.get(name)).unwrap_or(&null);
                let case = step.exits.iter().find(|exit| {
                    exit.node.get("is").is_some_and(|is| {
                        if is.is_array() {
                            is.items().iter().any(|v| v.same(on))
                        } else {
                            is.same(on)
                        }
                    })
                });
                self.exit(at, case.or_else(|| step.exit(Slot::Default)))
            }
            Kind::Goto => Turn::Go(step.node.str_of("to").and_then(|id| flow.find(id))),
            Kind::Call => Turn::Call(at),
            Kind::Wait => {
                let seconds = step.node.get("seconds").map(Node::to_value);
                self.log("system", step, vec![("wait", seconds.unwrap_or_default())]);
                onward
            }
            Kind::Action => self.action(at, step),
            Kind::Handoff => {
                if let Some(text) = step.node.get("text") {
                    let text = self.text(text);
                    self.log("bot", step, vec![("text", json!(text))]);
                }
                let mut entry = vec![("handoff", json!(step.node.str_of("queue")))];
                let summary = step.node.str_of("summary").map(|text| self.scope().render(text));
                entry.extend(summary.map(|text| ("summary", json!(text))));
                self.log("system", step, entry);
                if step.flag("resume") { onward } else { Turn::Stop(Status::HandedOff, false) }
            }
            Kind::Emit => {
                let mut entry = vec![("event", json!(step.node.str_of("event")))];
                entry.extend(self.object(step, "data").map(|data| ("data", data)));
                self.log("system", step, entry);
                onward
            }
            Kind::End => {
                let outcome = step.node.str_of("outcome").unwrap_or("completed");
                let output =
                    step.node.get("output").map(|_| self.evaluated(step.members("output")));
                Turn::End(outcome.to_owned(), output)
            }
        }
    }

    fn ask(&mut self, at: usize, step: &Step<'d>) -> Turn {
        let prompt = step.node.get("text").map(|text| self.text(text)).unwrap_or_default();
        let options: Vec<&Exit<'_>> =
            step.exits.iter().filter(|exit| exit.slot == Slot::Option).collect();
        let labels: Vec<String> = options
            .iter()
            .map(|option| option.node.get("label").map(|l| self.text(l)).unwrap_or_default())
            .collect();
        let ask = |run: &mut Self, text: String| {
            let mut entry = vec![("text", json!(text))];
            if step.kind == Kind::Choice {
                entry.push(("options", json!(labels)));
            }
            run.log("bot", step, entry);
        };
        ask(self, prompt.clone());
        let retries = step.node.get("retries").and_then(Node::as_number).unwrap_or(DEFAULT_RETRIES);
        let mut n_invalid = 0.0;
        loop {
            let Some(input) = self.inputs.pop_front() else {
                return Turn::Stop(Status::Waiting, true);
            };
            let heard = match input {
                Input::Timeout => {
                    let Some(exit) = step.exit(Slot::Timeout) else { continue };
                    self.log("user", step, vec![("timeout", json!(true))]);
                    return self.exit(at, Some(exit));
                }
                Input::Text(text) => ("text", json!(text)),
                Input::Media(media) => ("type", json!(media)),
            };
            let (kind, text) = match input {
                Input::Text(text) => ("text", text.as_str()),
                Input::Media(media) => (media.as_str(), ""),
                Input::Timeout => ("", ""),
            };
            self.system.insert("message.type".to_owned(), Node::string(kind.to_owned()));
            self.system.insert("message.text".to_owned(), Node::string(text.to_owned()));
            self.log("user", step, vec![heard]);
            if let Some(turn) = self.understand(at, step, &options, input) {
                return turn;
            }
            n_invalid += 1.0;
            if n_invalid > retries {
                return match step.exit(Slot::OnInvalid) {
                    Some(exit) => self.exit(at, Some(exit)),
                    None => Turn::End("invalid".to_owned(), None),
                };
            }
            let again = step.node.get("invalid").map(|text| self.text(text));
            match again {
                Some(text) => self.log("bot", step, vec![("text", json!(text))]),
                None => ask(self, prompt.clone()),
            }
        }
    }

    /// Where a valid reply leads; nothing when it is none.
    fn understand(
        &mut self,
        at: usize,
        step: &Step<'d>,
        options: &[&Exit<'_>],
        input: &Input,
    ) -> Option<Turn> {
        let (value, exit) = if step.kind == Kind::Choice {
            let ids: Vec<&str> =
                options.iter().map(|option| option.node.str_of("id").unwrap_or_default()).collect();
            let scope = self.scope();
            let labels: Vec<Vec<String>> = options
                .iter()
                .map(|option| {
                    let label = option.node.get("label");
                    let plain = label.and_then(Node::as_str);
                    let translated = label.map_or(&[][..], Node::members).iter();
                    let texts =
                        plain.into_iter().chain(translated.filter_map(|m| m.value.as_str()));
                    texts.map(|text| scope.render(text)).collect()
                })
                .collect();
            let chosen = choose(&ids, &labels, input)?;
            (Node::string(ids[chosen].to_owned()), Some(options[chosen]))
        } else {
            (answer(step, input)?, None)
        };
        if let Some(name) = step.node.str_of("save") {
            self.write(name, value);
        }
        Some(self.exit(at, exit))
    }

    fn action(&mut self, at: usize, step: &Step<'d>) -> Turn {
        let handler = step.node.str_of("handler").unwrap_or_default();
        let with = self.object(step, "with");
        let mut result = None;
        if step.is_awaited()
            && let Some((name, results)) = self.script.handlers.get_key_value(handler)
        {
            let count = self.n_calls.entry(name).or_default();
            result = results.get(*count).or(results.last());
            *count += 1;
        }
        let has_failed = matches!(result, Some(HandlerResult::Error));
        let mut entry = Vec::new();
        if has_failed {
            entry.push(("error", json!(true)));
        }
        entry.push(("handler", json!(handler)));
        entry.extend(with.map(|with| ("with", with)));
        entry.extend(step.node.str_of("starts").map(|flow| ("starts", json!(flow))));
        self.log("system", step, entry);
        if has_failed {
            return match step.exit(Slot::OnError) {
                Some(exit) => self.exit(at, Some(exit)),
                None => Turn::End("error".to_owned(), None),
            };
        }
        if step.is_awaited()
            && let Some(name) = step.node.str_of("save")
        {
            let value = match result {
                Some(HandlerResult::Value(value)) => value.clone(),
                _ => crate::flow::json::Json::Null.into(),
            };
            self.write(name, value);
        }
        Turn::Go(self.flow().continuation(at))
    }

    /// Whether the flow that the step calls is there.
    fn call(&mut self, at: usize) -> bool {
        let step = &self.flow().steps[at];
        let Some(callee) = step.node.str_of("flow").and_then(|id| self.by_id.get(id)).copied()
        else {
            return false;
        };
        let given = self.evaluated(step.members("with"));
        let given = given.into_iter().filter(|(_, value)| !value.is_null()).collect();
        self.enter(callee, Some(at), given);
        true
    }

    /// Ends a subflow: its outputs go to the caller, which goes on.
    fn give_back(&mut self, outcome: &str, output: Vec<(String, Node<'static>)>) {
        let Some(ended) = self.frames.pop() else { return };
        let Some(at) = ended.caller else { return };
        let declarations = self.flows[ended.flow].root.get("variables");
        let mut outputs = BTreeMap::new();
        for member in declarations.map_or(&[][..], Node::members) {
            let is_output = member.value.get("output").and_then(Node::as_bool).unwrap_or(false);
            if let Some(value) = ended.variables.get(&*member.name).filter(|_| is_output) {
                outputs.insert(member.name.to_string(), value.clone());
            }
        }
        outputs.extend(output);
        let flow = self.frames.last().map_or(0, |frame| frame.flow);
        self.name_flow(flow);
        let step = &self.flow().steps[at];
        for member in step.members("save") {
            let value = member.value.as_str().and_then(|name| outputs.get(name)).cloned();
            self.write(&member.name, value.unwrap_or(crate::flow::json::Json::Null.into()));
        }
        if let Some(name) = step.node.str_of("outcome") {
            self.write(name, Node::string(outcome.to_owned()));
        }
        self.frame().next = self.flow().continuation(at);
    }
}
