//! Entry point.

use std::process::ExitCode;

/// A server lives for days while pages are saved. This allocator gives memory back after each burst, where the system's
/// keeps half as much again, and building an index is faster with it.
#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    botmesh_docs::cli::main(std::env::args_os())
}
