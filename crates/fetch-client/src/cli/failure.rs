//! How `get` and `instance` fail: what to say, and what to exit with.

use std::fmt::Display;

use super::console::Console;
use super::exit;

pub(super) struct Failure {
    code: u8,
    text: String,
}

impl Failure {
    /// What was asked for cannot be done.
    pub(super) fn user(text: impl Display) -> Self {
        Self::new(exit::USER_ERROR, text)
    }

    /// The server, the connection or the disk said no.
    pub(super) fn internal(text: impl Display) -> Self {
        Self::new(exit::INTERNAL, text)
    }

    pub(super) fn interrupted() -> Self {
        Self::new(exit::INTERRUPTED, "interrupted")
    }

    pub(super) fn new(code: u8, text: impl Display) -> Self {
        Self { code, text: text.to_string() }
    }

    /// Says it, and returns the exit code.
    pub(super) fn tell(self, console: &Console) -> u8 {
        console.line(&format!("❌ {}", self.text));
        self.code
    }
}
