//! Sections of a Markdown tree, indexed and ranked: bytes in, answers out.
//!
//! A [`DocsTree`] is a folder with its rules. [`writer::build`] reads it into an [`Index`], whose commits give a
//! [`Snapshot`]: an immutable state of the whole tree that any number of threads may ask. A [`Query`] finds [`Hit`]s;
//! the same tree and query give the same bytes, whatever way the tree was indexed.
//!
//! The way of the data: [`tree`] (which files) → [`page`] (bytes to text, [`front_matter`], [`language`]) →
//! [`section`] ([`anchor`]) → [`terms`] ([`fold`]) → [`writer`] → [`snapshot`] → [`search`] ([`explain`], [`snippet`]),
//! and beside it [`lookup`], [`passage`] and [`outline`] for reading. Nothing here knows a protocol, prints, or asks
//! the time.
//!
//! ```
//! use botmesh_index::{DocsTree, Query, tree::TreeOptions, writer};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("guide.md"), "# Guide\n\n## Reanudación\n\nUna pausa no pierde nada.\n")?;
//! let tree = DocsTree::open(folder.path(), &TreeOptions::default())?;
//! let (_index, snapshot, problems) = writer::build(&tree, 1)?;
//! let query = Query { text: "reanudacion".into(), limit: 5, ..Query::default() };
//! let reply = snapshot.search(&query)?;
//! assert_eq!((reply.hits[0].path.as_str(), reply.hits[0].lines), ("guide.md", (3, 5)));
//! assert!(problems.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod anchor;
pub mod digest;
pub mod error;
pub mod explain;
pub mod fold;
pub mod front_matter;
pub mod language;
pub mod live;
pub mod lookup;
pub mod manifest;
mod memory_file;
mod nearness;
pub mod outline;
mod overlay;
pub mod page;
pub mod passage;
pub mod place;
mod query;
mod rank;
mod record;
mod scorer;
pub mod search;
pub mod section;
mod section_terms;
pub mod snapshot;
pub mod snippet;
mod stamp;
mod stand_in;
pub mod store;
mod term_lookup;
pub mod terms;
pub mod tree;
pub mod update;
pub mod watch;
pub mod writer;

pub use search::{Hit, Query, SearchReply};
pub use snapshot::Snapshot;
pub use tree::DocsTree;
pub use writer::Index;
