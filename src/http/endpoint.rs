//! `POST /mcp`: one message or batch in, one JSON answer out.
//!
//! The checks come in a fixed order, each cheaper than the next: verb, token, content type, size, then the message.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::body::Body;
use axum::extract::{ConnectInfo, Request, State};
use axum::http::header::{ACCEPT, ALLOW, CONTENT_LENGTH, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse as _, Response};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

use super::around::RequestId;
use super::auth::Caller;
use super::{App, MAX_BODY_BYTES};
use crate::error::{ErrorCode, ToolError};
use crate::mcp::envelope::{Fault, FaultKind, Reply};
use crate::mcp::http_facts::{Header, HttpFacts, Trace, trace_id};
use crate::mcp::revision::Revision;
use crate::mcp::session::{Answer, Call, Received, Session, Step, Transport};

/// How long the body of a request may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);

/// Longest arguments in the log: a whole flow document tells nobody more than its beginning.
const MAX_LOGGED_CHARS: usize = 2_048;

const JSON: &str = "application/json";

pub(super) async fn handle(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    Extension(id): Extension<RequestId>,
    request: Request,
) -> Response {
    if request.method() != "POST" {
        let text = "only POST is served here: MCP messages are JSON in its body\n";
        return (StatusCode::METHOD_NOT_ALLOWED, [(ALLOW, "POST")], text).into_response();
    }
    let caller = match app.door.enter(request.headers(), peer.ip()) {
        Ok(caller) => caller,
        Err(refusal) => return refusal,
    };
    if let Some((status, why)) = refuse_types(request.headers()) {
        return refused(status, Fault::new(FaultKind::NoMessage, why));
    }
    let request_id = id.0.clone();
    let facts = facts(request.headers(), &caller, id.0);
    let text = match body(request).await {
        Ok(text) => text,
        Err((status, fault)) => return refused(status, fault),
    };
    let received = app.server.receive(&mut Session::default(), Transport::Http(&facts), &text);
    let (steps, is_batch) = match received {
        Received::One(step) => (vec![step], false),
        Received::Batch(steps) => (steps, true),
    };
    if let [Step::Silent | Step::Cancel(_)] = steps[..]
        && !is_batch
        && is_modern(&facts)
        && !text.contains("\"method\"")
    {
        let why = "a client of this revision posts requests and notifications, never responses";
        return refused(StatusCode::BAD_REQUEST, Fault::new(FaultKind::NoMessage, why));
    }
    let mut replies = Vec::new();
    for step in steps {
        match step {
            Step::Silent | Step::Cancel(_) => {}
            Step::Reply(reply) => replies.push(reply),
            Step::Call(call) => {
                if app.options.log_queries {
                    let arguments: String =
                        call.arguments().chars().take(MAX_LOGGED_CHARS).collect();
                    tracing::info!(%request_id, tool = call.tool(), arguments, "called");
                }
                replies.push(run(&app, &caller, call).await);
            }
        }
    }
    answer(replies, is_batch)
}

/// Runs a call on a thread that may wait, within the bounds of the server.
async fn run(app: &Arc<App>, caller: &Caller, call: Call) -> Reply {
    let (tool, started) = (call.tool(), Instant::now());
    let permit = Arc::clone(&app.calls).try_acquire_owned();
    let reply = match (app.door.refuse_call(caller), permit) {
        (Some(error), _) => call.refuse(error),
        (None, Err(_)) => {
            let error = ToolError::new(ErrorCode::Unavailable, "too many calls are running");
            call.refuse(error.with_hint("repeat the call in a moment"))
        }
        (None, Ok(permit)) => {
            let _running = app.metrics.running();
            let app = Arc::clone(app);
            let work = tokio::task::spawn_blocking(move || {
                let _permit = permit;
                call.run(app.server.context())
            });
            work.await.unwrap_or_else(|_| {
                Reply::refusal(None, Fault::new(FaultKind::Internal, "the call failed"))
            })
        }
    };
    app.metrics.called(tool, &reply, started.elapsed());
    reply
}

fn answer(mut replies: Vec<Reply>, is_batch: bool) -> Response {
    if replies.is_empty() {
        return StatusCode::ACCEPTED.into_response();
    }
    if is_batch {
        return json(StatusCode::OK, &Answer::Batch(replies));
    }
    let reply = replies.remove(0);
    let status = status(&reply);
    json(status, &Answer::One(reply))
}

