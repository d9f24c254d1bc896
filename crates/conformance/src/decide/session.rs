//! `session`: one logical request in virtual time.

use std::borrow::Cow;

use retry_core::{
    Asked, Decision, Hint, LARGEST, LogicalRequest, Monotonic, Outcome, Policy, Random, Reading, Reason,
    RetryAfter, UnixTime,
};

use super::answer::{SessionAnswer, Step, StepDecision};
use super::names;
use super::question::{Fate, Fields, SessionQuestion};

pub(super) fn answer(question: &SessionQuestion<'_>) -> SessionAnswer {
    let mut request = LogicalRequest::new(&question.policy, question.replay, Monotonic::ORIGIN);
    let mut draws = Draws { draws: question.draws.iter() };
    let mut clock_millis = 0;
    let mut waited_millis = 0;
    let mut steps = Vec::new();
    let mut outcome = "waiting";

    for event in &question.events {
        request.begin(Monotonic::from_millis(clock_millis));
        clock_millis = LARGEST.min(clock_millis.saturating_add(event.took_millis));
        let head = Monotonic::from_millis(clock_millis);
        let ended = match &event.fate {
            Fate::Answered { status, verdict } => Outcome::Answered {
                status: *status,
                hint: hint(&event.fields, &question.policy, wall_clock(question.now, clock_millis)),
                verdict: *verdict,
            },
            Fate::NotSent => Outcome::NotSent,
            Fate::Lost => Outcome::Lost,
        };
        let at_ms = clock_millis;
        let decision = match request.end(&ended, head, head, &mut draws) {
            Decision::Done => {
                outcome = "success";
                StepDecision::Done
            }
            Decision::Stop(stop) => {
                outcome = if stop.reason == Reason::NotRetryable { "failed" } else { "refused" };
                StepDecision::Stop { reason: names::of_reason(stop.reason), hint_ms: hint_millis(stop.asked) }
            }
            Decision::Wait(wait) => {
                let wait_ms = wait.until.millis_since(head);
                waited_millis += wait_ms;
                clock_millis = LARGEST.min(wait.until.as_millis());
                let applied = names::of_applied(wait.applied);
                StepDecision::Wait { wait_ms, hint_ms: hint_millis(wait.asked), applied }
            }
        };
        steps.push(Step { at_ms, decision });
        if outcome != "waiting" {
            break;
        }
    }
    SessionAnswer {
        outcome,
        attempts: request.attempts(),
        waited_ms: waited_millis,
        ended_at_ms: clock_millis,
        steps,
    }
}

fn hint(fields: &Fields<'_>, policy: &Policy, now: UnixTime) -> Hint {
    let reading = Reading {
        now,
        date: fields.date.as_deref(),
        age: fields.age.as_deref(),
        dates: policy.dates(),
        lenient_fractions: policy.lenient_fractions(),
    };
    RetryAfter::parse(fields.retry_after.iter().map(Cow::as_ref), &reading).into()
}

fn wall_clock(at_start: i64, clock_millis: u64) -> UnixTime {
    UnixTime::from_seconds(at_start.saturating_add_unsigned(clock_millis / 1_000))
}

fn hint_millis(asked: Asked) -> Option<u64> {
    asked.millis().map(|millis| millis.min(LARGEST))
}

/// Jitter as the question lists it, then none.
struct Draws<'a> {
    draws: std::slice::Iter<'a, u64>,
}

impl Random for Draws<'_> {
    fn up_to(&mut self, most: u64) -> u64 {
        let share = self.draws.next().copied().unwrap_or(0);
        // floor(most * share / 1000), without an intermediate that could overflow.
        most / 1_000 * share + most % 1_000 * share / 1_000
    }
}
