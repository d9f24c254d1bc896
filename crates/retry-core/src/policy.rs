//! Everything that can be decided in advance.

use core::fmt;
use core::num::NonZeroU32;
use core::time::Duration;

use crate::backoff::Schedule;
use crate::builder::PolicyBuilder;
use crate::retry_after::Dates;
use crate::status_set::StatusSet;

/// When a request may be repeated and how long to wait before it is: plain data, checked when built.
///
/// Begin with a profile and change what differs:
///
/// ```
/// use core::time::Duration;
/// use retry_core::profiles;
///
/// let policy = profiles::RECOMMENDED.to_builder().budget(Duration::from_secs(30)).build()?;
/// assert_eq!(policy.budget(), Duration::from_secs(30));
/// # Ok::<(), retry_core::PolicyError>(())
/// ```
///
/// All lengths are whole milliseconds, at most [`LARGEST`](crate::LARGEST).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    pub(crate) enabled: bool,
    pub(crate) retry_on: StatusSet,
    pub(crate) repeat_unanswered: bool,
    pub(crate) dates: Dates,
    pub(crate) lenient_fractions: bool,
    pub(crate) combine: Combine,
    pub(crate) schedule: Option<Schedule>,
    pub(crate) default_backoff_millis: u64,
    pub(crate) floor_millis: u64,
    pub(crate) ceiling_millis: u64,
    pub(crate) over_ceiling: OverCeiling,
    pub(crate) budget_millis: u64,
    pub(crate) over_budget: OverBudget,
    pub(crate) max_attempts: Option<NonZeroU32>,
    pub(crate) first_deadline: bool,
    pub(crate) windows: Option<WindowPolicy>,
    pub(crate) jitter: Jitter,
    pub(crate) attempt_timeout_millis: u64,
}

/// How a usable hint and the backoff make one wait (section 5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Combine {
    /// The hint, whatever the backoff says.
    HintOnly,
    /// The larger of the two, so that constant small hints still back off (W4).
    Max,
}

/// What becomes of a hint above the ceiling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverCeiling {
    /// Stop: coming back earlier than the server asked is no way to obey it.
    GiveUp,
    /// Wait the ceiling: a named choice to come back early.
    Clamp,
}

/// What becomes of a wait that the budget does not cover (B2, B3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverBudget {
    /// Stop now, with the refusal in hand.
    GiveUp,
    /// Wait what remains and try once more, perhaps before the server's instant.
    TruncateThenTry,
}

/// A random share that is added to each wait (W3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Jitter {
    /// Thousandths of the wait, at most 1,000.
    pub per_mille: u16,
    /// The most that is added, in milliseconds; `None` for no limit of its own.
    pub cap_millis: Option<u64>,
}

impl Jitter {
    /// Nothing is added.
    pub const NONE: Self = Self { per_mille: 0, cap_millis: None };
}

/// How refusals are shared between the requests of one key (section 7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WindowPolicy {
    /// The most keys that are remembered (E9).
    pub capacity: NonZeroU32,
    /// How two refusals of one key are joined (E3).
    pub join: Join,
    /// The furthest that one refusal may close a key, in milliseconds from its receipt (E3).
    pub ceiling_millis: u64,
}

/// How two refusals of one key are joined (E3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Join {
    /// The later instant: a lower bound is a lower bound.
    #[default]
    Latest,
    /// The earlier instant that is still live.
    Earliest,
}

/// What makes a policy, though legal, retry nothing, or wait for less than its own floor (B8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Warning {
    /// Retrying is switched off.
    Disabled,
    /// The budget is 0: one attempt (B1).
    NoBudget,
    /// The budget is below the floor, so that no whole wait fits into it.
    BudgetBelowFloor,
    /// One attempt is allowed.
    OneAttempt,
    /// No status is listed and unanswered attempts are not repeated.
    NothingToRetry,
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Disabled => "never retries: it is disabled",
            Self::NoBudget => "never retries: the budget is 0",
            Self::BudgetBelowFloor => "never waits its floor: the budget is smaller",
            Self::OneAttempt => "never retries: one attempt is allowed",
            Self::NothingToRetry => {
                "never retries: no status is listed and unanswered attempts are not repeated"
            }
        })
    }
}

