//! The dispatcher: one message in, at most one answer out. No input or output, no clock, no threads.
//!
//! [`Server::receive`] reads a text and either answers it or hands out the [`Call`]s that a transport runs when and
//! where it likes; [`Server::answer`] does both in one go. What a transport knows besides the text is a [`Transport`];
//! what is remembered from one message to the next is a [`Session`].

use serde_json::json;
use serde_json::value::RawValue;

use super::envelope::{self, Fault, FaultKind, Id, Incoming, Message, Reply};
use super::era;
use super::http_facts::{Header, HttpFacts, Trace};
use super::instructions::instructions;
use super::members::{self, Kind, Member};
use super::results;
use super::revision::Revision;
use crate::error::{ErrorCode, ToolError};
use crate::suggest;
use crate::tools::{self, Arguments, Context, Tool};

/// What the transport knows about a message.
#[derive(Clone, Copy, Debug)]
pub enum Transport<'a> {
    /// A pipe: one client, one session, batches in any session with a handshake.
    Stdio,
    /// HTTP: every message stands alone.
    Http(&'a HttpFacts),
}

impl Transport<'_> {
    fn http(&self) -> Option<&HttpFacts> {
        match self {
            Self::Stdio => None,
            Self::Http(facts) => Some(facts),
        }
    }
}

/// What one client's earlier messages settled.
#[derive(Clone, Copy, Debug, Default)]
pub struct Session {
    negotiated: Option<Revision>,
}

/// The tools, and what is said about them.
#[derive(Debug)]
pub struct Server {
    context: Context,
    tools: Vec<&'static Tool>,
    instructions: String,
}

/// What a message asks of the transport.
#[derive(Debug)]
pub enum Step {
    /// Nothing.
    Silent,
    /// Drop the answer of the request with this id, if it has not been sent.
    Cancel(Id),
    /// Send this.
    Reply(Reply),
    /// Run this and send what it gives.
    Call(Call),
}

/// What a text asks of the transport.
#[derive(Debug)]
pub enum Received {
    /// A single message.
    One(Step),
    /// A batch, to be answered by one array of all its answers, or by nothing when it has none.
    Batch(Vec<Step>),
}

/// What a text is answered with.
#[derive(Debug, serde::Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// To a single message.
    One(Reply),
    /// To a batch; never empty.
    Batch(Vec<Reply>),
}

/// A `tools/call` whose shape is right, ready to run.
#[derive(Debug)]
pub struct Call {
    id: Id,
    revision: Revision,
    tool: &'static Tool,
    arguments: Arguments,
    /// What a reply over HTTP repeats.
    trace: Option<Trace>,
}

impl Call {
    /// The name of the tool.
    pub fn tool(&self) -> &'static str {
        self.tool.name
    }

    /// The request's id.
    pub fn id(&self) -> &Id {
        &self.id
    }

    /// The arguments as they were sent.
    pub fn arguments(&self) -> &str {
        self.arguments.text()
    }

    /// Bytes of memory that the call holds, roughly.
    pub fn n_bytes(&self) -> usize {
        self.arguments.text().len()
    }

    /// Runs the tool.
    pub fn run(&self, context: &Context) -> Reply {
        self.reply(tools::call(context, self.tool, &self.arguments))
    }

    /// The answer when the server ends before the tool could run.
    pub fn unavailable(&self) -> Reply {
        let message = format!("{} did not run: the server is shutting down", self.tool.name);
        let error = ToolError::new(ErrorCode::Unavailable, message);
        self.reply(Err(error.with_hint("start the server again, then repeat the call")))
    }

    /// An answer that is not the tool's.
    pub fn refuse(&self, error: ToolError) -> Reply {
        self.reply(Err(error))
    }

    fn reply(&self, outcome: Result<tools::ToolReply, ToolError>) -> Reply {
        Reply {
            id: Some(self.id.clone()),
            revision: Some(self.revision),
            outcome: Ok(results::tools_call(self.revision, self.trace.as_ref(), outcome)),
        }
    }
}

impl Server {
    /// A server of all the tools that `context` can serve.
    pub fn new(context: Context) -> Self {
        let tools = tools::catalogue(&context);
        Self::with_tools(context, tools)
    }

    /// A server of just these tools.
    pub fn with_tools(context: Context, tools: Vec<&'static Tool>) -> Self {
        let instructions = instructions(&tools);
        Self { context, tools, instructions }
    }

    /// What the tools run with.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Reads a text, runs what it calls, and gives the answer, if there is one to give.
    pub fn answer(
        &self,
        session: &mut Session,
        transport: Transport<'_>,
        text: &str,
    ) -> Option<Answer> {
        let run = |step: Step| match step {
            Step::Silent | Step::Cancel(_) => None,
            Step::Reply(reply) => Some(reply),
            Step::Call(call) => Some(call.run(&self.context)),
        };
        match self.receive(session, transport, text) {
            Received::One(step) => run(step).map(Answer::One),
            Received::Batch(steps) => {
                let replies: Vec<Reply> = steps.into_iter().filter_map(run).collect();
                (!replies.is_empty()).then_some(Answer::Batch(replies))
            }
        }
    }

