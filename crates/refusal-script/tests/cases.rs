//! Cases that contradict themselves are refused, and the error names id and field.

use refusal_script::{Case, Edition};
use serde_json::{Value, json};

fn good() -> Value {
    json!({
        "id": "good", "rev": 1, "title": "a case", "level": "promise", "why": "tests",
        "script": [{"status": 503, "promise": {"not_before_ms": 1000}}],
        "observe": {"until": "script_end", "window_ms": 3000},
        "expect": [{"that": "not_before"}],
        "self_test": {"perfect": "pass", "eager": "fail", "never_retries": "vacuous", "tight_loop": "fail", "hangs": "vacuous"}
    })
}

fn error(pointer: &str, value: Value) -> String {
    let mut case = good();
    match case.pointer_mut(pointer) {
        Some(place) => *place = value,
        None => case[pointer.trim_start_matches('/')] = value,
    }
    Case::from_json(&case.to_string()).unwrap_err().to_string()
}

#[test]
fn a_good_case_is_read_and_written_the_same() {
    let case = Case::from_json(&good().to_string()).unwrap();
    let written = serde_json::to_string(&case).unwrap();
    assert_eq!(Case::from_json(&written).unwrap(), case);
}

#[test]
fn each_contradiction_is_named() {
    let table = [
        error("/id", json!("Good")),
        error("/rev", json!(0)),
        error("/title", json!(" ")),
        error("/why", json!(null)),
        error("/depends_on", json!(["good"])),
        error("/environment", json!({"tz": "UTC"})),
        error("/request", json!({"method": "post"})),
        error("/request", json!({"method": "POST"})),
        error("/request", json!({"body_bytes": 3})),
        error("/request", json!({"deadline_s": 3})),
        error("/operations", json!({"count": 1, "start": "together"})),
        error("/operations", json!({"count": 2, "start": "together"})),
        error("/observe/window_ms", json!(0)),
        error("/script", json!([])),
        error("/script/0", json!({})),
        error("/script/0", json!({"status": 101})),
        error("/script/0", json!({"status": 503, "raw_head": "HTTP/1.1 503\r\n\r\n"})),
        error("/script/0", json!({"raw_head": ""})),
        error("/script/0", json!({"raw_head": "HTTP/1.1 503 \u{2603}\r\n\r\n"})),
        error("/script/0", json!({"status": 503, "headers": [["Retry After", "2"]]})),
        error("/script/0", json!({"status": 503, "headers": [["Retry-After", "2\r\nX: y"]]})),
        error("/script/0", json!({"status": 503, "connection": "reset_in_body"})),
        error("/script/0", json!({"status": 503, "trickle": {"chunk_bytes": 0, "every_ms": 1}})),
        error("/script/0", json!({"status": 503, "interim": [{"status": 101}]})),
        error("/script/0", json!({"status": 503, "repeat": 0})),
        error("/script/0/promise", json!({"not_before_ms": 4000, "precision": "date"})),
        error("/then", json!("repeat_last")),
        error("/expect", json!([])),
        error("/expect/0", json!({"that": "attempts"})),
        error("/expect/0", json!({"that": "silence", "ms": 3001})),
        error("/expect/0", json!({"that": "not_faster_than_control"})),
        error("/expect/0", json!({"that": "spread", "ms": 1})),
        error("/expect/0", json!({"that": "polite"})),
        error(
            "/self_test",
            json!({"perfect": "pass", "eager": "pass", "never_retries": "pass", "tight_loop": "pass", "hangs": "pass"}),
        ),
    ];
    insta::assert_snapshot!(table.join("\n"));
}

#[test]
fn an_id_is_used_once_in_an_edition() {
    let edition = json!({"edition": "2026.1", "cases": [good(), good()]});
    let error = Edition::from_json(&edition.to_string()).unwrap_err();
    assert_eq!(error.to_string(), "case \"good\": id: expected once, got twice");
}

/// The control plays the same script without anything that says when to come back.
#[test]
fn a_control_has_no_hint_in_any_spelling() {
    let mut case = good();
    case["script"] = json!([
        {"status": 503, "headers": [["rEtRy-aFtEr", "2"], ["Date", "x"]], "promise": {"not_before_ms": 2000}},
        {"raw_head": "HTTP/1.1 503\r\nA: b\r\nretry-after : 1\r\n\t2\r\nC: d\r\n\r\n"}
    ]);
    let control = Case::from_json(&case.to_string()).unwrap().without_hint();
    assert_eq!(control.check(), Ok(()));
    assert_eq!(control.script[0].headers.len(), 1);
    assert_eq!(control.script[0].promise, None);
    assert_eq!(control.script[1].raw_head.as_deref(), Some("HTTP/1.1 503\r\nA: b\r\nC: d\r\n\r\n"));
}
