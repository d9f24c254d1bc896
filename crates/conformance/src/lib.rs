//! Asks clients, policies and other implementations what they make of "come back later".
//!
//! - [`answer_lines`] answers questions that are written as JSON, one a line, with the decisions of
//!   [`retry_core`]: `conformance decide`. `docs/spec.md` section 11 defines questions and answers.
//! - [`Questions`] makes random questions from a seed, so that two answerers can be compared:
//!   `conformance questions`.
//! - [`cli`] is the command line.

pub mod cli;
mod decide;
mod questions;

pub use decide::{LONGEST_LINE, answer_line, answer_lines};
pub use questions::Questions;
