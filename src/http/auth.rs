//! Who calls: the token of a request, and how often a wrong one may be tried.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::http::header::{AUTHORIZATION, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};

use super::rate::Rate;
use crate::error::{ErrorCode, ToolError};
use crate::moment::Moment;
use crate::scope::Scopes;
use crate::state::State;
use crate::state::tokens::Token;

/// The other header that a token may come in.
const ACCESS_TOKEN: HeaderName = HeaderName::from_static("x-accesstoken");

/// Wrong tokens from one address at once, and how long until one more: a program with a wrong setting is told so many
/// times, one that guesses gets nowhere.
const MAX_FAILURES: u32 = 20;
const FAILURE_INTERVAL: Duration = Duration::from_secs(6);

/// Calls with one token at once, and how long until one more: more than an agent makes, less than would crowd others out.
const MAX_CALLS: u32 = 2_000;
const CALL_INTERVAL: Duration = Duration::from_millis(5);

/// Who may come in.
pub(super) struct Door {
    /// `None` when everybody may.
    state: Option<Arc<State>>,
    failures: Rate<IpAddr>,
    calls: Rate<String>,
}

/// Who came in.
#[derive(Clone, Debug)]
pub(super) struct Caller {
    /// What they may do; `None` for everything.
    pub(super) scopes: Option<Scopes>,
    token: Option<String>,
}

impl Door {
    pub(super) fn new(state: Option<Arc<State>>) -> Self {
        Self {
            state,
            failures: Rate::new(MAX_FAILURES, FAILURE_INTERVAL),
            calls: Rate::new(MAX_CALLS, CALL_INTERVAL),
        }
    }

    /// Where tokens are kept; `None` when nobody is asked for one.
    pub(super) fn state(&self) -> Option<&Arc<State>> {
        self.state.as_ref()
    }

    /// Whether tokens are asked for.
    pub(super) fn asks(&self) -> bool {
        self.state.is_some()
    }

    /// The caller of a request, or the answer that refuses it.
    pub(super) fn enter(&self, headers: &HeaderMap, peer: IpAddr) -> Result<Caller, Response> {
        let Some(state) = &self.state else {
            return Ok(Caller { scopes: None, token: None });
        };
        if let Some(wait) = self.failures.wait(&peer, Instant::now()) {
            return Err(slow_down(wait));
        }
        let Some(secret) = secret(headers) else {
            return Err(unauthenticated(None));
        };
        match self.token(state, &secret, peer)? {
            Some(token) => Ok(Caller { scopes: Some(token.scopes), token: Some(token.id) }),
            None => Err(unauthenticated(Some("invalid_token"))),
        }
    }

    /// The token of a secret that an address sends; `None` when it is wrong, which counts against the address.
    pub(super) fn token(
        &self,
        state: &State,
        secret: &str,
        peer: IpAddr,
    ) -> Result<Option<Token>, Response> {
        let now = Instant::now();
        if let Some(wait) = self.failures.wait(&peer, now) {
            return Err(slow_down(wait));
        }
        match state.tokens().authenticate(secret, Moment::now()) {
            Ok(None) => {
                let _ = self.failures.take(&peer, now);
                if secret.starts_with("${") {
                    tracing::warn!("a client sent the name of a variable in place of its token");
                }
                Ok(None)
            }
            Ok(token) => Ok(token),
            Err(error) => {
                tracing::error!(%error, "tokens cannot be read");
                let text = "tokens cannot be read: see the server's log\n";
                Err((StatusCode::SERVICE_UNAVAILABLE, text).into_response())
            }
        }
    }

    /// Why a caller must wait with its next call.
    pub(super) fn refuse_call(&self, caller: &Caller) -> Option<ToolError> {
        let wait = self.calls.take(caller.token.as_ref()?, Instant::now()).err()?;
        let message = "too many calls with this token";
        let hint = "wait for `retry_after_ms` milliseconds, then repeat the call";
        let error = ToolError::new(ErrorCode::RateLimited, message).with_hint(hint);
        Some(error.with_retry_after(wait))
    }
}

/// The token of a request: a header alone, and one only.
fn secret(headers: &HeaderMap) -> Option<String> {
    let mut given = headers.get_all(AUTHORIZATION).iter().map(bearer);
    let mut others =
        headers.get_all(ACCESS_TOKEN).iter().map(|value| value.to_str().ok().map(str::trim));
    let secret = match (given.next(), others.next()) {
        (Some(secret), None) | (None, Some(secret)) => secret?,
        _ => return None,
    };
    let is_alone = given.next().is_none() && others.next().is_none();
    (is_alone && !secret.is_empty()).then(|| secret.to_owned())
}

/// `Bearer TOKEN`; the word in any case (RFC 9110, section 11.1).
fn bearer(value: &HeaderValue) -> Option<&str> {
    let (scheme, token) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn unauthenticated(error: Option<&str>) -> Response {
    let error = error.map_or(String::new(), |error| format!(", error=\"{error}\""));
    let challenge = format!("Bearer realm=\"botmesh-docs\"{error}");
    let text =
        "a token is needed: `Authorization: Bearer TOKEN`; `botmesh-docs token create` makes one\n";
    (StatusCode::UNAUTHORIZED, [(WWW_AUTHENTICATE, challenge)], text).into_response()
}

fn slow_down(wait: Duration) -> Response {
    let seconds = wait.as_secs() + 1;
    let text = "too many wrong tokens from this address: wait, then send a right one\n";
    (StatusCode::TOO_MANY_REQUESTS, [(RETRY_AFTER, seconds.to_string())], text).into_response()
}
