//! The settings page for people: snippets for their clients, and the tokens of the server.
//!
//! Signing in takes a token with `admin:*`. What the browser then holds is a cookie for this page alone: the endpoint
//! reads no cookies. Each form must come from this page: its origin is compared, and it carries a secret of its session.

mod language;
mod page;
mod sessions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use askama::Template;
use axum::extract::{ConnectInfo, DefaultBodyLimit, Form, Query, State};
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, COOKIE, HOST, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{Html, IntoResponse as _, Redirect, Response};
use axum::routing::{get, post};
use serde::Deserialize;

use super::{App, nowhere};
use crate::moment::{Moment, Span};
use crate::scope::{Scope, Scopes};
use crate::state::tokens::{Token, Validity};
use crate::state::{State as Store, StateError};
use language::Language;
use page::{SettingsPage, SignInPage};
use sessions::{Notice, SignedIn};

pub(super) use sessions::Sessions;

const PATH: &str = "/service/web/settings/mcp";

const SESSION_COOKIE: &str = "botmesh_session";
const LANGUAGE_COOKIE: &str = "botmesh_language";

/// A form of the page holds a few short fields.
const MAX_FORM_BYTES: usize = 16 * 1024;

/// Nothing but our own style sheet and script, no frames, forms to ourselves alone.
const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; \
    form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

pub(super) fn router() -> axum::Router<Arc<App>> {
    axum::Router::new()
        .route(PATH, get(show))
        .route(&format!("{PATH}/sign-in"), post(sign_in))
        .route(&format!("{PATH}/sign-out"), post(sign_out))
        .route(&format!("{PATH}/tokens"), post(make))
        .route(&format!("{PATH}/tokens/revoke"), post(revoke))
        .route(&format!("{PATH}/style.css"), get(style))
        .route(&format!("{PATH}/copy.js"), get(script))
        .layer(DefaultBodyLimit::max(MAX_FORM_BYTES))
        .layer(map_response(guarded))
}

