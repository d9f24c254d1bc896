//! What became of an attempt, and what may be sent again.

use crate::hint::Hint;

/// What became of one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A complete head arrived, whatever became of its body (C6).
    Answered {
        /// The status code.
        status: u16,
        /// What the head asked for.
        hint: Hint,
        /// What the body says, where the policy needs to know (C2).
        verdict: Verdict,
    },
    /// Nothing of the request was processed: connection refused, name unresolved, TLS failure, HTTP/2
    /// REFUSED_STREAM, or a GOAWAY that excludes the stream (C6).
    NotSent,
    /// Sent, and no complete head came back: the server may have acted on it (C6).
    Lost,
}

impl Outcome {
    /// An answer whose body was not looked at.
    #[must_use]
    pub const fn answered(status: u16, hint: Hint) -> Self {
        Self::Answered { status, hint, verdict: Verdict::Unmarked }
    }

    /// The answer's hint; none where there was no answer.
    #[must_use]
    pub const fn hint(&self) -> Hint {
        match self {
            Self::Answered { hint, .. } => *hint,
            Self::NotSent | Self::Lost => Hint::NONE,
        }
    }
}

/// What a refusal's body says about itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Verdict {
    /// Not looked at, not a JSON object, or without `transient: true`.
    #[default]
    Unmarked,
    /// A JSON object whose `transient` is `true`.
    Transient,
}

/// What may be sent again (C4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Replay {
    /// The body cannot be produced twice: one send, whatever happens.
    Never,
    /// A method that is not idempotent, not vouched for: only what was certainly not processed.
    OnlyIfUnsent,
    /// An idempotent method, or the caller vouches that this operation's refusals commit nothing.
    Always,
}

/// Whether a request's body can be produced again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Body {
    /// There is none, or its bytes are at hand.
    #[default]
    Replayable,
    /// A stream that can be read once.
    Once,
}

impl Replay {
    /// The class of a request (C4). The method is case-sensitive (RFC 9110 section 9.1).
    #[must_use]
    pub fn of(method: &str, body: Body, vouched: bool) -> Self {
        match (body, vouched, method) {
            (Body::Once, _, _) => Self::Never,
            (_, true, _) | (_, _, "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS" | "TRACE") => Self::Always,
            _ => Self::OnlyIfUnsent,
        }
    }
}
