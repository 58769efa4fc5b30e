//! Tokens: who may call the server, and for what.
//!
//! A secret is `bmd_`, the token's id, `_` and 256 random bits. The id finds the row, so that no look-up depends on the
//! secret part, and of the secret only its SHA-256 is stored.

use rusqlite::{OptionalExtension as _, Row, params};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use super::{State, StateError, random_hex};
use crate::moment::Moment;
use crate::scope::Scopes;

/// Every secret begins so: scanners for leaked secrets can tell them.
pub const SECRET_PREFIX: &str = "bmd_";

/// Longest name of a token.
pub const MAX_NAME_CHARS: usize = 64;

/// `last used` is written at most once in so many seconds: a busy token must not make every call a write.
const LAST_USED_STEP: i64 = 60;

const ID_BYTES: usize = 6;
const SECRET_BYTES: usize = 32;

/// A token that was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its id; no secret.
    pub id: String,
    /// The name that its maker gave it.
    pub name: String,
    /// What it may do.
    pub scopes: Scopes,
}

/// A token that was just made. The secret is shown once and kept nowhere.
#[derive(Debug)]
pub struct NewToken {
    /// The token.
    pub token: Token,
    /// What its owner sends.
    pub secret: String,
    /// When it was made.
    pub created: Moment,
    /// When it ends; never, without.
    pub expires: Option<Moment>,
}

/// Whether a token is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Validity {
    /// It is.
    Active,
    /// Its time is over.
    Expired,
    /// Its owner took it back.
    Revoked,
}

impl Validity {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

/// What is known of a token.
#[derive(Clone, Debug)]
pub struct TokenRecord {
    /// Id, name, scopes.
    pub token: Token,
    /// When it was made.
    pub created: Moment,
    /// When it was last accepted, to the minute.
    pub last_used: Option<Moment>,
    /// When it ends; never, without.
    pub expires: Option<Moment>,
    /// When it was revoked.
    pub revoked: Option<Moment>,
}

impl TokenRecord {
    /// Whether it is accepted at `now`.
    pub fn validity(&self, now: Moment) -> Validity {
        match (self.revoked, self.expires) {
            (Some(_), _) => Validity::Revoked,
            (None, Some(end)) if end <= now => Validity::Expired,
            _ => Validity::Active,
        }
    }
}

const COLUMNS: &str = "id, name, scopes, created, last_used, expires, revoked";

/// The tokens of a state folder.
#[derive(Clone, Copy, Debug)]
pub struct Tokens<'s> {
    state: &'s State,
}

impl<'s> Tokens<'s> {
    pub(super) fn of(state: &'s State) -> Self {
        Self { state }
    }

