//! The field `Retry-After`, rule by rule (P1 to P11) and fault by fault.

use retry_core::{Anomaly, Asked, Dates, Hint, HttpDate, LARGEST, Malformed, Reading, RetryAfter, UnixTime};

/// 2026-11-30T00:00:00Z.
const NOW: UnixTime = UnixTime::from_seconds(1_795_996_800);

fn reading() -> Reading<'static> {
    Reading::at(NOW)
}

fn parse(line: &str) -> RetryAfter<'_> {
    RetryAfter::parse([line.as_bytes()], &reading())
}

fn parse_lines<'a>(lines: &[&'a str]) -> RetryAfter<'a> {
    RetryAfter::parse(lines.iter().map(|line| line.as_bytes()), &reading())
}

fn flags(parsed: RetryAfter<'_>) -> Vec<Anomaly> {
    parsed.anomalies().iter().collect()
}

#[track_caller]
fn assert_delay(parsed: RetryAfter<'_>, seconds: u64, anomalies: &[Anomaly]) {
    assert!(matches!(parsed, RetryAfter::Delay { .. }), "{parsed:?}");
    assert_eq!((parsed.delay(), flags(parsed)), (Some(seconds), anomalies.to_vec()));
}

#[track_caller]
fn assert_date(parsed: RetryAfter<'_>, unix: i64, delay: u64, anomalies: &[Anomaly]) {
    let RetryAfter::Date { at, .. } = parsed else { panic!("{parsed:?}") };
    assert_eq!((at.as_seconds(), parsed.delay()), (unix, Some(delay)));
    assert_eq!(flags(parsed), anomalies);
}

#[track_caller]
fn assert_malformed(line: &str, reason: Malformed) {
    assert_eq!(
        parse(line),
        RetryAfter::Malformed { reason, line: line.trim_matches([' ', '\t']).as_bytes() }
    );
}

/// P1.
#[test]
fn seconds_are_ascii_digits_with_any_leading_zeros() {
    assert_delay(parse("120"), 120, &[]);
    assert_delay(parse("007"), 7, &[]);
    assert_delay(parse("0"), 0, &[]);
}

/// P1, F04: what other parsers read as a number.
#[test]
fn anything_but_digits_is_malformed() {
    for line in [
        "-1",
        "+3",
        "1.5",
        "2s",
        "soon",
        "inf",
        "nan",
        "1e3",
        "0x10",
        "1_000",
        "²",
        "60; x=1",
        "1 2",
        "\"3\"",
        "+60",
        "6_0",
        "12.5",
        "Wed, 21 Oct",
        "1:2",
    ] {
        assert!(matches!(parse(line), RetryAfter::Malformed { .. }), "{line}");
    }
    assert_malformed("2s", Malformed::NotADelayOrDate);
    assert_malformed("soon", Malformed::NotADelayOrDate);
}

/// P2.
#[test]
fn only_blanks_around_the_value_are_stripped() {
    assert_delay(parse(" \t60\t "), 60, &[]);
    assert_malformed("", Malformed::Empty);
    assert_malformed(" \t ", Malformed::Empty);
    assert_malformed("\u{b}60", Malformed::NotADelayOrDate);
    assert_malformed("60\r", Malformed::NotADelayOrDate);
}

/// P3, F03: nothing is too large, and nothing large becomes small.
#[test]
fn large_numbers_saturate_by_their_value() {
    assert_delay(parse("9007199254740990"), LARGEST - 1, &[]);
    assert_delay(parse("9007199254740991"), LARGEST, &[]);
    assert_delay(parse("9007199254740992"), LARGEST, &[Anomaly::Saturated]);
    assert_delay(parse("00000000000000000000000000009007199254740991"), LARGEST, &[]);
    for line in ["18446744073709551616", "9999999999999999999999999999999999999999"] {
        assert_delay(parse(line), LARGEST, &[Anomaly::Saturated]);
    }
    for (line, seconds) in [
        ("2147484", 2_147_484),
        ("4294968", 4_294_968),
        ("9223372036854776", LARGEST),
        ("9223372037", 9_223_372_037),
    ] {
        assert_eq!(parse(line).delay(), Some(seconds));
    }
}

