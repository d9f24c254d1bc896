//! The time of day, as commits carry it.

use retry_core::UnixTime;
use retry_middleware::{Clock, SystemClock};

/// The time of day, as commits carry it.
pub(crate) fn now() -> String {
    utc_timestamp(SystemClock.wall())
}

/// RFC 3339 in UTC, to the second. What lies before 1970 is written as its first second.
fn utc_timestamp(at: UnixTime) -> String {
    const SECONDS_A_DAY: u64 = 86_400;
    let seconds = at.seconds_since(UnixTime::from_seconds(0));
    let (year, month, day) = civil_date(seconds / SECONDS_A_DAY);
    let second = seconds % SECONDS_A_DAY;
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

#[cfg(test)]
mod tests {
    use super::*;

    fn stamp(seconds: i64) -> String {
        utc_timestamp(UnixTime::from_seconds(seconds))
    }

    #[test]
    fn timestamps_are_the_published_ones() {
        assert_eq!(stamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(stamp(784_111_777), "1994-11-06T08:49:37Z");
        assert_eq!(stamp(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(stamp(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(stamp(951_868_800), "2000-03-01T00:00:00Z");
        assert_eq!(stamp(1_735_689_599), "2024-12-31T23:59:59Z");
        assert_eq!(stamp(4_107_542_400), "2100-03-01T00:00:00Z");
    }
}
