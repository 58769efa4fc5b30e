//! The languages of the page: which one a reader gets, and all its texts.

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_LANGUAGE;

use crate::clients::Note;

/// A language of the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    English,
    Spanish,
}

impl Language {
    /// The language of a code, `en` or `es`.
    pub(super) fn of_code(code: &str) -> Option<Self> {
        match code {
            "en" => Some(Self::English),
            "es" => Some(Self::Spanish),
            _ => None,
        }
    }

    /// Its code.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Spanish => "es",
        }
    }

    /// The language that a browser asks for: the first of ours by weight, English without any.
    pub(super) fn asked(headers: &HeaderMap) -> Self {
        let text = headers.get(ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok());
        let mut best = (0.0, Self::English);
        for part in text.unwrap_or_default().split(',') {
            let mut parts = part.split(';').map(str::trim);
            let tag = parts.next().unwrap_or_default().split('-').next().unwrap_or_default();
            let weight = parts.find_map(|part| part.strip_prefix("q=")).unwrap_or("1");
            let weight: f32 = weight.parse().unwrap_or(0.0);
            if let Some(language) = Self::of_code(&tag.to_ascii_lowercase())
                && weight > best.0
            {
                best = (weight, language);
            }
        }
        best.1
    }

    /// Its texts.
    pub(super) fn texts(self) -> &'static Texts {
        match self {
            Self::English => &ENGLISH,
            Self::Spanish => &SPANISH,
        }
    }
}

/// Every text of the page.
pub(super) struct Texts {
    pub(super) title: &'static str,
    pub(super) other_language: &'static str,
    pub(super) sign_in: &'static str,
    pub(super) sign_in_help: &'static str,
    pub(super) admin_token: &'static str,
    pub(super) wrong_token: &'static str,
    pub(super) sign_out: &'static str,
    pub(super) connect: &'static str,
    pub(super) connect_help: &'static str,
    pub(super) endpoint: &'static str,
    pub(super) card: &'static str,
    pub(super) copy: &'static str,
    pub(super) copied: &'static str,
    pub(super) file: &'static str,
    pub(super) their_file: &'static str,
    pub(super) or_run: &'static str,
    pub(super) other_clients: &'static str,
    pub(super) no_http: &'static str,
    pub(super) tokens: &'static str,
    pub(super) no_tokens: &'static str,
    pub(super) name: &'static str,
    pub(super) scopes: &'static str,
    pub(super) created: &'static str,
    pub(super) last_used: &'static str,
    pub(super) expires: &'static str,
    pub(super) state: &'static str,
    pub(super) never: &'static str,
    pub(super) active: &'static str,
    pub(super) expired: &'static str,
    pub(super) revoked: &'static str,
    pub(super) yours: &'static str,
    pub(super) revoke: &'static str,
    pub(super) new_token: &'static str,
    pub(super) name_help: &'static str,
    pub(super) may: &'static str,
    pub(super) may_read: &'static str,
    pub(super) may_run: &'static str,
    pub(super) lasts: &'static str,
    pub(super) days: &'static str,
    pub(super) for_ever: &'static str,
    pub(super) make: &'static str,
    pub(super) made: &'static str,
    pub(super) made_help: &'static str,
    pub(super) was_revoked: &'static str,
    pub(super) bad_name: &'static str,
    pub(super) name_taken: &'static str,
    pub(super) failed: &'static str,
    full_paths: &'static str,
    asks_for_token: &'static str,
    variable_unknown: &'static str,
}

impl Texts {
    /// A note of a snippet.
    pub(super) fn note(&self, note: Note) -> &'static str {
        match note {
            Note::FullPaths => self.full_paths,
            Note::AsksForToken => self.asks_for_token,
            Note::VariableUnknown => self.variable_unknown,
        }
    }
}

