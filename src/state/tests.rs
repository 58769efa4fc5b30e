use std::fs;
use std::path::Path;

use serde_json::json;

use super::runs::{MAX_RUNS, NewRun};
use super::tokens::Validity;
use super::{FILE, State, StateError};
use crate::moment::Moment;

fn at(seconds: i64) -> Moment {
    Moment { seconds }
}

fn fresh() -> (tempfile::TempDir, State) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let state = State::open(&folder.path().join("a/state")).expect("a new state");
    (folder, state)
}

#[test]
fn a_token_is_accepted_until_it_is_revoked_or_expires() {
    let (folder, state) = fresh();
    let scopes = "docs:read".parse().expect("scopes");
    let made = state.tokens().create("ci", &scopes, at(100), Some(at(200))).expect("a token");
    // Another process sees it at once.
    let other = State::open(&folder.path().join("a/state")).expect("the same state");
    let accepts = |secret: &str, now| {
        let token = other.tokens().authenticate(secret, at(now)).expect("an answer");
        token.is_some_and(|token| token == made.token)
    };
    assert!(accepts(&made.secret, 199));
    assert!(!accepts(&made.secret, 200), "expired");
    let (head, tail) = made.secret.split_at(made.secret.len() - 1);
    let last = if tail == "0" { "1" } else { "0" };
    for wrong in ["", "bmd_", &format!("{head}{last}"), head, &made.secret.to_uppercase(), "bmd_é_"]
    {
        assert!(!accepts(wrong, 199), "{wrong}");
    }
    assert_eq!(state.tokens().revoke("nobody", at(150)).expect("an answer"), None);
    assert!(state.tokens().revoke("ci", at(150)).expect("an answer").is_some());
    assert!(!accepts(&made.secret, 160), "revoked");
    let record = &state.tokens().list().expect("a list")[0];
    assert_eq!((record.validity(at(160)), record.last_used), (Validity::Revoked, Some(at(199))));
    // The name is free again, and its id still names the first one.
    let second = state.tokens().create("ci", &scopes, at(160), None).expect("a token");
    let again = state.tokens().revoke(&made.token.id, at(170)).expect("an answer");
    assert_eq!(again.map(|token| token.id), Some(made.token.id));
    assert!(state.tokens().authenticate(&second.secret, at(i64::MAX)).expect("answer").is_some());
}

#[test]
fn the_secret_is_stored_nowhere() {
    let (folder, state) = fresh();
    let scopes = "admin:*".parse().expect("scopes");
    let made = state.tokens().create("root", &scopes, at(1), None).expect("a token");
    let random = made.secret.rsplit('_').next().expect("the random part");
    for entry in fs::read_dir(folder.path().join("a/state")).expect("the folder") {
        let bytes = fs::read(entry.expect("an entry").path()).expect("a file");
        let holds = bytes.windows(16).any(|window| window == &random.as_bytes()[..16]);
        assert!(!holds, "the secret is in a file");
    }
    assert!(made.secret.starts_with("bmd_") && random.len() == 64, "{}", made.secret);
}

#[test]
fn last_used_is_written_once_a_minute() {
    let (_folder, state) = fresh();
    let made = state.tokens().create("a", &"".parse().expect("none"), at(0), None).expect("one");
    for (now, noted) in [(1000, 1000), (1059, 1000), (1060, 1060), (900, 900)] {
        state.tokens().authenticate(&made.secret, at(now)).expect("an answer");
        let list = state.tokens().list().expect("a list");
        assert_eq!(list[0].last_used, Some(at(noted)), "{now}");
    }
}

#[test]
fn names_are_plain_words_and_unique() {
    let (_folder, state) = fresh();
    let create = |name: &str| state.tokens().create(name, &"".parse().expect("none"), at(0), None);
    create("año-1.x").expect("a good name");
    assert!(matches!(create("año-1.x"), Err(StateError::NameTaken { .. })));
    for wrong in ["", "-x", "a b", "a\n", "<b>", &"x".repeat(65)] {
        assert!(matches!(create(wrong), Err(StateError::BadName)), "{wrong:?}");
    }
}

#[test]
fn runs_are_listed_latest_first_and_the_oldest_go() {
    let (_folder, state) = fresh();
    let (request, result) = (json!({ "inputs": ["hi"] }), json!({ "status": "ended" }));
    let record = |flow: &str, now| {
        let run =
            NewRun { flow, digest: "d", finished: at(now), request: &request, result: &result };
        state.runs().record(run).expect("recorded")
    };
    let ids: Vec<String> =
        (0..5).map(|now| record(if now % 2 == 0 { "a" } else { "b" }, now)).collect();
    let list = |flow, below, limit| -> Vec<String> {
        let runs = state.runs().list(flow, below, limit).expect("a list");
        runs.into_iter().map(|run| run.id).collect()
    };
    assert_eq!(list(None, None, 2), [ids[4].as_str(), &ids[3]]);
    assert_eq!(list(None, Some(4), 9), [ids[2].as_str(), &ids[1], &ids[0]]);
    assert_eq!(list(Some("b"), None, 9), [ids[3].as_str(), &ids[1]]);
    let run = state.runs().get(&ids[1]).expect("an answer").expect("a run");
    assert_eq!((run.request, run.summary.status.as_str()), (request.clone(), "ended"));
    assert_eq!(state.runs().get("run_0").expect("an answer"), None);
    let jump = "UPDATE sqlite_sequence SET seq = ?1 WHERE name = 'runs'";
    state.connection().execute(jump, [MAX_RUNS + 2]).expect("a jump ahead");
    record("a", 9);
    assert_eq!(list(None, None, 9).len(), 3, "all but those more than MAX_RUNS behind");
}

#[test]
fn files_that_are_not_ours_are_refused_and_left_alone() {
    let refused = |prepare: &dyn Fn(&Path)| -> String {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join(FILE);
        prepare(&file);
        let before = fs::read(&file).expect("a file");
        let error = State::open(folder.path()).expect_err("no state of ours");
        assert_eq!(fs::read(&file).expect("a file"), before, "{error}");
        error.to_string()
    };
    let text = refused(&|file| {
        fs::write(file, "no database, but long enough ".repeat(99)).expect("written");
    });
    assert!(text.ends_with("it is no database"), "{text}");
    let foreign = refused(&|file| {
        let other = rusqlite::Connection::open(file).expect("a database");
        other.execute_batch("CREATE TABLE x (y)").expect("a table");
    });
    assert!(foreign.ends_with("another program wrote it"), "{foreign}");
    let damaged = refused(&|file| {
        drop(State::open(file.parent().expect("a folder")).expect("a state"));
        let mut bytes = fs::read(file).expect("a file");
        bytes[100..4000].fill(0xaa);
        fs::write(file, bytes).expect("written");
    });
    assert!(damaged.ends_with("it is damaged"), "{damaged}");
    let newer = refused(&|file| {
        let state = State::open(file.parent().expect("a folder")).expect("a state");
        state.connection().pragma_update(None, "user_version", 9).expect("a version");
    });
    assert!(newer.contains("format 9, and this program knows 1"), "{newer}");
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_it() {
    use std::os::unix::fs::PermissionsExt as _;

    let (folder, _state) = fresh();
    let path = folder.path().join("a/state");
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o700);
    for entry in fs::read_dir(&path).expect("the folder") {
        assert_eq!(mode(&entry.expect("an entry").path()), 0o600);
    }
}