/// Adds what keeps a browser from doing more with an answer than showing it.
async fn guarded(mut response: Response) -> Response {
    let headers = response.headers_mut();
    for (name, value) in [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer` browsers would hide the origin of the page's own forms.
        (REFERRER_POLICY, "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

#[derive(Deserialize)]
struct Asked {
    lang: Option<String>,
}

async fn show(
    State(app): State<Arc<App>>,
    Query(asked): Query<Asked>,
    headers: HeaderMap,
) -> Response {
    let Some(store) = app.door.state() else { return nowhere().await };
    let chosen = asked.lang.as_deref().and_then(Language::of_code);
    let language = chosen.unwrap_or_else(|| language(&headers));
    let page = match session(&app, store, &headers) {
        Ok(Some(session)) => match store.tokens().list() {
            Ok(records) => {
                let notice = app.sessions.take(&session.key);
                SettingsPage::new(&app, &headers, language, &session, &records, notice).render()
            }
            Err(error) => return failed(&error),
        },
        Ok(None) => SignInPage::new(language, false).render(),
        Err(error) => return failed(&error),
    };
    let mut response = html(StatusCode::OK, page);
    if chosen.is_some() {
        set_cookie(&mut response, &app, &headers, LANGUAGE_COOKIE, language.code());
    }
    response
}

#[derive(Deserialize)]
struct SignIn {
    token: String,
}

async fn sign_in(
    State(app): State<Arc<App>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    headers: HeaderMap,
    Form(form): Form<SignIn>,
) -> Response {
    let Some(store) = app.door.state() else { return nowhere().await };
    if !is_own_form(&app, &headers) {
        return foreign();
    }
    let token = match app.door.token(store, form.token.trim(), peer.ip()) {
        Ok(token) => token.filter(|token| token.scopes.allows(&Scope::Admin)),
        Err(refusal) => return refusal,
    };
    let Some(token) = token else {
        let page = SignInPage::new(language(&headers), true).render();
        return html(StatusCode::UNAUTHORIZED, page);
    };
    match app.sessions.start(&token.id, Instant::now()) {
        Ok(key) => {
            let mut response = back();
            set_cookie(&mut response, &app, &headers, SESSION_COOKIE, &key);
            response
        }
        Err(error) => failed(&StateError::NoRandom(error)),
    }
}

#[derive(Deserialize)]
struct Signed {
    form_key: String,
}

async fn sign_out(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Form(form): Form<Signed>,
) -> Response {
    let session = match sender(&app, &headers, &form.form_key) {
        Ok((_, session)) => session,
        Err(refusal) => return refusal,
    };
    app.sessions.end(&session.key);
    let mut response = back();
    set_cookie(&mut response, &app, &headers, SESSION_COOKIE, "");
    response
}

#[derive(Deserialize)]
struct Make {
    form_key: String,
    name: String,
    may: String,
    lasts: String,
}

async fn make(State(app): State<Arc<App>>, headers: HeaderMap, Form(form): Form<Make>) -> Response {
    let (store, session) = match sender(&app, &headers, &form.form_key) {
        Ok(sender) => sender,
        Err(refusal) => return refusal,
    };
    let scopes: Scopes = match form.may.as_str() {
        "read" => [Scope::DocsRead, Scope::FlowRead].into_iter().collect(),
        "run" => [Scope::DocsRead, Scope::FlowRead, Scope::FlowRun].into_iter().collect(),
        _ => return odd_form(),
    };
    let now = Moment::now();
    let expires = match form.lasts.as_str() {
        "ever" => None,
        span => match span.parse::<Span>() {
            Ok(span) => Some(now.after(span)),
            Err(_) => return odd_form(),
        },
    };
    let notice = match store.tokens().create(form.name.trim(), &scopes, now, expires) {
        Ok(made) => Notice::Made { name: made.token.name, secret: made.secret },
        Err(StateError::BadName) => Notice::BadName,
        Err(StateError::NameTaken { name }) => Notice::NameTaken { name },
        Err(error) => {
            tracing::error!(%error, "a token was not made");
            Notice::Failed
        }
    };
    app.sessions.leave(&session.key, notice);
    back()
}

#[derive(Deserialize)]
struct Revoke {
    form_key: String,
    id: String,
}

async fn revoke(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Form(form): Form<Revoke>,
) -> Response {
    let (store, session) = match sender(&app, &headers, &form.form_key) {
        Ok(sender) => sender,
        Err(refusal) => return refusal,
    };
    let notice = match store.tokens().revoke(&form.id, Moment::now()) {
        Ok(Some(token)) => Notice::Revoked { name: token.name },
        Ok(None) => return odd_form(),
        Err(error) => {
            tracing::error!(%error, "a token was not revoked");
            Notice::Failed
        }
    };
    app.sessions.leave(&session.key, notice);
    back()
}

async fn style() -> Response {
    asset("text/css; charset=utf-8", include_str!("assets/style.css"))
}

async fn script() -> Response {
    asset("text/javascript; charset=utf-8", include_str!("assets/copy.js"))
}

fn asset(kind: &'static str, text: &'static str) -> Response {
    // Asked for again after a while: the next version of the program may have another.
    ([(CONTENT_TYPE, kind), (CACHE_CONTROL, "max-age=300")], text).into_response()
}

/// The session of a form that changes something, or the answer that refuses it.
fn sender<'a>(
    app: &'a App,
    headers: &HeaderMap,
    form_key: &str,
) -> Result<(&'a Store, SignedIn), Response> {
    let Some(store) = app.door.state() else { return Err(odd_form()) };
    if !is_own_form(app, headers) {
        return Err(foreign());
    }
    match session(app, store, headers) {
        Ok(Some(session)) if session.sent(form_key) => Ok((store, session)),
        Ok(Some(_)) => Err(foreign()),
        Ok(None) => Err(back()),
        Err(error) => Err(failed(&error)),
    }
}

/// The session of a request, while the token that it began with is accepted for everything.
fn session(app: &App, store: &Store, headers: &HeaderMap) -> Result<Option<SignedIn>, StateError> {
    let Some(session) =
        cookie(headers, SESSION_COOKIE).and_then(|key| app.sessions.find(key, Instant::now()))
    else {
        return Ok(None);
    };
    let now = Moment::now();
    let is_good = |token: &Token| token.id == session.token && token.scopes.allows(&Scope::Admin);
    let records = store.tokens().list()?;
    let is_accepted = records
        .iter()
        .any(|record| is_good(&record.token) && record.validity(now) == Validity::Active);
    if !is_accepted {
        app.sessions.end(&session.key);
        return Ok(None);
    }
    Ok(Some(session))
}

/// Whether a form was sent by a page of this very host and port. Browsers always say where a form comes from.
fn is_own_form(app: &App, headers: &HeaderMap) -> bool {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let origin = text(ORIGIN).and_then(authority);
    let public = app.options.public_url.as_deref().and_then(authority);
    origin.is_some() && (origin == text(HOST) || origin == public)
}

fn authority(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    rest.split('/').next()
}

fn language(headers: &HeaderMap) -> Language {
    let chosen = cookie(headers, LANGUAGE_COOKIE).and_then(Language::of_code);
    chosen.unwrap_or_else(|| Language::asked(headers))
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let texts = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
    let pairs = texts.flat_map(|text| text.split(';'));
    let mut pairs = pairs.filter_map(|pair| pair.trim().split_once('='));
    pairs.find_map(|(key, value)| (key == name).then_some(value))
}

/// Sets a cookie for this page alone; an empty one is taken back.
fn set_cookie(response: &mut Response, app: &App, headers: &HeaderMap, name: &str, value: &str) {
    let secure = if super::card::url(app, headers).starts_with("https:") { "; Secure" } else { "" };
    let age = if value.is_empty() { "; Max-Age=0" } else { "" };
    let text = format!("{name}={value}; Path={PATH}; HttpOnly; SameSite=Strict{secure}{age}");
    let value = HeaderValue::from_str(&text).expect("names and values here are plain ASCII");
    response.headers_mut().append(SET_COOKIE, value);
}

fn html(status: StatusCode, page: askama::Result<String>) -> Response {
    match page {
        Ok(page) => (status, Html(page)).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page cannot be written");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}

fn back() -> Response {
    Redirect::to(PATH).into_response()
}

fn foreign() -> Response {
    let text = "this form was not sent by the settings page: load the page and try again\n";
    (StatusCode::FORBIDDEN, text).into_response()
}

fn odd_form() -> Response {
    (StatusCode::BAD_REQUEST, "the form holds what the page does not send\n").into_response()
}

fn failed(error: &StateError) -> Response {
    tracing::error!(%error, "settings page");
    let text = "the server's state cannot be read: its log says why\n";
    (StatusCode::SERVICE_UNAVAILABLE, text).into_response()
}