static ENGLISH: Texts = Texts {
    title: "Connect over MCP",
    other_language: "Español",
    sign_in: "Sign in",
    sign_in_help: "Enter a token with the scope admin:*. The server's owner makes one with:",
    admin_token: "Administrator token",
    wrong_token: "This is no valid administrator token.",
    sign_out: "Sign out",
    connect: "Connect a client",
    connect_help: "Each snippet takes the token from the environment variable",
    endpoint: "Endpoint",
    card: "Server card",
    copy: "Copy",
    copied: "Copied",
    file: "Write this into",
    their_file: "Write this into the client's file",
    or_run: "Or run",
    other_clients: "Other clients",
    no_http: "This client takes no HTTP server with a token in its file.",
    tokens: "Tokens",
    no_tokens: "There is no token yet.",
    name: "Name",
    scopes: "Scopes",
    created: "Created",
    last_used: "Last used",
    expires: "Expires",
    state: "State",
    never: "never",
    active: "active",
    expired: "expired",
    revoked: "revoked",
    yours: "you are signed in with it",
    revoke: "Revoke",
    new_token: "New token",
    name_help: "Letters, digits and - _ .",
    may: "It may",
    may_read: "read: search the docs and use the flow tools",
    may_run: "read and run: also run stored flows",
    lasts: "It lasts",
    days: "days",
    for_ever: "for ever",
    make: "Make token",
    made: "Token made:",
    made_help: "Copy it now: it is shown only this once.",
    was_revoked: "Token revoked:",
    bad_name: "A name has 1 to 64 letters, digits or - _ . and begins with a letter or a digit.",
    name_taken: "There is a token of this name already:",
    failed: "That did not work: the server's log says why.",
    full_paths: "Give the program and the docs folder with their full paths.",
    asks_for_token: "The client asks for the token once and keeps it.",
    variable_unknown: "Whether the client replaces the variable is not known: see its manual.",
};

static SPANISH: Texts = Texts {
    title: "Conectar por MCP",
    other_language: "English",
    sign_in: "Entrar",
    sign_in_help: "Introduce un token con el permiso admin:*. Quien administra el servidor lo crea con:",
    admin_token: "Token de administración",
    wrong_token: "No es un token de administración válido.",
    sign_out: "Salir",
    connect: "Conectar un cliente",
    connect_help: "Cada fragmento toma el token de la variable de entorno",
    endpoint: "Dirección",
    card: "Tarjeta del servidor",
    copy: "Copiar",
    copied: "Copiado",
    file: "Escribe esto en",
    their_file: "Escribe esto en el archivo del cliente",
    or_run: "O ejecuta",
    other_clients: "Otros clientes",
    no_http: "Este cliente no admite en su archivo un servidor HTTP con token.",
    tokens: "Tokens",
    no_tokens: "Todavía no hay ningún token.",
    name: "Nombre",
    scopes: "Permisos",
    created: "Creado",
    last_used: "Último uso",
    expires: "Caduca",
    state: "Estado",
    never: "nunca",
    active: "activo",
    expired: "caducado",
    revoked: "revocado",
    yours: "has entrado con él",
    revoke: "Revocar",
    new_token: "Token nuevo",
    name_help: "Letras, cifras y - _ .",
    may: "Puede",
    may_read: "leer: buscar en la documentación y usar las herramientas de flujos",
    may_run: "leer y ejecutar: además, ejecutar flujos guardados",
    lasts: "Dura",
    days: "días",
    for_ever: "para siempre",
    make: "Crear token",
    made: "Token creado:",
    made_help: "Cópialo ahora: no volverá a mostrarse.",
    was_revoked: "Token revocado:",
    bad_name: "Un nombre tiene de 1 a 64 letras, cifras o - _ . y empieza por letra o cifra.",
    name_taken: "Ya hay un token con este nombre:",
    failed: "No ha funcionado: el registro del servidor dice por qué.",
    full_paths: "Indica el programa y la carpeta de documentación con sus rutas completas.",
    asks_for_token: "El cliente pide el token una vez y lo guarda.",
    variable_unknown: "No sabemos si el cliente sustituye la variable: consulta su manual.",
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_gets_the_language_it_asks_for() {
        let check = |asked: &'static str, expected: Language| {
            let mut headers = HeaderMap::new();
            headers.insert(ACCEPT_LANGUAGE, asked.parse().expect("a header"));
            assert_eq!(Language::asked(&headers), expected, "{asked}");
        };
        check("es-MX,es;q=0.9,en;q=0.8", Language::Spanish);
        check("en-GB, es;q=0.5", Language::English);
        check("fr, es;q=0.3, en;q=0.2", Language::Spanish);
        check("es;q=0, en;q=0.1", Language::English);
        check("de", Language::English);
        check("ES", Language::Spanish);
        check("es;q=x", Language::English);
        assert_eq!(Language::asked(&HeaderMap::new()), Language::English);
    }
}
