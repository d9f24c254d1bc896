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

/// The instant as text: RFC 3339, UTC, whole seconds.
pub(crate) fn timestamp(unix_seconds: u64) -> String {
    let (days, second_of_day) = (unix_seconds / 86_400, unix_seconds % 86_400);
    // Counted from 1 March of the year 0: years that begin in March have the day that only leap years have
    // as their last, and 400 of them are 146,097 days.
    let days = days + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    let (hour, minute, second) = (second_of_day / 3_600, second_of_day / 60 % 60, second_of_day % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_the_civil_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_796_054_347, "2026-11-30T15:59:07Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(timestamp(seconds), text);
        }
    }
}
