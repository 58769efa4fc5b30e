//! How the server is: for load balancers and for Prometheus.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use super::App;

/// The process answers.
pub(super) async fn health() -> &'static str {
    "ok\n"
}

/// The docs can be asked; 503 until the first snapshot is there.
pub(super) async fn ready(State(app): State<Arc<App>>) -> Response {
    let Some(docs) = &app.server.context().docs else {
        return Json(json!({ "ready": true, "docs": false })).into_response();
    };
    match docs.peek() {
        Some(Ok(snapshot)) => Json(json!({
            "ready": true,
            "generation": snapshot.generation(),
            "pages": snapshot.n_pages(),
            "sections": snapshot.n_sections(),
        }))
        .into_response(),
        Some(Err(_)) => unready("the docs cannot be indexed: see the server's log"),
        None => unready("the docs are being read"),
    }
}

fn unready(why: &str) -> Response {
    let body = Json(json!({ "ready": false, "reason": why }));
    (StatusCode::SERVICE_UNAVAILABLE, body).into_response()
}

/// Figures in the text format of Prometheus.
pub(super) async fn metrics(State(app): State<Arc<App>>) -> Response {
    let docs = app.server.context().docs.as_ref().and_then(crate::docs::DocsHandle::peek);
    let generation = docs.and_then(Result::ok).map(|snapshot| snapshot.generation());
    let text = app.metrics.text(generation);
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], text).into_response()
}