    /// Reads a text and says what is to be done. Every request in it gets exactly one answer, now or by a call.
    pub fn receive(&self, session: &mut Session, transport: Transport<'_>, text: &str) -> Received {
        let messages = match envelope::read(text) {
            Incoming::One(message) => {
                return Received::One(self.step(session, transport, message));
            }
            Incoming::Batch(messages) => messages,
        };
        if let Some(fault) = refuse_batch(transport, &messages) {
            return Received::One(Step::Reply(Reply::refusal(None, fault)));
        }
        let steps = messages.into_iter().map(|message| match message {
            Message::Request { id, method, .. } if method == "initialize" => {
                let message = "`initialize` must not be part of a batch: send it alone";
                Step::Reply(Reply::refusal(Some(id), Fault::new(FaultKind::NoMessage, message)))
            }
            message => self.step(session, transport, message),
        });
        Received::Batch(steps.collect())
    }

    fn step(&self, session: &mut Session, transport: Transport<'_>, message: Message<'_>) -> Step {
        match message {
            Message::Response => Step::Silent,
            Message::Refused { id, fault } => Step::Reply(Reply::refusal(id, fault)),
            Message::Notification { method, params } => {
                tracing::debug!(%method, "notification");
                cancelled(&method, params).map_or(Step::Silent, Step::Cancel)
            }
            Message::Request { id, method, params } => {
                tracing::debug!(%method, ?id, "request");
                let (revision, outcome) = self.request(session, transport, &method, params);
                match outcome {
                    Ok(Outcome::Result(result)) => {
                        Step::Reply(Reply { id: Some(id), revision, outcome: Ok(result) })
                    }
                    Ok(Outcome::Call { revision, tool, arguments }) => {
                        let trace = transport.http().map(|facts| facts.trace.of(params));
                        let call = Call { id, revision, tool, arguments, trace };
                        match refuse_caller(transport, tool) {
                            Some(error) => Step::Reply(call.refuse(error)),
                            None => Step::Call(call),
                        }
                    }
                    Err(fault) => {
                        Step::Reply(Reply { id: Some(id), revision, outcome: Err(fault) })
                    }
                }
            }
        }
    }

    fn request(
        &self,
        session: &mut Session,
        transport: Transport<'_>,
        method: &str,
        params: Option<&RawValue>,
    ) -> (Option<Revision>, Result<Outcome, Fault>) {
        let revision = match revision_of(session.negotiated, transport, method, params) {
            Ok(revision) => revision,
            Err(fault) => return (Some(Revision::V2026_07_28), Err(fault)),
        };
        if params.is_some_and(|params| members::kind(params.get()) != Kind::Object) {
            return (Some(revision), Err(invalid("`params` must be an object")));
        }
        if let Some(facts) = transport.http().filter(|_| revision.rules().modern)
            && let Err(fault) = facts.check_call(method, params)
        {
            return (Some(revision), Err(fault));
        }
        let params = params.map_or("{}", RawValue::get);
        let outcome = match (method, revision.rules().modern) {
            ("initialize", false) => {
                let negotiated = negotiate(session, params);
                let revision = negotiated.as_ref().ok().copied();
                let result =
                    negotiated.map(|revision| results::initialize(revision, &self.instructions));
                return (revision, result.map(Outcome::Result));
            }
            ("ping", false) => Ok(Outcome::Result(json!({}))),
            ("server/discover", true) => {
                Ok(Outcome::Result(results::discover(revision, &self.instructions)))
            }
            ("tools/list", _) => self.tools_list(revision, transport, params),
            ("tools/call", _) => self.tools_call(revision, params),
            _ => Err(unknown_method(method, revision)),
        };
        (Some(revision), outcome)
    }

    fn tools_list(
        &self,
        revision: Revision,
        transport: Transport<'_>,
        params: &str,
    ) -> Result<Outcome, Fault> {
        let [cursor] = pick(params, ["cursor"])?;
        let is_given = match cursor {
            Member::Absent => false,
            Member::Once(raw) => raw.get() != "null",
            Member::Repeated => true,
        };
        if is_given {
            return Err(invalid(
                "`cursor` is unknown: all tools are on the first page, leave it out",
            ));
        }
        let scopes = transport.http().and_then(|facts| facts.scopes.as_ref());
        let tools = self.tools.iter().copied();
        let tools = tools.filter(|tool| scopes.is_none_or(|scopes| scopes.allows(&tool.scope)));
        Ok(Outcome::Result(results::tools_list(revision, tools, scopes.is_some())))
    }

    fn tools_call(&self, revision: Revision, params: &str) -> Result<Outcome, Fault> {
        let [name, arguments] = pick(params, ["name", "arguments"])?;
        let Some(name) = name.string() else {
            return Err(invalid("`name` must be the name of a tool, once, as a string"));
        };
        let Some(tool) = self.tools.iter().find(|tool| tool.name == name) else {
            return Err(self.unknown_tool(&name));
        };
        let text = match arguments {
            Member::Repeated => return Err(invalid("`arguments` is given twice: give it once")),
            _ => arguments.value().map_or("{}", RawValue::get),
        };
        if members::kind(text) != Kind::Object {
            return Err(invalid(format!("`arguments` of {name} must be an object")));
        }
        let arguments = Arguments::parse(text)
            .map_err(|error| invalid(format!("`arguments` of {name} cannot be read: {error}")))?;
        Ok(Outcome::Call { revision, tool, arguments })
    }

