//! What the templates show.

use askama::Template;
use axum::http::HeaderMap;

use super::language::{Language, Texts};
use super::sessions::{Notice, SignedIn};
use crate::clients::{Client, TOKEN_VARIABLE, Transport, card_url};
use crate::http::{App, card};
use crate::moment::Moment;
use crate::state::tokens::{TokenRecord, Validity};

/// The form to sign in.
#[derive(Template)]
#[template(path = "settings/sign-in.html")]
pub(super) struct SignInPage {
    lang: &'static str,
    other_lang: &'static str,
    texts: &'static Texts,
    is_wrong: bool,
}

impl SignInPage {
    pub(super) fn new(language: Language, is_wrong: bool) -> Self {
        let (lang, other_lang, texts) = common(language);
        Self { lang, other_lang, texts, is_wrong }
    }
}

/// The page of someone who is signed in.
#[derive(Template)]
#[template(path = "settings/settings.html")]
pub(super) struct SettingsPage {
    lang: &'static str,
    other_lang: &'static str,
    texts: &'static Texts,
    form_key: String,
    endpoint: String,
    card: Option<String>,
    variable: &'static str,
    clients: Vec<ClientView>,
    tokens: Vec<TokenView>,
    notice: Option<Notice>,
}

struct ClientView {
    name: &'static str,
    title: &'static str,
    snippet: Option<SnippetView>,
}

struct SnippetView {
    file: Option<&'static str>,
    text: String,
    command: Option<String>,
    note: Option<&'static str>,
}

struct TokenView {
    id: String,
    name: String,
    scopes: String,
    created: String,
    last_used: Option<String>,
    expires: Option<String>,
    state: &'static str,
    state_text: &'static str,
    is_active: bool,
    is_own: bool,
}

impl SettingsPage {
    pub(super) fn new(
        app: &App,
        headers: &HeaderMap,
        language: Language,
        session: &SignedIn,
        records: &[TokenRecord],
        notice: Option<Notice>,
    ) -> Self {
        let (lang, other_lang, texts) = common(language);
        let (endpoint, now) = (card::url(app, headers), Moment::now());
        let client = |client: Client| {
            let snippet = client.snippet(Transport::Http { url: &endpoint });
            let snippet = snippet.map(|snippet| SnippetView {
                file: snippet.file,
                text: snippet.text,
                command: snippet.command,
                note: snippet.note.map(|note| texts.note(note)),
            });
            let title = match client {
                Client::Generic => texts.other_clients,
                client => client.title(),
            };
            ClientView { name: client.name(), title, snippet }
        };
        let clients = Client::ALL.into_iter().map(client).collect();
        let mut tokens: Vec<TokenView> =
            records.iter().rev().map(|record| token(record, session, texts, now)).collect();
        // What works comes first, and of that the latest.
        tokens.sort_by_key(|token| !token.is_active);
        let card = app.options.server_card.then(|| card_url(&endpoint));
        let form_key = session.form_key.clone();
        let variable = TOKEN_VARIABLE;
        Self {
            lang,
            other_lang,
            texts,
            form_key,
            endpoint,
            card,
            variable,
            clients,
            tokens,
            notice,
        }
    }
}

fn common(language: Language) -> (&'static str, &'static str, &'static Texts) {
    let other = match language {
        Language::English => Language::Spanish,
        Language::Spanish => Language::English,
    };
    (language.code(), other.code(), language.texts())
}

fn token(
    record: &TokenRecord,
    session: &SignedIn,
    texts: &'static Texts,
    now: Moment,
) -> TokenView {
    let validity = record.validity(now);
    TokenView {
        id: record.token.id.clone(),
        name: record.token.name.clone(),
        scopes: record.token.scopes.to_string(),
        created: shown(record.created),
        last_used: record.last_used.map(shown),
        expires: record.expires.map(shown),
        state: validity.name(),
        state_text: match validity {
            Validity::Active => texts.active,
            Validity::Expired => texts.expired,
            Validity::Revoked => texts.revoked,
        },
        is_active: validity == Validity::Active,
        is_own: record.token.id == session.token,
    }
}

/// A moment to the minute: `2026-12-01 13:40 UTC`.
fn shown(moment: Moment) -> String {
    const TO_THE_MINUTE: usize = "2026-12-01T13:40".len();
    let text = moment.to_string();
    let text = text.get(..TO_THE_MINUTE).unwrap_or(&text).replace('T', " ");
    format!("{text} UTC")
}
