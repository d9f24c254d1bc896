//! What a logical request cost, in the extensions of its response.

use std::time::Duration;

use retry_core::{Asked, Reason, Stop};

/// How a logical request ended: in the extensions of every response that a face of this crate returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// Attempts made, this response's included.
    pub attempts: u32,
    /// Time spent between attempts.
    pub waited: Duration,
    /// Why the response is the last one although it is no success; `None` for a success.
    pub stop: Option<Stop>,
}

impl Report {
    /// The reason for which a refusal is the last answer.
    #[must_use]
    pub fn reason(&self) -> Option<Reason> {
        self.stop.map(|stop| stop.reason)
    }

    /// What the last refusal asked for.
    #[must_use]
    pub fn asked(&self) -> Option<Asked> {
        self.stop.map(|stop| stop.asked)
    }
}
