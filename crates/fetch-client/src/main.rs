//! `fetch-client`: see the library for what it does.

fn main() -> std::process::ExitCode {
    fetch_client::cli::main_from(std::env::args_os())
}
