//! What decisions and anomalies call themselves, in data and for people.

use std::collections::BTreeSet;
use std::fmt::Display;

use retry_core::{Anomalies, Anomaly, Application, Applied, Hint, Reason};

/// C1: the names are part of the vectors and of every trace.
#[test]
fn each_reason_has_its_published_name() {
    let reasons = [
        (Reason::NotRetryable, "not_retryable"),
        (Reason::Disabled, "disabled"),
        (Reason::Unmarked, "unmarked"),
        (Reason::NotReplayable, "not_replayable"),
        (Reason::AttemptsExhausted, "attempts_exhausted"),
        (Reason::HintAboveCeiling, "hint_above_ceiling"),
        (Reason::BudgetExhausted, "budget_exhausted"),
        (Reason::DeadlinePassed, "deadline_passed"),
        (Reason::WindowTooFar, "window_too_far"),
        (Reason::Cancelled, "cancelled"),
    ];
    for (reason, name) in reasons {
        assert_eq!(reason.name(), name);
    }
    differ(reasons.map(|(reason, _)| reason));
}

#[test]
fn what_is_different_reads_differently() {
    differ(Anomaly::ALL);
    differ(Application::ALL);
}

fn differ<T: Display, const COUNT: usize>(all: [T; COUNT]) {
    let texts: BTreeSet<String> = all.iter().map(ToString::to_string).collect();
    assert_eq!(texts.len(), COUNT);
    assert!(!texts.contains(""));
}

#[test]
fn what_is_in_a_set_stays_in_it_when_added_again() {
    let odd = Anomalies::NONE.with(Anomaly::Past).with(Anomaly::Repeated).with(Anomaly::Past);
    assert_eq!(odd.iter().collect::<Vec<_>>(), [Anomaly::Past, Anomaly::Repeated]);
    let applied = Applied::NONE.with(Application::Jitter).with(Application::Floor).with(Application::Jitter);
    assert_eq!(applied.iter().collect::<Vec<_>>(), [Application::Floor, Application::Jitter]);
}

/// E1: of equal lower bounds the first one's text is kept.
#[test]
fn the_first_of_two_equal_hints_is_told() {
    let (first, second) = (Hint::after_millis(2_000, b"one"), Hint::after_millis(2_000, b"two"));
    assert_eq!(first.join(second).raw().as_bytes(), b"one");
    assert_eq!(first.join(Hint::after_millis(2_001, b"later")).raw().as_bytes(), b"later");
}
