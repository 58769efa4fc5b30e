//! The HTTP server from outside, byte for byte.

mod exchanges;
mod security;
pub(crate) mod server;