impl Policy {
    /// A builder that begins with this policy.
    pub const fn to_builder(self) -> PolicyBuilder {
        PolicyBuilder::from_policy(self)
    }

    /// What its author surely did not want, if anything: that it retries nothing, or that its budget leaves no
    /// room for its floor (B8).
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let nothing = self.retry_on.is_empty() && !self.repeat_unanswered;
        let below_floor = self.budget_millis > 0 && self.budget_millis < self.floor_millis;
        [
            (!self.enabled, Warning::Disabled),
            (self.budget_millis == 0, Warning::NoBudget),
            (below_floor, Warning::BudgetBelowFloor),
            (self.max_attempts == Some(NonZeroU32::MIN), Warning::OneAttempt),
            (nothing, Warning::NothingToRetry),
        ]
        .into_iter()
        .filter_map(|(holds, warning)| holds.then_some(warning))
    }

    /// Whether anything is retried at all.
    #[must_use]
    pub const fn enabled(&self) -> bool {
        self.enabled
    }

    /// The statuses that are retried, and what each needs.
    #[must_use]
    pub const fn retry_on(&self) -> &StatusSet {
        &self.retry_on
    }

    /// Whether attempts without an answer are repeated (C6).
    #[must_use]
    pub const fn repeat_unanswered(&self) -> bool {
        self.repeat_unanswered
    }

    /// Whether dates count (P9).
    #[must_use]
    pub const fn dates(&self) -> Dates {
        self.dates
    }

    /// Whether fractions of a second are read (P10).
    #[must_use]
    pub const fn lenient_fractions(&self) -> bool {
        self.lenient_fractions
    }

    /// How hint and backoff are combined.
    #[must_use]
    pub const fn combine(&self) -> Combine {
        self.combine
    }

    /// The backoff's schedule; `None` means the constant [`default_backoff`](Self::default_backoff) (W6).
    #[must_use]
    pub const fn schedule(&self) -> Option<Schedule> {
        self.schedule
    }

    /// The wait after a malformed hint, and after any refusal without a hint where there is no schedule.
    #[must_use]
    pub const fn default_backoff(&self) -> Duration {
        Duration::from_millis(self.default_backoff_millis)
    }

    /// The shortest wait (W1).
    #[must_use]
    pub const fn floor(&self) -> Duration {
        Duration::from_millis(self.floor_millis)
    }

    /// The longest wait before jitter, inclusive (W2).
    #[must_use]
    pub const fn ceiling(&self) -> Duration {
        Duration::from_millis(self.ceiling_millis)
    }

    /// What becomes of a hint above the ceiling.
    #[must_use]
    pub const fn over_ceiling(&self) -> OverCeiling {
        self.over_ceiling
    }

    /// From the start of the first attempt to the hard stop.
    #[must_use]
    pub const fn budget(&self) -> Duration {
        Duration::from_millis(self.budget_millis)
    }

    /// What becomes of a wait that the budget does not cover.
    #[must_use]
    pub const fn over_budget(&self) -> OverBudget {
        self.over_budget
    }

    /// The most attempts, every send counted (B5); `None` for no cap.
    #[must_use]
    pub const fn max_attempts(&self) -> Option<NonZeroU32> {
        self.max_attempts
    }

    /// Whether the instant first told to a request cannot be moved out while it is live (E2).
    #[must_use]
    pub const fn first_deadline(&self) -> bool {
        self.first_deadline
    }

    /// How refusals are shared; `None` where they are not.
    #[must_use]
    pub const fn windows(&self) -> Option<WindowPolicy> {
        self.windows
    }

    /// What is added at random.
    #[must_use]
    pub const fn jitter(&self) -> Jitter {
        self.jitter
    }

    /// How long one attempt may take (T6).
    #[must_use]
    pub const fn attempt_timeout(&self) -> Duration {
        Duration::from_millis(self.attempt_timeout_millis)
    }

    /// The backoff after `attempts` attempts, in milliseconds, before floor and ceiling (W5, W6).
    #[inline]
    pub(crate) const fn backoff_millis(&self, attempts: u32) -> u64 {
        match self.schedule {
            Some(schedule) => schedule.millis_after(attempts),
            None => self.default_backoff_millis,
        }
    }
}
