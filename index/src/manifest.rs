//! What an index was made from: the rules of the tree, and for each page what tells whether it changed.
//!
//! On disk it is the payload of the index's commit, so that pages and manifest change in one rename.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::anchor::Dialect;
use crate::error::{Problem, ProblemCode};
use crate::stamp::Stamp;
use crate::tree::{DocsTree, TreeOptions};
use crate::writer::RECORD_FIELD;

/// An index is used by the version that wrote it alone.
fn format() -> String {
    format!("{} {RECORD_FIELD}", env!("CARGO_PKG_VERSION"))
}

/// Rules of a tree as they were applied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Globs of pages that were left out.
    pub exclude: Vec<String>,
    /// Globs of pages that were kept although a folder rule leaves them out.
    pub include: Vec<String>,
    /// Language of pages that do not tell theirs.
    pub default_lang: String,
    /// Whose anchors were emitted.
    pub dialect: Dialect,
}

impl Rules {
    pub(crate) fn of(options: &TreeOptions, dialect: Dialect) -> Self {
        Self {
            exclude: options.exclude.clone(),
            include: options.include.clone(),
            default_lang: options.default_lang.clone(),
            dialect,
        }
    }

    /// Whether a page of the same bytes is the same page under both. Globs choose pages and change none.
    fn read_alike(&self, other: &Self) -> bool {
        self.default_lang == other.default_lang && self.dialect == other.dialect
    }
}

/// What is known of a page that is in the index.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PageFacts {
    #[serde(with = "hex")]
    pub(crate) sha256: [u8; 32],
    /// When it can be trusted: see [`Stamp::has_settled`].
    pub(crate) stamp: Option<Stamp>,
    pub(crate) n_sections: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) problems: Vec<(ProblemCode, String)>,
}

/// SHA-256 of a page's bytes.
pub(crate) fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// What an index was made from.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Manifest {
    format: String,
    pub(crate) rules: Rules,
    /// By path.
    pub(crate) pages: BTreeMap<String, PageFacts>,
}

impl Manifest {
    /// The manifest of an index without pages.
    pub(crate) fn empty(rules: Rules) -> Self {
        Self { format: format(), rules, pages: BTreeMap::new() }
    }

    /// Whether pages of the same bytes would be read the same today.
    pub(crate) fn reads_like(&self, tree: &DocsTree) -> bool {
        self.rules.read_alike(tree.rules())
    }

    pub(crate) fn n_sections(&self) -> usize {
        self.pages.values().map(|page| page.n_sections as usize).sum()
    }

    /// Problems inside the pages, by path.
    pub(crate) fn problems(&self) -> impl Iterator<Item = Problem> {
        self.pages.iter().flat_map(|(path, page)| {
            page.problems.iter().map(|(code, message)| Problem {
                path: path.clone(),
                code: *code,
                message: message.clone(),
            })
        })
    }

    pub(crate) fn encode(&self) -> String {
        serde_json::to_string(self).expect("keys are texts")
    }

    /// Reads what [`Self::encode`] wrote.
    ///
    /// # Errors
    /// Why it cannot be used, in a few words.
    pub(crate) fn decode(text: &str) -> Result<Self, &'static str> {
        #[derive(Deserialize)]
        struct Header {
            format: String,
        }
        let header: Header = serde_json::from_str(text).map_err(|_| "it is no index of docs")?;
        if header.format != format() {
            return Err("it was written by another version");
        }
        serde_json::from_str(text).map_err(|_| "it is damaged")
    }
}

mod hex {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(bytes: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&crate::digest::hex(bytes))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let text = String::deserialize(from)?;
        let mut bytes = [0; 32];
        let pairs: Vec<&str> = (0..64).step_by(2).filter_map(|at| text.get(at..at + 2)).collect();
        if pairs.len() != bytes.len() || text.len() != 64 {
            return Err(D::Error::custom("not 64 hexadecimal digits"));
        }
        for (byte, pair) in bytes.iter_mut().zip(pairs) {
            *byte = u8::from_str_radix(pair, 16).map_err(D::Error::custom)?;
        }
        Ok(bytes)
    }
}
