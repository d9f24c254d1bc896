//! RFC 3339 in UTC: made of seconds; checked, and then left as text, as the text is hashed into the commit's id.

/// The instant so many seconds after the Unix epoch, as commits and answers carry it: RFC 3339, UTC, whole seconds.
#[must_use]
pub fn utc_timestamp(unix_seconds: u64) -> String {
    const SECONDS_A_DAY: u64 = 86_400;
    let (year, month, day) = civil_date(unix_seconds / SECONDS_A_DAY);
    let second = unix_seconds % SECONDS_A_DAY;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day counted from 1970-01-01, in the Gregorian calendar.
///
/// Counted in eras of 400 years from a first of March, so that the leap day is the last day of its year.
fn civil_date(days_since_1970: u64) -> (u64, u64, u64) {
    const DAYS_FROM_YEAR_0_TO_1970: u64 = 719_468;
    const DAYS_AN_ERA: u64 = 146_097;
    let days = days_since_1970 + DAYS_FROM_YEAR_0_TO_1970;
    let (era, day_of_era) = (days / DAYS_AN_ERA, days % DAYS_AN_ERA);
    let leap_days = day_of_era / 1_460 + day_of_era / 146_096;
    let year_of_era = (day_of_era - leap_days + day_of_era / 36_524) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    (year, month, day)
}

/// Whether `text` is `YYYY-MM-DDTHH:MM:SS`, perhaps with a fraction of 1 to 9 digits, then `Z` or `+00:00`.
pub(crate) fn is_utc_timestamp(text: &str) -> bool {
    let Some(local) = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00")) else { return false };
    let (seconds, fraction) = match local.split_once('.') {
        None => (local, None),
        Some((seconds, fraction)) => (seconds, Some(fraction)),
    };
    fraction.is_none_or(|digits| (1..=9).contains(&digits.len()) && all_digits(digits))
        && is_date_time(seconds)
}

fn is_date_time(text: &str) -> bool {
    let shape = text.len() == 19
        && text.bytes().enumerate().all(|(at, byte)| match at {
            4 | 7 => byte == b'-',
            10 => byte == b'T',
            13 | 16 => byte == b':',
            _ => byte.is_ascii_digit(),
        });
    // ASCII from here on: every index is a character boundary.
    let number = |from: usize, to: usize| text[from..to].parse::<u32>().unwrap_or(u32::MAX);
    shape
        && (1..=days_in_month(number(0, 4), number(5, 7))).contains(&number(8, 10))
        && number(11, 13) < 24
        && number(14, 16) < 60
        && number(17, 19) <= 60
}

fn days_in_month(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}

fn all_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_the_civil_date() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00Z"),
            (784_111_777, "1994-11-06T08:49:37Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_735_689_599, "2024-12-31T23:59:59Z"),
            (1_796_054_347, "2026-11-30T15:59:07Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc_timestamp(seconds), text);
            assert!(is_utc_timestamp(text), "{text}");
        }
    }

    #[test]
    fn utc_in_both_spellings_is_accepted() {
        for text in [
            "2026-11-30T15:59:07Z",
            "2026-11-30T15:59:07+00:00",
            "2026-11-30T15:59:07.123456+00:00",
            "2024-02-29T23:59:60Z",
            "0000-02-29T00:00:00.1Z",
        ] {
            assert!(is_utc_timestamp(text), "{text}");
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "Z",
            "2026-11-30",
            "2026-11-30T15:59:07",
            "2026-11-30T15:59:07+01:00",
            "2026-11-30T15:59:07-00:00",
            "2026-11-30 15:59:07Z",
            "2026-11-30t15:59:07z",
            "2026-11-30T15:59:07.Z",
            "2026-11-30T15:59:07.1234567890Z",
            "2026-11-31T15:59:07Z",
            "2026-02-29T15:59:07Z",
            "1900-02-29T15:59:07Z",
            "2026-00-10T15:59:07Z",
            "2026-13-10T15:59:07Z",
            "2026-11-00T15:59:07Z",
            "2026-11-30T24:00:00Z",
            "2026-11-30T15:60:00Z",
            "2026-11-30T15:59:61Z",
            "+026-11-30T15:59:07Z",
            "2026-11-30T15:59:0éZ",
            "2026-11-30T15:59:07ZZ",
        ] {
            assert!(!is_utc_timestamp(text), "{text}");
        }
    }
}
