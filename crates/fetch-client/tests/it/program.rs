//! The program as a process of its own.

use std::path::Path;
use std::process::{Command, Output, Stdio};

/// How a process ended and what it said.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    /// The one object on standard output.
    pub(crate) fn envelope(&self) -> serde_json::Value {
        let mut lines = self.out.lines();
        let line = lines.next().unwrap_or_else(|| panic!("an envelope is missing: {self:?}"));
        assert_eq!(lines.next(), None, "standard output holds more than the envelope: {self:?}");
        serde_json::from_str(line).expect("one object on one line")
    }

    pub(crate) fn waiting_lines(&self) -> Vec<&str> {
        self.err.lines().filter(|line| line.starts_with('⏳')).collect()
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

/// The program in `directory`, without anything from this process's environment that it looks at.
pub(crate) fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fetch-client"));
    command
        .args(arguments)
        .current_dir(directory)
        .env_remove("MUSE_TOKEN")
        .env_remove("MUSE_FETCH_RETRY_BUDGET_S")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program to its end, beside the runtime that serves the hub.
pub(crate) async fn run(directory: &Path, arguments: &[&str]) -> Ran {
    finish(command(directory, arguments)).await
}

pub(crate) async fn finish(mut command: Command) -> Ran {
    tokio::task::spawn_blocking(move || command.output().expect("the program starts"))
        .await
        .expect("nobody panics here")
        .into()
}
