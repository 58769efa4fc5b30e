//! botmesh-index
pub mod anchor;
pub mod error;
pub mod fold;
pub mod front_matter;
pub mod language;
pub mod page;
pub mod section;
pub mod terms;
pub mod tree;
mod query;
mod record;
mod scorer;
pub mod explain;
pub mod search;
pub mod snippet;
pub mod snapshot;
pub mod writer;