/// P4, F07: all three forms, always GMT.
#[test]
fn the_three_date_forms_name_the_same_second() {
    let past = [Anomaly::Past];
    assert_date(parse("Sun, 06 Nov 1994 08:49:37 GMT"), 784_111_777, 0, &past);
    assert_date(parse("Sunday, 06-Nov-94 08:49:37 GMT"), 784_111_777, 0, &past);
    assert_date(parse("Sun Nov  6 08:49:37 1994"), 784_111_777, 0, &past);
    assert_date(parse("Sun Nov 06 08:49:37 1994"), 784_111_777, 0, &past);
}

/// P4: every month and its last day, in leap years and others.
#[test]
fn every_month_has_its_days() {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let names = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    for (name, length) in names.iter().zip(lengths) {
        let line = |day, year| format!("Mon, {day:02} {name} {year} 00:00:00 GMT");
        assert!(parse(&line(length, 2027)).delay().is_some(), "{name}");
        assert_malformed(&line(length + 1, 2027), Malformed::BadDate);
        assert_malformed(&line(0, 2027), Malformed::BadDate);
    }
    for (year, leaps) in [(2000, true), (2028, true), (2100, false), (1900, false), (2027, false), (0, true)]
    {
        let line = format!("Mon, 29 Feb {year:04} 00:00:00 GMT");
        assert_eq!(parse(&line).delay().is_some(), leaps, "{year}");
    }
}

/// P4: each weekday is right once a week.
#[test]
fn a_wrong_weekday_is_accepted_and_flagged() {
    let week = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
    let long = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    for (index, (short, long)) in week.iter().zip(long).enumerate() {
        let right: &[Anomaly] = if index == 0 { &[] } else { &[Anomaly::WrongWeekday] };
        assert_date(parse(&format!("{short}, 30 Nov 2026 00:00:09 GMT")), 1_795_996_809, 9, right);
        assert_date(parse(&format!("{long}, 30-Nov-26 00:00:09 GMT")), 1_795_996_809, 9, right);
        assert_date(parse(&format!("{short} Nov 30 00:00:09 2026")), 1_795_996_809, 9, right);
    }
    assert!(matches!(parse("Mod, 30 Nov 2026 00:00:09 GMT"), RetryAfter::Malformed { .. }));
    assert_malformed("Mon, 30-Nov-26 00:00:09 GMT", Malformed::BadDate);
    assert_malformed("Monday, 30 Nov 2026 00:00:09 GMT", Malformed::BadDate);
}

/// P4.
#[test]
fn impossible_times_are_malformed() {
    for time in ["24:00:00", "23:60:00", "23:59:61", "2a:00:00", "23:5 :00"] {
        for line in [
            format!("Mon, 30 Nov 2026 {time} GMT"),
            format!("Monday, 30-Nov-26 {time} GMT"),
            format!("Mon Nov 30 {time} 2026"),
        ] {
            assert!(matches!(parse(&line), RetryAfter::Malformed { .. }), "{line}");
        }
    }
    assert_date(parse("Mon, 30 Nov 2026 23:59:59 GMT"), 1_796_083_199, 86_399, &[]);
}

