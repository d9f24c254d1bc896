//! The judge over traces made by hand: each verdict, and the sentence that a person reads.

mod common;

use common::{Story, case};
use refusal_script::{Case, Event, Reason, Trace, Verdict, VerdictKind, judge};

const TWO_SECONDS: &str = r#"[{"status": 503, "promise": {"not_before_ms": 2000}}]"#;
const AN_HOUR: &str = r#"[{"status": 503, "promise": {"not_before_ms": 3600000}}]"#;
const NO_HINT: &str = r#"[{"status": 503}]"#;
const NOT_BEFORE: &str = r#"[{"that": "not_before"}]"#;
const SILENCE: &str = r#"[{"that": "silence", "ms": 4000}, {"that": "not_before"}]"#;

fn two_seconds() -> Case {
    case(TWO_SECONDS, NOT_BEFORE, "")
}

#[track_caller]
fn expect(case: &Case, trace: &Trace, kind: VerdictKind, reason: Reason) -> Verdict {
    let verdict = judge(case, trace);
    assert_eq!((verdict.kind, verdict.reason), (kind, reason), "{verdict}");
    verdict
}

#[test]
fn an_attempt_after_the_promise_passes() {
    let trace = Story::new().refused(10, 0).fine(2_015).ended(2_100);
    expect(&two_seconds(), &trace, VerdictKind::Pass, Reason::AsExpected);
}

/// Late never fails.
#[test]
fn an_attempt_long_after_the_promise_passes_too() {
    let trace = Story::new().refused(10, 0).fine(60_000).ended(60_100);
    expect(&two_seconds(), &trace, VerdictKind::Pass, Reason::AsExpected);
}

#[test]
fn an_early_attempt_fails_and_the_sentence_says_by_how_much() {
    let trace = Story::new().refused(10, 0).fine(1_010).ended(2_000);
    let verdict = expect(&two_seconds(), &trace, VerdictKind::Fail, Reason::Early);
    assert_eq!(verdict.sentence, "attempt 2 arrived 1.00 s after the refusal; it was asked to wait 2 s");
}

#[test]
fn the_grace_is_twenty_milliseconds_and_not_one_more() {
    let within = Story::new().refused(0, 0).fine(1_980).ended(2_000);
    expect(&two_seconds(), &within, VerdictKind::Pass, Reason::AsExpected);
    let beyond = Story::new().refused(0, 0).fine(1_979).ended(2_000);
    expect(&two_seconds(), &beyond, VerdictKind::Fail, Reason::Early);
}

