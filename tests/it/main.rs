//! The one integration binary: everything is tried on the real program, from outside.

mod flow;
mod matcher;
mod program;
mod properties;
mod schemas;
mod sdk;
mod stdio;
mod steps;
mod transcripts;