/// P4: every byte of every form is what it has to be; no other of the 256 passes, high bit or not.
#[test]
fn no_other_byte_passes_anywhere_in_a_date() {
    let forms =
        ["Wed, 02 Dec 2026 08:49:37 GMT", "Wed Dec  2 08:49:37 2026", "Wednesday, 02-Dec-26 08:49:37 GMT"];
    let now = UnixTime::from_seconds(1_795_996_800);
    for form in forms {
        assert!(HttpDate::parse(form.as_bytes(), now).is_some(), "{form}");
        for position in 0..form.len() {
            for byte in (0..=u8::MAX).step_by(if cfg!(miri) { 51 } else { 1 }) {
                let mut changed = form.as_bytes().to_vec();
                let was = std::mem::replace(&mut changed[position], byte);
                let padding = form.starts_with("Wed Dec") && position == 8;
                let may_pass = byte == was || byte.is_ascii_digit() && (was.is_ascii_digit() || padding);
                if HttpDate::parse(&changed, now).is_some() {
                    assert!(may_pass, "{}", changed.escape_ascii());
                }
            }
        }
    }
}

/// P4.
#[test]
fn dates_are_case_sensitive_and_gmt() {
    for line in [
        "mon, 30 Nov 2026 00:00:09 GMT",
        "Mon, 30 nov 2026 00:00:09 GMT",
        "Mon, 30 Nov 2026 00:00:09 gmt",
        "Mon, 30 Nov 2026 00:00:09 UTC",
        "Mon, 30 Nov 2026 00:00:09 +0000",
        "Mon, 30 Nov 2026 00:00:09",
        "Mon,  30 Nov 2026 00:00:09 GMT",
        "Mon, 30 Nov 026 00:00:09 GMT",
        "Mon Nov 30 00:00:09 2026 GMT",
        "Mon Nov 3  00:00:09 2026",
    ] {
        assert!(matches!(parse(line), RetryAfter::Malformed { .. }), "{line}");
    }
}

/// P4: the following second, and the weekday as written.
#[test]
fn second_sixty_is_the_following_second() {
    let leap = [Anomaly::LeapSecond];
    assert_date(parse("Mon, 30 Nov 2026 23:59:60 GMT"), 1_796_083_200, 86_400, &leap);
    assert_date(parse("Mon, 30 Nov 2026 12:30:60 GMT"), 1_796_041_860, 45_060, &leap);
    assert_date(parse("Fri, 31 Dec 9999 23:59:60 GMT"), 253_402_300_800, 251_606_304_000, &leap);
    assert_date(
        parse("Tue, 30 Nov 2026 23:59:60 GMT"),
        1_796_083_200,
        86_400,
        &[Anomaly::LeapSecond, Anomaly::WrongWeekday],
    );
}

/// P4: the first and the last second that the form can express.
#[test]
fn years_reach_from_0000_to_9999() {
    assert_date(parse("Sat, 01 Jan 0000 00:00:00 GMT"), -62_167_219_200, 0, &[Anomaly::Past]);
    assert_date(parse("Fri, 31 Dec 9999 23:59:59 GMT"), 253_402_300_799, 251_606_303_999, &[]);
}

/// P5, F08: the page's own examples.
#[test]
fn two_digit_years_lie_at_most_fifty_years_ahead() {
    for (date, year) in [
        ("06-Nov-94", 1994),
        ("06-Nov-69", 2069),
        ("06-Nov-76", 2076),
        ("06-Dec-76", 1976),
        ("06-Nov-77", 1977),
    ] {
        let day_month = if date.contains("Dec") { "06 Dec" } else { "06 Nov" };
        let line = format!("Sunday, {date} 08:49:37 GMT");
        let expected = format!("Sun, {day_month} {year} 08:49:37 GMT");
        let (RetryAfter::Date { at: got, .. }, RetryAfter::Date { at: wanted, .. }) =
            (parse(&line), parse(&expected))
        else {
            panic!("{line}")
        };
        assert_eq!(got, wanted, "{line}");
    }
}

