//! The judge at its edges: a verdict on each side of every limit.

mod common;

use common::{Story, case};
use refusal_script::{Case, Event, ExitMeaning, Reason, Trace, Verdict, VerdictKind, judge};

const TOGETHER: &str = r#", "needs": ["concurrent"], "operations": {"count": 2, "start": "together"}"#;
const CONTROL: &str = r#", "control": true"#;

fn asks_for(ms: u64, expect: &str, more: &str) -> Case {
    case(&format!(r#"[{{"status": 503, "promise": {{"not_before_ms": {ms}}}}}]"#), expect, more)
}

fn refused() -> Story {
    Story::new().refused(0, 0)
}

#[track_caller]
fn expect(case: &Case, trace: &Trace, kind: VerdictKind, reason: Reason) -> Verdict {
    let verdict = judge(case, trace);
    assert_eq!((verdict.kind, verdict.reason), (kind, reason), "{verdict}");
    verdict
}

#[track_caller]
fn passes(case: &Case, trace: &Trace) -> String {
    expect(case, trace, VerdictKind::Pass, Reason::AsExpected).sentence
}

fn control(gap_ms: u64) -> Event {
    Event::Control { gaps_us: vec![gap_ms * 1_000] }
}

#[test]
fn a_failure_names_its_section_and_a_pass_does_not() {
    let case = asks_for(2_000, r#"[{"that": "not_before"}]"#, r#", "spec": "RFC 1 section 2""#);
    let early = judge(&case, &refused().fine(1_000).ended(2_100));
    assert!(early.sentence.ends_with(" (RFC 1 section 2)"), "{early}");
    assert!(!passes(&case, &refused().fine(2_001).ended(2_100)).contains("RFC"));
}

/// What is soft grades a pass and cannot excuse a failure.
#[test]
fn a_soft_expectation_grades_beside_a_hard_one() {
    let expectations =
        r#"[{"that": "not_before"}, {"that": "soft", "better": {"is": "attempts", "min": 3}}]"#;
    let case = asks_for(2_000, expectations, "");
    let graded = refused().fine(2_001).ended(2_100);
    expect(&case, &graded, VerdictKind::Suboptimal, Reason::FewAttempts);
    expect(&case, &refused().fine(1_000).ended(2_100), VerdictKind::Fail, Reason::Early);
    let content = refused().fine(2_001).fine(2_002).ended(2_100);
    assert!(passes(&case, &content).starts_with("attempt 2 arrived"), "the hard one speaks");
}

/// That something soft was as it is better says nothing where the case itself was not played.
#[test]
fn a_soft_expectation_does_not_stand_for_a_hard_one() {
    let expectations =
        r#"[{"that": "attempts", "min": 3}, {"that": "soft", "better": {"is": "prompt", "ms": 500}}]"#;
    let trace = refused().fine(2_001).ended(2_100);
    expect(&asks_for(2_000, expectations, ""), &trace, VerdictKind::Vacuous, Reason::DidNotReturn);
}

#[test]
fn no_contact_says_whether_the_client_ended() {
    let case = asks_for(2_000, r#"[{"that": "not_before"}]"#, "");
    let told = |meaning| {
        let exit = Event::Exit { at_us: 10, code: None, signal: None, meaning };
        judge(&case, &Story::new().push(exit).ended(3_000)).sentence
    };
    assert_eq!(told(ExitMeaning::Fine), "the client ended without a request to the case's URL");
    assert_eq!(told(ExitMeaning::EndedByRunner), "no request to the case's URL within 3.00 s");
}

#[test]
fn an_operation_that_never_started_counts_as_no_attempt() {
    let case = asks_for(2_000, r#"[{"that": "attempts", "min": 2}]"#, TOGETHER);
    let one = || refused().fine(2_001);
    expect(&case, &one().ended(2_100), VerdictKind::Vacuous, Reason::DidNotReturn);
    let both = one().exchange(2, 0, Some(0), 0).exchange(2, 2_001, None, 0);
    passes(&case, &both.ended(2_100));
}

#[test]
fn a_lag_of_fifty_milliseconds_is_within_the_grace() {
    let case = asks_for(2_000, r#"[{"that": "not_before"}]"#, "");
    let at = |ms: u64, late_ms: u64| {
        let lag = Event::Lag { at_us: ms * 1_000, late_us: late_ms * 1_000 };
        refused().fine(ms).push(lag).ended(3_000)
    };
    passes(&case, &at(2_005, 50));
    expect(&case, &at(2_005, 51), VerdictKind::Inconclusive, Reason::Lag);
    passes(&case, &at(2_080, 100));
    expect(&case, &at(2_079, 100), VerdictKind::Inconclusive, Reason::Lag);
}

/// A control that came late because the runner did is not the client's own backoff.
#[test]
fn the_runners_lag_is_no_backoff() {
    let case = asks_for(2_000, r#"[{"that": "not_before"}]"#, "");
    let lag = Event::Lag { at_us: 400_000, late_us: 300_000 };
    let own = |story: Story| refusal_script::gaps_us(&case, &story.ended(3_000));
    let without = own(refused().fine(400))[0];
    assert_eq!(own(refused().fine(400).push(lag)), [without - 300_000]);
}

#[test]
fn a_lag_matters_within_two_ticks_of_the_arrival() {
    let lagged = |promise_ms: u64, arrival_ms: u64| {
        let lag = Event::Lag { at_us: 2_000_000, late_us: 300_000 };
        let case = asks_for(promise_ms, r#"[{"that": "not_before"}]"#, "");
        judge(&case, &refused().fine(arrival_ms).push(lag).ended(3_000)).kind
    };
    assert_eq!(lagged(2_000, 2_020), VerdictKind::Inconclusive);
    assert_eq!(lagged(2_000, 2_021), VerdictKind::Pass);
    assert_eq!(lagged(1_650, 1_680), VerdictKind::Inconclusive);
    assert_eq!(lagged(1_650, 1_679), VerdictKind::Pass);
}

#[test]
fn half_of_its_own_time_is_not_faster_and_noise_is_none() {
    let case = asks_for(0, r#"[{"that": "not_faster_than_control"}]"#, CONTROL);
    let trace = |gap, own| refused().fine(gap).push(control(own)).ended(3_000);
    passes(&case, &trace(500, 1_000));
    expect(&case, &trace(499, 1_000), VerdictKind::Fail, Reason::FasterThanControl);
    passes(&case, &trace(99, 199));
    expect(&case, &trace(99, 200), VerdictKind::Fail, Reason::FasterThanControl);
}

#[test]
fn a_silence_ends_with_its_window_less_the_grace() {
    let case = case(r#"[{"status": 503}]"#, r#"[{"that": "silence", "ms": 4000}]"#, "");
    let after = passes(&case, &refused().fine(3_980).ended(4_500));
    assert_eq!(after, "attempt 2 arrived 3.98 s after the refusal; none was expected for 4 s");
    expect(&case, &refused().fine(3_979).ended(4_500), VerdictKind::Fail, Reason::BrokeSilence);
    expect(&case, &refused().ended(3_980), VerdictKind::PassBounded, Reason::Silent);
    expect(&case, &refused().ended(3_979), VerdictKind::Inconclusive, Reason::WatchedTooShort);
}

#[test]
fn every_later_request_is_compared_and_none_shows_nothing() {
    let case = asks_for(0, r#"[{"that": "same_request"}]"#, "");
    expect(&case, &refused().ended(100), VerdictKind::Vacuous, Reason::DidNotReturn);
    assert_eq!(passes(&case, &refused().fine(10).ended(100)), "1 later attempt the same as the first");
    let twice = refused().refused(10, 0).fine(20).ended(100);
    assert_eq!(passes(&case, &twice), "2 later attempts the same as the first");
}

#[test]
fn a_later_body_that_is_longer_or_cut_is_another() {
    let case = asks_for(0, r#"[{"that": "same_request"}]"#, "");
    let body = |exchange, body_bytes, sha256: &str, complete| Event::Received {
        at_us: 0,
        exchange,
        body_bytes,
        body_sha256: sha256.to_owned(),
        complete,
    };
    let with = |later: Event| refused().fine(10).push(body(1, 3, "a", true)).push(later).ended(100);
    passes(&case, &with(body(2, 3, "a", true)));
    let told = |later| expect(&case, &with(later), VerdictKind::Fail, Reason::RequestChanged).sentence;
    assert_eq!(told(body(2, 4, "b", true)), "attempt 2 has another body (4 bytes); the first had 3 bytes");
    assert_eq!(
        told(body(2, 3, "a", false)),
        "attempt 2 has another body (3 bytes, cut); the first had 3 bytes"
    );
    assert_eq!(told(body(2, 3, "b", true)), "attempt 2 has another body than the first, of the same length");
    // Of a first body that was cut nothing is known.
    let cut = refused().fine(10).push(body(1, 3, "a", false)).push(body(2, 3, "b", true)).ended(100);
    passes(&case, &cut);
}

/// Sentences are printed to terminals, whose cursor a client is not to move.
#[test]
fn what_a_client_sent_is_told_escaped() {
    let case = asks_for(0, r#"[{"that": "same_request"}]"#, "");
    let trace = refused().sent("GET", "a").fine(10).sent("G\u{1b}[2J", "a").ended(100);
    let told = expect(&case, &trace, VerdictKind::Fail, Reason::RequestChanged).sentence;
    assert_eq!(told, r"attempt 2 has the method G\u{1b}[2J; the first had GET");
}

#[test]
fn an_operation_is_inside_a_window_from_when_it_is_told_until_the_grace() {
    let case = asks_for(2_000, r#"[{"that": "second_operations"}]"#, TOGETHER);
    let second = |ms| refused().exchange(2, ms, Some(0), 0).ended(3_000);
    expect(&case, &second(0), VerdictKind::Vacuous, Reason::DidNotReturn);
    expect(&case, &second(1), VerdictKind::Fail, Reason::InsideKnownWindow);
    expect(&case, &second(1_979), VerdictKind::Fail, Reason::InsideKnownWindow);
    assert_eq!(passes(&case, &second(1_980)), "later operations stayed out of the window");
    let held = refused().exit(100, 1).ended(3_000);
    assert_eq!(passes(&case, &held), "1 operation held back for good");
}

#[test]
fn a_herd_is_closer_than_it_should_be() {
    let case = asks_for(2_000, r#"[{"that": "spread", "ms": 50}]"#, TOGETHER);
    let one = || refused().exchange(2, 1, Some(0), 0).exchange(1, 2_001, None, 0);
    let apart = |ms: u64| one().exchange(2, 2_001 + ms, None, 0).ended(3_000);
    passes(&case, &apart(50));
    expect(&case, &apart(49), VerdictKind::Fail, Reason::Herd);
    expect(&case, &one().ended(3_000), VerdictKind::Vacuous, Reason::DidNotReturn);
}

#[test]
fn soft_limits_include_themselves() {
    let soft =
        |better: &str| asks_for(2_000, &format!(r#"[{{"that": "soft", "better": {better}}}]"#), CONTROL);
    let graded = |case: &Case, trace: &Trace, reason| {
        expect(case, trace, VerdictKind::Suboptimal, reason);
    };
    let prompt = soft(r#"{"is": "prompt", "ms": 500}"#);
    passes(&prompt, &refused().fine(2_500).ended(3_000));
    graded(&prompt, &refused().fine(2_501).ended(3_000), Reason::Late);
    let ends = soft(r#"{"is": "ends_within", "ms": 1000}"#);
    passes(&ends, &refused().exit(1_000, 1).ended(1_100));
    graded(&ends, &refused().exit(1_001, 1).ended(1_100), Reason::DidNotEnd);
    let attempts = soft(r#"{"is": "attempts", "min": 2}"#);
    passes(&attempts, &refused().fine(2_001).ended(3_000));
    graded(&attempts, &refused().ended(3_000), Reason::FewAttempts);
    let returns = soft(r#"{"is": "returns_like_control"}"#);
    let watched = |ms| refused().push(control(1_000)).ended(ms);
    graded(&returns, &watched(2_001), Reason::LostByHint);
    expect(&returns, &watched(2_000), VerdictKind::Vacuous, Reason::DidNotReturn);
    graded(&returns, &refused().exit(100, 1).push(control(1_000)).ended(200), Reason::LostByHint);
    let ended = Event::Exit { at_us: 100, code: None, signal: None, meaning: ExitMeaning::EndedByRunner };
    let by_runner = refused().push(ended).push(control(1_000)).ended(200);
    expect(&returns, &by_runner, VerdictKind::Vacuous, Reason::DidNotReturn);
    passes(&returns, &refused().fine(5).push(control(1_000)).ended(3_000));
}

/// A client that gave up on an answer and sent again was not told to wait yet.
#[test]
fn an_attempt_before_any_answer_has_no_gap() {
    let case = asks_for(2_000, r#"[{"that": "not_before"}]"#, "");
    let arrival = |exchange, at_us| Event::Arrival {
        at_us,
        exchange,
        connection: exchange,
        operation: 1,
        method: "GET".into(),
        target: "/t".into(),
        headers: vec![],
    };
    let answer = |exchange, at_us| Event::Answer {
        at_us,
        exchange,
        step: Some(0),
        unix_ms: 1_795_996_800_000,
        head: String::new(),
    };
    let trace = |second_us| {
        let events = [arrival(1, 0), answer(1, 1_000_000), arrival(2, second_us)];
        events.into_iter().fold(Story::new(), Story::push).ended(4_000)
    };
    expect(&case, &trace(999_999), VerdictKind::Vacuous, Reason::DidNotReturn);
    expect(&case, &trace(1_000_000), VerdictKind::Fail, Reason::Early);
    expect(&case, &trace(3_000_000), VerdictKind::Pass, Reason::AsExpected);
}

/// The instant of a chain is that of its first answer, whatever line of the trace comes first.
#[test]
fn the_first_answer_is_the_earliest() {
    let promise = r#"{"not_before_ms": 4000, "precision": "date", "base": "first_answer"}"#;
    let script = format!(r#"[{{"status": 503, "repeat": 2, "promise": {promise}}}]"#);
    let case = case(&script, r#"[{"that": "not_before"}]"#, r#", "needs": ["shared_clock"]"#);
    let told = |second: Story| second.fine(4_100).ended(5_000);
    let in_order = told(refused().exchange(1, 4_000, Some(0), 4_000));
    passes(&case, &in_order);
    passes(&case, &told(Story::new().exchange(1, 4_000, Some(0), 4_000).refused(0, 0)));
}

#[test]
fn numbers_in_words_have_as_many_decimals_as_they_need() {
    let told = |promise_ms: u64, gap: u64| {
        judge(&asks_for(promise_ms, r#"[{"that": "not_before"}]"#, ""), &refused().fine(gap).ended(9_000))
            .sentence
    };
    assert_eq!(told(2_500, 99), "attempt 2 arrived 0.099 s after the refusal; it was asked to wait 2.5 s");
    assert_eq!(told(10_000, 100), "attempt 2 arrived 0.10 s after the refusal; it was asked to wait 10 s");
}
