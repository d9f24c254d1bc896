//! The three date forms of RFC 9110 section 5.6.7 (P4) and the fifty-year rule for two-digit years (P5).

use crate::time::UnixTime;

const SECONDS_PER_DAY: i64 = 86_400;

/// A date as a field value spells it, and what is odd about the spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpDate {
    /// The second that the date names.
    pub at: UnixTime,
    /// The weekday is not that of the date as written (accepted, P4).
    pub wrong_weekday: bool,
    /// The second is written as 60 and counts as the following one (P4).
    pub leap_second: bool,
}

impl HttpDate {
    /// Parses an IMF-fixdate, an RFC 850 date or an asctime date, case-sensitively and always as GMT.
    ///
    /// `now` is the local wall clock; only the two-digit years of the RFC 850 form look at it (P5).
    /// Anything else, also a date that does not exist, is `None`. The value must be stripped already.
    #[must_use]
    pub fn parse(value: &[u8], now: UnixTime) -> Option<Self> {
        // Each form has lengths of its own: 29, 24, and at least 30 bytes.
        match <&[u8; 29]>::try_from(value) {
            Ok(fixed) => imf_fixdate(fixed)?.resolve(),
            Err(_) => obsolete_form(value, now),
        }
    }

    /// The IMF-fixdate of a second, the one form that may be sent (RFC 9110 section 5.6.7).
    ///
    /// `None` outside the years 0000 to 9999, which the form cannot express.
    #[must_use]
    pub fn format(at: UnixTime) -> Option<[u8; 29]> {
        let civil = Civil::of(at);
        if !(0..=9999).contains(&civil.year) {
            return None;
        }
        let [w0, w1, w2] = **WEEKDAYS.get(weekday_of(i32::try_from(civil.days).ok()?))?;
        let [m0, m1, m2] = **MONTHS.get(usize::try_from(civil.month.wrapping_sub(1)).ok()?)?;
        let century = two_digits(civil.year.div_euclid(100));
        let year = two_digits(civil.year.rem_euclid(100));
        let day = two_digits(civil.day);
        let hour = two_digits(civil.second_of_day.div_euclid(3_600));
        let minute = two_digits(civil.second_of_day.div_euclid(60).rem_euclid(60));
        let second = two_digits(civil.second_of_day.rem_euclid(60));
        Some([
            w0, w1, w2, b',', b' ', day.0, day.1, b' ', m0, m1, m2, b' ', century.0, century.1, year.0,
            year.1, b' ', hour.0, hour.1, b':', minute.0, minute.1, b':', second.0, second.1, b' ', b'G',
            b'M', b'T',
        ])
    }
}

