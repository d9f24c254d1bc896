//! What "come back later" means, and whether and how long to wait for it.
//!
//! This crate does **no IO**: it opens no socket, reads no clock, sleeps never, draws no random number and
//! allocates nothing while it parses and decides. Instants and wall-clock seconds are arguments, of two
//! types that do not mix ([`Monotonic`], [`UnixTime`]). So the same code is driven by a real clock in a
//! client, by a virtual one in tests, and by data on paper.
//!
//! - [`RetryAfter::parse`] reads the field (RFC 9110 section 10.2.3): four outcomes, never merged.
//! - [`Hint`] is what one response asks for, uncapped.
//! - [`Policy`] is everything that can be decided in advance; [`profiles`] holds four of them.
//! - [`LogicalRequest`] is the state machine; its documentation has the run loop.
//! - [`Windows`] are the not-befores that requests share.
//!
//! The rules have ids (`P3`, `B2`, `E7`), which the documentation cites where they are implemented;
//! `docs/spec.md` is the specification.
#![no_std]
#![forbid(unsafe_code)]
#![deny(
    clippy::arithmetic_side_effects,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used
)]

extern crate alloc;
#[cfg(test)]
extern crate std;

mod anomalies;
mod backoff;
mod builder;
mod decision;
#[cfg(feature = "serde")]
mod document;
mod hint;
mod http_date;
mod key_hash;
mod outcome;
mod policy;
pub mod profiles;
mod request;
mod retry_after;
mod status_set;
#[cfg(feature = "testing")]
pub mod testing;
mod time;
mod windows;

pub use anomalies::{Anomalies, Anomaly};
pub use backoff::Schedule;
pub use builder::{PolicyBuilder, PolicyError};
pub use decision::{Application, Applied, Decision, Reason, Step, Stop, Wait};
pub use hint::{Asked, Hint, RawText};
pub use http_date::HttpDate;
pub use outcome::{Body, Outcome, Replay, Verdict};
pub use policy::{Combine, Jitter, Join, OverBudget, OverCeiling, Policy, Warning, WindowPolicy};
pub use request::{Attempt, LogicalRequest, NoRandom, Random};
pub use retry_after::{Dates, LONGEST_VALUE, MOST_LINES, Malformed, Reading, RetryAfter};
pub use status_set::{Needs, StatusSet};
pub use time::{LARGEST, Monotonic, UnixTime};
pub use windows::{Closed, Windows, clears_window, records_window};