/// P5: exactly fifty years are still future, a second more is past.
#[test]
fn the_fifty_year_limit_is_inclusive_to_the_second() {
    let at = |line: &str, now: i64| {
        HttpDate::parse(line.as_bytes(), UnixTime::from_seconds(now)).map(|date| date.at.as_seconds())
    };
    let now = NOW.as_seconds();
    assert_eq!(at("Monday, 30-Nov-76 00:00:00 GMT", now), Some(3_373_920_000));
    assert_eq!(at("Monday, 30-Nov-76 00:00:01 GMT", now), Some(218_160_001));
    assert_eq!(at("Monday, 30-Nov-76 00:00:01 GMT", now + 1), Some(3_373_920_001));
    // A year that lacks the 29 February does not match.
    assert_eq!(at("Monday, 29-Feb-00 00:00:00 GMT", now), Some(951_782_400));
    assert_eq!(at("Monday, 29-Feb-01 00:00:00 GMT", now), None);
    assert_eq!(at("Monday, 29-Feb-72 00:00:00 GMT", now), Some(3_223_929_600));
    // Never outside 0000 to 9999.
    assert_eq!(at("Monday, 01-Jan-99 00:00:00 GMT", i64::MAX), Some(253_370_764_800));
    assert_eq!(at("Monday, 01-Jan-99 00:00:00 GMT", i64::MIN), None);
    assert_eq!(at("Saturday, 01-Jan-00 00:00:00 GMT", -62_167_219_200), Some(-62_167_219_200));
    assert_eq!(at("Saturday, 01-Jan-51 00:00:00 GMT", -62_167_219_200), None);
}

/// P5: a limit on the 29 February of a year that lacks it lies between the 28th and the 1st.
#[test]
fn a_limit_that_does_not_exist_still_divides() {
    let leap_day = UnixTime::from_seconds(1_709_208_000); // 2024-02-29T12:00:00Z
    let year = |line: &str| {
        HttpDate::parse(line.as_bytes(), leap_day).map(|date| date.at.as_seconds() > 0x7fff_ffff)
    };
    assert_eq!(year("Monday, 28-Feb-74 23:59:59 GMT"), Some(true));
    assert_eq!(year("Monday, 01-Mar-74 00:00:00 GMT"), Some(false));
}

/// P6, F09: a server whose clock is off is measured against its own clock.
#[test]
fn a_date_counts_from_the_responses_own_date() {
    let reading = Reading { date: Some(b" Mon, 30 Nov 2026 01:00:00 GMT "), ..reading() };
    let parsed = RetryAfter::parse([b"Mon, 30 Nov 2026 01:00:02 GMT".as_slice()], &reading);
    assert_date(parsed, 1_796_000_402, 2, &[]);
}

/// P6: a cache answered, so its `Date` is old.
#[test]
fn an_age_above_zero_sets_the_date_aside() {
    let delay = |age: &'static str, date: &'static str| {
        let reading = Reading { date: Some(date.as_bytes()), age: Some(age.as_bytes()), ..reading() };
        RetryAfter::parse([b"Mon, 30 Nov 2026 01:00:02 GMT".as_slice()], &reading).delay()
    };
    let date = "Mon, 30 Nov 2026 01:00:00 GMT";
    assert_eq!(delay("0", date), Some(2));
    assert_eq!(delay("000", date), Some(2));
    assert_eq!(delay("1", date), Some(3_602));
    assert_eq!(delay(" 7\t", date), Some(3_602));
    assert_eq!(delay("99999999999999999999999", date), Some(3_602));
    for no_age in ["", "-1", "1, 2", "1.5", "x"] {
        assert_eq!(delay(no_age, date), Some(2), "{no_age}");
    }
    assert_eq!(delay("0", "yesterday"), Some(3_602));
    let padded: &'static str = Box::leak(format!("{}{date}", "X".repeat(129)).into_boxed_str());
    assert_eq!(delay("0", padded), Some(3_602));
}