    /// Makes a token.
    ///
    /// # Errors
    /// The name is taken by a token that is not revoked, or can be none's; the state cannot be written.
    pub fn create(
        &self,
        name: &str,
        scopes: &Scopes,
        now: Moment,
        expires: Option<Moment>,
    ) -> Result<NewToken, StateError> {
        if !is_name(name) {
            return Err(StateError::BadName);
        }
        let id = random_hex::<ID_BYTES>()?;
        let secret = format!("{SECRET_PREFIX}{id}_{}", random_hex::<SECRET_BYTES>()?);
        let insert = "INSERT INTO tokens (id, name, scopes, hash, created, expires) \
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let hash = Sha256::digest(&secret);
        let expires_at = expires.map(|moment| moment.seconds);
        let inserted = self.state.connection().execute(
            insert,
            params![id, name, scopes.to_string(), hash.as_slice(), now.seconds, expires_at],
        );
        match inserted {
            Err(error)
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation) =>
            {
                return Err(StateError::NameTaken { name: name.to_owned() });
            }
            inserted => inserted.map_err(|error| self.state.fail(&error))?,
        };
        let token = Token { id, name: name.to_owned(), scopes: scopes.clone() };
        Ok(NewToken { token, secret, created: now, expires })
    }

    /// The token of a secret; `None` when there is none, or it is revoked or expired. Notes that it was used.
    ///
    /// # Errors
    /// The state cannot be read. That it was used is not worth an error.
    pub fn authenticate(&self, secret: &str, now: Moment) -> Result<Option<Token>, StateError> {
        let Some(id) = id_of(secret) else { return Ok(None) };
        let hash = Sha256::digest(secret);
        let connection = self.state.connection();
        let select = format!("SELECT {COLUMNS}, hash FROM tokens WHERE id = ?1");
        let found = connection
            .prepare_cached(&select)
            .and_then(|mut statement| {
                let row = |row: &Row<'_>| Ok((record(row)?, row.get::<_, Vec<u8>>(7)?));
                statement.query_row([id], row).optional()
            })
            .map_err(|error| self.state.fail(&error))?;
        let Some((record, stored)) = found else { return Ok(None) };
        let is_same = bool::from(stored.as_slice().ct_eq(hash.as_slice()));
        if !is_same || record.validity(now) != Validity::Active {
            return Ok(None);
        }
        let is_noted = record.last_used.is_some_and(|last| {
            (last.seconds..last.seconds.saturating_add(LAST_USED_STEP)).contains(&now.seconds)
        });
        if !is_noted {
            let update = "UPDATE tokens SET last_used = ?2 WHERE id = ?1";
            if let Err(error) = connection.execute(update, params![id, now.seconds]) {
                tracing::warn!(%error, "the use of a token is not noted");
            }
        }
        Ok(Some(record.token))
    }

    /// All tokens, the oldest first.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn list(&self) -> Result<Vec<TokenRecord>, StateError> {
        let select = format!("SELECT {COLUMNS} FROM tokens ORDER BY created, rowid");
        let connection = self.state.connection();
        let read = || -> Result<Vec<TokenRecord>, rusqlite::Error> {
            connection.prepare_cached(&select)?.query_map([], record)?.collect()
        };
        read().map_err(|error| self.state.fail(&error))
    }

    /// Whether any token is accepted at `now`.
    ///
    /// # Errors
    /// The state cannot be read.
    pub fn has_active(&self, now: Moment) -> Result<bool, StateError> {
        Ok(self.list()?.iter().any(|record| record.validity(now) == Validity::Active))
    }

    /// Revokes the token with this id, else the unrevoked one of this name. `None` when there is no such token; one that
    /// was revoked before stays so.
    ///
    /// # Errors
    /// The state cannot be read or written.
    pub fn revoke(&self, name_or_id: &str, now: Moment) -> Result<Option<Token>, StateError> {
        let update = format!(
            "UPDATE tokens SET revoked = coalesce(revoked, ?2) WHERE id = ?1 \
            OR (name = ?1 AND revoked IS NULL AND NOT EXISTS (SELECT 1 FROM tokens WHERE id = ?1)) \
            RETURNING {COLUMNS}"
        );
        let connection = self.state.connection();
        let revoked = connection
            .query_row(&update, params![name_or_id, now.seconds], record)
            .optional()
            .map_err(|error| self.state.fail(&error))?;
        Ok(revoked.map(|record| record.token))
    }
}

fn record(row: &Row<'_>) -> rusqlite::Result<TokenRecord> {
    let moment = |seconds: Option<i64>| seconds.map(|seconds| Moment { seconds });
    let scopes: String = row.get(2)?;
    // A scope that only a later version knows allows nothing here.
    let scopes = scopes.split(' ').filter_map(|scope| scope.parse().ok()).collect();
    Ok(TokenRecord {
        token: Token { id: row.get(0)?, name: row.get(1)?, scopes },
        created: Moment { seconds: row.get(3)? },
        last_used: moment(row.get(4)?),
        expires: moment(row.get(5)?),
        revoked: moment(row.get(6)?),
    })
}

/// The id inside a secret, if it has the form of one.
fn id_of(secret: &str) -> Option<&str> {
    let (id, random) = secret.strip_prefix(SECRET_PREFIX)?.split_once('_')?;
    let is_hex = |text: &str, n_bytes: usize| {
        text.len() == 2 * n_bytes && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    (is_hex(id, ID_BYTES) && is_hex(random, SECRET_BYTES)).then_some(id)
}

/// Whether a token may have this name: it is a word on a command line and shown on a page.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let n_chars = name.chars().count();
    (1..=MAX_NAME_CHARS).contains(&n_chars)
        && name.chars().all(is_plain)
        && name.starts_with(char::is_alphanumeric)
}
