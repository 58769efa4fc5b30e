//! `GET /mcp/server-card`: where the server is and what it speaks, for whoever asks. It never lists tools.
//!
//! Source: MCP server cards, experimental extension (SEP-2127).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ALLOW, CACHE_CONTROL, CONTENT_TYPE, ETAG, HOST, IF_NONE_MATCH,
};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::App;
use crate::mcp::revision::Revision;

const MEDIA_TYPE: &str = "application/mcp-server-card+json";
const SCHEMA: &str = "https://static.modelcontextprotocol.io/schemas/v1/server-card.schema.json";

/// Browsers of any site may read it.
const CORS: [(HeaderName, &str); 4] = [
    (ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (ACCESS_CONTROL_ALLOW_METHODS, "GET"),
    (ACCESS_CONTROL_ALLOW_HEADERS, "Content-Type, If-None-Match"),
    (ACCESS_CONTROL_EXPOSE_HEADERS, "ETag"),
];

pub(super) async fn handle(State(app): State<Arc<App>>, request: Request) -> Response {
    if !app.options.server_card {
        return super::nowhere().await;
    }
    match *request.method() {
        Method::GET | Method::HEAD => {}
        Method::OPTIONS => return (StatusCode::NO_CONTENT, CORS).into_response(),
        _ => {
            let allow = [(ALLOW, "GET, HEAD, OPTIONS")];
            return (StatusCode::METHOD_NOT_ALLOWED, allow, "read the card with GET\n")
                .into_response();
        }
    }
    let card = card(&app, request.headers());
    let etag = format!("\"{}\"", botmesh_index::digest::hex(&Sha256::digest(&card)[..16]));
    let known = request.headers().get_all(IF_NONE_MATCH).iter();
    let is_known = known
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|tag| [etag.as_str(), "*"].contains(&tag.trim().trim_start_matches("W/")));
    let headers = [(ETAG, etag), (CACHE_CONTROL, "public, max-age=3600".to_owned())];
    if is_known {
        return (StatusCode::NOT_MODIFIED, CORS, headers).into_response();
    }
    (CORS, headers, [(CONTENT_TYPE, MEDIA_TYPE)], card).into_response()
}

fn card(app: &App, headers: &HeaderMap) -> Vec<u8> {
    let mut remote = json!({
        "type": "streamable-http",
        "url": url(app, headers),
        "supportedProtocolVersions": [Revision::V2026_07_28.name()],
    });
    if app.door.asks() {
        remote["headers"] = json!([{
            "name": "Authorization",
            "description": "Bearer and a token of this server",
            "isRequired": true,
            "isSecret": true,
        }]);
    }
    let card = json!({
        "$schema": SCHEMA,
        "name": "io.github.botmesh/botmesh-docs",
        "title": "botmesh docs",
        "description": env!("CARGO_PKG_DESCRIPTION"),
        "version": env!("CARGO_PKG_VERSION"),
        "repository": { "url": env!("CARGO_PKG_REPOSITORY"), "source": "github" },
        "remotes": [remote],
    });
    serde_json::to_vec_pretty(&card).expect("the card is plain data")
}

/// The endpoint's URL: the configured one, else the host that was asked, by the scheme that the proxy names.
pub(super) fn url(app: &App, headers: &HeaderMap) -> String {
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let host = text(HOST).filter(|_| app.guard.refuse(headers).is_none());
    match (&app.options.public_url, host) {
        (None, Some(host)) => {
            let proto = text(HeaderName::from_static("x-forwarded-proto"));
            let scheme = if proto == Some("https") { "https" } else { "http" };
            format!("{scheme}://{host}/mcp")
        }
        _ => app.url(),
    }
}