const WEEKDAYS: [&[u8; 3]; 7] = [b"Sun", b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat"];
const LONG_WEEKDAYS: [&[u8]; 7] =
    [b"Sunday", b"Monday", b"Tuesday", b"Wednesday", b"Thursday", b"Friday", b"Saturday"];
const MONTHS: [&[u8; 3]; 12] =
    [b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec"];

const IMF_FIXDATE: Form<29> = Form::spelled(b"www, 99 mmm 9999 99:99:99 GMT");
const ASCTIME: Form<24> = Form::spelled(b"www mmm d9 99:99:99 9999");
/// Behind the weekday, whose length differs.
const RFC_850: Form<24> = Form::spelled(b", 99-mmm-99 99:99:99 GMT");

/// `Sun, 06 Nov 1994 08:49:37 GMT`
#[inline]
fn imf_fixdate(value: &[u8; 29]) -> Option<Written> {
    if !IMF_FIXDATE.fits(value) {
        return None;
    }
    let &[w0, w1, w2, _, _, d0, d1, _, m0, m1, m2, _, y0, y1, y2, y3, _, h0, h1, _, i0, i1, _, s0, s1, ..] =
        value;
    let year = number([y0, y1]).wrapping_mul(100).wrapping_add(number([y2, y3]));
    Written::of([w0, w1, w2], year, [m0, m1, m2], [d0, d1], [h0, h1, i0, i1, s0, s1])
}

/// The two forms that nobody may send any more, and everybody has to read.
#[inline(never)]
fn obsolete_form(value: &[u8], now: UnixTime) -> Option<HttpDate> {
    match <&[u8; 24]>::try_from(value) {
        Ok(fixed) => asctime(fixed)?.resolve(),
        Err(_) => rfc_850(value, now)?.resolve(),
    }
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(value: &[u8; 24]) -> Option<Written> {
    let &[w0, w1, w2, _, m0, m1, m2, _, d0, d1, _, h0, h1, _, i0, i1, _, s0, s1, _, y0, y1, y2, y3] = value;
    let d0 = if d0 == b' ' { b'0' } else { d0 };
    if !ASCTIME.fits(value) || !d0.is_ascii_digit() {
        return None;
    }
    let year = number([y0, y1]).wrapping_mul(100).wrapping_add(number([y2, y3]));
    Written::of([w0, w1, w2], year, [m0, m1, m2], [d0, d1], [h0, h1, i0, i1, s0, s1])
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc_850(value: &[u8], now: UnixTime) -> Option<Written> {
    let (name, rest) = value.split_last_chunk::<24>()?;
    let weekday = LONG_WEEKDAYS.iter().position(|long| *long == name)?;
    if !RFC_850.fits(rest) {
        return None;
    }
    let &[_, _, d0, d1, _, m0, m1, m2, _, y0, y1, _, h0, h1, _, i0, i1, _, s0, s1, ..] = rest;
    let weekday = **WEEKDAYS.get(weekday)?;
    Written::of(weekday, number([y0, y1]), [m0, m1, m2], [d0, d1], [h0, h1, i0, i1, s0, s1])?.in_full(now)
}

/// How a date form is spelled: `9` is a digit, another lower-case letter any byte, the rest itself.
///
/// Eight bytes are compared at a time.
struct Form<const LENGTH: usize> {
    words: [Word; 4],
}

/// Eight bytes of a form. `9` is spelled as `0` in `expected`, since a digit differs from that by at most 9.
#[derive(Clone, Copy)]
struct Word {
    expected: u64,
    /// Which bits may not be just anything.
    compared: u64,
    /// What brings the smallest difference that is too large to 0x80.
    headroom: u64,
}

impl<const LENGTH: usize> Form<LENGTH> {
    #[expect(clippy::indexing_slicing, clippy::arithmetic_side_effects, reason = "evaluated at compile time")]
    const fn spelled(spelling: &[u8; LENGTH]) -> Self {
        let mut words = [Word { expected: 0, compared: 0, headroom: 0 }; 4];
        let mut word = 0;
        while word < words.len() {
            let mut index = 8;
            while index > 0 {
                index -= 1;
                words[word] = words[word].with(spelling[Self::begins(word) + index]);
            }
            word += 1;
        }
        Self { words }
    }

    /// Where a word begins. The last one ends where the form does, and may overlap the one before.
    const fn begins(word: usize) -> usize {
        let last = LENGTH.wrapping_sub(8);
        let aligned = word.wrapping_mul(8);
        if aligned < last { aligned } else { last }
    }

    #[inline]
    fn fits(&self, value: &[u8; LENGTH]) -> bool {
        let mut wrong = 0;
        for (index, word) in self.words.iter().enumerate() {
            let bytes = value.get(Self::begins(index)..).and_then(<[u8]>::first_chunk);
            wrong |= bytes.map_or(u64::MAX, |bytes| word.excess(u64::from_le_bytes(*bytes)));
        }
        wrong & 0x8080_8080_8080_8080 == 0
    }
}

impl Word {
    /// This word with one more byte before it.
    const fn with(self, spelled: u8) -> Self {
        let (expected, compared, headroom) = match spelled {
            b'9' => (b'0', 0xff, 0x80 - 10),
            b'a'..=b'z' => (0, 0, 0),
            byte => (byte, 0xff, 0x80 - 1),
        };
        Self {
            expected: self.expected.wrapping_shl(8) | expected as u64,
            compared: self.compared.wrapping_shl(8) | compared,
            headroom: self.headroom.wrapping_shl(8) | headroom,
        }
    }

    /// 0x80 is set in the lowest byte that does not fit, and in none where all do.
    #[inline]
    const fn excess(&self, bytes: u64) -> u64 {
        let difference = (bytes ^ self.expected) & self.compared;
        difference | difference.wrapping_add(self.headroom)
    }
}

/// The fields of a date as they were written; nothing checked but that numbers are numbers.
#[derive(Clone, Copy)]
struct Written {
    /// Its first three letters.
    weekday: [u8; 3],
    year: u32,
    month: u32,
    day: u32,
    time: Time,
}

/// A time of day that exists.
#[derive(Clone, Copy)]
struct Time {
    second_of_day: u32,
    leap_second: bool,
}

impl Time {
    #[inline]
    fn of([h0, h1, i0, i1, s0, s1]: [u8; 6]) -> Option<Self> {
        let (hour, minute, second) = (number([h0, h1]), number([i0, i1]), number([s0, s1]));
        let second_of_day =
            hour.wrapping_mul(3_600).wrapping_add(minute.wrapping_mul(60)).wrapping_add(second);
        let exists = hour <= 23 && minute <= 59 && second <= 60;
        exists.then_some(Self { second_of_day, leap_second: second == 60 })
    }
}

impl Written {
    #[inline(always)]
    fn of(weekday: [u8; 3], year: u32, name: [u8; 3], day: [u8; 2], time: [u8; 6]) -> Option<Self> {
        Some(Self { weekday, year, month: month(name)?, day: number(day), time: Time::of(time)? })
    }

    #[inline(always)]
    fn resolve(self) -> Option<HttpDate> {
        if self.day < 1 || self.day > 28 && self.day > days_in_month(self.year, self.month) {
            return None;
        }
        let days = days_from_civil(self.year, self.month, self.day);
        let wrong_weekday = WEEKDAYS.get(weekday_of(days)).is_none_or(|name| **name != self.weekday);
        if wrong_weekday && !WEEKDAYS.contains(&&self.weekday) {
            return None;
        }
        let seconds = i64::from(days).wrapping_mul(SECONDS_PER_DAY);
        Some(HttpDate {
            at: UnixTime::from_seconds(seconds.wrapping_add(i64::from(self.time.second_of_day))),
            wrong_weekday,
            leap_second: self.time.leap_second,
        })
    }

    /// P5: of a date with a two-digit year, the latest year that ends in these digits, has this day, and
    /// lies no more than fifty calendar years after `now`; never outside 0000 to 9999.
    fn in_full(self, now: UnixTime) -> Option<Self> {
        let limit = Civil::of(now);
        let last_year = limit.year.saturating_add(50);
        let in_last_year = self.position_in_year() <= limit.position_in_year();
        let last_year = last_year.saturating_sub(i64::from(!in_last_year)).min(9_999);
        let years_back = last_year.saturating_sub(i64::from(self.year)).rem_euclid(100);
        let mut year = u32::try_from(last_year.saturating_sub(years_back)).ok()?;
        while self.day > days_in_month(year, self.month) {
            year = year.checked_sub(100)?;
        }
        Some(Self { year, ..self })
    }

    fn position_in_year(self) -> (i64, i64, i64) {
        (i64::from(self.month), i64::from(self.day), i64::from(self.time.second_of_day))
    }
}

/// Two bytes that are known to be digits.
#[inline]
fn number([tens, ones]: [u8; 2]) -> u32 {
    let digit = |byte: u8| u32::from(byte & 0xf);
    digit(tens).wrapping_mul(10).wrapping_add(digit(ones))
}

#[inline]
fn month(name: [u8; 3]) -> Option<u32> {
    Some(match &name {
        b"Jan" => 1,
        b"Feb" => 2,
        b"Mar" => 3,
        b"Apr" => 4,
        b"May" => 5,
        b"Jun" => 6,
        b"Jul" => 7,
        b"Aug" => 8,
        b"Sep" => 9,
        b"Oct" => 10,
        b"Nov" => 11,
        b"Dec" => 12,
        _ => return None,
    })
}

/// A second of the wall clock as a date of the proleptic Gregorian calendar.
struct Civil {
    year: i64,
    month: i64,
    day: i64,
    second_of_day: i64,
    days: i64,
}

impl Civil {
    fn of(at: UnixTime) -> Self {
        let days = at.as_seconds().div_euclid(SECONDS_PER_DAY);
        let second_of_day = at.as_seconds().rem_euclid(SECONDS_PER_DAY);
        // Years are counted from March, so that the leap day is the last of its year; 719,468 days lie
        // between 0000-03-01 and the epoch, 146,097 in a cycle of 400 years.
        let shifted = days.saturating_add(719_468);
        let cycle = shifted.div_euclid(146_097);
        let day_of_cycle = shifted.rem_euclid(146_097);
        let leap_days = day_of_cycle
            .div_euclid(1_460)
            .wrapping_sub(day_of_cycle.div_euclid(36_524))
            .wrapping_add(day_of_cycle.div_euclid(146_096));
        let year_of_cycle = day_of_cycle.wrapping_sub(leap_days).div_euclid(365);
        let first_of_year = year_of_cycle
            .wrapping_mul(365)
            .wrapping_add(year_of_cycle.div_euclid(4))
            .wrapping_sub(year_of_cycle.div_euclid(100));
        let day_of_year = day_of_cycle.wrapping_sub(first_of_year);
        let month_from_march = day_of_year.wrapping_mul(5).wrapping_add(2).div_euclid(153);
        let first_of_month = month_from_march.wrapping_mul(153).wrapping_add(2).div_euclid(5);
        let month = if month_from_march < 10 {
            month_from_march.wrapping_add(3)
        } else {
            month_from_march.wrapping_sub(9)
        };
        Self {
            year: cycle.wrapping_mul(400).wrapping_add(year_of_cycle).wrapping_add(i64::from(month <= 2)),
            month,
            day: day_of_year.wrapping_sub(first_of_month).wrapping_add(1),
            second_of_day,
            days,
        }
    }

    fn position_in_year(&self) -> (i64, i64, i64) {
        (self.month, self.day, self.second_of_day)
    }
}

/// Days from the epoch to a date of the years 0000 to 9999.
#[inline]
fn days_from_civil(year: u32, month: u32, day: u32) -> i32 {
    // Years are counted from March here, too, and from 400 years before 0000, so that none is negative.
    let (year, month_from_march) = if month > 2 {
        (year.wrapping_add(400), month.wrapping_sub(3))
    } else {
        (year.wrapping_add(399), month.wrapping_add(9))
    };
    let first_of_month = month_from_march.wrapping_mul(153).wrapping_add(2).wrapping_div(5);
    let century = year.wrapping_div(100);
    let days = year
        .wrapping_mul(365)
        .wrapping_add(year.wrapping_div(4))
        .wrapping_sub(century)
        .wrapping_add(century.wrapping_div(4))
        .wrapping_add(first_of_month)
        .wrapping_add(day);
    // 146,097 days in 400 years, and 719,469 from the day before 0000-03-01 to the epoch.
    days.cast_signed().wrapping_sub(146_097 + 719_469)
}

/// The weekday of a day counted from the epoch, which was a Thursday; Sunday is 0.
#[inline]
fn weekday_of(days: i32) -> usize {
    // A number of whole weeks, so that days before the epoch are counted from below, too.
    usize::try_from(days.cast_unsigned().wrapping_add(4 + 7 * 200_000).wrapping_rem(7)).unwrap_or(0)
}

#[inline]
fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[inline]
fn is_leap_year(year: u32) -> bool {
    year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
}

fn two_digits(number: i64) -> (u8, u8) {
    let digit = |value: i64| u8::try_from(value.rem_euclid(10)).unwrap_or(0).wrapping_add(b'0');
    (digit(number.div_euclid(10)), digit(number))
}
