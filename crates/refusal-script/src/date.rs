//! Writing the three date forms of RFC 9110 section 5.6.7. Reading them is the client's business.

use crate::case::DateForm;

const WEEKDAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SECONDS_PER_DAY: i64 = 86_400;

/// A second of unix time in one of the forms, clamped to the years 0000 to 9999 which they can express.
pub(crate) fn format(unix: i64, form: DateForm) -> String {
    let unix = unix.clamp(-62_167_219_200, 253_402_300_799);
    let days = unix.div_euclid(SECONDS_PER_DAY);
    let second = unix.rem_euclid(SECONDS_PER_DAY);
    let (year, month, day) = civil(days);
    // 1970-01-01 was a Thursday.
    let weekday = index(&WEEKDAYS, (days + 4).rem_euclid(7));
    let month = index(&MONTHS, month - 1);
    let time = format!("{:02}:{:02}:{:02}", second / 3_600, second / 60 % 60, second % 60);
    match form {
        DateForm::Imf => format!("{}, {day:02} {month} {year:04} {time} GMT", &weekday[..3]),
        DateForm::Rfc850 => format!("{weekday}, {day:02}-{month}-{:02} {time} GMT", year % 100),
        DateForm::Asctime => format!("{} {month} {day:2} {time} {year:04}", &weekday[..3]),
    }
}

fn index<'a>(names: &[&'a str], at: i64) -> &'a str {
    usize::try_from(at).ok().and_then(|at| names.get(at)).copied().unwrap_or_default()
}

/// Year, month and day of the proleptic Gregorian calendar from days since 1970-01-01.
///
/// Years begin in March here, so that the leap day is the last of its year; 400 years are 146,097 days.
fn civil(days: i64) -> (i64, i64, i64) {
    let since = days + 719_468;
    let era = since.div_euclid(146_097);
    let day_of_era = since.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 9110 section 5.6.7.
    #[test]
    fn the_three_forms_are_those_of_the_rfc() {
        assert_eq!(format(784_111_777, DateForm::Imf), "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(format(784_111_777, DateForm::Rfc850), "Sunday, 06-Nov-94 08:49:37 GMT");
        assert_eq!(format(784_111_777, DateForm::Asctime), "Sun Nov  6 08:49:37 1994");
    }

    #[test]
    fn leap_days_and_the_ends_of_the_calendar_are_written_right() {
        assert_eq!(format(951_782_400, DateForm::Imf), "Tue, 29 Feb 2000 00:00:00 GMT");
        assert_eq!(format(0, DateForm::Imf), "Thu, 01 Jan 1970 00:00:00 GMT");
        assert_eq!(format(i64::MAX, DateForm::Imf), "Fri, 31 Dec 9999 23:59:59 GMT");
        assert_eq!(format(i64::MIN, DateForm::Imf), "Sat, 01 Jan 0000 00:00:00 GMT");
    }
}