    fn unknown_tool(&self, name: &str) -> Fault {
        let shown = shorten(name);
        let names = self.tools.iter().map(|tool| tool.name);
        match suggest::nearest(name, names) {
            Some(near) => invalid(format!("unknown tool \"{shown}\": did you mean \"{near}\"?")),
            None => invalid(format!("unknown tool \"{shown}\": tools/list names the tools")),
        }
    }
}

enum Outcome {
    Result(serde_json::Value),
    Call { revision: Revision, tool: &'static Tool, arguments: Arguments },
}

/// The rules that a request is under. The first that fits: its own `_meta`, the handshake it opens, the transport's
/// header, the handshake before it, the transport's default.
fn revision_of(
    negotiated: Option<Revision>,
    transport: Transport<'_>,
    method: &str,
    params: Option<&RawValue>,
) -> Result<Revision, Fault> {
    if era::is_modern(params) || method == "server/discover" {
        if let (Some(facts), Some(version)) = (transport.http(), era::version(params)) {
            facts.check_version(&version)?;
        }
        era::check_modern(params)?;
        return Ok(Revision::V2026_07_28);
    }
    let Transport::Http(facts) = transport else {
        return Ok(negotiated.unwrap_or(Revision::BEFORE_HANDSHAKE));
    };
    match &facts.version {
        _ if method == "initialize" => Ok(Revision::FALLBACK),
        Header::Absent => Ok(Revision::WITHOUT_HEADER),
        Header::Unclear => facts.check_version("").map(|()| Revision::WITHOUT_HEADER),
        Header::Once(name) => match Revision::of_name(name) {
            None => Err(era::unsupported(name)),
            Some(revision) => {
                if revision.rules().modern {
                    era::check_modern(params)?;
                }
                Ok(revision)
            }
        },
    }
}

/// Why the caller may not call a tool.
fn refuse_caller(transport: Transport<'_>, tool: &Tool) -> Option<ToolError> {
    let facts = transport.http().filter(|facts| !facts.allows(&tool.scope))?;
    let held = facts.scopes.as_ref().filter(|scopes| !scopes.is_empty());
    let held = held.map_or_else(|| "no scope".to_owned(), |scopes| format!("`{scopes}`"));
    let message =
        format!("{} needs the scope `{}`, and this token has {held}", tool.name, tool.scope);
    let hint = "ask whoever runs the server for a token with that scope";
    Some(ToolError::new(ErrorCode::PermissionDenied, message).with_hint(hint))
}

/// Why a batch as a whole cannot be served.
fn refuse_batch(transport: Transport<'_>, messages: &[Message<'_>]) -> Option<Fault> {
    let is_known = match transport {
        Transport::Stdio => true,
        Transport::Http(facts) => match &facts.version {
            Header::Absent => true,
            Header::Once(name) => name == Revision::V2025_03_26.name(),
            Header::Unclear => false,
        },
    };
    let is_modern = |message: &Message<'_>| era::is_modern(message.params());
    if is_known && !messages.iter().any(is_modern) {
        return None;
    }
    let message = "the protocol version has no batches: send the messages one by one";
    Some(Fault::new(FaultKind::Batch, message))
}

fn negotiate(session: &mut Session, params: &str) -> Result<Revision, Fault> {
    let [version] = pick(params, ["protocolVersion"])?;
    let Some(asked) = version.string() else {
        return Err(invalid("`protocolVersion` must be given once, as a string"));
    };
    let revision = Revision::negotiate(&asked);
    session.negotiated = Some(revision);
    Ok(revision)
}

/// The id of the request that a notification cancels.
fn cancelled(method: &str, params: Option<&RawValue>) -> Option<Id> {
    if method != "notifications/cancelled" {
        return None;
    }
    let [id] = members::pick(params?.get(), ["requestId"]).ok()?;
    Id::of(id.value())
}

fn unknown_method(method: &str, revision: Revision) -> Fault {
    let (shown, name) = (shorten(method), revision.name());
    let message = format!("method not found in revision {name}: \"{shown}\"");
    Fault::new(FaultKind::UnknownMethod, message)
}

fn invalid(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::InvalidParams, message)
}

fn pick<'a, const N: usize>(
    params: &'a str,
    names: [&'static str; N],
) -> Result<[Member<'a>; N], Fault> {
    members::pick(params, names)
        .map_err(|error| invalid(format!("`params` cannot be read: {error}")))
}

/// A sender's word, short enough to be shown.
fn shorten(word: &str) -> String {
    const MAX_CHARS: usize = 80;
    let mut shown: String = word.chars().take(MAX_CHARS).collect();
    if shown.len() < word.len() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests;
