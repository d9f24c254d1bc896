//! The command line of `conformance`.

use std::io;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Parser, Subcommand};

use crate::answer_lines;

/// The exit code for wrong usage, and for a failure of the suite itself.
const USAGE_OR_HARNESS: u8 = 2;

/// Asks clients, policies and other implementations what they make of "come back later".
///
/// Exits with 0 where all is well, 1 where a client broke a promise, 2 on wrong usage or a failure of the
/// suite itself, 3 where nothing failed but something stayed open.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer questions, one JSON object a line on standard input, until it ends
    ///
    /// Answers come in order, one line each; a line that is no valid question is answered with
    /// {"error":"…"}. They are flushed whenever no further input is waiting, so that a partner may ask one
    /// question at a time.
    Decide,
}

/// Runs the program on the arguments of this process, and returns its exit code.
pub fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("conformance: {error:#}");
            ExitCode::from(USAGE_OR_HARNESS)
        }
    }
}

impl Command {
    fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Decide => {
                answer_lines(io::stdin().lock(), io::stdout().lock()).context("cannot answer questions")
            }
        }
    }
}
