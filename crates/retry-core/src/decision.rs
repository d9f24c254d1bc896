//! What is decided, and why: a `Wait` and a `Stop` explain themselves.

use core::fmt;
use core::time::Duration;

use crate::hint::{Asked, Seconds};
use crate::time::Monotonic;

/// What to do before an attempt, or after any waking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Send now.
    Attempt,
    /// Do nothing before this instant; then ask again (T5).
    Wait(Monotonic),
    /// Send nothing any more.
    Stop(Stop),
}

/// What an outcome leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The answer is a success (2xx) or a redirect (3xx): hand it on.
    Done,
    /// Wait, then attempt again.
    Wait(Wait),
    /// Hand on the last answer as it is (C5).
    Stop(Stop),
}

/// A planned wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// The earliest instant of the next attempt.
    pub until: Monotonic,
    /// When the head arrived: the wait counts from there (T4).
    pub received: Monotonic,
    /// When this was decided.
    pub decided: Monotonic,
    /// When the request started.
    pub started: Monotonic,
    /// What the server said.
    pub asked: Asked,
    /// What changed the number, in the order in which it did.
    pub applied: Applied,
    /// Attempts made so far.
    pub attempts: u32,
    pub(crate) budget_millis: u64,
}

impl Wait {
    /// From the arrival of the head to [`until`](Self::until) (T4).
    #[must_use]
    pub const fn length(&self) -> Duration {
        self.until.since(self.received)
    }

    /// From the start of the request to this decision.
    #[must_use]
    pub const fn elapsed(&self) -> Duration {
        self.decided.since(self.started)
    }

    /// The whole budget.
    #[must_use]
    pub const fn budget(&self) -> Duration {
        Duration::from_millis(self.budget_millis)
    }
}

impl fmt::Display for Wait {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}; waiting {}", self.asked, seconds(self.length()))?;
        for (index, step) in self.applied.iter().enumerate() {
            formatter.write_str(if index == 0 { " (" } else { ", " })?;
            fmt::Display::fmt(&step, formatter)?;
        }
        if self.applied != Applied::NONE {
            formatter.write_str(")")?;
        }
        write!(
            formatter,
            " before attempt {}; {} of {} used",
            self.attempts.saturating_add(1),
            seconds(self.elapsed()),
            seconds(self.budget())
        )
    }
}

/// The end of a logical request without a success.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    /// The first check that failed (C1), or what ended it from outside.
    pub reason: Reason,
    /// Attempts made.
    pub attempts: u32,
    /// From the start of the request to the stop.
    pub elapsed: Duration,
    /// How much of that was spent between attempts.
    pub waited: Duration,
    /// The hint that was not honoured.
    pub asked: Asked,
    /// The wait that was not begun, where the checks came that far.
    pub refused_wait: Option<Duration>,
    /// When the server would like to be asked again, where that is known.
    pub possible_at: Option<Monotonic>,
    /// The whole budget.
    pub budget: Duration,
}

impl fmt::Display for Stop {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.attempts == 1 { "" } else { "s" };
        write!(
            formatter,
            "stopped after {} attempt{plural} and {}: {}",
            self.attempts,
            seconds(self.elapsed),
            self.reason
        )?;
        if let Some(wait) = self.refused_wait {
            write!(formatter, " (the next wait is {}, the budget {})", seconds(wait), seconds(self.budget))?;
        }
        if self.asked != Asked::Nothing {
            write!(formatter, "; {}", self.asked)?;
        }
        Ok(())
    }
}

/// Why a logical request ended; C1 in the order of its checks, then what comes from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// The status is not in the policy's set, or there was no answer and the policy repeats none.
    NotRetryable,
    /// The policy is disabled.
    Disabled,
    /// The status is listed, and what it needs is missing (C2).
    Unmarked,
    /// The request must not be sent again (C4).
    NotReplayable,
    /// Every allowed attempt was made (B5).
    AttemptsExhausted,
    /// The server asked for more than the policy ever waits (W2).
    HintAboveCeiling,
    /// The wait would pass the budget (B2), or nothing of it remains (B3).
    BudgetExhausted,
    /// The wait would pass the caller's deadline, which lies before the budget's end.
    DeadlinePassed,
    /// A window that another request was told lies beyond the hard stop (E7).
    WindowTooFar,
    /// The caller gave up (B7).
    Cancelled,
}

impl Reason {
    /// The reason's name in data: `budget_exhausted`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotRetryable => "not_retryable",
            Self::Disabled => "disabled",
            Self::Unmarked => "unmarked",
            Self::NotReplayable => "not_replayable",
            Self::AttemptsExhausted => "attempts_exhausted",
            Self::HintAboveCeiling => "hint_above_ceiling",
            Self::BudgetExhausted => "budget_exhausted",
            Self::DeadlinePassed => "deadline_passed",
            Self::WindowTooFar => "window_too_far",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::NotRetryable => "this outcome is not retried",
            Self::Disabled => "retrying is switched off",
            Self::Unmarked => "the answer does not promise that it passes",
            Self::NotReplayable => "the request must not be sent again",
            Self::AttemptsExhausted => "no attempt is left",
            Self::HintAboveCeiling => "the server asked for more than the ceiling",
            Self::BudgetExhausted => "the budget is exhausted",
            Self::DeadlinePassed => "the deadline would pass",
            Self::WindowTooFar => "the server asked others to stay away for longer",
            Self::Cancelled => "cancelled",
        })
    }
}

/// One thing that changed the number of a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Application {
    /// The constant backoff was taken instead of a hint.
    DefaultBackoff,
    /// The schedule was taken instead of a hint.
    Backoff,
    /// Raised to the floor (W1).
    Floor,
    /// Cut to the ceiling (W2).
    Ceiling,
    /// Cut to what remains of the budget (B3).
    Truncated,
    /// Lengthened at random (W3).
    Jitter,
}

impl Application {
    /// Every application, in the order in which they act.
    pub const ALL: [Self; 6] =
        [Self::DefaultBackoff, Self::Backoff, Self::Floor, Self::Ceiling, Self::Truncated, Self::Jitter];

    const fn bit(self) -> u8 {
        1_u8.wrapping_shl(self as u32)
    }
}

impl fmt::Display for Application {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::DefaultBackoff => "default backoff",
            Self::Backoff => "backoff",
            Self::Floor => "floor",
            Self::Ceiling => "ceiling",
            Self::Truncated => "cut to the budget",
            Self::Jitter => "with jitter",
        })
    }
}

/// What changed the number of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Applied(u8);

impl Applied {
    /// The hint as it is.
    pub const NONE: Self = Self(0);

    /// This set with `application` in it.
    #[must_use]
    pub const fn with(self, application: Application) -> Self {
        Self(self.0 | application.bit())
    }

    /// Whether `application` is in the set.
    #[must_use]
    pub const fn contains(self, application: Application) -> bool {
        self.0 & application.bit() != 0
    }

    /// The applications in the order in which they act.
    pub fn iter(self) -> impl Iterator<Item = Application> {
        Application::ALL.into_iter().filter(move |application| self.contains(*application))
    }
}

impl fmt::Debug for Applied {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_set().entries(self.iter()).finish()
    }
}

fn seconds(length: Duration) -> Seconds {
    Seconds(u64::try_from(length.as_millis()).unwrap_or(u64::MAX))
}