/// The status of an answer, by `protocol.md`'s table of errors.
fn status(reply: &Reply) -> StatusCode {
    let is_modern = reply.revision.is_some_and(|revision| revision.rules().modern);
    match reply.outcome.as_ref().map_err(|fault| fault.kind) {
        Err(FaultKind::UnknownMethod) if is_modern => StatusCode::NOT_FOUND,
        Ok(_) | Err(FaultKind::InvalidParams | FaultKind::Internal | FaultKind::UnknownMethod) => {
            StatusCode::OK
        }
        Err(FaultKind::TooLong) => StatusCode::PAYLOAD_TOO_LARGE,
        Err(_) => StatusCode::BAD_REQUEST,
    }
}

fn refused(status: StatusCode, fault: Fault) -> Response {
    json(status, &Answer::One(Reply::refusal(None, fault)))
}

fn json(status: StatusCode, answer: &Answer) -> Response {
    let body = serde_json::to_vec(answer).expect("answers are plain data");
    (status, [(CONTENT_TYPE, JSON)], Body::from(body)).into_response()
}

/// Why the types of a request do not fit.
fn refuse_types(headers: &HeaderMap) -> Option<(StatusCode, &'static str)> {
    let media = |value: &str| value.split(';').next().unwrap_or_default().trim().to_lowercase();
    let content = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if content.map(media).as_deref() != Some(JSON) {
        let why = "the body must be JSON: send `Content-Type: application/json`";
        return Some((StatusCode::UNSUPPORTED_MEDIA_TYPE, why));
    }
    let accepts = |value: &str| {
        value
            .split(',')
            .any(|one| ["application/json", "application/*", "*/*"].contains(&&*media(one)))
    };
    let mut accept = headers.get_all(ACCEPT).iter().peekable();
    if accept.peek().is_some() && !accept.any(|value| value.to_str().is_ok_and(accepts)) {
        let why = "answers are JSON: send `Accept: application/json, text/event-stream`";
        return Some((StatusCode::NOT_ACCEPTABLE, why));
    }
    None
}

fn facts(headers: &HeaderMap, caller: &Caller, request_id: String) -> HttpFacts {
    let header = |name: &str| {
        let mut values = headers.get_all(name).iter();
        match (values.next().map(|value| value.to_str()), values.next()) {
            (None, _) => Header::Absent,
            (Some(Ok(value)), None) => Header::Once(value.trim_matches([' ', '\t']).to_owned()),
            _ => Header::Unclear,
        }
    };
    let traceparent = headers.get(HeaderName::from_static("traceparent"));
    let trace_id = traceparent.and_then(|value| trace_id(value.to_str().ok()?));
    HttpFacts {
        version: header("mcp-protocol-version"),
        method: header("mcp-method"),
        name: header("mcp-name"),
        scopes: caller.scopes.clone(),
        trace: Trace { request_id, trace_id },
    }
}

fn is_modern(facts: &HttpFacts) -> bool {
    matches!(&facts.version, Header::Once(name) if name == Revision::V2026_07_28.name())
}

/// The text of a body, by its declared length refused before it is read.
async fn body(request: Request) -> Result<String, (StatusCode, Fault)> {
    let too_large = || (StatusCode::PAYLOAD_TOO_LARGE, Fault::too_long(MAX_BODY_BYTES));
    let declared = request.headers().get(CONTENT_LENGTH).and_then(|value| value.to_str().ok());
    if declared.and_then(|value| value.parse().ok()).is_some_and(|n: u64| n > MAX_BODY_BYTES as u64)
    {
        return Err(too_large());
    }
    let reading = Limited::new(request.into_body(), MAX_BODY_BYTES).collect();
    let bytes = match tokio::time::timeout(BODY_TIMEOUT, reading).await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large()),
        Ok(Err(_)) => {
            let fault = Fault::new(FaultKind::Unreadable, "the body broke off: send it again");
            return Err((StatusCode::BAD_REQUEST, fault));
        }
        Err(_) => {
            let fault = Fault::new(FaultKind::Unreadable, "the body took too long: send it again");
            return Err((StatusCode::REQUEST_TIMEOUT, fault));
        }
    };
    String::from_utf8(bytes.into()).map_err(|_| (StatusCode::BAD_REQUEST, Fault::not_utf8()))
}
