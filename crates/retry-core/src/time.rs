//! The two kinds of time. Neither is ever read here (T1): both are arguments.

use core::time::Duration;

/// The largest number of milliseconds (and of delay-seconds) that the policy keeps apart: 2^53 - 1, the
/// largest integer that every JSON reader holds exactly. Larger values saturate to it (P3, T3).
pub const LARGEST: u64 = 9_007_199_254_740_991;

const MICROS_PER_MILLI: u64 = 1_000;

/// An instant on a monotonic clock: microseconds since an origin that the caller chose (T2).
///
/// Budgets, waits and windows live on this clock only, so stepping the wall clock moves none of them. A
/// `u64` of microseconds reaches 584,000 years, so [`LARGEST`] milliseconds fit twice over; all
/// arithmetic saturates (T3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Monotonic(u64);

impl Monotonic {
    /// The clock's origin.
    pub const ORIGIN: Self = Self(0);

    /// The instant `micros` microseconds after the origin.
    #[must_use]
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros)
    }

    /// The instant `millis` milliseconds after the origin.
    #[must_use]
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(MICROS_PER_MILLI))
    }

    /// Microseconds since the origin.
    #[must_use]
    pub const fn as_micros(self) -> u64 {
        self.0
    }

    /// Whole milliseconds since the origin, rounded down.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0.wrapping_div(MICROS_PER_MILLI)
    }

    /// This instant moved `length` into the future, rounded up to whole microseconds.
    #[must_use]
    pub const fn after(self, length: Duration) -> Self {
        let seconds = length.as_secs().saturating_mul(1_000_000);
        let rest = length.subsec_nanos().div_ceil(1_000) as u64;
        Self(self.0.saturating_add(seconds.saturating_add(rest)))
    }

    /// This instant moved `millis` milliseconds into the future.
    #[must_use]
    pub const fn after_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis.saturating_mul(MICROS_PER_MILLI)))
    }

    /// How long after `earlier` this instant lies; zero where it does not.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }

    /// Whole milliseconds since `earlier`, rounded down; zero where this instant is not later.
    #[must_use]
    pub const fn millis_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0).wrapping_div(MICROS_PER_MILLI)
    }
}

/// A second of the wall clock: seconds since 1970-01-01T00:00:00Z, rounded down.
///
/// It turns a date into a delay at receipt and places two-digit years; nothing else (T2). It has no
/// arithmetic with [`Monotonic`], on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnixTime(i64);

impl UnixTime {
    /// The wall-clock second `seconds` after (or, negative, before) the epoch.
    #[must_use]
    pub const fn from_seconds(seconds: i64) -> Self {
        Self(seconds)
    }

    /// Seconds since the epoch; negative before it.
    #[must_use]
    pub const fn as_seconds(self) -> i64 {
        self.0
    }

    /// Seconds from `earlier` to this instant; zero where it is not later.
    #[must_use]
    pub const fn seconds_since(self, earlier: Self) -> u64 {
        if self.0 > earlier.0 { self.0.abs_diff(earlier.0) } else { 0 }
    }

    /// The distance between two wall-clock seconds, whichever is later.
    #[must_use]
    pub const fn distance(self, other: Self) -> u64 {
        self.0.abs_diff(other.0)
    }
}

/// Whole milliseconds of `length`, rounded up and saturating at [`LARGEST`].
pub(crate) const fn millis_rounded_up(length: Duration) -> u64 {
    let whole = length.as_secs().saturating_mul(1_000);
    let rest = length.subsec_nanos().div_ceil(1_000_000) as u64;
    let millis = whole.saturating_add(rest);
    if millis > LARGEST { LARGEST } else { millis }
}
