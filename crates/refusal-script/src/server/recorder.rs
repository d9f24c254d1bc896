//! The one place that knows how far a script has been played and what has been seen.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use super::request::Head;
use crate::case::{Case, Step, Then};
use crate::clock::Clock;
use crate::trace::{Event, Trace};

/// Attempts beyond this are answered and not recorded: the verdict on a tight loop is known by then.
const MOST_ATTEMPTS: u64 = 1_000;
/// Of each of the other kinds of event.
const MOST_NOTES: usize = 1_000;

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// When the first request of the case arrived, in microseconds since the start.
    pub first_contact_us: Option<u64>,
    /// Requests of the case so far.
    pub attempts: u64,
    /// Every operation has had an answer from behind the script.
    pub script_ended: bool,
    /// More attempts than are recorded.
    pub flooded: bool,
    /// Events so far.
    pub events: usize,
}

#[derive(Debug)]
pub(super) struct Recorder {
    case: Case,
    clock: Clock,
    state: Mutex<State>,
    progress: watch::Sender<Progress>,
}

#[derive(Debug, Default)]
struct State {
    events: Vec<Event>,
    played: BTreeMap<u32, u64>,
    ended: BTreeSet<u32>,
    exchanges: u64,
    notes: usize,
    flooded: bool,
    first_answer_unix_ms: Option<i64>,
}

/// A request of the case, and the step that answers it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exchange {
    number: u64,
    operation: u32,
    /// `None` behind the script.
    step: Option<usize>,
    recorded: bool,
}

/// The clock readings that go into an answer.
#[derive(Debug, Clone, Copy)]
pub(super) struct AnswerTime {
    pub(super) at_us: u64,
    pub(super) unix_ms: i64,
    pub(super) first_answer_unix_ms: i64,
}

