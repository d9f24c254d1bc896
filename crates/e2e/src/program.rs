//! How one executable becomes either program.

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::memory::own_peak_memory;

/// What this program can become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `refusal-server`.
    Server,
    /// `fetch-client`.
    Client,
}

impl Program {
    /// The name that the program goes by.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Server => "refusal-server",
            Self::Client => "fetch-client",
        }
    }

    /// The hidden first argument.
    fn argument(self) -> &'static str {
        match self {
            Self::Server => "as-server",
            Self::Client => "as-client",
        }
    }

    /// A command that starts `executable`, whose `main` calls [`become_program`] first, as this program.
    ///
    /// It inherits nothing of the environment that either program reads. At its end it writes its peak memory to
    /// `peak`.
    pub(crate) fn command(self, executable: &Path, peak: &Path) -> Command {
        let mut command = Command::new(executable);
        command.arg(self.argument()).arg(peak).env_clear().stdin(Stdio::piped());
        for kept in ["HOME", "LLVM_PROFILE_FILE", "PATH", "TMPDIR"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        command.env("NO_COLOR", "1");
        command
    }
}

/// Becomes the server or the client where the first argument of this process says so, and returns what to exit
/// with. To be called before anything else is done.
#[must_use]
pub fn become_program() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    let first = arguments.next()?;
    let program = [Program::Server, Program::Client]
        .into_iter()
        .find(|program| first == OsStr::new(program.argument()))?;
    let peak = arguments.next()?;
    end_with_parent();
    let command_line = std::iter::once(OsString::from(program.name())).chain(arguments);
    let code = match program {
        Program::Server => refusal_server::cli::main_from(command_line),
        Program::Client => fetch_client::cli::main_from(command_line),
    };
    if let Some(bytes) = own_peak_memory() {
        // Whoever wanted to know finds no file, and says so.
        let _ = std::fs::write(peak, bytes.to_string());
    }
    Some(code)
}

/// Ends this process when the one that started it is gone, and with it the other end of standard input: a test
/// that is killed leaves no server behind.
fn end_with_parent() {
    std::thread::spawn(|| {
        let _ = io::copy(&mut io::stdin().lock(), &mut io::sink());
        std::process::exit(1);
    });
}
