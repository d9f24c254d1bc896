//! Asks clients, policies and other implementations what they make of "come back later".
//!
//! - [`answer_lines`] answers questions that are written as JSON, one a line, with the decisions of
//!   [`retry_core`]: `conformance decide`. `docs/spec.md` section 11 defines questions and answers.
//! - [`Questions`] makes random questions from a seed, so that two answerers can be compared:
//!   `conformance questions`.
//! - [`runner`] points clients at the scripted servers of a [`Suite`] and has the arrivals judged:
//!   `conformance run`. [`report`] says what came out.
//! - [`cli`] is the command line.

mod adapter;
pub mod cli;
mod clock;
mod decide;
mod questions;
pub mod report;
pub mod runner;
mod suite;

pub use adapter::{Adapter, Options, UNSUPPORTED_EXIT};
pub use decide::{LONGEST_LINE, answer_line, answer_lines};
pub use questions::Questions;
pub use suite::{Selection, Suite};
