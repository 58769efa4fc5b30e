//! Diagnostics, on standard error alone: standard output belongs to results and to the protocol.

use std::io::{self, Write};

use tracing_subscriber::EnvFilter;

/// Names the events that are shown, e.g. `botmesh_docs=debug`.
const FILTER_VARIABLE: &str = "RUST_LOG";

const DEFAULT_FILTER: &str = "warn,botmesh_docs::http=info";

/// How events are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line of text each.
    Text,
    /// A JSON object a line.
    Json,
}

/// Shows diagnostics from now on. A filter that cannot be read is reported and the default is used instead.
pub fn start(format: Format) {
    let wanted = std::env::var(FILTER_VARIABLE).unwrap_or_default();
    let wanted = if wanted.trim().is_empty() { DEFAULT_FILTER } else { wanted.as_str() };
    let (filter, fault) = match EnvFilter::builder().parse(wanted) {
        Ok(filter) => (filter, None),
        Err(error) => (EnvFilter::new(DEFAULT_FILTER), Some(error)),
    };
    // A second call, as tests in one process make it, changes nothing.
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(|| StandardError)
        .with_ansi(false)
        .log_internal_errors(false);
    let _ = match format {
        Format::Text => subscriber.try_init(),
        Format::Json => subscriber.json().flatten_event(true).try_init(),
    };
    if let Some(error) = fault {
        tracing::warn!("{FILTER_VARIABLE} is no filter: {error}: using \"{DEFAULT_FILTER}\"");
    }
}

/// Standard error that never fails: a server must not end because nobody reads its diagnostics.
#[derive(Clone, Copy, Debug)]
pub struct StandardError;

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = io::stderr().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
