//! Field values: delays, lists, fractions, dates in three forms, and what is nearly one of these.

use retry_core::{HttpDate, UnixTime};

use super::draw::Draw;

/// Values that released clients took for a number or a date (F04), and others that look like one.
const NEAR_MISSES: [&str; 40] = [
    "",
    " ",
    "\t",
    "-1",
    "+3",
    "-0",
    "1.5",
    "2s",
    "soon",
    "inf",
    "nan",
    "1e3",
    "0x10",
    "1_000",
    "²",
    "1;q=1",
    "\"5\"",
    "5 5",
    ",",
    "1,",
    ",1",
    "1,,2",
    "1, -2",
    "1,2.0",
    "1;2",
    "1.",
    ".5",
    "1.0000000001",
    "1..2",
    "1.2.3",
    "GMT",
    "Mon",
    "Mon, 30 Nov 2026",
    "2026-11-30T00:02:00Z",
    "1795996920",
    "0\u{0}",
    "5\r",
    "\u{a0}5",
    "5\u{b}",
    "٣",
];

/// One line of `Retry-After`.
pub(super) fn retry_after(draw: &mut Draw, now: i64) -> Vec<u8> {
    let line = match draw.below(16) {
        0..4 => delay(draw),
        4..6 => folded(draw),
        6 => fraction(draw),
        7 => draw.of(&NEAR_MISSES).chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect(),
        8 => lengthy(draw),
        _ => date(draw, now),
    };
    let line = if draw.one_in(12) { mutated(draw, line) } else { line };
    if draw.one_in(6) { surrounded(draw, &line) } else { line }
}

/// A delay that a policy's limits are near to.
pub(super) fn delay_near_limits(draw: &mut Draw) -> Vec<u8> {
    let seconds = match draw.below(8) {
        0 => draw.huge(),
        1 => draw.below(400),
        _ => {
            draw.of(&[0, 0, 1, 2, 3, 5, 9, 10, 15, 30, 59, 60, 61, 90, 119, 120, 121, 299, 300, 301, 86_400])
        }
    };
    seconds.to_string().into_bytes()
}

fn delay(draw: &mut Draw) -> Vec<u8> {
    let zeros = "0".repeat(if draw.one_in(6) { draw.index(140) } else { 0 });
    match draw.below(6) {
        0 => format!("{zeros}{}", 9_007_199_254_740_985 + draw.below(12)).into_bytes(),
        1 => format!("{zeros}{}", draw.huge()).into_bytes(),
        2 => {
            let length = 1 + draw.index(45);
            (0..length).map(|_| b'0' + draw.below(10) as u8).collect()
        }
        _ => [zeros.into_bytes(), delay_near_limits(draw)].concat(),
    }
}

fn folded(draw: &mut Draw) -> Vec<u8> {
    let most = if draw.one_in(10) { 60 } else { 3 };
    let count = 2 + draw.index(most);
    let members: Vec<_> = (0..count)
        .map(|_| {
            let member = if draw.one_in(40) { fraction(draw) } else { delay(draw) };
            if draw.one_in(3) { surrounded(draw, &member) } else { member }
        })
        .collect();
    members.join(&b',')
}

fn fraction(draw: &mut Draw) -> Vec<u8> {
    let digits = 1 + draw.index(10);
    let part: String = (0..digits).map(|_| if draw.one_in(3) { '1' } else { '0' }).collect();
    [delay(draw), b".".to_vec(), part.into_bytes()].concat()
}

/// Around the longest length that is looked at.
fn lengthy(draw: &mut Draw) -> Vec<u8> {
    let length = draw.of(&[126, 127, 128, 128, 128, 129, 130, 200]);
    if draw.one_in(3) {
        return format!("{:0>length$}", draw.of(&["7.5", "0.0", "7", "1, 3", "7.x"])).into_bytes();
    }
    let mut line = vec![draw.of(b"09 \tx,"); length];
    line[0] = draw.of(b"1x");
    line[length - 1] = draw.of(b"1x,.");
    line
}

/// The `Date` of a response: near the local clock, near a day away from it, or not a date.
pub(super) fn response_date(draw: &mut Draw, now: i64) -> Vec<u8> {
    let away = draw.of(&[0, 0, 1, -1, 2, 3_600, -3_600, 86_399, 86_400, 86_401, -86_400, -86_401, 1_000_000]);
    match draw.below(10) {
        0 => retry_after(draw, now),
        1 => surrounded(draw, b"Mon, 30 Nov 2026 00:00:00 GMT"),
        _ => written(draw, now.saturating_add(away)),
    }
}