/// P6: used all the same, and flagged beyond a day, either way.
#[test]
fn a_date_far_from_the_local_clock_is_flagged() {
    for (date, skewed) in [
        ("Tue, 01 Dec 2026 00:00:00 GMT", false),
        ("Tue, 01 Dec 2026 00:00:01 GMT", true),
        ("Sun, 29 Nov 2026 00:00:00 GMT", false),
        ("Sat, 28 Nov 2026 23:59:59 GMT", true),
    ] {
        let reading = Reading { date: Some(date.as_bytes()), ..reading() };
        let parsed = RetryAfter::parse([b"Wed, 02 Dec 2026 00:00:00 GMT".as_slice()], &reading);
        assert_eq!(parsed.anomalies().contains(Anomaly::DateSkew), skewed, "{date}");
        let seconds = RetryAfter::parse([b"5".as_slice()], &reading);
        assert_delay(seconds, 5, &[]);
    }
}

/// P6, F06: strictly before the reference.
#[test]
fn a_date_in_the_past_is_now() {
    assert_date(parse("Sun, 29 Nov 2026 23:59:59 GMT"), 1_795_996_799, 0, &[Anomaly::Past]);
    assert_date(parse("Mon, 30 Nov 2026 00:00:00 GMT"), 1_795_996_800, 0, &[]);
}

/// P7, F05.
#[test]
fn of_several_lines_the_largest_counts() {
    assert_delay(parse_lines(&["1", "3"]), 3, &[Anomaly::Repeated]);
    assert_delay(parse_lines(&["3", "1"]), 3, &[Anomaly::Repeated]);
    assert_delay(parse_lines(&["2", "2", "02"]), 2, &[]);
    assert_delay(parse_lines(&["3", "1", "3"]), 3, &[Anomaly::Repeated]);
    assert_delay(parse_lines(&["-1", "2"]), 2, &[Anomaly::IgnoredLine]);
    assert_delay(parse_lines(&["2", "soon"]), 2, &[Anomaly::IgnoredLine]);
    assert_delay(parse_lines(&["soon", "1", "9"]), 9, &[Anomaly::IgnoredLine, Anomaly::Repeated]);
    assert_delay(parse_lines(&["1", "soon", "9"]), 9, &[Anomaly::IgnoredLine, Anomaly::Repeated]);
    assert_delay(parse_lines(&["9", "soon", "1"]), 9, &[Anomaly::IgnoredLine, Anomaly::Repeated]);
    assert_eq!(parse_lines(&["", "soon"]), RetryAfter::Malformed { reason: Malformed::Empty, line: b"" });
}

/// P7: seconds and a date are different values even where they end at the same instant.
#[test]
fn a_date_and_seconds_of_the_same_length_are_two_values() {
    let (date, seconds) = ("Mon, 30 Nov 2026 00:00:09 GMT", "9");
    assert_date(parse_lines(&[date, seconds]), 1_795_996_809, 9, &[Anomaly::Repeated]);
    assert_delay(parse_lines(&[seconds, date]), 9, &[Anomaly::Repeated]);
    assert_date(parse_lines(&[date, "Monday, 30-Nov-26 00:00:09 GMT"]), 1_795_996_809, 9, &[]);
    assert_date(parse_lines(&[date, "8"]), 1_795_996_809, 9, &[Anomaly::Repeated]);
    assert_delay(parse_lines(&[date, "10"]), 10, &[Anomaly::Repeated]);
    let earlier = "Sun, 29 Nov 2026 00:00:00 GMT";
    let past = parse_lines(&["Sun, 29 Nov 2026 00:00:09 GMT", earlier]);
    assert_date(past, 1_795_910_409, 0, &[Anomaly::Past, Anomaly::Repeated]);
}

