//! The retry loop. There is no other in the workspace.

use std::future::{Future, poll_fn};
use std::ops::ControlFlow;
use std::pin::pin;
use std::time::Duration;

use retry_core::{Decision, LogicalRequest, Monotonic, Outcome, Random, Reason, Step, Stop};
use tokio::select;
use tracing::{Span, debug, debug_span, field};

use crate::clock::Clock;
use crate::exchange::{AttemptTimedOut, Attempted, Exchange, Fate};

/// Drives logical requests: asks the policy, attempts, decides, waits, asks again.
///
/// It holds nothing of a request, so one driver may serve many, one after the other.
#[derive(Debug, Clone)]
pub struct Driver<C, R, O> {
    /// Where time is read and waited for.
    pub clock: C,
    /// Where jitter comes from (W3); [`NoRandom`](retry_core::NoRandom) for none.
    pub random: R,
    /// Who is told what is decided.
    pub observer: O,
}

/// What an observer is told.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// An outcome was decided upon.
    Decided {
        /// The outcome, with the hint's own text.
        outcome: &'a Outcome,
        /// What it leads to.
        decision: &'a Decision,
    },
    /// A window that others were told holds the next attempt (E7).
    Held {
        /// Until when, jitter included.
        until: Monotonic,
    },
}

/// Is told what the driver decides, as it happens; it must not block.
pub trait Observer: Send {
    /// Something was decided.
    fn observe(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>) + Send> Observer for F {
    fn observe(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// Tells nobody.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Observer for Silent {
    fn observe(&mut self, _event: Event<'_>) {}
}

/// How a logical request ended.
#[derive(Debug)]
#[must_use]
pub struct Finished<A, E> {
    /// The reason for which it ended without a success; `None` after a success or a redirect.
    pub stop: Option<Stop>,
    /// The server's last answer (C5); `None` where none ever came.
    pub answer: Option<A>,
    /// What went wrong in the last attempt, where that had no answer.
    pub error: Option<E>,
    /// Attempts made.
    pub attempts: u32,
    /// Time spent between attempts.
    pub waited: Duration,
}

impl<C: Clock, R: Random + Send, O: Observer> Driver<C, R, O> {
    /// Drives `request` to its end.
    ///
    /// When `cancel` completes, the end is immediate, in a wait and in an attempt (B7);
    /// [`std::future::pending`] never does. Dropping the returned future is safe at any point: nothing more
    /// is sent and nothing is reported.
    ///
    /// Everything happens in a tracing span `logical_request`, whose fields say at the end how many
    /// attempts were made, how long was waited in milliseconds, and why it stopped; each decision to wait is
    /// an event.
    pub async fn run<X: Exchange>(
        &mut self,
        request: &mut LogicalRequest,
        exchange: &mut X,
        cancel: impl Future<Output = ()> + Send,
    ) -> Finished<X::Answer, X::Error> {
        let span = debug_span!(
            "logical_request",
            attempts = field::Empty,
            waited_ms = field::Empty,
            stop = field::Empty
        );
        // In place: `Instrument` would move all of the loop's state.
        let mut running = pin!(self.run_untraced(request, exchange, cancel));
        let finished = poll_fn(|context| span.in_scope(|| running.as_mut().poll(context))).await;
        record(&span, &finished);
        finished
    }

    async fn run_untraced<X: Exchange>(
        &mut self,
        request: &mut LogicalRequest,
        exchange: &mut X,
        cancel: impl Future<Output = ()> + Send,
    ) -> Finished<X::Answer, X::Error> {
        let mut cancel = pin!(cancel);
        let mut last = Last { answer: None, error: None };
        loop {
            let now = loop {
                let now = self.clock.monotonic();
                match request.poll(now, exchange.window(now)) {
                    Step::Attempt => break now,
                    Step::Stop(stop) => return last.finished(request, Some(stop)),
                    Step::Wait(until) => {
                        if request.planned() != Some(until) {
                            self.observer.observe(Event::Held { until });
                        }
                        select! {
                            biased;
                            () = &mut cancel => return self.cancelled(request, last),
                            () = self.clock.sleep_until(until) => {}
                        }
                    }
                }
            };

            let attempt = request.begin(now);
            let decided = {
                let mut attempting = pin!(exchange.attempt(attempt));
                let attempted = select! {
                    biased;
                    () = &mut cancel => return self.cancelled(request, last),
                    attempted = &mut attempting => attempted,
                    () = sleep_through(&self.clock, attempt.abandon_at) => Attempted::Unanswered {
                        fate: Fate::Lost,
                        error: AttemptTimedOut { attempt }.into(),
                    },
                };
                self.decide(request, attempted, &mut last)
            };
            if let ControlFlow::Break(stop) = decided {
                return last.finished(request, stop);
            }
            if let Some(answer) = &mut last.answer {
                // Boxed, so that a request which is not refused has no room for it.
                let settling = Box::pin(exchange.settle(answer));
                select! {
                    biased;
                    () = &mut cancel => return self.cancelled(request, last),
                    () = settling => {}
                }
            }
        }
    }

    /// Whether to go on after an attempt; if not, why, which is nothing after a success.
    fn decide<A, E>(
        &mut self,
        request: &mut LogicalRequest,
        attempted: Attempted<A, E>,
        last: &mut Last<A, E>,
    ) -> ControlFlow<Option<Stop>> {
        let now = match &attempted {
            // Nobody read its body, so it is still that instant.
            Attempted::Answered { status: ..400, received, .. } => *received,
            _ => self.clock.monotonic(),
        };
        let (outcome, received) = last.take_in(attempted, now);
        let decision = request.end(&outcome, received, now, &mut self.random);
        self.observer.observe(Event::Decided { outcome: &outcome, decision: &decision });
        match decision {
            Decision::Done => ControlFlow::Break(None),
            Decision::Stop(stop) => ControlFlow::Break(Some(stop)),
            Decision::Wait(wait) => {
                debug!(%wait, hint = %outcome.hint().raw(), "refused");
                ControlFlow::Continue(())
            }
        }
    }

    fn cancelled<A, E>(&self, request: &mut LogicalRequest, last: Last<A, E>) -> Finished<A, E> {
        let stop = request.stop(Reason::Cancelled, self.clock.monotonic());
        last.finished(request, Some(stop))
    }
}

fn record<A, E>(span: &Span, finished: &Finished<A, E>) {
    if span.is_disabled() {
        return;
    }
    span.record("attempts", finished.attempts);
    span.record("waited_ms", u64::try_from(finished.waited.as_millis()).unwrap_or(u64::MAX));
    if let Some(stop) = &finished.stop {
        span.record("stop", stop.reason.name());
    }
}

/// A timer may end early; an attempt must not (T5).
async fn sleep_through(clock: &impl Clock, instant: Monotonic) {
    loop {
        clock.sleep_until(instant).await;
        if clock.monotonic() >= instant {
            return;
        }
    }
}

/// The server's last answer, and what the last attempt failed with.
struct Last<A, E> {
    answer: Option<A>,
    error: Option<E>,
}

impl<A, E> Last<A, E> {
    fn take_in(&mut self, attempted: Attempted<A, E>, now: Monotonic) -> (Outcome, Monotonic) {
        match attempted {
            Attempted::Answered { status, hint, verdict, received, answer } => {
                self.answer = Some(answer);
                self.error = None;
                (Outcome::Answered { status, hint, verdict }, received)
            }
            Attempted::Unanswered { fate, error } => {
                self.error = Some(error);
                let outcome = match fate {
                    Fate::NotSent => Outcome::NotSent,
                    Fate::Lost => Outcome::Lost,
                };
                (outcome, now)
            }
        }
    }

    fn finished(self, request: &LogicalRequest, stop: Option<Stop>) -> Finished<A, E> {
        Finished {
            stop,
            answer: self.answer,
            error: self.error,
            attempts: request.attempts(),
            // A window that moved beyond the hard stop ends a wait that the request does not know to be over.
            waited: stop.map_or(request.waited(), |stop| stop.waited),
        }
    }
}
