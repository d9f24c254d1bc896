//! Questions about field lines.

use super::draw::Draw;
use super::{field, json};

pub(super) fn question(draw: &mut Draw) -> String {
    let now = now(draw);
    let count = draw.of(&[0, 1, 1, 1, 1, 1, 2, 2, 3, 4, 8, 9, 10]);
    let mut lines: Vec<Vec<u8>> = Vec::new();
    for _ in 0..count {
        let line = match lines.last() {
            Some(last) if draw.one_in(4) => last.clone(),
            _ => field::retry_after(draw, now),
        };
        lines.push(line);
    }
    let mut members = vec![
        ("op", json::name("parse")),
        ("lines", json::list(lines.iter().map(|line| json::bytes(line)))),
        ("now", now.to_string()),
    ];
    if !draw.one_in(3) {
        let date = field::response_date(draw, now);
        members.push(("date", if draw.one_in(6) { "null".to_owned() } else { json::bytes(&date) }));
    }
    if draw.one_in(3) {
        let age = field::age(draw);
        members.push(("age", if draw.one_in(6) { "null".to_owned() } else { json::bytes(&age) }));
    }
    if draw.one_in(3) {
        members.push(("dates", json::name(draw.of(&["honour", "treat_as_absent"]))));
    }
    if draw.one_in(3) {
        members.push(("lenient_fractions", draw.of(&["true", "true", "false"]).to_owned()));
    }
    json::object(draw, members)
}

/// The wall clock: today, around leap days and ends of years, and where no calendar reaches.
pub(super) fn now(draw: &mut Draw) -> i64 {
    const CLOCKS: [i64; 16] = [
        1_795_996_800,
        1_795_996_800,
        1_795_996_800,
        1_795_996_800,
        // 28 and 29 February and 1 March 2028, the last second of 2026, 2049 and 9949.
        1_835_308_800,
        1_835_395_200,
        1_835_481_600,
        1_798_761_599,
        2_524_607_999,
        251_824_463_999,
        0,
        // The years 0000 and -0049, and the bounds.
        -62_167_219_200,
        -63_713_433_600,
        9_007_199_254_740_991,
        -9_007_199_254_740_991,
        i64::MIN,
    ];
    match draw.below(4) {
        0 => draw.of(&CLOCKS),
        1 => draw.of(&CLOCKS).saturating_add(draw.of(&[-1, 1, 60, 3_600])),
        2 => i64::try_from(draw.below(4_000_000_000)).unwrap_or(0),
        _ => 1_795_996_800,
    }
}
