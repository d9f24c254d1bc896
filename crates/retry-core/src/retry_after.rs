//! The field `Retry-After` (RFC 9110 section 10.2.3): the one parser.

use core::fmt;

use crate::anomalies::{Anomalies, Anomaly};
use crate::http_date::HttpDate;
use crate::time::{LARGEST, UnixTime};

/// At most this many field lines of one response are looked at (P8).
pub const MOST_LINES: usize = 8;

/// The longest value that is read, in bytes; digits, and digits with commas, are read at any length (P8).
pub const LONGEST_VALUE: usize = 128;

/// A `Date` further than this from the local clock is used and flagged (P6), in seconds.
const DATE_SKEW_SECONDS: u64 = 86_400;

/// What the `Retry-After` lines of one response say: four outcomes, never merged.
///
/// `line` is the stripped field line that the outcome was read from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfter<'a> {
    /// There is no such line, or only dates that count as absent (P9).
    Absent,
    /// No line can be read.
    Malformed {
        /// Why the first malformed line cannot be read (P7).
        reason: Malformed,
        /// That line.
        line: &'a [u8],
    },
    /// A number of seconds.
    Delay {
        /// The uncapped delay in seconds, at most [`LARGEST`]. 0 means "now".
        seconds: u64,
        /// What is odd about it.
        anomalies: Anomalies,
        /// The winning line.
        line: &'a [u8],
    },
    /// An instant of the wall clock.
    Date {
        /// The date itself.
        at: UnixTime,
        /// The uncapped delay in seconds against the reference of P6. 0 means "now".
        delay: u64,
        /// What is odd about it.
        anomalies: Anomalies,
        /// The winning line.
        line: &'a [u8],
    },
}

/// Why a value is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Malformed {
    /// Nothing is left after stripping (P2).
    Empty,
    /// Neither `1*DIGIT` nor one of the three date forms (P1, P4).
    NotADelayOrDate,
    /// A date form with a day, an hour or a zone that does not exist (P4), or a two-digit year without a
    /// match (P5).
    BadDate,
    /// More than [`LONGEST_VALUE`] bytes (P8).
    TooLong,
    /// A comma-joined list with a member that is not `1*DIGIT` (P7).
    Folded,
}

impl fmt::Display for Malformed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Empty => "an empty value",
            Self::NotADelayOrDate => "neither a number of seconds nor a date",
            Self::BadDate => "a date that does not exist",
            Self::TooLong => "a value of more than 128 bytes",
            Self::Folded => "a list that is not all seconds",
        })
    }
}

/// Whether dates count (P9).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Dates {
    /// All three forms are read.
    #[default]
    Honour,
    /// A valid date line counts as if it were not there.
    TreatAsAbsent,
}

/// What the parser needs beside the lines themselves.
///
/// `date` and `age` are the response's first `Date` and `Age` field lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading<'a> {
    /// The local wall clock when the head arrived.
    pub now: UnixTime,
    /// The response's `Date`, the reference of P6 where it can be read.
    pub date: Option<&'a [u8]>,
    /// The response's `Age`; above 0, a cache answered and `Date` is no reference.
    pub age: Option<&'a [u8]>,
    /// Whether dates count.
    pub dates: Dates,
    /// Whether `2.5` is a delay of three seconds (P10).
    pub lenient_fractions: bool,
}

impl<'a> Reading<'a> {
    /// The recommended reading at `now`: dates honoured, no fractions, no other field known.
    #[must_use]
    pub const fn at(now: UnixTime) -> Self {
        Self { now, date: None, age: None, dates: Dates::Honour, lenient_fractions: false }
    }
}

