//! Questions about one logical request.

use super::draw::Draw;
use super::{field, json, parse};

pub(super) fn question(draw: &mut Draw) -> String {
    let now = parse::now(draw);
    let profile = draw.of(&["muse", "shakenfist", "alkhttp", "recommended"]);
    let usual = match profile {
        "muse" => 503,
        "shakenfist" => 507,
        _ => draw.of(&[503, 503, 429, 408, 413, 507]),
    };
    let count = 1 + draw.index(7);
    let events: Vec<_> = (0..count).map(|_| event(draw, now, usual)).collect();
    let mut members =
        vec![("op", json::name("session")), ("profile", json::name(profile)), ("events", json::list(events))];
    if !draw.one_in(4) {
        let mut policy = policy(draw);
        if profile == "shakenfist" && !draw.one_in(4) {
            policy.push(("enabled", "true".to_owned()));
        }
        members.push(("policy", json::object(draw, policy)));
    }
    if draw.one_in(3) {
        members.push(("request", request(draw)));
    }
    if !draw.one_in(20) {
        members.push(("now", now.to_string()));
    }
    if !draw.one_in(3) {
        let count = draw.index(6);
        let draws: Vec<_> = (0..count)
            .map(|_| {
                if draw.one_in(3) { draw.of(&[0, 1, 999, 1_000]) } else { draw.below(1_001) }.to_string()
            })
            .collect();
        members.push(("random", json::list(draws)));
    }
    json::object(draw, members)
}

