//! The command line: arguments, rendering and exit codes.

mod arguments;
mod console;
mod envelope;
mod exit;
mod failure;
mod get;
mod instance;
mod message;
mod run;
#[cfg(test)]
mod samples;
mod signals;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::Parser;

use arguments::Arguments;

/// Runs the program with `arguments`, the program's name first, and says how it is to exit.
pub fn main_from(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let arguments = match Arguments::try_parse_from(arguments) {
        Ok(arguments) => arguments,
        Err(error) => {
            // clap would exit with 2, which means something else here.
            let _ = error.print();
            return exit::status(if error.use_stderr() { exit::USER_ERROR } else { exit::DONE });
        }
    };
    exit::status(run::run(arguments))
}

/// The commands that fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verb {
    Clone,
    Fetch,
    Pull,
}

impl Verb {
    fn name(self) -> &'static str {
        match self {
            Self::Clone => "clone",
            Self::Fetch => "fetch",
            Self::Pull => "pull",
        }
    }
}
