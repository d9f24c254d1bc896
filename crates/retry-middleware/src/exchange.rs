//! What the driver needs of a client: one attempt at a time.

use std::future::Future;

use retry_core::{Attempt, Hint, Monotonic, Verdict};

/// Makes the attempts of one logical request.
///
/// The request is made afresh for each attempt: signatures and dates expire, while an `Idempotency-Key`
/// must stay, and only the implementation knows which is which.
pub trait Exchange: Send {
    /// What an answer is handed on as.
    type Answer: Send;
    /// What went wrong where there was no answer.
    type Error: From<AttemptTimedOut> + Send;

    /// Makes one attempt. Dropped at [`Attempt::abandon_at`], and when the caller cancels.
    fn attempt(
        &mut self,
        attempt: Attempt,
    ) -> impl Future<Output = Attempted<Self::Answer, Self::Error>> + Send;

    /// The not-before that others were told for this request's key, if there is one (E7).
    fn window(&self, now: Monotonic) -> Option<Monotonic> {
        let _ = now;
        None
    }

    /// Frees what a refused answer still holds, because a wait comes next: a rest of the body that keeps
    /// the connection busy, a permit. Dropped when the caller cancels; the answer is handed on as it is then.
    fn settle(&mut self, answer: &mut Self::Answer) -> impl Future<Output = ()> + Send {
        let _ = answer;
        std::future::ready(())
    }
}

/// What became of one attempt.
#[derive(Debug)]
pub enum Attempted<A, E> {
    /// A complete head arrived.
    Answered {
        /// Its status.
        status: u16,
        /// What it asked for.
        hint: Hint,
        /// What its body says, where the policy needs to know (C2).
        verdict: Verdict,
        /// When it arrived: a delay counts from there (T4).
        received: Monotonic,
        /// The answer itself.
        answer: A,
    },
    /// There was no answer.
    Unanswered {
        /// Whether the server can have processed the request (C6).
        fate: Fate,
        /// What went wrong.
        error: E,
    },
}

/// Whether an attempt without an answer can have reached the server (C6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Certainly not processed.
    NotSent,
    /// Sent, and no complete head came back.
    Lost,
}

/// An attempt was given up at its own timeout or at the caller's deadline (T6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AttemptTimedOut {
    /// The attempt.
    pub attempt: Attempt,
}

impl std::fmt::Display for AttemptTimedOut {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let length = self.attempt.abandon_at.since(self.attempt.started);
        write!(formatter, "attempt {} got no answer within {} s", self.attempt.number, length.as_secs_f64())
    }
}

impl std::error::Error for AttemptTimedOut {}
