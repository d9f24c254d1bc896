//! Exit codes, and nothing else decides them.

use std::process::ExitCode;

use crate::errors::{Error, ErrorClass};

pub(super) const DONE: u8 = 0;
pub(super) const USER_ERROR: u8 = 1;
const NO_REPOSITORY: u8 = 2;
pub(super) const INTERNAL: u8 = 3;
const NAME_MISSING: u8 = 4;
const PUSH_REFUSED: u8 = 5;
pub(super) const INTERRUPTED: u8 = 130;

/// The exit code of a failure.
pub(super) fn code(error: &Error) -> u8 {
    match error.class() {
        ErrorClass::User => USER_ERROR,
        ErrorClass::NoRepository => NO_REPOSITORY,
        ErrorClass::Internal => INTERNAL,
        ErrorClass::NameMissing => NAME_MISSING,
        ErrorClass::PushRefused => PUSH_REFUSED,
        ErrorClass::Interrupted => INTERRUPTED,
    }
}

/// Ends the process at once, without giving the work that still blocks a chance to end.
pub(super) fn at_once(code: u8) -> ! {
    std::process::exit(i32::from(code))
}

pub(super) fn status(code: u8) -> ExitCode {
    ExitCode::from(code)
}
