//! Entry point.

use std::process::ExitCode;

fn main() -> ExitCode {
    botmesh_docs::diagnostics::start();
    botmesh_docs::cli::main(std::env::args_os())
}
