//! RFC 3339 in UTC, checked and left as text: the text is hashed into the commit's id.

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