impl<'a> RetryAfter<'a> {
    /// Reads the field lines of one response, in the order of their arrival.
    ///
    /// Total: any bytes give one of the four outcomes. O(n), and nothing is allocated (P8).
    ///
    /// ```
    /// use retry_core::{Reading, RetryAfter, UnixTime};
    ///
    /// let reading = Reading::at(UnixTime::from_seconds(1_795_996_800));
    /// let asked = RetryAfter::parse([b"120".as_slice()], &reading);
    /// assert!(matches!(asked, RetryAfter::Delay { seconds: 120, .. }));
    /// ```
    #[inline]
    pub fn parse<I>(lines: I, reading: &Reading<'_>) -> Self
    where
        I: IntoIterator<Item = &'a [u8]>,
    {
        let mut lines = lines.into_iter().take(MOST_LINES);
        let Some(first) = lines.next() else { return Self::Absent };
        let mut winner = Self::parse_line(first, reading);
        for line in lines {
            winner = winner.beside(Self::parse_line(line, reading));
        }
        winner
    }

    /// The uncapped delay in seconds; `None` where there is no usable value.
    #[must_use]
    #[inline]
    pub const fn delay(&self) -> Option<u64> {
        match *self {
            Self::Delay { seconds, .. } => Some(seconds),
            Self::Date { delay, .. } => Some(delay),
            Self::Absent | Self::Malformed { .. } => None,
        }
    }

    /// What is odd about a usable value; none otherwise.
    #[must_use]
    pub const fn anomalies(&self) -> Anomalies {
        match *self {
            Self::Delay { anomalies, .. } | Self::Date { anomalies, .. } => anomalies,
            Self::Absent | Self::Malformed { .. } => Anomalies::NONE,
        }
    }

    /// One line, read alone. Plain digits are what nearly every server sends: they are read in the caller,
    /// so that what it does not look at of the answer is never built.
    #[inline]
    fn parse_line(line: &'a [u8], reading: &Reading<'_>) -> Self {
        match delay_seconds(line) {
            Some(number) => Self::delay_of(number, Anomalies::NONE, line),
            None => Self::parse_other(line, reading),
        }
    }

    /// A line that is not just digits.
    #[inline(never)]
    fn parse_other(line: &'a [u8], reading: &Reading<'_>) -> Self {
        let line = strip(line);
        match line.first() {
            None => Self::Malformed { reason: Malformed::Empty, line },
            Some(byte) if byte.is_ascii_digit() => Self::parse_number(line, reading),
            Some(_) => Self::parse_date(line, reading),
        }
    }

    /// Padded digits (P2), a folded list (P7), a fraction (P10), or junk that begins with a digit.
    #[cold]
    fn parse_number(line: &'a [u8], reading: &Reading<'_>) -> Self {
        let malformed = |reason| Self::Malformed { reason, line };
        if let Some(number) = delay_seconds(line) {
            return Self::delay_of(number, Anomalies::NONE, line);
        }
        if line.contains(&b',') {
            return match largest_member(line) {
                Some(number) => Self::delay_of(number, Anomalies::NONE.with(Anomaly::Folded), line),
                None if line.len() > LONGEST_VALUE => malformed(Malformed::TooLong),
                None => malformed(Malformed::Folded),
            };
        }
        if line.len() > LONGEST_VALUE {
            return malformed(Malformed::TooLong);
        }
        match fraction(line) {
            Some(number) if reading.lenient_fractions => {
                Self::delay_of(number, Anomalies::NONE.with(Anomaly::Fraction), line)
            }
            _ => malformed(Malformed::NotADelayOrDate),
        }
    }

    #[inline]
    const fn delay_of(number: Number, anomalies: Anomalies, line: &'a [u8]) -> Self {
        let anomalies = if number.saturated { anomalies.with(Anomaly::Saturated) } else { anomalies };
        Self::Delay { seconds: number.seconds, anomalies, line }
    }

    fn parse_date(line: &'a [u8], reading: &Reading<'_>) -> Self {
        // No date is longer than a value may be.
        let Some(date) = HttpDate::parse(line, reading.now) else {
            return Self::Malformed { reason: why_no_date(line), line };
        };
        if reading.dates == Dates::TreatAsAbsent {
            return Self::Absent;
        }
        let (reference, mut anomalies) = reference(reading);
        if date.wrong_weekday {
            anomalies = anomalies.with(Anomaly::WrongWeekday);
        }
        if date.leap_second {
            anomalies = anomalies.with(Anomaly::LeapSecond);
        }
        if date.at < reference {
            anomalies = anomalies.with(Anomaly::Past);
        }
        Self::Date { at: date.at, delay: date.at.seconds_since(reference), anomalies, line }
    }

    /// P7: what this line and a later one say together.
    #[inline(never)]
    fn beside(self, later: Self) -> Self {
        match (self.delay(), later.delay()) {
            (Some(_), None) if matches!(later, Self::Malformed { .. }) => self.flagged(Anomaly::IgnoredLine),
            (_, None) if self != Self::Absent => self,
            (None, Some(_)) if matches!(self, Self::Malformed { .. }) => later.flagged(Anomaly::IgnoredLine),
            (None, _) => later,
            (Some(first), Some(second)) if second > first => later.keeping_flags_of(self),
            (Some(_), Some(_)) if self.same_value(&later) => self,
            (Some(_), _) => self.flagged(Anomaly::Repeated),
        }
    }

    fn same_value(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Delay { seconds: one, .. }, Self::Delay { seconds: two, .. }) => one == two,
            (Self::Date { at: one, .. }, Self::Date { at: two, .. }) => one == two,
            _ => false,
        }
    }

    fn flagged(self, anomaly: Anomaly) -> Self {
        self.map_anomalies(|anomalies| anomalies.with(anomaly))
    }

    /// A later, larger line wins: what was noted about the lines as a whole stays noted.
    fn keeping_flags_of(self, loser: Self) -> Self {
        let ignored = loser.anomalies().contains(Anomaly::IgnoredLine);
        let winner = self.flagged(Anomaly::Repeated);
        if ignored { winner.flagged(Anomaly::IgnoredLine) } else { winner }
    }

    fn map_anomalies(self, change: impl Fn(Anomalies) -> Anomalies) -> Self {
        match self {
            Self::Delay { seconds, anomalies, line } => {
                Self::Delay { seconds, anomalies: change(anomalies), line }
            }
            Self::Date { at, delay, anomalies, line } => {
                Self::Date { at, delay, anomalies: change(anomalies), line }
            }
            Self::Absent | Self::Malformed { .. } => self,
        }
    }
}

