//! The four profiles: data, not code (section 8). `docs/defaults.md` has a paragraph for each number.

use core::num::NonZeroU32;

use crate::backoff::Schedule;
use crate::policy::{Combine, Jitter, Join, OverBudget, OverCeiling, Policy, WindowPolicy};
use crate::retry_after::Dates;
use crate::status_set::{Needs, StatusSet};

const SECOND: u64 = 1_000;

/// The hub's client: patient with one endpoint that promises to be ready within a minute or two.
pub const MUSE: Policy = Policy {
    enabled: true,
    retry_on: statuses(&[(503, Needs::NOTHING)]),
    repeat_unanswered: false,
    // The hub writes seconds only; its first client never read a date.
    dates: Dates::TreatAsAbsent,
    lenient_fractions: false,
    combine: Combine::HintOnly,
    schedule: None,
    // The hub's prebuild of a small repository ends within five seconds.
    default_backoff_millis: 5 * SECOND,
    // A hint of 0 must not spin.
    floor_millis: SECOND,
    // The longest hint that the hub sends.
    ceiling_millis: 60 * SECOND,
    over_ceiling: OverCeiling::Clamp,
    // Twice the longest hint: with 60 s the very first wait would already use it up.
    budget_millis: 120 * SECOND,
    over_budget: OverBudget::GiveUp,
    max_attempts: None,
    first_deadline: false,
    windows: None,
    jitter: Jitter::NONE,
    // The answer names a download and is small; a minute without it is a dead connection.
    attempt_timeout_millis: 60 * SECOND,
};

/// The capacity refusals of a cluster: opt-in, and only where the refusal says that it passes.
pub const SHAKENFIST: Policy = Policy {
    enabled: false,
    retry_on: statuses(&[(507, Needs::TRANSIENT)]),
    repeat_unanswered: false,
    dates: Dates::TreatAsAbsent,
    lenient_fractions: false,
    combine: Combine::HintOnly,
    schedule: None,
    // The server's own constant, used where its header was lost on the way.
    default_backoff_millis: 15 * SECOND,
    floor_millis: SECOND,
    ceiling_millis: 60 * SECOND,
    over_ceiling: OverCeiling::Clamp,
    // What a caller that says `pause` is ready to spend.
    budget_millis: 60 * SECOND,
    over_budget: OverBudget::TruncateThenTry,
    // Each replay costs the server a record and addresses before its scheduler refuses.
    max_attempts: NonZeroU32::new(5),
    first_deadline: false,
    windows: None,
    jitter: Jitter::NONE,
    // Creation is synchronous up to the first placement, which takes minutes on a busy cluster.
    attempt_timeout_millis: 300 * SECOND,
};

/// The budget-aware layer: short calls, shared windows, the instant first told is kept.
pub const ALKHTTP: Policy = Policy {
    enabled: true,
    retry_on: statuses(&[
        (408, Needs::NOTHING),
        (429, Needs::NOTHING),
        (500, Needs::NOTHING),
        (502, Needs::NOTHING),
        (503, Needs::NOTHING),
        (504, Needs::NOTHING),
    ]),
    repeat_unanswered: true,
    dates: Dates::Honour,
    lenient_fractions: false,
    combine: Combine::Max,
    schedule: Some(Schedule::Exponential { base_millis: 100, factor: 2, cap_millis: 2 * SECOND }),
    default_backoff_millis: 0,
    // The schedule keeps hints of 0 from spinning.
    floor_millis: 0,
    ceiling_millis: 300 * SECOND,
    over_ceiling: OverCeiling::Clamp,
    budget_millis: 10 * SECOND,
    over_budget: OverBudget::TruncateThenTry,
    max_attempts: NonZeroU32::new(4),
    first_deadline: true,
    windows: Some(WindowPolicy {
        capacity: at_least_one(256),
        join: Join::Earliest,
        ceiling_millis: 300 * SECOND,
    }),
    jitter: Jitter { per_mille: 250, cap_millis: Some(2 * SECOND) },
    attempt_timeout_millis: 30 * SECOND,
};

/// What we would use where nothing else is known.
pub const RECOMMENDED: Policy = Policy {
    enabled: true,
    retry_on: statuses(&[
        (408, Needs::NOTHING),
        // RFC 9110 section 15.5.14: too large for now only where the server says when.
        (413, Needs::HINT),
        (429, Needs::NOTHING),
        (502, Needs::NOTHING),
        (503, Needs::NOTHING),
        (504, Needs::NOTHING),
        (507, Needs::TRANSIENT),
    ]),
    repeat_unanswered: true,
    dates: Dates::Honour,
    lenient_fractions: false,
    combine: Combine::Max,
    schedule: Some(Schedule::Exponential { base_millis: SECOND, factor: 2, cap_millis: 30 * SECOND }),
    default_backoff_millis: 0,
    floor_millis: SECOND,
    // Two minutes cover what a restart takes; longer outages are for the caller to plan.
    ceiling_millis: 120 * SECOND,
    over_ceiling: OverCeiling::GiveUp,
    // Two ceilings and a minute for the requests themselves.
    budget_millis: 300 * SECOND,
    over_budget: OverBudget::GiveUp,
    max_attempts: NonZeroU32::new(10),
    first_deadline: false,
    windows: Some(WindowPolicy {
        capacity: at_least_one(1_024),
        join: Join::Latest,
        // Hourly quotas reset within it.
        ceiling_millis: 3_600 * SECOND,
    }),
    jitter: Jitter { per_mille: 500, cap_millis: Some(30 * SECOND) },
    attempt_timeout_millis: 30 * SECOND,
};

/// The profile of that name: `muse`, `shakenfist`, `alkhttp` or `recommended`.
#[must_use]
pub fn named(name: &str) -> Option<Policy> {
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, policy)| *policy)
}

/// The profiles with their names.
pub const NAMES: [(&str, Policy); 4] =
    [("muse", MUSE), ("shakenfist", SHAKENFIST), ("alkhttp", ALKHTTP), ("recommended", RECOMMENDED)];

const fn statuses(mut rest: &[(u16, Needs)]) -> StatusSet {
    let mut set = StatusSet::EMPTY;
    while let [(status, needs), more @ ..] = rest {
        set = match set.with(*status, *needs) {
            Some(set) => set,
            None => set,
        };
        rest = more;
    }
    set
}

const fn at_least_one(number: u32) -> NonZeroU32 {
    match NonZeroU32::new(number) {
        Some(number) => number,
        None => NonZeroU32::MIN,
    }
}
