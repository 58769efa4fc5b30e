//! `botmesh-docs`: search bilingual Markdown docs, and check bot flows, over MCP and from the command line.
//!
//! Data goes one way: `botmesh_index` answers queries on a docs tree, [`flow`] answers questions on one flow
//! document, [`tools`] shapes both into named tools, and [`mcp`] carries them over a transport. See `ARCHITECTURE.md`.

pub mod cache;
pub mod check;
pub mod cli;
pub mod clients;
pub mod config;
pub mod diagnostics;
pub mod docs;
pub mod error;
pub mod flow;
pub mod flows;
pub mod http;
pub mod mcp;
pub mod moment;
pub mod quality;
pub mod report;
pub mod scope;
pub mod state;
pub mod suggest;
pub mod tools;
