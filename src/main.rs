//! Entry point.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use botmesh_docs::diagnostics::{self, StandardError};
use botmesh_docs::{cli, tools};

fn main() -> ExitCode {
    diagnostics::start();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let context = tools::Context::default();
    if let [flag, docs] = arguments.as_slice()
        && flag == "--docs"
        && !Path::new(docs).is_dir()
    {
        let _ = writeln!(StandardError, "warning: docs folder not found: `{docs}`");
    }
    match cli::serve::run(context) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(StandardError, "error: server cannot start: {error}");
            ExitCode::from(2)
        }
    }
}
