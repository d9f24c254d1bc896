//! A trace, put in order for the judge.

use std::collections::BTreeMap;

use crate::case::{Case, Precision};
use crate::trace::{Event, ExitMeaning, Trace};

/// The attempts by operation, and what else decides.
pub(super) struct View<'a> {
    pub(super) case: &'a Case,
    pub(super) operations: BTreeMap<u32, Vec<Attempt<'a>>>,
    pub(super) control_gaps: Option<&'a [u64]>,
    pub(super) exit: Option<Exit>,
    pub(super) flooded: bool,
    pub(super) end_us: u64,
    pub(super) harness_error: Option<&'a str>,
    lags: Vec<(u64, u64)>,
    first_answer_unix_ms: Option<i64>,
}

/// One request of the case and its answer.
pub(super) struct Attempt<'a> {
    pub(super) at_us: u64,
    pub(super) method: &'a str,
    pub(super) target: &'a str,
    pub(super) headers: &'a [(String, String)],
    pub(super) body: Option<ReceivedBody<'a>>,
    pub(super) answer: Option<Answer>,
}

pub(super) struct ReceivedBody<'a> {
    pub(super) bytes: u64,
    pub(super) sha256: &'a str,
    pub(super) complete: bool,
}

#[derive(Clone, Copy)]
pub(super) struct Answer {
    pub(super) at_us: u64,
    pub(super) step: Option<usize>,
    unix_ms: i64,
}

#[derive(Clone, Copy)]
pub(super) struct Exit {
    pub(super) at_us: u64,
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) meaning: ExitMeaning,
}

impl Exit {
    pub(super) fn code_in_words(self) -> String {
        self.code.map_or_else(String::new, |code| format!(" (exit {code})"))
    }
}

/// The time between an answer and the next attempt of its operation.
pub(super) struct Gap {
    /// The attempt's number within its operation, from 2.
    pub(super) attempt: usize,
    pub(super) arrived_us: u64,
    pub(super) us: u64,
    pub(super) promise: Option<Promised>,
}

#[derive(Clone, Copy)]
pub(super) struct Promised {
    pub(super) us: u64,
    pub(super) precision: Precision,
}

