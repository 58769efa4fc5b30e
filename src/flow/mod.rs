//! Flow documents: whether one is right, what it does, what is risky in it, and what changed.
//!
//! JSON text in, values out. Nothing here knows docs, MCP, the clock or the disk, and nothing in a document is ever
//! evaluated as code. Start at [`reader::read`], then [`check::validate`]; [`model::Flow`] is what lint, graph and
//! simulation walk.

pub mod analyze;
pub mod block;
pub mod check;
pub mod diff;
pub mod digest;
pub mod format;
pub mod graph;
pub mod issue;
pub mod json;
pub mod lint;
pub mod migrate;
pub mod model;
pub mod pointer;
pub mod reach;
pub mod reader;
pub mod schema;
pub mod simulate;
pub mod text;
