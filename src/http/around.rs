//! What surrounds every request: its name, the door for hosts and origins, its line in the log.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::App;

/// Names a request; kept from the client when it is sane.
pub(super) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Longest name that is kept.
const MAX_ID_BYTES: usize = 128;

/// The name of a request, for its handler.
#[derive(Clone, Debug)]
pub(super) struct RequestId(pub(super) String);

/// The paths that browsers of any site may read.
const PUBLIC: &str = "/mcp/server-card";

pub(super) async fn around(
    State(app): State<Arc<App>>,
    mut request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let id = kept_id(request.headers()).unwrap_or_else(new_id);
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let refusal = match path.as_str() {
        PUBLIC => None,
        _ => app.guard.refuse(request.headers()),
    };
    request.extensions_mut().insert(RequestId(id.clone()));
    let mut response = match refusal {
        Some(why) => (StatusCode::FORBIDDEN, format!("{why}\n")).into_response(),
        None => next.run(request).await,
    };
    if let Ok(value) = HeaderValue::from_str(&id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    let status = response.status().as_u16();
    // Paths of ours only: anything may be asked for.
    let route = if response.status() == StatusCode::NOT_FOUND { "unknown" } else { &path };
    let took_ms = started.elapsed().as_secs_f64() * 1_000.0;
    tracing::info!(request_id = %id, %method, route, status, took_ms, "answered");
    response
}

fn kept_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let is_plain = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    let is_sane = (1..=MAX_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain);
    is_sane.then(|| id.to_owned())
}

fn new_id() -> String {
    let mut bytes = [0_u8; 16];
    // Without randomness requests are told apart by their lines alone.
    let _ = getrandom::fill(&mut bytes);
    botmesh_index::digest::hex(&bytes)
}