/// P7: a proxy joined the lines.
#[test]
fn a_folded_list_of_seconds_counts_its_largest() {
    assert_delay(parse("7, 7"), 7, &[Anomaly::Folded]);
    assert_delay(parse("1, 3"), 3, &[Anomaly::Folded]);
    assert_delay(parse("3 ,\t1"), 3, &[Anomaly::Folded]);
    assert_delay(parse("1, 99999999999999999999"), LARGEST, &[Anomaly::Folded, Anomaly::Saturated]);
    for line in ["1,", "1,,3", "1, soon", "1, 2.0", "1, -2"] {
        assert_malformed(line, Malformed::Folded);
    }
    assert_malformed(",", Malformed::Folded);
    let date = "Mon, 30 Nov 2026 00:00:09 GMT";
    assert_malformed(&format!("{date}, {date}"), Malformed::Folded);
    assert_malformed(&format!("9, {date}"), Malformed::Folded);
}

/// P8.
#[test]
fn long_values_are_malformed_unless_they_are_digits() {
    let digits = "0".repeat(300) + "7";
    assert_delay(parse(&digits), 7, &[]);
    let list = "1, ".repeat(100) + "2";
    assert_delay(parse(&list), 2, &[Anomaly::Folded]);
    assert_malformed(&"x".repeat(128), Malformed::NotADelayOrDate);
    assert_malformed(&"x".repeat(129), Malformed::TooLong);
    assert_malformed(&format!("{}x", "1".repeat(128)), Malformed::TooLong);
    assert_malformed(&format!("{}x", "1".repeat(127)), Malformed::NotADelayOrDate);
    assert_malformed(&("1,".repeat(64) + "x"), Malformed::TooLong);
    assert_malformed(&("1,".repeat(63) + "xx"), Malformed::Folded);
    let padded = format!("{}5{}", " ".repeat(500), "\t".repeat(500));
    assert_delay(parse(&padded), 5, &[]);
}

/// P8.
#[test]
fn only_the_first_eight_lines_are_looked_at() {
    let lines = ["1", "1", "1", "1", "1", "1", "1", "2", "3"];
    assert_delay(parse_lines(&lines), 2, &[Anomaly::Repeated]);
    assert_delay(parse_lines(&lines[..7]), 1, &[]);
    // A date that is treated as absent still counts among the eight.
    let reading = Reading { dates: Dates::TreatAsAbsent, ..reading() };
    let mut dates = vec![b"Mon, 30 Nov 2026 00:00:09 GMT".as_slice(); 8];
    dates.push(b"3");
    assert_eq!(RetryAfter::parse(dates.iter().copied(), &reading), RetryAfter::Absent);
}

