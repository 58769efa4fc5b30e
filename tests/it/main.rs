//! The one integration binary: everything is tried on the real program, from outside.

mod check;
mod cli;
mod clients;
mod config;
mod console;
mod docs_tools;
mod flow;
mod folder;
mod http;
mod live;
mod matcher;
mod paths;
mod program;
mod properties;
mod query;
mod schemas;
mod sdk;
mod serving;
mod stdio;
mod steps;
mod stored;
mod token;
mod transcripts;
mod watch;
