//! The one place of this crate that reads a clock.

use std::time::{Duration, Instant};

/// Now, on the monotonic clock.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this is the one place that reads the clock")]
pub fn now() -> Instant {
    Instant::now()
}

/// How long ago `start` was.
#[must_use]
pub fn since(start: Instant) -> Duration {
    now().saturating_duration_since(start)
}