impl<'a> View<'a> {
    pub(super) fn of(case: &'a Case, trace: &'a Trace) -> Self {
        let mut view = Self {
            case,
            operations: BTreeMap::new(),
            control_gaps: None,
            exit: None,
            flooded: false,
            end_us: 0,
            harness_error: None,
            lags: Vec::new(),
            first_answer_unix_ms: None,
        };
        let mut attempts: BTreeMap<u64, (u32, Attempt<'a>)> = BTreeMap::new();
        let mut first_answer_us = u64::MAX;
        for event in &trace.events {
            match event {
                Event::Arrival { at_us, exchange, operation, method, target, headers, .. } => {
                    let attempt =
                        Attempt { at_us: *at_us, method, target, headers, body: None, answer: None };
                    attempts.insert(*exchange, (*operation, attempt));
                }
                Event::Received { exchange, body_bytes, body_sha256, complete, .. } => {
                    if let Some((_, attempt)) = attempts.get_mut(exchange) {
                        let (bytes, sha256) = (*body_bytes, body_sha256.as_str());
                        attempt.body = Some(ReceivedBody { bytes, sha256, complete: *complete });
                    }
                }
                Event::Answer { at_us, exchange, step, unix_ms, .. } => {
                    if let Some((_, attempt)) = attempts.get_mut(exchange) {
                        attempt.answer = Some(Answer { at_us: *at_us, step: *step, unix_ms: *unix_ms });
                        if *at_us < first_answer_us {
                            first_answer_us = *at_us;
                            view.first_answer_unix_ms = Some(*unix_ms);
                        }
                    }
                }
                Event::Lag { at_us, late_us } => view.lags.push((*at_us, *late_us)),
                Event::Flood { .. } => view.flooded = true,
                Event::Control { gaps_us } => view.control_gaps = Some(gaps_us),
                Event::Exit { at_us, code, signal, meaning } => {
                    view.exit = Some(Exit { at_us: *at_us, code: *code, signal: *signal, meaning: *meaning });
                }
                Event::End { harness_error, .. } => view.harness_error = harness_error.as_deref(),
                Event::Start { .. }
                | Event::Answered { .. }
                | Event::Other { .. }
                | Event::Rejected { .. } => {}
            }
            view.end_us = view.end_us.max(stamp(event));
        }
        for (_, (operation, attempt)) in attempts {
            view.operations.entry(operation).or_default().push(attempt);
        }
        for attempts in view.operations.values_mut() {
            attempts.sort_by_key(|attempt| attempt.at_us);
        }
        view
    }

    pub(super) fn attempts(&self) -> usize {
        self.operations.values().map(Vec::len).sum()
    }

    pub(super) fn first_contact_us(&self) -> u64 {
        self.operations
            .values()
            .filter_map(|attempts| attempts.first())
            .map(|first| first.at_us)
            .min()
            .unwrap_or(0)
    }

    pub(super) fn since_contact(&self, at_us: u64) -> u64 {
        at_us.saturating_sub(self.first_contact_us())
    }

    /// From first contact to the end of the observation.
    pub(super) fn watched_us(&self) -> u64 {
        self.since_contact(self.end_us)
    }

    /// How the client ended by itself, if it did.
    pub(super) fn own_exit(&self) -> Option<Exit> {
        self.exit.filter(|exit| exit.meaning != ExitMeaning::EndedByRunner)
    }

    /// The client ended by itself: it will do no more.
    pub(super) fn ended(&self) -> bool {
        self.own_exit().is_some()
    }

    /// Each later attempt of an operation with the answer that came before it.
    ///
    /// An attempt that overlaps all answers before it (the client gave up on one of them) has no gap.
    pub(super) fn gaps(&self, operation: u32) -> Vec<Gap> {
        let Some(attempts) = self.operations.get(&operation) else { return Vec::new() };
        let mut gaps = Vec::new();
        for (index, attempt) in attempts.iter().enumerate().skip(1) {
            let earlier = attempts.iter().take(index).filter_map(|attempt| attempt.answer);
            let latest =
                earlier.filter(|answer| answer.at_us <= attempt.at_us).max_by_key(|answer| answer.at_us);
            if let Some(answer) = latest {
                gaps.push(Gap {
                    attempt: index + 1,
                    arrived_us: attempt.at_us,
                    us: attempt.at_us.saturating_sub(answer.at_us),
                    promise: self.promise(answer),
                });
            }
        }
        gaps
    }

    pub(super) fn all_gaps(&self) -> Vec<Gap> {
        self.operations.keys().flat_map(|operation| self.gaps(*operation)).collect()
    }

    /// What an answer asked for, counted from the answer.
    pub(super) fn promise(&self, answer: Answer) -> Option<Promised> {
        let promise = self.case.script.get(answer.step?)?.promise?;
        let first_answer_unix_ms = self.first_answer_unix_ms.unwrap_or(answer.unix_ms);
        let us = promise.asked_us(answer.unix_ms, first_answer_unix_ms);
        Some(Promised { us, precision: promise.precision })
    }

    /// How late the runner may have been around a stamp.
    pub(super) fn lag_around(&self, stamp_us: u64) -> u64 {
        /// Two beats of the ticker.
        const NEAR_US: u64 = 20_000;
        let near = |(at_us, late_us): &&(u64, u64)| {
            stamp_us <= at_us.saturating_add(NEAR_US)
                && stamp_us.saturating_add(NEAR_US) >= at_us.saturating_sub(*late_us)
        };
        self.lags.iter().filter(near).map(|(_, late_us)| *late_us).max().unwrap_or(0)
    }
}

fn stamp(event: &Event) -> u64 {
    match event {
        Event::Arrival { at_us, .. }
        | Event::Received { at_us, .. }
        | Event::Answer { at_us, .. }
        | Event::Answered { at_us, .. }
        | Event::Other { at_us, .. }
        | Event::Rejected { at_us, .. }
        | Event::Lag { at_us, .. }
        | Event::Flood { at_us, .. }
        | Event::Exit { at_us, .. }
        | Event::End { at_us, .. } => *at_us,
        Event::Start { .. } | Event::Control { .. } => 0,
    }
}
