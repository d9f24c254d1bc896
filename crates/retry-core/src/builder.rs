//! Where policies are made: contradictions are refused here, so that nothing else has to look for them.

use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

use crate::backoff::Schedule;
use crate::hint::Seconds;
use crate::policy::{Combine, Jitter, OverBudget, OverCeiling, Policy, WindowPolicy};
use crate::retry_after::Dates;
use crate::status_set::StatusSet;
use crate::time::{LARGEST, millis_rounded_up};

/// Changes single settings of a policy and checks the whole when built (B8).
///
/// Lengths are rounded up to whole milliseconds. They, and a schedule's factor, saturate at
/// [`LARGEST`](crate::LARGEST).
#[derive(Debug, Clone, Copy)]
#[must_use = "nothing is checked before `build`"]
pub struct PolicyBuilder {
    policy: Policy,
    max_attempts: Option<u32>,
}

/// A contradiction in a policy (B8).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PolicyError {
    /// No wait can be both at least the floor and at most the ceiling; both in milliseconds.
    FloorAboveCeiling {
        /// The floor.
        floor_millis: u64,
        /// The ceiling.
        ceiling_millis: u64,
    },
    /// A schedule that multiplies by 0.
    FactorZero,
    /// More than the whole wait would be added.
    JitterAboveWhole {
        /// The share asked for, in thousandths.
        per_mille: u16,
    },
    /// Not even one attempt is allowed.
    NoAttempts,
    /// Floor 0 with neither a schedule nor an attempt cap: hints of 0 would spin.
    WouldSpin,
}

impl fmt::Display for PolicyError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::FloorAboveCeiling { floor_millis, ceiling_millis } => write!(
                formatter,
                "expected a floor of at most the ceiling of {}, got {}",
                Seconds(ceiling_millis),
                Seconds(floor_millis)
            ),
            Self::FactorZero => formatter.write_str("expected a backoff factor of at least 1, got 0"),
            Self::JitterAboveWhole { per_mille } => {
                write!(formatter, "expected a jitter of at most 1000 per mille, got {per_mille}")
            }
            Self::NoAttempts => formatter.write_str("expected at least 1 attempt, got 0"),
            Self::WouldSpin => formatter
                .write_str("expected a floor above 0, a schedule or an attempt cap, got none of the three"),
        }
    }
}

impl core::error::Error for PolicyError {}

impl PolicyBuilder {
    pub(crate) const fn from_policy(policy: Policy) -> Self {
        let max_attempts = match policy.max_attempts {
            Some(most) => Some(most.get()),
            None => None,
        };
        Self { policy, max_attempts }
    }

    /// Whether anything is retried at all.
    pub const fn enabled(mut self, enabled: bool) -> Self {
        self.policy.enabled = enabled;
        self
    }

    /// The statuses that are retried, and what each needs (C2).
    pub const fn retry_on(mut self, statuses: StatusSet) -> Self {
        self.policy.retry_on = statuses;
        self
    }

    /// Whether attempts without an answer are repeated (C6).
    pub const fn repeat_unanswered(mut self, repeat: bool) -> Self {
        self.policy.repeat_unanswered = repeat;
        self
    }

    /// Whether dates count (P9).
    pub const fn dates(mut self, dates: Dates) -> Self {
        self.policy.dates = dates;
        self
    }

    /// Whether fractions of a second are read (P10).
    pub const fn lenient_fractions(mut self, lenient: bool) -> Self {
        self.policy.lenient_fractions = lenient;
        self
    }

    /// How hint and backoff are combined.
    pub const fn combine(mut self, combine: Combine) -> Self {
        self.policy.combine = combine;
        self
    }

    /// The backoff's schedule; `None` means the constant default backoff (W6).
    pub const fn schedule(mut self, schedule: Option<Schedule>) -> Self {
        self.policy.schedule = schedule;
        self
    }

    /// The wait after a malformed hint, and after any refusal without a hint where there is no schedule.
    pub const fn default_backoff(mut self, length: Duration) -> Self {
        self.policy.default_backoff_millis = millis_rounded_up(length);
        self
    }

