//! The HTTP server from outside, byte for byte.

mod exchanges;
mod security;
mod server;
