//! The `refusal-server` program; all of it lives in the library.

/// A refusal is fifty small allocations: with the system's allocator it takes a fifth more instructions.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    refusal_server::cli::main()
}
