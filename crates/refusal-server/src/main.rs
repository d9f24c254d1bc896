//! The `refusal-server` program; all of it lives in the library.

fn main() -> std::process::ExitCode {
    refusal_server::cli::main()
}