/// A date has whole seconds: a promise of 4 s, half a second into the second, is one of 3.5 s.
#[test]
fn a_date_up_to_a_second_early_is_imprecise_and_more_fails() {
    let script = r#"[{"status": 503, "promise": {"not_before_ms": 4000, "precision": "date"}}]"#;
    let case = case(script, NOT_BEFORE, r#", "needs": ["shared_clock"]"#);
    let at = |ms| Story::new().exchange(1, 0, Some(0), 500).fine(ms).ended(5_000);
    expect(&case, &at(3_500), VerdictKind::Pass, Reason::AsExpected);
    let imprecise = expect(&case, &at(2_600), VerdictKind::Pass, Reason::Imprecise);
    assert_eq!(imprecise.notes, ["a date was obeyed within a second, not exactly"]);
    expect(&case, &at(2_400), VerdictKind::Fail, Reason::Early);
}

/// One fixed instant for a chain: the second answer asks for less than the first.
#[test]
fn a_date_can_count_from_the_first_answer() {
    let promise = r#"{"not_before_ms": 4000, "precision": "date", "base": "first_answer"}"#;
    let script = format!(r#"[{{"status": 503, "repeat": 2, "promise": {promise}}}]"#);
    let case = case(&script, NOT_BEFORE, r#", "needs": ["shared_clock"]"#);
    let trace =
        Story::new().exchange(1, 0, Some(0), 0).exchange(1, 4_000, Some(0), 4_000).fine(4_100).ended(5_000);
    expect(&case, &trace, VerdictKind::Pass, Reason::AsExpected);
}

#[test]
fn a_client_that_exits_or_keeps_still_has_shown_nothing() {
    let gone = Story::new().refused(10, 0).exit(40, 1).ended(50);
    expect(&two_seconds(), &gone, VerdictKind::Vacuous, Reason::NeverRetried);
    let still = Story::new().refused(10, 0).ended(5_000);
    expect(&two_seconds(), &still, VerdictKind::Vacuous, Reason::DidNotReturn);
}

#[test]
fn part_of_a_chain_is_claimed_as_a_part() {
    let expectations = r#"[{"that": "attempts", "min": 4}, {"that": "not_before"}]"#;
    let case =
        case(r#"[{"status": 503, "repeat": 3, "promise": {"not_before_ms": 1000}}]"#, expectations, "");
    let trace = Story::new().refused(0, 0).refused(1_001, 0).exit(1_100, 1).ended(1_200);
    expect(&case, &trace, VerdictKind::PassBounded, Reason::PartOfScript);
}

#[test]
fn silence_is_claimed_for_as_long_as_it_was_watched() {
    let case = case(AN_HOUR, SILENCE, "");
    let watched = Story::new().refused(0, 0).ended(4_001);
    expect(&case, &watched, VerdictKind::PassBounded, Reason::Silent);
    let not_watched = Story::new().refused(0, 0).ended(3_000);
    expect(&case, &not_watched, VerdictKind::Inconclusive, Reason::WatchedTooShort);
}

#[test]
fn a_client_that_stops_instead_of_waiting_an_hour_passes() {
    let trace = Story::new().refused(0, 0).exit(20, 1).ended(30);
    expect(&case(AN_HOUR, SILENCE, ""), &trace, VerdictKind::Pass, Reason::AsExpected);
}

#[test]
fn an_attempt_within_the_silence_fails() {
    let trace = Story::new().refused(0, 0).refused(300, 0).ended(4_001);
    let verdict = expect(&case(AN_HOUR, SILENCE, ""), &trace, VerdictKind::Fail, Reason::BrokeSilence);
    assert_eq!(verdict.sentence, "attempt 2 arrived 0.30 s after the refusal; it was asked to wait 3600 s");
}

/// A refusal that a client need not heed: it comes back late enough, or not at all.
#[test]
fn an_attempt_after_the_silence_is_told_of() {
    let case = case(TWO_SECONDS, r#"[{"that": "silence", "ms": 2000}, {"that": "not_before"}]"#, "");
    let trace = Story::new().refused(0, 0).fine(2_100).exit(2_200, 0).ended(2_300);
    let verdict = expect(&case, &trace, VerdictKind::Pass, Reason::AsExpected);
    assert_eq!(verdict.sentence, "attempt 2 arrived 2.10 s after the refusal; it was asked to wait 2 s");
}

#[test]
fn more_attempts_than_expected_fail() {
    let case = case(r#"[{"status": 404}]"#, r#"[{"that": "attempts", "max": 1}]"#, "");
    let twice = Story::new().refused(0, 0).refused(500, 0).exit(600, 1).ended(700);
    expect(&case, &twice, VerdictKind::Fail, Reason::TooManyAttempts);
    let once = Story::new().refused(0, 0).exit(10, 1).ended(20);
    expect(&case, &once, VerdictKind::Pass, Reason::AsExpected);
    let hanging = Story::new().refused(0, 0).ended(5_000);
    expect(&case, &hanging, VerdictKind::PassBounded, Reason::Silent);
}

fn control(gaps_us: &[u64]) -> Event {
    Event::Control { gaps_us: gaps_us.to_vec() }
}

/// A wait of its own that is as long as the promise shows nothing about the field.
#[test]
fn what_its_own_backoff_does_is_coincident() {
    let trace = Story::new().refused(0, 0).fine(2_100).push(control(&[2_090_000])).ended(2_200);
    expect(&two_seconds(), &trace, VerdictKind::Coincident, Reason::OwnBackoff);
    let trace = Story::new().refused(0, 0).fine(2_100).push(control(&[1_000_000])).ended(2_200);
    expect(&two_seconds(), &trace, VerdictKind::Pass, Reason::AsExpected);
}

#[test]
fn faster_than_without_the_hint_fails() {
    let expectations = r#"[{"that": "not_faster_than_control"}, {"that": "soft", "better": {"is": "returns_like_control"}}]"#;
    let case = case(NO_HINT, expectations, r#", "control": true"#);
    let trace = |ms| Story::new().refused(0, 0).fine(ms).push(control(&[1_000_000])).ended(3_000);
    expect(&case, &trace(400), VerdictKind::Fail, Reason::FasterThanControl);
    expect(&case, &trace(600), VerdictKind::Pass, Reason::AsExpected);
    let gone = Story::new().refused(0, 0).exit(10, 1).push(control(&[1_000_000])).ended(3_000);
    expect(&case, &gone, VerdictKind::Suboptimal, Reason::LostByHint);
    let still = Story::new().refused(0, 0).push(control(&[1_000_000])).ended(5_000);
    expect(&case, &still, VerdictKind::Suboptimal, Reason::LostByHint);
}

/// F06: a date long past asks for no wait, and a client that never comes back has misread it.
#[test]
fn a_client_that_never_comes_back_with_the_hint_and_does_without_it_fails() {
    let case = case(
        r#"[{"status": 503, "promise": {"not_before_ms": 0}}]"#,
        r#"[{"that": "attempts", "min": 2}, {"that": "returns_like_control"}]"#,
        r#", "control": true"#,
    );
    let still = || Story::new().refused(0, 0);
    let lost = still().push(control(&[1_000_000])).ended(5_000);
    expect(&case, &lost, VerdictKind::Fail, Reason::LostByHint);
    let too_soon_to_say = still().push(control(&[1_000_000])).ended(2_000);
    expect(&case, &too_soon_to_say, VerdictKind::Vacuous, Reason::DidNotReturn);
    let never_does = still().push(control(&[])).ended(5_000);
    expect(&case, &never_does, VerdictKind::Vacuous, Reason::DidNotReturn);
    let late = still().fine(4_900).push(control(&[1_000_000])).ended(5_000);
    expect(&case, &late, VerdictKind::Pass, Reason::AsExpected);
}

#[test]
fn a_later_attempt_with_another_body_or_method_fails() {
    let case = case(
        NO_HINT,
        r#"[{"that": "attempts", "min": 2}, {"that": "same_request", "headers": ["Content-Type"]}]"#,
        "",
    );
    let same = Story::new().refused(0, 0).sent("PUT", "a").fine(1_000).sent("PUT", "a").ended(2_000);
    expect(&case, &same, VerdictKind::Pass, Reason::AsExpected);
    let body = Story::new().refused(0, 0).sent("PUT", "a").fine(1_000).sent("PUT", "b").ended(2_000);
    expect(&case, &body, VerdictKind::Fail, Reason::RequestChanged);
    let method = Story::new().refused(0, 0).sent("POST", "a").fine(1_000).sent("GET", "a").ended(2_000);
    expect(&case, &method, VerdictKind::Fail, Reason::RequestChanged);
}

#[test]
fn a_second_operation_inside_a_known_window_fails() {
    let more = r#", "needs": ["two_operations"], "operations": {"count": 2, "start": "in_turn"}"#;
    let case = case(AN_HOUR, r#"[{"that": "second_operations"}]"#, more);
    let inside = Story::new().refused(0, 0).exchange(2, 100, Some(0), 0).exit(200, 1).ended(300);
    expect(&case, &inside, VerdictKind::Fail, Reason::InsideKnownWindow);
    let held = Story::new().refused(0, 0).exit(200, 1).ended(300);
    expect(&case, &held, VerdictKind::Pass, Reason::AsExpected);
    let waiting = Story::new().refused(0, 0).ended(5_000);
    expect(&case, &waiting, VerdictKind::PassBounded, Reason::Silent);
}

#[test]
fn operations_that_come_back_at_once_are_a_herd() {
    let more = r#", "needs": ["concurrent"], "operations": {"count": 2, "start": "together"}"#;
    let case = case(TWO_SECONDS, r#"[{"that": "spread", "ms": 50}]"#, more);
    let trace = |apart: u64| {
        let story = Story::new().exchange(1, 0, Some(0), 0).exchange(2, 1, Some(0), 0);
        story.exchange(1, 2_000, None, 0).exchange(2, 2_000 + apart, None, 0).ended(3_000)
    };
    expect(&case, &trace(3), VerdictKind::Fail, Reason::Herd);
    expect(&case, &trace(300), VerdictKind::Pass, Reason::AsExpected);
}

#[test]
fn soft_expectations_grade_and_never_fail() {
    let soft = |better: &str| format!(r#"[{{"that": "soft", "better": {better}}}]"#);
    let late = case(TWO_SECONDS, &soft(r#"{"is": "prompt", "ms": 500}"#), "");
    let trace = Story::new().refused(0, 0).fine(4_000).ended(4_100);
    expect(&late, &trace, VerdictKind::Suboptimal, Reason::Late);
    let few = case(TWO_SECONDS, &soft(r#"{"is": "attempts", "min": 3}"#), "");
    expect(&few, &trace, VerdictKind::Suboptimal, Reason::FewAttempts);
    let slow = case(TWO_SECONDS, &soft(r#"{"is": "ends_within", "ms": 1000}"#), "");
    expect(&slow, &trace, VerdictKind::Suboptimal, Reason::DidNotEnd);
    let trace = Story::new().refused(0, 0).exit(900, 0).ended(1_000);
    expect(&slow, &trace, VerdictKind::Pass, Reason::AsExpected);
}

/// Early stays proven, whatever the lag: the stamps can only overestimate a wait.
#[test]
fn lag_makes_a_close_pass_inconclusive_and_never_excuses_an_early_attempt() {
    let lag = Event::Lag { at_us: 2_010_000, late_us: 300_000 };
    let close = Story::new().refused(0, 0).fine(2_005).push(lag.clone()).ended(2_100);
    expect(&two_seconds(), &close, VerdictKind::Inconclusive, Reason::Lag);
    let far = Story::new().refused(0, 0).fine(2_500).push(lag.clone()).ended(2_600);
    expect(&two_seconds(), &far, VerdictKind::Pass, Reason::AsExpected);
    let early = Story::new().refused(0, 0).fine(1_900).push(lag).ended(2_100);
    expect(&two_seconds(), &early, VerdictKind::Fail, Reason::Early);
}

#[test]
fn what_is_not_about_the_field_has_verdicts_of_its_own() {
    let case = two_seconds();
    expect(&case, &Story::new().ended(30_000), VerdictKind::NoContact, Reason::NoRequest);
    expect(&case, &Story::new().exit(10, 0).ended(20), VerdictKind::NoContact, Reason::NoRequest);
    expect(&case, &Story::new().exit(10, 77).ended(20), VerdictKind::Unsupported, Reason::Unsupported);
    expect(&case, &Story::new().exit(10, 134).ended(20), VerdictKind::Crash, Reason::Crashed);
    let crash = Story::new().refused(0, 0).exit(10, 101).ended(20);
    expect(&case, &crash, VerdictKind::Crash, Reason::Crashed);
    let early_crash = Story::new().refused(0, 0).refused(5, 0).exit(10, 101).ended(20);
    expect(&case, &early_crash, VerdictKind::Fail, Reason::Early);
    let end = Event::End { at_us: 1, harness_error: Some("no file descriptors".into()) };
    let broken = Trace { events: vec![end] };
    expect(&case, &broken, VerdictKind::HarnessError, Reason::Harness);
}

#[test]
fn levels_weigh_what_was_found() {
    let early = Story::new().refused(0, 0).fine(500).ended(2_000);
    for (level, kind) in
        [("must", VerdictKind::Fail), ("quality", VerdictKind::Suboptimal), ("info", VerdictKind::Info)]
    {
        let mut case = two_seconds();
        case.level = serde_json::from_str(&format!("{level:?}")).unwrap();
        expect(&case, &early, kind, Reason::Early);
    }
}

#[test]
fn keeping_still_shows_nothing_where_the_client_was_never_seen_to_retry() {
    let still = judge(&case(AN_HOUR, SILENCE, ""), &Story::new().refused(0, 0).exit(20, 1).ended(30));
    let never = Verdict::new(VerdictKind::Vacuous, Reason::NeverRetried, "no second attempt");
    let given = still.clone().given([("retry-503", &never)]);
    assert_eq!((given.kind, given.reason), (VerdictKind::Vacuous, Reason::DependencyVacuous));
    let gone = Verdict::new(VerdictKind::NoContact, Reason::NoRequest, "no request");
    assert_eq!(still.given([("retry-503", &gone)]).kind, VerdictKind::Blocked);
    let proven = Verdict::new(VerdictKind::Fail, Reason::Early, "early");
    assert_eq!(proven.given([("retry-503", &never)]).kind, VerdictKind::Fail);
}

/// Traces from elsewhere are read as they were written.
#[test]
fn a_trace_survives_its_json_lines() {
    let trace = Story::new().refused(0, 0).fine(2_000).push(control(&[1])).exit(2_100, 0).ended(2_200);
    assert_eq!(Trace::from_json_lines(&trace.to_json_lines()).unwrap(), trace);
    let error = Trace::from_json_lines("\n{\"event\":\"arrived\"}").unwrap_err();
    assert!(error.to_string().starts_with("line 2 of the trace: unknown variant `arrived`"), "{error}");
}
