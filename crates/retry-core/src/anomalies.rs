//! What was odd about a usable value.

use core::fmt;

/// One thing that was odd about a usable `Retry-After`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
#[repr(u8)]
pub enum Anomaly {
    /// The response's `Date` is more than a day from the local clock (P6).
    DateSkew,
    /// Several values were joined by commas in one line (P7).
    Folded,
    /// A fraction was rounded up (P10).
    Fraction,
    /// A malformed line stands beside the one that counts (P7).
    IgnoredLine,
    /// The second is written as 60 (P4).
    LeapSecond,
    /// The date lies before its reference (P6).
    Past,
    /// Lines of different values: the largest counts (P7).
    Repeated,
    /// More seconds than the policy tells apart (P3).
    Saturated,
    /// The weekday is not that of the date (P4).
    WrongWeekday,
}

impl Anomaly {
    /// Every anomaly, sorted by name.
    pub const ALL: [Self; 9] = [
        Self::DateSkew,
        Self::Folded,
        Self::Fraction,
        Self::IgnoredLine,
        Self::LeapSecond,
        Self::Past,
        Self::Repeated,
        Self::Saturated,
        Self::WrongWeekday,
    ];

    const fn bit(self) -> u16 {
        1_u16.wrapping_shl(self as u32)
    }
}

impl fmt::Display for Anomaly {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::DateSkew => "the server's clock is more than a day off",
            Self::Folded => "several values in one line",
            Self::Fraction => "a fraction",
            Self::IgnoredLine => "another line is malformed",
            Self::LeapSecond => "second 60",
            Self::Past => "a date in the past",
            Self::Repeated => "several lines that differ",
            Self::Saturated => "more seconds than are told apart",
            Self::WrongWeekday => "the wrong weekday",
        })
    }
}

/// A set of anomalies.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Anomalies(u16);

impl Anomalies {
    /// The empty set.
    pub const NONE: Self = Self(0);

    /// This set with `anomaly` in it.
    #[must_use]
    pub const fn with(self, anomaly: Anomaly) -> Self {
        Self(self.0 | anomaly.bit())
    }

    /// Whether `anomaly` is in the set.
    #[must_use]
    pub const fn contains(self, anomaly: Anomaly) -> bool {
        self.0 & anomaly.bit() != 0
    }

    /// The anomalies of the set, sorted by name.
    pub fn iter(self) -> impl Iterator<Item = Anomaly> {
        Anomaly::ALL.into_iter().filter(move |anomaly| self.contains(*anomaly))
    }
}

impl fmt::Debug for Anomalies {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}
