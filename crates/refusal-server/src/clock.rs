//! The one place where the server reads a clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Where the server reads the time of day: signatures expire by it, and packs are kept by it.
///
/// Jobs and waits never ask it; they use the timers of the runtime, which a stepped clock does not move.
#[derive(Debug, Clone, Default)]
pub enum Clock {
    /// The clock of the machine.
    #[default]
    System,
    /// A clock that stands still until it is set, in whole seconds since the Unix epoch.
    Manual(Arc<AtomicU64>),
}

impl Clock {
    /// Whole seconds since the Unix epoch; 0 on a machine whose clock lies before it.
    pub fn unix_seconds(&self) -> u64 {
        match self {
            Clock::System => system_seconds(),
            Clock::Manual(seconds) => seconds.load(Ordering::SeqCst),
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the crate's one reading of the wall clock")]
fn system_seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// What the throttle's buckets are filled by: the monotonic clock, which a stepped machine clock does not move.
///
/// `governor` reads it by itself at each decision; everything else of the throttle asks this same one.
pub(crate) type BucketClock = governor::clock::MonotonicClock;

/// The instant `seconds` after the Unix epoch, as file systems keep it; the last they can keep when beyond.
pub(crate) fn system_time(seconds: u64) -> SystemTime {
    // The year 9999: every file system in use either keeps it or says that it cannot.
    const LATEST: u64 = 253_402_300_799;
    UNIX_EPOCH + Duration::from_secs(seconds.min(LATEST))
}

/// Whole seconds since the Unix epoch of an instant that a file system kept.
pub(crate) fn seconds_of(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
