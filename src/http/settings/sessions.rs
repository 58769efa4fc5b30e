//! Who is signed in at the settings page. Sessions live in memory and end with the process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use botmesh_index::digest::hex;
use subtle::ConstantTimeEq as _;

/// How long a session lasts: long enough to connect a few clients.
const LIFETIME: Duration = Duration::from_hours(1);

/// Sessions at once; the one that ends first makes room.
const MAX_SESSIONS: usize = 64;

const SECRET_BYTES: usize = 32;

/// What the next page shows, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Notice {
    /// A token was made; this is its secret.
    Made { name: String, secret: String },
    /// A token was revoked.
    Revoked { name: String },
    /// A name cannot be used.
    BadName,
    /// A name is taken.
    NameTaken { name: String },
    /// The state cannot be written.
    Failed,
}

#[derive(Debug)]
struct Session {
    /// Id of the token that signed in.
    token: String,
    /// Goes into each form and comes back with it.
    form_key: String,
    ends: Instant,
    notice: Option<Notice>,
}

/// A request's session.
#[derive(Debug)]
pub(super) struct SignedIn {
    /// Names the session.
    pub(super) key: String,
    /// Id of the token that signed in.
    pub(super) token: String,
    /// For the forms of the page.
    pub(super) form_key: String,
}

impl SignedIn {
    /// Whether a form came from a page of this session.
    pub(super) fn sent(&self, form_key: &str) -> bool {
        self.form_key.as_bytes().ct_eq(form_key.as_bytes()).into()
    }
}

/// All sessions, by the secret in their cookie.
#[derive(Debug, Default)]
pub(in crate::http) struct Sessions {
    by_key: Mutex<BTreeMap<String, Session>>,
}

impl Sessions {
    /// Starts a session of a token and gives the secret for its cookie.
    ///
    /// # Errors
    /// The system has no random numbers.
    pub(super) fn start(&self, token: &str, now: Instant) -> Result<String, getrandom::Error> {
        let (key, form_key) = (secret()?, secret()?);
        let session =
            Session { token: token.to_owned(), form_key, ends: now + LIFETIME, notice: None };
        let mut sessions = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, session| session.ends > now);
        if sessions.len() >= MAX_SESSIONS {
            let first = sessions.iter().min_by_key(|(_, session)| session.ends);
            if let Some(first) = first.map(|(key, _)| key.clone()) {
                sessions.remove(&first);
            }
        }
        sessions.insert(key.clone(), session);
        Ok(key)
    }

    /// The session of a cookie, while it lasts.
    pub(super) fn find(&self, key: &str, now: Instant) -> Option<SignedIn> {
        let sessions = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        let session = sessions.get(key).filter(|session| session.ends > now)?;
        let (token, form_key) = (session.token.clone(), session.form_key.clone());
        Some(SignedIn { key: key.to_owned(), token, form_key })
    }

    /// Ends a session.
    pub(super) fn end(&self, key: &str) {
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner).remove(key);
    }

    /// Leaves something for the next page of a session.
    pub(super) fn leave(&self, key: &str, notice: Notice) {
        let mut sessions = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(session) = sessions.get_mut(key) {
            session.notice = Some(notice);
        }
    }

    /// Takes what was left.
    pub(super) fn take(&self, key: &str) -> Option<Notice> {
        let mut sessions = self.by_key.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get_mut(key)?.notice.take()
    }
}

fn secret() -> Result<String, getrandom::Error> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes)?;
    Ok(hex(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_ends_in_time_and_when_told() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let key = sessions.start("a", now).expect("a session");
        let found = sessions.find(&key, now).expect("it is there");
        assert!(found.sent(&found.form_key) && !found.sent("") && !found.sent(&key));
        sessions.leave(&key, Notice::Failed);
        assert_eq!(sessions.take(&key), Some(Notice::Failed));
        assert_eq!(sessions.take(&key), None, "shown once");
        assert!(sessions.find(&key, now + LIFETIME).is_none());
        assert!(sessions.find("", now).is_none());
        sessions.end(&key);
        assert!(sessions.find(&key, now).is_none());
    }

    #[test]
    fn memory_is_bounded() {
        let (sessions, now) = (Sessions::default(), Instant::now());
        let first = sessions.start("a", now).expect("a session");
        for at in 1..=MAX_SESSIONS as u64 {
            sessions.start("a", now + Duration::from_secs(at)).expect("a session");
        }
        assert!(sessions.find(&first, now).is_none());
        assert_eq!(sessions.by_key.lock().expect("whole").len(), MAX_SESSIONS);
    }
}
