//! The examples of `docs/spec.md` section 11, answered byte for byte.

fn answer(question: &str) -> String {
    let mut answer = Vec::new();
    conformance::answer_line(question.as_bytes(), &mut answer);
    String::from_utf8(answer).expect("answers are JSON")
}

/// Section 11.1: `Date` is the reference, so the answer does not depend on the local clock.
#[test]
fn a_date_is_answered_with_its_instant_and_its_delay() {
    let question = r#"{"op":"parse","lines":["Mon, 30 Nov 2026 00:02:00 GMT"],"now":1795996800,"date":"Mon, 30 Nov 2026 00:00:00 GMT","age":null,"dates":"honour","lenient_fractions":false}"#;
    assert_eq!(answer(question), r#"{"kind":"date","unix":1795996920,"delay":120,"anomalies":[]}"#);
}

/// Section 11.1: the other three kinds.
#[test]
fn a_delay_nothing_and_nonsense_are_told_apart() {
    let parse = |lines: &str| answer(&format!(r#"{{"op":"parse","lines":{lines},"now":1795996800}}"#));
    assert_eq!(parse("[]"), r#"{"kind":"absent"}"#);
    assert_eq!(parse(r#"["120"]"#), r#"{"kind":"delay","seconds":120,"anomalies":[]}"#);
    assert_eq!(parse(r#"["soon"]"#), r#"{"kind":"malformed","reason":"not_a_delay_or_date"}"#);
    assert_eq!(parse(r#"[""]"#), r#"{"kind":"malformed","reason":"empty"}"#);
    assert_eq!(parse(r#"["Mon, 31 Nov 2026 00:00:00 GMT"]"#), r#"{"kind":"malformed","reason":"bad_date"}"#);
    assert_eq!(parse(r#"["1, b"]"#), r#"{"kind":"malformed","reason":"folded"}"#);
    let long = format!(r#"["{}"]"#, "x".repeat(129));
    assert_eq!(parse(&long), r#"{"kind":"malformed","reason":"too_long"}"#);
}

/// Section 11.1: every anomaly has a name of its own, and they are sorted.
#[test]
fn anomalies_are_listed_in_the_order_of_the_alphabet() {
    let question = r#"{"op":"parse","lines":["Sun, 30 Nov 2026 00:00:60 GMT","x","1"],"now":1795996800,"date":"Wed, 02 Dec 2026 00:00:00 GMT"}"#;
    assert_eq!(answer(question), r#"{"kind":"delay","seconds":1,"anomalies":["ignored_line","repeated"]}"#);
    let question = r#"{"op":"parse","lines":["Sun, 30 Nov 2026 00:00:60 GMT","x"],"now":1795996800,"date":"Wed, 02 Dec 2026 00:00:00 GMT"}"#;
    assert_eq!(
        answer(question),
        r#"{"kind":"date","unix":1795996860,"delay":0,"anomalies":["date_skew","ignored_line","leap_second","past","wrong_weekday"]}"#
    );
    let question = r#"{"op":"parse","lines":["1, 99999999999999999999"],"now":0}"#;
    assert_eq!(
        answer(question),
        r#"{"kind":"delay","seconds":9007199254740991,"anomalies":["folded","saturated"]}"#
    );
    let question = r#"{"op":"parse","lines":["2.000000001"],"now":0,"lenient_fractions":true}"#;
    assert_eq!(answer(question), r#"{"kind":"delay","seconds":3,"anomalies":["fraction"]}"#);
}

/// Section 11.2: one refusal, one success.
#[test]
fn a_session_is_answered_step_by_step() {
    let question = r#"{"op":"session","profile":"muse","policy":{"budget_ms":120000},"request":{"method":"POST","vouched":true,"body":"replayable"},"now":1795996800,"random":[],"events":[{"took_ms":250,"status":503,"headers":[["Retry-After","60"]],"body":null},{"took_ms":10,"status":200}]}"#;
    assert_eq!(
        answer(question),
        concat!(
            r#"{"outcome":"success","attempts":2,"waited_ms":60000,"ended_at_ms":60260,"#,
            r#""steps":[{"at_ms":250,"decision":"wait","wait_ms":60000,"hint_ms":60000,"applied":[]},"#,
            r#"{"at_ms":60260,"decision":"done"}]}"#,
        )
    );
}

/// Section 11.2: a stop says why, and what the server asked for.
#[test]
fn a_stop_names_its_reason_and_the_hint() {
    let question = r#"{"op":"session","profile":"muse","events":[{"took_ms":250,"status":404,"headers":[["retry-after","7"]]},{"took_ms":1,"status":200}]}"#;
    assert_eq!(
        answer(question),
        r#"{"outcome":"failed","attempts":1,"waited_ms":0,"ended_at_ms":250,"steps":[{"at_ms":250,"decision":"stop","reason":"not_retryable","hint_ms":7000}]}"#
    );
}

/// Section 11.2: the events ran out after a wait, which is counted; `applied` in the order of acting.
#[test]
fn a_wait_at_the_end_is_counted() {
    let question = r#"{"op":"session","profile":"alkhttp","policy":{"floor_ms":300,"budget_ms":1000,"jitter_per_mille":1000},"random":[1000,500],"events":[{"took_ms":0,"outcome":"lost"}]}"#;
    assert_eq!(
        answer(question),
        r#"{"outcome":"waiting","attempts":1,"waited_ms":600,"ended_at_ms":600,"steps":[{"at_ms":0,"decision":"wait","wait_ms":600,"hint_ms":null,"applied":["backoff","floor","jitter"]}]}"#
    );
}

/// Section 11.3: a success that began before the refusal does not open the window (E6).
#[test]
fn windows_are_answered_for_every_ask() {
    let question = r#"{"op":"windows","join":"latest","capacity":1024,"ceiling_ms":300000,"events":[{"at_ms":5,"record":"a","not_before_ms":30000},{"at_ms":10,"ask":"a"},{"at_ms":20,"success":"a","started_ms":0},{"at_ms":40,"ask":"a"},{"at_ms":50,"success":"a","started_ms":30},{"at_ms":60,"ask":"a"}]}"#;
    assert_eq!(
        answer(question),
        r#"{"answers":[{"at_ms":10,"not_before_ms":30000},{"at_ms":40,"not_before_ms":30000},{"at_ms":60,"not_before_ms":null}],"size":0}"#
    );
}

/// Section 11.3: no events, no answers.
#[test]
fn windows_without_events_are_empty() {
    assert_eq!(answer(r#"{"op":"windows","events":[]}"#), r#"{"answers":[],"size":0}"#);
}
