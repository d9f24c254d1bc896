//! The program `conformance`: see the library's documentation.

fn main() -> std::process::ExitCode {
    conformance::cli::main()
}