/// Seconds; by order the larger number, then the one that was cut to [`LARGEST`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Number {
    seconds: u64,
    saturated: bool,
}

/// Digits that cannot reach [`LARGEST`], however they are chosen.
const DIGITS_BELOW_LARGEST: usize = 15;

/// `1*DIGIT` by numeric value (P1, P3); the empty string is not a number.
#[inline]
fn delay_seconds(digits: &[u8]) -> Option<Number> {
    if digits.is_empty() || digits.len() > DIGITS_BELOW_LARGEST {
        return long_delay_seconds(digits);
    }
    let mut seconds: u64 = 0;
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        seconds = seconds.wrapping_mul(10).wrapping_add(u64::from(digit));
    }
    Some(Number { seconds, saturated: false })
}

/// As many digits as there are, or none.
#[cold]
fn long_delay_seconds(digits: &[u8]) -> Option<Number> {
    let mut number = Number::default();
    for byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        // Never overflows: the value is at most LARGEST here, and ten times that is below 2^64.
        number.seconds = number.seconds.wrapping_mul(10).wrapping_add(u64::from(digit));
        if number.seconds > LARGEST {
            number = Number { seconds: LARGEST, saturated: true };
        }
    }
    (!digits.is_empty()).then_some(number)
}

/// P7: the largest member of a comma-joined list of `1*DIGIT`.
fn largest_member(line: &[u8]) -> Option<Number> {
    let mut largest = Number::default();
    for member in line.split(|byte| *byte == b',') {
        largest = largest.max(delay_seconds(strip(member))?);
    }
    Some(largest)
}

/// P10: `1*DIGIT "." 1*9DIGIT`, rounded up to whole seconds.
fn fraction(line: &[u8]) -> Option<Number> {
    let point = line.iter().position(|byte| *byte == b'.')?;
    let (whole, rest) = line.split_at_checked(point)?;
    let digits = rest.split_first()?.1;
    let Number { seconds, saturated } = delay_seconds(whole)?;
    let part = delay_seconds(digits).filter(|_| digits.len() <= 9)?;
    let rounded = seconds.wrapping_add(u64::from(part.seconds > 0));
    Some(Number { seconds: rounded.min(LARGEST), saturated: saturated || rounded > LARGEST })
}

/// Tells a date that does not exist from something that was never a date; informative only.
#[cold]
#[inline(never)]
fn why_no_date(line: &[u8]) -> Malformed {
    if line.len() > LONGEST_VALUE {
        return Malformed::TooLong;
    }
    let begins_like_a_date = line.get(..3).is_some_and(|name| {
        [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"]
            .iter()
            .any(|weekday| weekday.as_slice() == name)
    });
    let commas = line.iter().filter(|byte| **byte == b',').count();
    match (begins_like_a_date, commas) {
        (true, 0 | 1) => Malformed::BadDate,
        (false, 0) => Malformed::NotADelayOrDate,
        _ => Malformed::Folded,
    }
}

/// P6: the clock that a date is measured against, and whether that is odd.
fn reference(reading: &Reading<'_>) -> (UnixTime, Anomalies) {
    let local = (reading.now, Anomalies::NONE);
    match reading.date {
        Some(date) => senders_clock(date, reading).unwrap_or(local),
        None => local,
    }
}

#[inline(never)]
fn senders_clock(date: &[u8], reading: &Reading<'_>) -> Option<(UnixTime, Anomalies)> {
    if reading.age.is_some_and(is_above_zero) {
        return None;
    }
    let at = HttpDate::parse(strip(date), reading.now)?.at;
    let skewed = at.distance(reading.now) > DATE_SKEW_SECONDS;
    Some((at, if skewed { Anomalies::NONE.with(Anomaly::DateSkew) } else { Anomalies::NONE }))
}

fn is_above_zero(age: &[u8]) -> bool {
    delay_seconds(strip(age)).is_some_and(|age| age.seconds > 0)
}

/// Without surrounding SP and HTAB (P2).
#[inline]
fn strip(mut value: &[u8]) -> &[u8] {
    // Nearly always there is none.
    if let ([first, ..], [.., last]) = (value, value)
        && *first.min(last) > b' '
    {
        return value;
    }
    while let [b' ' | b'\t', rest @ ..] = value {
        value = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}