impl Recorder {
    pub(super) fn new(case: Case, clock: Clock) -> Self {
        let start = Event::Start { case: case.id.clone(), rev: case.rev, unix_ms: Clock::unix_ms() };
        let state = State { events: vec![start], ..State::default() };
        Self { case, clock, state: Mutex::new(state), progress: watch::Sender::default() }
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    pub(super) fn progress(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    pub(super) fn trace(&self, from: usize) -> Trace {
        Trace { events: self.lock().events.get(from..).unwrap_or_default().to_vec() }
    }

    pub(super) fn push(&self, event: Event) {
        let mut state = self.lock();
        state.events.push(event);
        self.tell(&state, |_| {});
    }

    /// Takes a request in: `None` where it is not the case's.
    pub(super) fn arrival(&self, at_us: u64, connection: u64, head: &Head) -> Option<Exchange> {
        let mut state = self.lock();
        let Some(operation) = self.operation(&head.target) else {
            let (method, target) = (head.method.clone(), head.target.clone());
            self.note(state, Event::Other { at_us, connection, method, target });
            return None;
        };
        state.exchanges += 1;
        let number = state.exchanges;
        let played = state.played.entry(operation).or_default();
        let step = self.step_at(*played);
        *played += 1;
        let recorded = number <= MOST_ATTEMPTS;
        if recorded {
            state.events.push(Event::Arrival {
                at_us,
                exchange: number,
                connection,
                operation,
                method: head.method.clone(),
                target: head.target.clone(),
                headers: head.fields.clone(),
            });
        } else if !state.flooded {
            state.flooded = true;
            state.events.push(Event::Flood { at_us, attempts: MOST_ATTEMPTS });
        }
        self.tell(&state, |progress| {
            progress.first_contact_us.get_or_insert(at_us);
            progress.attempts = number;
        });
        Some(Exchange { number, operation, step, recorded })
    }

    /// The step that answers an exchange; `None` for the `200` behind the script.
    pub(super) fn step(&self, exchange: Exchange) -> Option<&Step> {
        self.case.script.get(exchange.step?)
    }

    pub(super) fn received(&self, exchange: Exchange, body_bytes: u64, body_sha256: String, complete: bool) {
        let at_us = self.clock.at_us();
        self.record(
            exchange,
            Event::Received { at_us, exchange: exchange.number, body_bytes, body_sha256, complete },
        );
    }

    /// Reads the clocks for an answer: once, so that its dates and its stamp agree.
    pub(super) fn answer_time(&self) -> AnswerTime {
        // Under the lock, so that the first to come has the earliest stamp, which is what the judge goes by.
        let mut state = self.lock();
        let time = self.read_clocks(state.first_answer_unix_ms);
        state.first_answer_unix_ms = Some(time.first_answer_unix_ms);
        time
    }

    /// Reads the clocks for an interim response, which is not the first answer.
    pub(super) fn interim_time(&self) -> AnswerTime {
        let first_answer_unix_ms = self.lock().first_answer_unix_ms;
        self.read_clocks(first_answer_unix_ms)
    }

    fn read_clocks(&self, first_answer_unix_ms: Option<i64>) -> AnswerTime {
        let (at_us, unix_ms) = (self.clock.at_us(), Clock::unix_ms());
        AnswerTime { at_us, unix_ms, first_answer_unix_ms: first_answer_unix_ms.unwrap_or(unix_ms) }
    }

    pub(super) fn answer(&self, exchange: Exchange, time: AnswerTime, head: &[u8]) {
        let AnswerTime { at_us, unix_ms, .. } = time;
        let head = head.iter().copied().map(char::from).collect();
        let (exchange_number, step) = (exchange.number, exchange.step);
        self.record(exchange, Event::Answer { at_us, exchange: exchange_number, step, unix_ms, head });
    }

    pub(super) fn answered(&self, exchange: Exchange, body_bytes: u64, complete: bool) {
        let at_us = self.clock.at_us();
        self.record(exchange, Event::Answered { at_us, exchange: exchange.number, body_bytes, complete });
        if exchange.step.is_none() {
            let mut state = self.lock();
            state.ended.insert(exchange.operation);
            let ended = state.ended.len() >= self.case.operation_count() as usize;
            self.tell(&state, |progress| progress.script_ended |= ended);
        }
    }

    pub(super) fn reject(&self, connection: u64, problem: String) {
        let at_us = self.clock.at_us();
        self.note(self.lock(), Event::Rejected { at_us, connection, problem });
    }

    pub(super) fn lag(&self, at_us: u64, late_us: u64) {
        self.note(self.lock(), Event::Lag { at_us, late_us });
    }

    fn record(&self, exchange: Exchange, event: Event) {
        if exchange.recorded {
            self.push(event);
        }
    }

    fn note(&self, mut state: MutexGuard<'_, State>, event: Event) {
        if state.notes < MOST_NOTES {
            state.notes += 1;
            state.events.push(event);
            self.tell(&state, |_| {});
        }
    }

    fn tell(&self, state: &State, change: impl FnOnce(&mut Progress)) {
        self.progress.send_modify(|progress| {
            progress.events = state.events.len();
            progress.flooded = state.flooded;
            change(progress);
        });
    }

    /// The operation that a request target belongs to.
    fn operation(&self, target: &str) -> Option<u32> {
        let origin =
            target.strip_prefix("http://").and_then(|rest| rest.find('/').and_then(|at| rest.get(at..)));
        let (path, query) = match origin.unwrap_or(target).split_once('?') {
            Some((path, query)) => (path, query),
            None => (origin.unwrap_or(target), ""),
        };
        if path.strip_prefix('/') != Some(self.case.id.as_str()) {
            return None;
        }
        let operation = match query.split('&').find_map(|pair| pair.strip_prefix("operation=")) {
            Some(number) => number.parse().ok()?,
            None => 1,
        };
        (1..=self.case.operation_count()).contains(&operation).then_some(operation)
    }

    fn step_at(&self, played: u64) -> Option<usize> {
        let mut end = 0;
        for (index, step) in self.case.script.iter().enumerate() {
            end += u64::from(step.repeat);
            if played < end {
                return Some(index);
            }
        }
        match self.case.then {
            Then::Ok => None,
            Then::RepeatLast => self.case.script.len().checked_sub(1),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while the lock is held; what it guards is a log in any case.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
