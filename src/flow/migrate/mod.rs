//! Brings old documents to the current format: pure hops, total on objects, that leave what they do not know in place.
//!
//! Version 0 has no `version` (names differ), version 1 is transitional (structure differs), version 2 is current.

mod names;
mod structure;
mod walk;

use serde_json::{Map, Value, json};

use super::check::{Validation, validate_node};
use super::digest::canonical;
use super::issue::Issue;
use super::json::{Json, Node};
use super::reader::MAX_DEPTH;

/// The current version of the format.
pub const CURRENT: u64 = 2;

/// A document after its hops.
#[derive(Clone, Debug)]
pub struct Migration<'a> {
    /// The document.
    pub document: Node<'a>,
    /// Its version before.
    pub from: u64,
    /// Its version now.
    pub to: u64,
    /// The hops that ran.
    pub applied: Vec<&'static str>,
    /// What validation says of a document that is now current; nothing for older ones.
    pub validation: Validation,
}

/// Why a document cannot be migrated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MigrateError {
    /// The version is none that is known.
    #[error("unsupported document version {0} (supported: 0 to 2)")]
    Unsupported(String),
    /// The target is older than the document.
    #[error("cannot migrate version {from} down to {to}")]
    Down {
        /// Version of the document.
        from: u64,
        /// Version asked for.
        to: u64,
    },
}

/// Migrates an object to `target`.
pub fn migrate(mut document: Node<'_>, target: u64) -> Result<Migration<'_>, MigrateError> {
    let from = match document.get("version").map(|version| (&version.json, version)) {
        None => 0,
        Some((Json::Number(number @ (0.0 | 1.0 | 2.0)), _)) => *number as u64,
        Some((_, version)) => return Err(MigrateError::Unsupported(canonical(version))),
    };
    if target < from {
        return Err(MigrateError::Down { from, to: target });
    }
    let mut applied = Vec::new();
    if from < 1 && target >= 1 {
        names::migrate(&mut document);
        applied.push("v0-to-v1");
    }
    if from < 2 && target >= 2 {
        structure::migrate(&mut document);
        applied.push("v1-to-v2");
    }
    let mut validation = Validation::default();
    if target == CURRENT {
        validation = if document.depth() > MAX_DEPTH {
            let message = format!("must NOT be nested more than {MAX_DEPTH} levels deep");
            Validation { issues: vec![Issue::new("", message)], n_omitted: 0 }
        } else {
            validate_node(&document)
        };
    }
    Ok(Migration { document, from, to: target, applied, validation })
}

impl Migration<'_> {
    /// `{ document, from, to, applied, issues, omitted? }`.
    pub fn to_value(&self) -> Value {
        let mut value = Map::new();
        value.insert("document".into(), self.document.to_value());
        value.insert("from".into(), json!(self.from));
        value.insert("to".into(), json!(self.to));
        value.insert("applied".into(), json!(self.applied));
        value.insert("issues".into(), self.validation.issues.iter().map(Issue::to_value).collect());
        if self.validation.n_omitted > 0 {
            value.insert("omitted".into(), json!(self.validation.n_omitted));
        }
        Value::Object(value)
    }
}
