//! Asks clients, policies and other implementations what they make of "come back later".
//!
//! - [`answer_lines`] answers questions that are written as JSON, one a line, with the decisions of
//!   [`retry_core`]: `conformance decide`. `docs/spec.md` section 11 defines questions and answers.
//! - [`cli`] is the command line.

pub mod cli;
mod decide;

pub use decide::{LONGEST_LINE, answer_line, answer_lines};