pub(super) fn age(draw: &mut Draw) -> Vec<u8> {
    let ages = [
        "0",
        "0",
        "00",
        " 0 ",
        "1",
        " 1\t",
        "60",
        "1,0",
        "0, 1",
        "-1",
        "+1",
        "",
        "1.0",
        "x",
        "99999999999999999999",
    ];
    draw.of(&ages).as_bytes().to_vec()
}

/// Most are dates, near `now` or near an edge of the calendar.
fn date(draw: &mut Draw, now: i64) -> Vec<u8> {
    const EDGES: [i64; 12] = [
        // The first and last seconds of the years 0000 and 9999, the epoch, leap days, ends of years.
        -62_167_219_200,
        -62_162_121_600,
        253_402_300_799,
        0,
        951_782_400,
        951_868_799,
        4_107_542_400,
        1_830_297_599,
        1_835_395_200,
        1_798_761_599,
        2_556_143_999,
        -2_203_891_200,
    ];
    let instant = match draw.below(6) {
        0 => draw.of(&EDGES) + i64::try_from(draw.below(3)).unwrap_or(0) - 1,
        1 => i64::try_from(draw.below(300_000_000_000)).unwrap_or(0) - 50_000_000_000,
        2 => now,
        _ => now.saturating_add(
            i64::try_from(draw.millis() / 1_000).unwrap_or(0) - draw.of(&[0, 0, 0, 1, 60, 86_400]),
        ),
    };
    written(draw, instant)
}

/// An instant in one of the three forms, with now and then a part that is wrong.
fn written(draw: &mut Draw, instant: i64) -> Vec<u8> {
    const LONG: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
    let fixdate =
        HttpDate::format(UnixTime::from_seconds(instant)).unwrap_or(*b"Mon, 30 Nov 2026 00:02:00 GMT");
    let fixdate = String::from_utf8_lossy(&fixdate);
    let mut parts: Vec<String> =
        fixdate.split([' ', ',', ':']).filter(|part| !part.is_empty()).map(str::to_owned).collect();
    if draw.one_in(3) {
        let (part, other) = draw.of(&[
            (0, "Sun"),
            (0, "Mun"),
            (1, "29"),
            (1, "30"),
            (1, "31"),
            (1, "00"),
            (1, "32"),
            (2, "Feb"),
            (2, "Feb"),
            (2, "feb"),
            (3, "2000"),
            (3, "1900"),
            (3, "2028"),
            (3, "0000"),
            (4, "23"),
            (4, "24"),
            (5, "59"),
            (5, "60"),
            (6, "60"),
            (6, "60"),
            (6, "61"),
            (7, "UTC"),
        ]);
        parts[part] = other.to_owned();
    }
    let [weekday, day, month, year, hour, minute, second, zone] = &parts[..] else { return Vec::new() };
    let text = match draw.below(3) {
        0 => format!("{weekday}, {day} {month} {year} {hour}:{minute}:{second} {zone}"),
        1 => {
            let long = LONG.iter().find(|long| long.starts_with(weekday.as_str())).unwrap_or(&"Someday");
            let year = match draw.below(4) {
                0 => format!("{:02}", draw.below(100)),
                // Where the instant is now, this is the limit of P5.
                1 => format!("{:02}", (year.parse::<u32>().unwrap_or(0) + 50) % 100),
                _ => year[2..].to_owned(),
            };
            format!("{long}, {day}-{month}-{year} {hour}:{minute}:{second} {zone}")
        }
        _ => {
            let day = day
                .strip_prefix('0')
                .filter(|_| !draw.one_in(3))
                .map_or(day.clone(), |day| format!(" {day}"));
            format!("{weekday} {month} {day} {hour}:{minute}:{second} {year}")
        }
    };
    text.into_bytes()
}

fn surrounded(draw: &mut Draw, line: &[u8]) -> Vec<u8> {
    let blanks = |draw: &mut Draw| vec![draw.of(b" \t"); draw.of(&[0, 1, 1, 2, 130])];
    [blanks(draw), line.to_vec(), blanks(draw)].concat()
}

fn mutated(draw: &mut Draw, mut line: Vec<u8>) -> Vec<u8> {
    let place = draw.index(line.len() + 1);
    let stray = draw.of(b"0159 \t,.-:GMTaS\x00\r\n\x0b\x7f\x85\xa0\xb2\xff");
    match draw.below(3) {
        0 if place < line.len() => drop(line.remove(place)),
        1 if place < line.len() => line[place] = stray,
        _ => line.insert(place, stray),
    }
    line
}
