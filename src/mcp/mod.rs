//! The Model Context Protocol: bytes to messages, messages to answers, and the stdio transport.
//!
//! [`frame`] cuts bytes into lines, [`envelope`] reads JSON-RPC messages, [`revision`] holds what differs between the
//! five revisions, [`session`] is the one dispatcher, free of input and output, that every transport shares, and
//! [`stdio`] carries it over a pipe. Nothing here looks inside a tool's value. Read [`session`] first.

pub mod envelope;
mod era;
pub mod frame;
pub mod http_facts;
mod instructions;
mod members;
mod output;
mod queue;
mod results;
pub mod revision;
pub mod session;
pub mod stdio;
