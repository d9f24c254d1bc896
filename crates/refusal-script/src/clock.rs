//! The engine's two clocks.

use std::time::{SystemTime, UNIX_EPOCH};

use tokio::time::Instant;

/// Stamps for one trace: microseconds since its start, and the wall clock beside them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    origin: Instant,
}

impl Clock {
    /// Starts now.
    pub(crate) fn start() -> Self {
        Self { origin: instant() }
    }

    /// Microseconds since the start.
    pub(crate) fn at_us(self) -> u64 {
        let micros = instant().saturating_duration_since(self.origin).as_micros();
        u64::try_from(micros).unwrap_or(u64::MAX)
    }

    /// Unix time in milliseconds, rounded down.
    #[expect(clippy::disallowed_methods, reason = "the crate's one read of the wall clock")]
    pub(crate) fn unix_ms() -> i64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    }
}

#[expect(clippy::disallowed_methods, reason = "the crate's one read of the monotonic clock")]
fn instant() -> Instant {
    Instant::now()
}
