//! Every reason that a verdict may have, with the sentence that a person reads.

mod common;

use common::{Story, case};
use refusal_script::{Case, Event, Reason, Trace, Verdict, VerdictKind, judge};

const ALL: [Reason; 26] = [
    Reason::AsExpected,
    Reason::Imprecise,
    Reason::Silent,
    Reason::PartOfScript,
    Reason::Early,
    Reason::TooManyAttempts,
    Reason::FasterThanControl,
    Reason::BrokeSilence,
    Reason::RequestChanged,
    Reason::InsideKnownWindow,
    Reason::Herd,
    Reason::FewAttempts,
    Reason::DidNotEnd,
    Reason::Late,
    Reason::LostByHint,
    Reason::NeverRetried,
    Reason::DidNotReturn,
    Reason::OwnBackoff,
    Reason::Unsupported,
    Reason::DependencyVacuous,
    Reason::DependencyMissing,
    Reason::Crashed,
    Reason::NoRequest,
    Reason::Lag,
    Reason::WatchedTooShort,
    Reason::Harness,
];

fn asks_for_two_seconds(expect: &str, more: &str) -> Case {
    case(r#"[{"status": 503, "promise": {"not_before_ms": 2000}}]"#, expect, more)
}

fn soft(better: &str) -> Case {
    let expect = format!(r#"[{{"that": "soft", "better": {better}}}]"#);
    asks_for_two_seconds(&expect, r#", "control": true"#)
}

fn control(gap_us: u64) -> Event {
    Event::Control { gaps_us: vec![gap_us] }
}

fn together() -> &'static str {
    r#", "needs": ["concurrent"], "operations": {"count": 2, "start": "together"}"#
}

/// The shortest story with this end.
fn told(reason: Reason) -> Verdict {
    let not_before = || asks_for_two_seconds(r#"[{"that": "not_before"}]"#, "");
    let silence = || asks_for_two_seconds(r#"[{"that": "silence", "ms": 4000}]"#, "");
    let story = || Story::new().refused(0, 0);
    let (case, trace): (Case, Trace) = match reason {
        Reason::AsExpected => (not_before(), story().fine(2_001).ended(2_100)),
        Reason::Imprecise => {
            let script = r#"[{"status": 503, "promise": {"not_before_ms": 4000, "precision": "date"}}]"#;
            let case = case(script, r#"[{"that": "not_before"}]"#, r#", "needs": ["shared_clock"]"#);
            (case, story().fine(3_200).ended(3_300))
        }
        Reason::Silent => (silence(), story().ended(4_500)),
        Reason::PartOfScript => {
            let expect = r#"[{"that": "attempts", "min": 3}, {"that": "not_before"}]"#;
            (asks_for_two_seconds(expect, ""), story().fine(2_001).ended(2_100))
        }
        Reason::Early => (not_before(), story().fine(1_000).ended(2_100)),
        Reason::TooManyAttempts => {
            let case = asks_for_two_seconds(r#"[{"that": "attempts", "max": 1}]"#, "");
            (case, story().fine(2_001).ended(2_100))
        }
        Reason::FasterThanControl => {
            let case =
                asks_for_two_seconds(r#"[{"that": "not_faster_than_control"}]"#, r#", "control": true"#);
            (case, story().fine(100).push(control(1_000_000)).ended(2_100))
        }
        Reason::BrokeSilence => (silence(), story().fine(300).ended(4_500)),
        Reason::RequestChanged => {
            let case = asks_for_two_seconds(r#"[{"that": "same_request"}]"#, "");
            (case, story().sent("PUT", "a").fine(2_001).sent("PUT", "b").ended(2_100))
        }
        Reason::InsideKnownWindow => {
            let case = asks_for_two_seconds(r#"[{"that": "second_operations"}]"#, together());
            (case, story().exchange(2, 500, Some(0), 0).ended(2_100))
        }
        Reason::Herd => {
            let case = asks_for_two_seconds(r#"[{"that": "spread", "ms": 50}]"#, together());
            let story = story().exchange(2, 1, Some(0), 0);
            (case, story.exchange(1, 2_001, None, 0).exchange(2, 2_003, None, 0).ended(2_100))
        }
        Reason::FewAttempts => (soft(r#"{"is": "attempts", "min": 3}"#), story().fine(2_001).ended(2_100)),
        Reason::DidNotEnd => (soft(r#"{"is": "ends_within", "ms": 1000}"#), story().ended(4_000)),
        Reason::Late => (soft(r#"{"is": "prompt", "ms": 500}"#), story().fine(4_000).ended(4_100)),
        Reason::LostByHint => {
            (soft(r#"{"is": "returns_like_control"}"#), story().push(control(1_000_000)).ended(4_500))
        }
        Reason::NeverRetried => (not_before(), story().exit(20, 1).ended(30)),
        Reason::DidNotReturn => (not_before(), story().ended(4_500)),
        Reason::OwnBackoff => (not_before(), story().fine(2_100).push(control(2_050_000)).ended(2_200)),
        Reason::Unsupported => (not_before(), Story::new().exit(20, 77).ended(30)),
        Reason::DependencyVacuous | Reason::DependencyMissing => {
            let verdict = judge(&silence(), &story().ended(4_500));
            let kind = if reason == Reason::DependencyMissing {
                VerdictKind::NoContact
            } else {
                VerdictKind::Vacuous
            };
            return verdict.given([("seconds-503", &Verdict::new(kind, Reason::NeverRetried, ""))]);
        }
        Reason::Crashed => (not_before(), story().exit(20, 101).ended(30)),
        Reason::NoRequest => (not_before(), Story::new().ended(30_000)),
        Reason::Lag => {
            let lag = Event::Lag { at_us: 2_010_000, late_us: 300_000 };
            (not_before(), story().fine(2_005).push(lag).ended(2_100))
        }
        Reason::WatchedTooShort => (silence(), story().ended(3_000)),
        Reason::Harness => {
            let end = Event::End { at_us: 1, harness_error: Some("cannot make a file".to_owned()) };
            (not_before(), Trace { events: vec![end] })
        }
    };
    judge(&case, &trace)
}

#[test]
fn every_reason_has_its_sentence() {
    let mut table = String::new();
    for reason in ALL {
        let verdict = told(reason);
        assert_eq!(verdict.reason, reason, "{verdict}");
        let note = verdict.notes.iter().map(|note| format!(" [{note}]")).collect::<String>();
        table.push_str(&format!("{}: {verdict}{note}\n", reason.as_str()));
        let json = serde_json::to_value(reason).unwrap();
        assert_eq!(json, reason.as_str(), "one word for programs and for people");
    }
    insta::assert_snapshot!(table, @r#"
    as_expected: pass: attempt 2 arrived 2.00 s after the refusal; it was asked to wait 2 s
    imprecise: pass: attempt 2 arrived 3.20 s after the refusal; it was asked to wait 4 s [a date was obeyed within a second, not exactly]
    silent: pass_bounded: no attempt in the 4.50 s watched
    part_of_script: pass_bounded: attempt 2 arrived 2.00 s after the refusal; it was asked to wait 2 s; the rest of the script was not played
    early: fail: attempt 2 arrived 1.00 s after the refusal; it was asked to wait 2 s
    too_many_attempts: fail: sent 2 requests in 2.10 s; at most 1 was expected
    faster_than_control: fail: attempt 2 arrived 0.10 s after the refusal; without the field it comes after 1.00 s
    broke_silence: fail: attempt 2 arrived 0.30 s after the refusal; it was asked to wait 2 s
    request_changed: fail: attempt 2 has another body than the first, of the same length
    inside_known_window: fail: operation 2 sent its first request 0.50 s after operation 1 was asked to wait 2 s
    herd: fail: 2 operations came back within 0.002 s of each other; at least 0.05 s is better
    few_attempts: suboptimal: sent 2 requests; 3 are better
    did_not_end: suboptimal: still running 4.00 s after first contact; an end within 1 s is better
    late: suboptimal: attempt 2 arrived 4.00 s after the refusal; it was asked to wait 2 s
    lost_by_hint: suboptimal: without the field it comes back after 1.00 s; with it, not in the 4.50 s watched
    never_retried: vacuous: no second attempt; the client ended 0.020 s after first contact (exit 1)
    did_not_return: vacuous: no second attempt in the 4.50 s watched
    own_backoff: coincident: attempt 2 arrived 2.10 s after the refusal; it was asked to wait 2 s, and without the field it waits 2.05 s anyway
    unsupported: unsupported: the client says that it cannot do what the case needs (exit 77)
    dependency_vacuous: vacuous: no attempt in the 4.50 s watched; but this client was not seen to retry in `seconds-503`
    dependency_missing: blocked: `seconds-503`, which this case rests on, ended as no_contact
    crashed: crash: the client ended with exit code 101, which says that it broke
    no_request: no_contact: no request to the case's URL within 30.00 s
    lag: inconclusive: attempt 2 arrived 2.00 s after the refusal; it was asked to wait 2 s; the runner was 0.30 s late itself
    watched_too_short: inconclusive: watched for 3.00 s only, of 4 s
    harness: harness_error: cannot make a file
    "#);
}

#[test]
fn every_verdict_has_one_word() {
    for kind in [
        VerdictKind::Pass,
        VerdictKind::PassBounded,
        VerdictKind::Fail,
        VerdictKind::Suboptimal,
        VerdictKind::Info,
        VerdictKind::Vacuous,
        VerdictKind::Coincident,
        VerdictKind::Unsupported,
        VerdictKind::Blocked,
        VerdictKind::Crash,
        VerdictKind::NoContact,
        VerdictKind::Inconclusive,
        VerdictKind::HarnessError,
    ] {
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        assert_eq!(format!("{kind:<14}|").trim_end_matches('|').trim_end(), kind.as_str());
    }
}
