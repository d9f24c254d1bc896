//! `parse`: what field lines say.

use retry_core::{LARGEST, Reading, RetryAfter};

use super::answer::ParseAnswer;
use super::names;
use super::question::ParseQuestion;

pub(super) fn answer(question: &ParseQuestion<'_>) -> ParseAnswer {
    let reading = Reading {
        now: question.now,
        date: question.date.as_deref(),
        age: question.age.as_deref(),
        dates: question.dates,
        lenient_fractions: question.lenient_fractions,
    };
    match RetryAfter::parse(question.lines.iter().map(|line| &**line), &reading) {
        RetryAfter::Absent => ParseAnswer::Absent,
        RetryAfter::Malformed { reason, .. } => {
            ParseAnswer::Malformed { reason: names::of_malformed(reason) }
        }
        RetryAfter::Delay { seconds, anomalies, .. } => {
            ParseAnswer::Delay { seconds, anomalies: names::of_anomalies(anomalies) }
        }
        RetryAfter::Date { at, delay, anomalies, .. } => ParseAnswer::Date {
            unix: at.as_seconds(),
            delay: delay.min(LARGEST),
            anomalies: names::of_anomalies(anomalies),
        },
    }
}
