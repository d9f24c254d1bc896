//! The runner's one read of the wall clock; all other times come from the engine's trace.

use std::time::{SystemTime, UNIX_EPOCH};

/// Unix time in milliseconds, rounded down.
#[expect(clippy::disallowed_methods, reason = "the crate's one read of the wall clock")]
pub(crate) fn unix_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