fn request(draw: &mut Draw) -> String {
    let method =
        draw.of(&["GET", "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "POST", "PATCH", "get", ""]);
    let mut members = vec![("method", json::name(method))];
    if draw.one_in(2) {
        members.push(("vouched", draw.of(&["true", "true", "false"]).to_owned()));
    }
    if draw.one_in(3) {
        members.push(("body", json::name(draw.of(&["none", "replayable", "once"]))));
    }
    json::object(draw, members)
}

fn policy(draw: &mut Draw) -> Vec<(&'static str, String)> {
    let mut members = Vec::new();
    if draw.one_in(12) {
        // Nothing holds the request back but the budget, if that.
        let schedule = r#"{"kind":"constant","ms":0}"#;
        members.extend([("floor_ms", "0".to_owned()), ("backoff", schedule.to_owned())]);
        members.push(("budget_ms", draw.of(&[0, 0, 1, 10]).to_string()));
        return members;
    }
    // Half of the overrides leave floor and ceiling alone: most random pairs contradict each other.
    if draw.one_in(4) {
        members.push(("floor_ms", draw.of(&[0, 1, 999, 1_000, 1_001, 5_000, 60_000]).to_string()));
    }
    if draw.one_in(4) {
        members.push(("ceiling_ms", draw.millis().max(60_000).to_string()));
    }
    if draw.one_in(4) {
        members.push(("over_ceiling", json::name(draw.of(&["clamp", "give_up"]))));
    }
    if draw.one_in(4) {
        members.push(("combine", json::name(draw.of(&["hint_only", "max"]))));
    }
    if draw.one_in(4) {
        members.push(("default_backoff_ms", draw.millis().to_string()));
    }
    if draw.one_in(3) {
        members.push(("backoff", backoff(draw)));
    }
    if draw.one_in(3) {
        members.push(("budget_ms", draw.millis().to_string()));
    }
    if draw.one_in(3) {
        members.push(("over_budget", json::name(draw.of(&["give_up", "truncate_then_try"]))));
    }
    if draw.one_in(4) {
        members.push(("max_attempts", draw.of(&["null", "1", "2", "3", "5", "4294967296"]).to_owned()));
    }
    if draw.one_in(4) {
        members.push(("dates", json::name(draw.of(&["honour", "honour", "treat_as_absent"]))));
    }
    if draw.one_in(6) {
        members.push(("lenient_fractions", "true".to_owned()));
    }
    if draw.one_in(5) {
        members.push(("repeat_unanswered", draw.of(&["true", "true", "false"]).to_owned()));
    }
    if draw.one_in(12) {
        members.push(("enabled", draw.of(&["true", "false"]).to_owned()));
    }
    if draw.one_in(3) {
        members.push(("jitter_per_mille", draw.of(&[0, 1, 250, 333, 500, 999, 1_000]).to_string()));
    }
    if draw.one_in(5) {
        members.push(("jitter_cap_ms", draw.millis().to_string()));
    }
    if draw.one_in(4) {
        let count = draw.index(4);
        let entries: Vec<_> = (0..count).map(|_| entry(draw)).collect();
        members.push(("retry_on", json::list(entries)));
    }
    members
}

fn entry(draw: &mut Draw) -> String {
    let status = draw.of(&[100, 199, 200, 301, 404, 413, 429, 500, 503, 503, 507, 507, 599]);
    let mut members = vec![("status", status.to_string())];
    if draw.one_in(2) {
        members.push(("needs", json::name(draw.of(&["transient", "hint"]))));
    }
    json::object(draw, members)
}

fn backoff(draw: &mut Draw) -> String {
    if draw.one_in(5) {
        return "null".to_owned();
    }
    if draw.one_in(3) {
        let ms = draw.millis().to_string();
        return json::object(draw, vec![("kind", json::name("constant")), ("ms", ms)]);
    }
    let factor = if draw.one_in(8) { draw.huge() } else { draw.of(&[1, 2, 2, 3, 10, 1_000]) };
    let members = vec![
        ("kind", json::name("exponential")),
        ("base_ms", draw.millis().to_string()),
        ("factor", factor.to_string()),
        ("cap_ms", draw.millis().to_string()),
    ];
    json::object(draw, members)
}

/// The end of an attempt, most often with the `usual` status, so that sessions go on.
fn event(draw: &mut Draw, now: i64, usual: u16) -> String {
    let took = if draw.one_in(5) { draw.millis() } else { draw.of(&[0, 0, 1, 10, 250]) };
    let mut members = vec![("took_ms", took.to_string())];
    if draw.one_in(16) {
        members.push(("outcome", json::name(draw.of(&["not_sent", "lost"]))));
        return json::object(draw, members);
    }
    let status = match draw.below(16) {
        0 => draw.of(&[100, 103, 199, 200, 204, 301, 399, 400, 404, 500, 599]),
        1..3 => draw.of(&[503, 429, 507, 413, 408, 502, 504]),
        _ => usual,
    };
    members.push(("status", status.to_string()));
    if !draw.one_in(4) {
        members.push(("headers", headers(draw, now)));
    }
    if status == 507 || draw.one_in(4) {
        let bodies = [
            r#"{"a":[1.5e3,{"b":null}],"transient":true}"#,
            r#"{"transient":false,"transient":true}"#,
            r#"{"transient":true,"transient":null}"#,
            r#"{"tr\u0061nsient":true}"#,
            r#"{"transient":false}"#,
            r#"{"transient":1}"#,
            r#"{"transient":"true"}"#,
            r#"{"Transient":true}"#,
            r#"{"error":{"transient":true}}"#,
            r#"[{"transient":true}]"#,
            r#""{\"transient\":true}""#,
            "true",
            "{}",
            "null",
        ];
        let body = if draw.one_in(4) { draw.of(&bodies) } else { r#"{"transient":true}"# };
        members.push(("body", body.to_owned()));
    }
    json::object(draw, members)
}

fn headers(draw: &mut Draw, now: i64) -> String {
    let mut lines = Vec::new();
    for _ in 0..draw.of(&[0, 1, 1, 1, 1, 1, 2, 3]) {
        let value =
            if draw.one_in(3) { field::retry_after(draw, now) } else { field::delay_near_limits(draw) };
        lines.push((draw.of(&["Retry-After", "Retry-After", "retry-after", "RETRY-AFTER"]), value));
    }
    for _ in 0..draw.of(&[0, 0, 1, 1, 2]) {
        lines.push((draw.of(&["Date", "date"]), field::response_date(draw, now)));
    }
    for _ in 0..draw.of(&[0, 0, 0, 1, 2]) {
        lines.push((draw.of(&["Age", "age"]), field::age(draw)));
    }
    if draw.one_in(6) {
        lines.push((draw.of(&["retry-after-ms", "X-Date", "Retry-After "]), b"5".to_vec()));
    }
    if draw.one_in(2) {
        lines.reverse();
    }
    json::list(lines.iter().map(|(name, value)| json::list([json::name(name), json::bytes(value)])))
}
