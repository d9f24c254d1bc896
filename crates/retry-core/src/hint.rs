//! What one response asks for, uncapped, whatever carried it.

use core::fmt;

use crate::anomalies::Anomalies;
use crate::retry_after::{LONGEST_VALUE, Malformed, RetryAfter};
use crate::time::{LARGEST, UnixTime};

/// What one response says about when to come back: uncapped, with the text that said so (P11).
///
/// Built from `Retry-After` with `Hint::from`; whoever can read another carrier builds one with
/// [`Hint::after_millis`] and joins the two with [`Hint::join`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hint {
    asked: Asked,
    anomalies: Anomalies,
    raw: RawText,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Asked {
    /// Nothing: no carrier was there.
    Nothing,
    /// A carrier was there and cannot be read.
    Unreadable(Malformed),
    /// A delay.
    Delay {
        /// Milliseconds from the arrival of the head (T4), uncapped; at most 1,000 times [`LARGEST`].
        millis: u64,
    },
    /// An instant of the wall clock, already measured against its reference (P6).
    Date {
        /// The instant itself.
        at: UnixTime,
        /// Milliseconds from the arrival of the head, uncapped; at most 1,000 times [`LARGEST`].
        millis: u64,
    },
}

impl Asked {
    /// Milliseconds from the arrival of the head, uncapped; `None` where there is no usable value.
    #[must_use]
    pub const fn millis(self) -> Option<u64> {
        match self {
            Self::Delay { millis } | Self::Date { millis, .. } => Some(millis),
            Self::Nothing | Self::Unreadable(_) => None,
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Nothing => formatter.write_str("the server named no time"),
            Self::Unreadable(reason) => write!(formatter, "the server's hint is {reason}"),
            Self::Delay { millis } => write!(formatter, "the server asked for {}", Seconds(millis)),
            Self::Date { millis, .. } => {
                write!(formatter, "the server named an instant {} ahead", Seconds(millis))
            }
        }
    }
}

impl Hint {
    /// No carrier was there.
    pub const NONE: Self = Self { asked: Asked::Nothing, anomalies: Anomalies::NONE, raw: RawText::EMPTY };

    /// A delay that another carrier than `Retry-After` asked for, in milliseconds from the arrival of the
    /// head; saturates at 1,000 times [`LARGEST`]. `raw` is the carrier's text, for messages.
    #[must_use]
    pub fn after_millis(millis: u64, raw: &[u8]) -> Self {
        let millis = millis.min(LARGEST.saturating_mul(1_000));
        Self { asked: Asked::Delay { millis }, anomalies: Anomalies::NONE, raw: RawText::of(raw) }
    }

    /// What was asked for.
    #[must_use]
    pub const fn asked(&self) -> Asked {
        self.asked
    }

    /// What was odd about it.
    #[must_use]
    pub const fn anomalies(&self) -> Anomalies {
        self.anomalies
    }

    /// The text of the winning line; `Display` escapes it.
    #[must_use]
    pub const fn raw(&self) -> &RawText {
        &self.raw
    }

    /// The later of two lower bounds (E1). A usable hint wins over an unreadable one, and that over none.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        let rank = |hint: &Self| match hint.asked {
            Asked::Nothing => (0, 0),
            Asked::Unreadable(_) => (1, 0),
            Asked::Delay { millis } | Asked::Date { millis, .. } => (2, millis),
        };
        if rank(&other) > rank(&self) { other } else { self }
    }
}

impl From<RetryAfter<'_>> for Hint {
    #[inline]
    fn from(field: RetryAfter<'_>) -> Self {
        let (asked, line) = match field {
            RetryAfter::Absent => return Self::NONE,
            RetryAfter::Malformed { reason, line } => (Asked::Unreadable(reason), line),
            RetryAfter::Delay { seconds, line, .. } => {
                (Asked::Delay { millis: seconds.saturating_mul(1_000) }, line)
            }
            RetryAfter::Date { at, delay, line, .. } => {
                (Asked::Date { at, millis: delay.saturating_mul(1_000) }, line)
            }
        };
        Self { asked, anomalies: field.anomalies(), raw: RawText::of(line) }
    }
}

/// The first 128 bytes of a field line. `Display` and `Debug` escape everything that is not printable
/// ASCII and stop at 128 characters, so a hostile value can neither forge a log line nor flood one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RawText {
    length: u8,
    bytes: [u8; LONGEST_VALUE],
}

impl RawText {
    const EMPTY: Self = Self { length: 0, bytes: [0; LONGEST_VALUE] };

    fn of(line: &[u8]) -> Self {
        let mut text = Self::EMPTY;
        for (kept, byte) in text.bytes.iter_mut().zip(line) {
            *kept = *byte;
            text.length = text.length.wrapping_add(1);
        }
        text
    }

    /// The bytes as received.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..usize::from(self.length)).unwrap_or_default()
    }
}

impl fmt::Display for RawText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;
        let escaped = self.as_bytes().iter().flat_map(|byte| core::ascii::escape_default(*byte));
        for byte in escaped.take(LONGEST_VALUE) {
            formatter.write_char(char::from(byte))?;
        }
        Ok(())
    }
}

impl fmt::Debug for RawText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "\"{self}\"")
    }
}

/// Milliseconds as a person reads them: `2 s`, `0.250 s`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seconds(pub(crate) u64);

impl fmt::Display for Seconds {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.0.div_euclid(1_000), self.0.rem_euclid(1_000));
        if rest == 0 { write!(formatter, "{whole} s") } else { write!(formatter, "{whole}.{rest:03} s") }
    }
}
