//! The command line of `conformance`.

use std::io::{self, BufWriter, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

mod files;
mod run;
mod suite;

use crate::{Questions, answer_lines};
use run::RunArguments;
use suite::{
    DiffArguments, ExplainArguments, JudgeArguments, ListArguments, MatrixArguments, ServeArguments,
};

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
    /// Print random questions for comparing two answerers, many of them near the edges of the rules
    Questions(QuestionsArguments),
    /// Point clients at scripted servers and judge them by when their requests arrive
    #[command(after_help = "Example: conformance run -- curl -sS --fail --retry 5 '{url}'")]
    Run(Box<RunArguments>),
    /// List the cases, or the adapters
    List(ListArguments),
    /// Explain a case: what it plays and what it expects
    Explain(ExplainArguments),
    /// Play one case until Ctrl-C, for an hour at the most, and print what arrives
    Serve(ServeArguments),
    /// Judge a trace from elsewhere: JSON lines on standard input or in a file
    ///
    /// Prints the verdict as JSON. Exits with 1 where it is fail, crash or no_contact, whatever the level of
    /// the case.
    Judge(JudgeArguments),
    /// Make one report of several results, and exit as one run of them all would
    Matrix(MatrixArguments),
    /// Say what changed between two results; exits with 1 where a client does worse
    Diff(DiffArguments),
}

#[derive(Debug, Args)]
struct QuestionsArguments {
    /// How many questions
    #[arg(long, default_value_t = 20_000)]
    count: usize,
    /// Where the random numbers begin: the same seed prints the same questions
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Runs the program on the arguments of this process, and returns its exit code.
pub fn main() -> ExitCode {
    match Cli::parse().command.run() {
        Ok(code) => code,
        Err(error) => {
            tell(&format!("conformance: {error:#}"));
            ExitCode::from(USAGE_OR_HARNESS)
        }
    }
}

/// A line on standard error. Where nobody reads that either, nothing is left to do about it.
fn tell(line: &str) {
    let _ = writeln!(io::stderr(), "{line}");
}

impl Command {
    fn run(self) -> anyhow::Result<ExitCode> {
        match self {
            Self::Decide => {
                answer_lines(io::stdin().lock(), io::stdout().lock()).context("cannot answer questions")?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Questions(arguments) => {
                arguments.print().context("cannot print questions")?;
                Ok(ExitCode::SUCCESS)
            }
            Self::Run(arguments) => arguments.run(),
            Self::List(arguments) => arguments.run(),
            Self::Explain(arguments) => arguments.run(),
            Self::Serve(arguments) => arguments.run(),
            Self::Judge(arguments) => arguments.run(),
            Self::Matrix(arguments) => arguments.run(),
            Self::Diff(arguments) => arguments.run(),
        }
    }
}

impl QuestionsArguments {
    fn print(&self) -> io::Result<()> {
        let mut output = BufWriter::new(io::stdout().lock());
        for question in Questions::from_seed(self.seed).take(self.count) {
            writeln!(output, "{question}")?;
        }
        output.flush()
    }
}
