//! What arrived when, as a test reads it and a failure prints it.

use std::fmt::Write as _;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;

use crate::clock;
use crate::message::Head;
use crate::process::PATIENCE;

/// One request and what it was answered with, as they passed. Instants count from the beginning of the trace.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// When the whole head of the request was here: no earlier than it was sent.
    pub arrived: Duration,
    /// The request.
    pub request: Head,
    /// When the whole answer was here, before any of its last bytes went on to who asked.
    pub answered: Option<Duration>,
    /// The answer.
    pub answer: Option<Head>,
    /// The beginning of the answer's body, once it has ended.
    pub body: Vec<u8>,
}

impl Exchange {
    /// The status of the answer, once there is one.
    #[must_use]
    pub fn status(&self) -> Option<u16> {
        self.answer.as_ref().and_then(Head::status)
    }

    /// The beginning of the answer's body as text.
    #[must_use]
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// What arrived when, and what was answered.
#[derive(Debug, Clone)]
pub struct Trace(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    name: String,
    start: Instant,
    exchanges: Mutex<Vec<Exchange>>,
    changed: Condvar,
}

impl Trace {
    pub(crate) fn new(name: &str) -> Self {
        Self(Arc::new(Shared {
            name: name.to_owned(),
            start: clock::now(),
            exchanges: Mutex::new(Vec::new()),
            changed: Condvar::new(),
        }))
    }

    /// A request has arrived; returns its place.
    pub(crate) fn request(&self, request: Head) -> usize {
        let arrived = clock::since(self.0.start);
        let mut exchanges = self.lock();
        exchanges.push(Exchange { arrived, request, answered: None, answer: None, body: Vec::new() });
        self.0.changed.notify_all();
        exchanges.len() - 1
    }

    /// The answer to the request at `place` is on its way.
    pub(crate) fn answer(&self, place: usize, answer: Head) {
        self.lock()[place].answer = Some(answer);
    }

    /// The answer to the request at `place` is here in full.
    pub(crate) fn end(&self, place: usize, body: Vec<u8>) -> Exchange {
        let mut exchanges = self.lock();
        let exchange = &mut exchanges[place];
        exchange.answered = Some(clock::since(self.0.start));
        exchange.body = body;
        let exchange = exchange.clone();
        self.0.changed.notify_all();
        exchange
    }

    /// Everything so far.
    #[must_use]
    pub fn exchanges(&self) -> Vec<Exchange> {
        self.lock().clone()
    }

    /// Those whose request is for `asked`, the beginning of `METHOD /path`.
    #[must_use]
    pub fn of(&self, asked: &str) -> Vec<Exchange> {
        self.exchanges().into_iter().filter(|exchange| exchange.request.asked().starts_with(asked)).collect()
    }

    /// The questions for a pack, which are the ones that are repeated.
    #[must_use]
    pub fn fetches(&self) -> Vec<Exchange> {
        self.exchanges()
            .into_iter()
            .filter(|exchange| exchange.request.asked().ends_with("/fetch/mpack"))
            .collect()
    }

    /// Waits for an exchange that `wanted` takes.
    ///
    /// # Errors
    ///
    /// When none comes within [`PATIENCE`].
    pub fn wait_for(&self, what: &str, wanted: impl Fn(&Exchange) -> bool) -> anyhow::Result<Exchange> {
        let start = clock::now();
        let mut exchanges = self.lock();
        loop {
            if let Some(found) = exchanges.iter().find(|exchange| wanted(exchange)) {
                return Ok(found.clone());
            }
            let left = PATIENCE
                .checked_sub(clock::since(start))
                .with_context(|| format!("{what} did not arrive"))?;
            exchanges =
                self.0.changed.wait_timeout(exchanges, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// All of it, for a person.
    #[must_use]
    pub fn log(&self) -> String {
        let mut text = format!("--- what arrived at {}\n", self.0.name);
        for exchange in self.exchanges() {
            let _ = writeln!(text, "{:8.3} {}", exchange.arrived.as_secs_f64(), exchange.request.asked());
            let answer = exchange.answer.as_ref();
            let line = answer.map_or("no answer", Head::first_line);
            let hint = answer.and_then(|answer| answer.field("retry-after"));
            let hint = hint.map(|value| format!(" Retry-After: {value}")).unwrap_or_default();
            match exchange.answered {
                Some(at) => {
                    let _ = writeln!(text, "{:8.3}   {line}{hint}", at.as_secs_f64());
                }
                None => {
                    let _ = writeln!(text, "           {line}{hint} (its end was not seen)");
                }
            }
        }
        text
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Exchange>> {
        self.0.exchanges.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
