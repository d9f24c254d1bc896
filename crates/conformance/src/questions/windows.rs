//! Questions about shared windows: few keys, small stores, many ties.

use super::draw::Draw;
use super::json;

pub(super) fn question(draw: &mut Draw) -> String {
    let mut members = vec![("op", json::name("windows"))];
    if !draw.one_in(3) {
        members.push(("join", json::name(draw.of(&["latest", "earliest"]))));
    }
    if !draw.one_in(4) {
        let capacity = if draw.one_in(20) { draw.huge() } else { draw.of(&[1, 1, 2, 2, 3, 4, 8]) };
        members.push(("capacity", capacity.to_string()));
    }
    if draw.one_in(2) {
        let ceiling = if draw.one_in(10) { draw.huge() } else { draw.of(&[0, 1, 5, 9, 10, 20, 40]) };
        members.push(("ceiling_ms", ceiling.to_string()));
    }
    let mut at = if draw.one_in(40) { draw.huge() } else { draw.below(8) };
    let most = if draw.one_in(4) { 120 } else { 25 };
    let count = draw.index(most);
    let events: Vec<_> = (0..count)
        .map(|_| {
            at = at.saturating_add(draw.of(&[0, 0, 0, 1, 1, 2, 5])).min(i64::MAX as u64);
            event(draw, at)
        })
        .collect();
    members.push(("events", json::list(events)));
    json::object(draw, members)
}

fn event(draw: &mut Draw, at: u64) -> String {
    let key = json::name(draw.of(&["a", "a", "b", "b", "c", "d", "e", "f", "g", "", "A"]));
    let mut members = vec![("at_ms", at.to_string())];
    match draw.below(8) {
        0..4 => {
            let distance = draw.of(&[0, 1, 2, 3, 4, 5, 5, 8, 10, 10, 15, 20, 30, 300_001]);
            // Instants on a grid of five fall together even where the records do not.
            let not_before = (at / 5 * 5).saturating_add(distance).min(i64::MAX as u64);
            members.extend([("record", key), ("not_before_ms", not_before.to_string())]);
        }
        4..7 => members.push(("ask", key)),
        _ => {
            let started = at.saturating_sub(draw.of(&[0, 0, 1, 2, 5, 10]));
            members.extend([("success", key), ("started_ms", started.to_string())]);
        }
    }
    json::object(draw, members)
}