    /// The shortest wait (W1).
    pub const fn floor(mut self, length: Duration) -> Self {
        self.policy.floor_millis = millis_rounded_up(length);
        self
    }

    /// The longest wait before jitter, inclusive (W2).
    pub const fn ceiling(mut self, length: Duration) -> Self {
        self.policy.ceiling_millis = millis_rounded_up(length);
        self
    }

    /// What becomes of a hint above the ceiling.
    pub const fn over_ceiling(mut self, choice: OverCeiling) -> Self {
        self.policy.over_ceiling = choice;
        self
    }

    /// From the start of the first attempt to the hard stop.
    pub const fn budget(mut self, length: Duration) -> Self {
        self.policy.budget_millis = millis_rounded_up(length);
        self
    }

    /// What becomes of a wait that the budget does not cover (B2, B3).
    pub const fn over_budget(mut self, choice: OverBudget) -> Self {
        self.policy.over_budget = choice;
        self
    }

    /// The most attempts, every send counted (B5); `None` for no cap.
    pub const fn max_attempts(mut self, most: Option<u32>) -> Self {
        self.max_attempts = most;
        self
    }

    /// Whether the instant first told to a request cannot be moved out while it is live (E2).
    pub const fn first_deadline(mut self, hold: bool) -> Self {
        self.policy.first_deadline = hold;
        self
    }

    /// How refusals are shared; `None` where they are not.
    pub const fn windows(mut self, windows: Option<WindowPolicy>) -> Self {
        self.policy.windows = windows;
        self
    }

    /// What is added at random (W3).
    pub const fn jitter(mut self, jitter: Jitter) -> Self {
        self.policy.jitter = jitter;
        self
    }

    /// How long one attempt may take (T6).
    pub const fn attempt_timeout(mut self, length: Duration) -> Self {
        self.policy.attempt_timeout_millis = millis_rounded_up(length);
        self
    }

    /// The policy, if it does not contradict itself.
    ///
    /// # Errors
    ///
    /// [`PolicyError`] names the first contradiction (B8).
    pub const fn build(self) -> Result<Policy, PolicyError> {
        let mut policy = self.policy;
        policy.max_attempts = match self.max_attempts {
            None => None,
            Some(most) => match NonZeroU32::new(most) {
                None => return Err(PolicyError::NoAttempts),
                some => some,
            },
        };
        if policy.floor_millis > policy.ceiling_millis {
            return Err(PolicyError::FloorAboveCeiling {
                floor_millis: policy.floor_millis,
                ceiling_millis: policy.ceiling_millis,
            });
        }
        policy.schedule = match policy.schedule {
            None => None,
            Some(Schedule::Constant { millis }) => Some(Schedule::Constant { millis: within(millis) }),
            Some(Schedule::Exponential { factor: 0, .. }) => return Err(PolicyError::FactorZero),
            Some(Schedule::Exponential { base_millis, factor, cap_millis }) => Some(Schedule::Exponential {
                base_millis: within(base_millis),
                // No larger one would make another wait: it takes any base to the cap.
                factor: within(factor),
                cap_millis: within(cap_millis),
            }),
        };
        policy.windows = match policy.windows {
            None => None,
            Some(windows) => Some(WindowPolicy { ceiling_millis: within(windows.ceiling_millis), ..windows }),
        };
        if policy.jitter.per_mille > 1_000 {
            return Err(PolicyError::JitterAboveWhole { per_mille: policy.jitter.per_mille });
        }
        policy.jitter.cap_millis = match policy.jitter.cap_millis {
            None => None,
            Some(cap_millis) => Some(within(cap_millis)),
        };
        if policy.floor_millis == 0 && policy.schedule.is_none() && policy.max_attempts.is_none() {
            return Err(PolicyError::WouldSpin);
        }
        Ok(policy)
    }
}

const fn within(number: u64) -> u64 {
    if number < LARGEST { number } else { LARGEST }
}