/// P9.
#[test]
fn dates_can_be_treated_as_absent() {
    let reading = Reading { dates: Dates::TreatAsAbsent, ..reading() };
    let parse =
        |lines: &[&'static str]| RetryAfter::parse(lines.iter().map(|line| line.as_bytes()), &reading);
    let date = "Mon, 30 Nov 2026 00:00:09 GMT";
    assert_eq!(parse(&[date]), RetryAfter::Absent);
    assert_delay(parse(&[date, "5"]), 5, &[]);
    assert_delay(parse(&["5", date]), 5, &[]);
    assert_eq!(parse(&[date, "x"]), RetryAfter::Malformed { reason: Malformed::NotADelayOrDate, line: b"x" });
    assert_eq!(parse(&["x", date]), RetryAfter::Malformed { reason: Malformed::NotADelayOrDate, line: b"x" });
    let bad = "Mon, 31 Nov 2026 00:00:09 GMT";
    assert_eq!(parse(&[bad]), RetryAfter::Malformed { reason: Malformed::BadDate, line: bad.as_bytes() });
}

/// P10.
#[test]
fn fractions_are_rounded_up_where_they_are_allowed() {
    let lenient = Reading { lenient_fractions: true, ..reading() };
    let parse_leniently = |line: &'static str| RetryAfter::parse([line.as_bytes()], &lenient);
    let fraction = [Anomaly::Fraction];
    assert_delay(parse_leniently("2.0"), 2, &fraction);
    assert_delay(parse_leniently("2.000000001"), 3, &fraction);
    assert_delay(parse_leniently("0.5"), 1, &fraction);
    assert_delay(parse_leniently("9007199254740990.1"), LARGEST, &fraction);
    assert_delay(parse_leniently("9007199254740991.0"), LARGEST, &fraction);
    let saturated = [Anomaly::Fraction, Anomaly::Saturated];
    assert_delay(parse_leniently("9007199254740991.1"), LARGEST, &saturated);
    assert_delay(parse_leniently("9007199254740992.0"), LARGEST, &saturated);
    for line in ["2.", ".5", "2.0000000000", "2.0.0", "2,5.0", "2.x", "-1.5", "1. 5", "x.5"] {
        assert!(matches!(parse_leniently(line), RetryAfter::Malformed { .. }), "{line}");
    }
    assert_malformed("2.0", Malformed::NotADelayOrDate);
}

/// Absent, malformed and 0 are three things.
#[test]
fn the_outcomes_are_never_merged() {
    assert_eq!(parse_lines(&[]), RetryAfter::Absent);
    assert_eq!(Hint::from(parse_lines(&[])).asked(), Asked::Nothing);
    assert_eq!(Hint::from(parse("")).asked(), Asked::Unreadable(Malformed::Empty));
    assert_eq!(Hint::from(parse("0")).asked(), Asked::Delay { millis: 0 });
}

/// P11: what the server said, escaped and bounded; the value uncapped.
#[test]
fn a_hint_keeps_the_servers_own_words() {
    let hint = Hint::from(parse(" 86400 "));
    assert_eq!((hint.raw().to_string(), hint.asked().millis()), (String::from("86400"), Some(86_400_000)));

    let hostile = Hint::from(parse("1\n\u{1b}[2Jx"));
    assert_eq!(hostile.raw().to_string(), r"1\n\x1b[2Jx");

    let long = Hint::from(RetryAfter::parse([[0xff_u8; 300].as_slice()], &reading()));
    assert_eq!(long.raw().as_bytes().len(), 128);
    assert_eq!(long.raw().to_string().len(), 128);
    assert!(long.raw().to_string().starts_with(r"\xff\xff"));
}

/// E1: several carriers of one response.
#[test]
fn hints_join_by_the_later_instant() {
    let hint = |line| Hint::from(parse(line));
    for (one, other, joined) in [("2", "5", 5_000), ("5", "2", 5_000), ("0", "soon", 0), ("soon", "0", 0)] {
        assert_eq!(hint(one).join(hint(other)).asked().millis(), Some(joined), "{one} and {other}");
    }
    assert_eq!(Hint::NONE.join(hint("soon")).asked(), hint("soon").asked());
    assert_eq!(hint("soon").join(Hint::NONE).asked(), hint("soon").asked());
    let other_carrier = Hint::after_millis(2_500, b"2500");
    assert_eq!(hint("2").join(other_carrier), other_carrier);
    assert_eq!(Hint::after_millis(u64::MAX, b"").asked().millis(), Some(LARGEST * 1_000));
}

/// RFC 9110 section 5.6.7: the form that is sent.
#[test]
fn dates_are_written_as_imf_fixdate() {
    let text = |seconds| HttpDate::format(UnixTime::from_seconds(seconds)).map(|text| text.to_vec());
    assert_eq!(text(784_111_777).as_deref(), Some(b"Sun, 06 Nov 1994 08:49:37 GMT".as_slice()));
    assert_eq!(text(-62_167_219_200).as_deref(), Some(b"Sat, 01 Jan 0000 00:00:00 GMT".as_slice()));
    assert_eq!(text(253_402_300_799).as_deref(), Some(b"Fri, 31 Dec 9999 23:59:59 GMT".as_slice()));
    assert_eq!(text(253_402_300_800), None);
    assert_eq!(text(-62_167_219_201), None);
    assert_eq!(text(951_782_400).as_deref(), Some(b"Tue, 29 Feb 2000 00:00:00 GMT".as_slice()));
}
