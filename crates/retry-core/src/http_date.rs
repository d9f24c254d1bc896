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
        if let Ok(fixed) = <&[u8; 29]>::try_from(value) {
            imf_fixdate(fixed)
        } else if let Ok(fixed) = <&[u8; 24]>::try_from(value) {
            asctime(fixed)
        } else {
            rfc_850(value, now)
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
        let [w0, w1, w2] = **WEEKDAYS.get(usize::try_from(civil.weekday()).ok()?)?;
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

/// `Sun, 06 Nov 1994 08:49:37 GMT`
fn imf_fixdate(value: &[u8; 29]) -> Option<HttpDate> {
    let &[
        w0,
        w1,
        w2,
        b',',
        b' ',
        d0,
        d1,
        b' ',
        m0,
        m1,
        m2,
        b' ',
        y0,
        y1,
        y2,
        y3,
        b' ',
        h0,
        h1,
        b':',
        i0,
        i1,
        b':',
        s0,
        s1,
        b' ',
        b'G',
        b'M',
        b'T',
    ] = value
    else {
        return None;
    };
    let mut digits = Digits::default();
    let day = digits.pair(d0, d1);
    let year = digits.pair(y0, y1).wrapping_mul(100).wrapping_add(digits.pair(y2, y3));
    let time = digits.time([h0, h1, i0, i1, s0, s1]);
    let written = Written { weekday: weekday([w0, w1, w2])?, year, month: month([m0, m1, m2])?, day, time };
    if digits.all_decimal() { written.resolve() } else { None }
}

/// `Sun Nov  6 08:49:37 1994`
fn asctime(value: &[u8; 24]) -> Option<HttpDate> {
    let &[
        w0,
        w1,
        w2,
        b' ',
        m0,
        m1,
        m2,
        b' ',
        d0,
        d1,
        b' ',
        h0,
        h1,
        b':',
        i0,
        i1,
        b':',
        s0,
        s1,
        b' ',
        y0,
        y1,
        y2,
        y3,
    ] = value
    else {
        return None;
    };
    let mut digits = Digits::default();
    let day = digits.pair(if d0 == b' ' { b'0' } else { d0 }, d1);
    let year = digits.pair(y0, y1).wrapping_mul(100).wrapping_add(digits.pair(y2, y3));
    let time = digits.time([h0, h1, i0, i1, s0, s1]);
    let written = Written { weekday: weekday([w0, w1, w2])?, year, month: month([m0, m1, m2])?, day, time };
    if digits.all_decimal() { written.resolve() } else { None }
}

/// `Sunday, 06-Nov-94 08:49:37 GMT`
fn rfc_850(value: &[u8], now: UnixTime) -> Option<HttpDate> {
    let (name, rest) = value.split_last_chunk::<24>()?;
    let &[
        b',',
        b' ',
        d0,
        d1,
        b'-',
        m0,
        m1,
        m2,
        b'-',
        y0,
        y1,
        b' ',
        h0,
        h1,
        b':',
        i0,
        i1,
        b':',
        s0,
        s1,
        b' ',
        b'G',
        b'M',
        b'T',
    ] = rest
    else {
        return None;
    };
    let weekday = index_of(LONG_WEEKDAYS.iter().position(|long| *long == name)?);
    let mut digits = Digits::default();
    let day = digits.pair(d0, d1);
    let year = digits.pair(y0, y1);
    let time = digits.time([h0, h1, i0, i1, s0, s1]);
    let written = Written { weekday, year, month: month([m0, m1, m2])?, day, time };
    if digits.all_decimal() { written.resolve_two_digit_year(now) } else { None }
}

/// The fields of a date as they were written; nothing checked but that numbers are numbers.
#[derive(Clone, Copy)]
struct Written {
    weekday: i64,
    year: i64,
    month: i64,
    day: i64,
    time: Time,
}

#[derive(Clone, Copy)]
struct Time {
    hour: i64,
    minute: i64,
    second: i64,
}

impl Written {
    fn resolve(self) -> Option<HttpDate> {
        let Time { hour, minute, second } = self.time;
        let possible = self.day >= 1
            && self.day <= days_in_month(self.year, self.month)
            && hour <= 23
            && minute <= 59
            && second <= 60;
        if !possible {
            return None;
        }
        let days = days_from_civil(self.year, self.month, self.day);
        let second_of_day =
            hour.wrapping_mul(3_600).wrapping_add(minute.wrapping_mul(60)).wrapping_add(second);
        Some(HttpDate {
            at: UnixTime::from_seconds(days.wrapping_mul(SECONDS_PER_DAY).wrapping_add(second_of_day)),
            wrong_weekday: weekday_of(days) != self.weekday,
            leap_second: second == 60,
        })
    }

    /// P5: the latest year that ends in these two digits, has this day, and lies no more than fifty
    /// calendar years after `now`; never outside 0000 to 9999.
    fn resolve_two_digit_year(self, now: UnixTime) -> Option<HttpDate> {
        let limit = Civil::of(now);
        let last_year = limit.year.saturating_add(50);
        let in_last_year = self.position_in_year() <= limit.position_in_year();
        let last_year = last_year.saturating_sub(i64::from(!in_last_year)).min(9_999);
        let mut year = last_year.saturating_sub(last_year.saturating_sub(self.year).rem_euclid(100));
        while year >= 0 {
            if self.day <= days_in_month(year, self.month) {
                return Written { year, ..self }.resolve();
            }
            year = year.saturating_sub(100);
        }
        None
    }

    fn position_in_year(self) -> (i64, i64, i64) {
        let Time { hour, minute, second } = self.time;
        let second_of_day =
            hour.wrapping_mul(3_600).wrapping_add(minute.wrapping_mul(60)).wrapping_add(second);
        (self.month, self.day, second_of_day)
    }
}

/// Collects two-digit numbers and remembers whether every byte was a decimal digit.
#[derive(Default)]
struct Digits {
    largest: u8,
}

impl Digits {
    fn pair(&mut self, tens: u8, ones: u8) -> i64 {
        let (tens, ones) = (tens.wrapping_sub(b'0'), ones.wrapping_sub(b'0'));
        self.largest = self.largest.max(tens).max(ones);
        i64::from(tens).wrapping_mul(10).wrapping_add(i64::from(ones))
    }

    fn time(&mut self, [h0, h1, i0, i1, s0, s1]: [u8; 6]) -> Time {
        Time { hour: self.pair(h0, h1), minute: self.pair(i0, i1), second: self.pair(s0, s1) }
    }

    fn all_decimal(&self) -> bool {
        self.largest <= 9
    }
}

fn weekday(name: [u8; 3]) -> Option<i64> {
    Some(match &name {
        b"Sun" => 0,
        b"Mon" => 1,
        b"Tue" => 2,
        b"Wed" => 3,
        b"Thu" => 4,
        b"Fri" => 5,
        b"Sat" => 6,
        _ => return None,
    })
}

fn month(name: [u8; 3]) -> Option<i64> {
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

    fn weekday(&self) -> i64 {
        weekday_of(self.days)
    }

    fn position_in_year(&self) -> (i64, i64, i64) {
        (self.month, self.day, self.second_of_day)
    }
}

/// Days from the epoch to a date of the years 0000 to 9999.
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, month_from_march) =
        if month > 2 { (year, month.wrapping_sub(3)) } else { (year.wrapping_sub(1), month.wrapping_add(9)) };
    let first_of_month = month_from_march.wrapping_mul(153).wrapping_add(2).wrapping_div(5);
    year.wrapping_mul(365)
        .wrapping_add(year.div_euclid(4))
        .wrapping_sub(year.div_euclid(100))
        .wrapping_add(year.div_euclid(400))
        .wrapping_add(first_of_month)
        .wrapping_add(day)
        .wrapping_sub(719_469)
}

/// The weekday of a day counted from the epoch, which was a Thursday; Sunday is 0.
fn weekday_of(days: i64) -> i64 {
    days.wrapping_add(4).rem_euclid(7)
}

fn days_in_month(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap_year(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn is_leap_year(year: i64) -> bool {
    year.rem_euclid(4) == 0 && (year.rem_euclid(100) != 0 || year.rem_euclid(400) == 0)
}

fn index_of(position: usize) -> i64 {
    i64::try_from(position).unwrap_or(i64::MAX)
}

fn two_digits(number: i64) -> (u8, u8) {
    let digit = |value: i64| u8::try_from(value.rem_euclid(10)).unwrap_or(0).wrapping_add(b'0');
    (digit(number.div_euclid(10)), digit(number))
}
