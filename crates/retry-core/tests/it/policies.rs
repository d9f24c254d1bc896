//! What builds, what does not, and what is warned about (B8).

use std::num::NonZeroU32;
use std::time::Duration;

use retry_core::{Jitter, PolicyBuilder, Schedule, StatusSet, profiles};

use crate::decisions::{built, seconds};

/// B8.
#[test]
fn contradictions_do_not_build() {
    let error = |builder: PolicyBuilder| builder.build().unwrap_err().to_string();
    let from = || profiles::MUSE.to_builder();
    insta::assert_snapshot!(error(from().floor(seconds(61))), @"expected a floor of at most the ceiling of 60 s, got 61 s");
    let factor = Schedule::Exponential { base_millis: 1, factor: 0, cap_millis: 1 };
    insta::assert_snapshot!(error(from().schedule(Some(factor))), @"expected a backoff factor of at least 1, got 0");
    let whole = Jitter { per_mille: 1_001, cap_millis: None };
    insta::assert_snapshot!(error(from().jitter(whole)), @"expected a jitter of at most 1000 per mille, got 1001");
    insta::assert_snapshot!(error(from().max_attempts(Some(0))), @"expected at least 1 attempt, got 0");
    insta::assert_snapshot!(error(from().floor(Duration::ZERO)), @"expected a floor above 0, a schedule or an attempt cap, got none of the three");

    assert!(from().floor(seconds(60)).build().is_ok());
    assert!(from().jitter(Jitter { per_mille: 1_000, cap_millis: None }).build().is_ok());
    let scheduled = from().floor(Duration::ZERO).schedule(Some(Schedule::Constant { millis: 0 }));
    assert!(scheduled.build().is_ok());
    assert!(from().floor(Duration::ZERO).max_attempts(Some(1)).build().is_ok());
}

/// B8: legal, and named.
#[test]
fn policies_that_never_retry_are_warned_about() {
    let warnings = |builder: PolicyBuilder| {
        built(builder).warnings().map(|warning| warning.to_string()).collect::<Vec<_>>().join("; ")
    };
    let from = || profiles::MUSE.to_builder();
    insta::assert_snapshot!(warnings(from()), @"");
    insta::assert_snapshot!(warnings(from().enabled(false)), @"never retries: it is disabled");
    insta::assert_snapshot!(warnings(from().budget(Duration::ZERO)), @"never retries: the budget is 0");
    insta::assert_snapshot!(warnings(from().budget(Duration::from_millis(999))), @"never waits its floor: the budget is smaller");
    insta::assert_snapshot!(warnings(from().budget(seconds(1))), @"");
    insta::assert_snapshot!(warnings(from().max_attempts(Some(1))), @"never retries: one attempt is allowed");
    insta::assert_snapshot!(warnings(from().retry_on(StatusSet::EMPTY)), @"never retries: no status is listed and lost attempts are not repeated");
    insta::assert_snapshot!(warnings(from().retry_on(StatusSet::EMPTY).repeat_unanswered(true)), @"");
}

/// What is built is what was asked for, in whole milliseconds rounded up.
#[test]
fn a_policy_gives_back_what_it_was_built_with() {
    let nanos = Duration::from_nanos(1_000_001);
    let policy = built(
        profiles::RECOMMENDED
            .to_builder()
            .floor(nanos)
            .ceiling(Duration::MAX)
            .default_backoff(nanos)
            .attempt_timeout(nanos)
            .schedule(Some(Schedule::Exponential { base_millis: u64::MAX, factor: 3, cap_millis: u64::MAX }))
            .max_attempts(Some(7)),
    );
    let two = Duration::from_millis(2);
    assert_eq!((policy.floor(), policy.default_backoff(), policy.attempt_timeout()), (two, two, two));
    assert_eq!(policy.ceiling(), Duration::from_millis(retry_core::LARGEST));
    assert_eq!(policy.max_attempts(), NonZeroU32::new(7));
    let largest = retry_core::LARGEST;
    let capped = Schedule::Exponential { base_millis: largest, factor: 3, cap_millis: largest };
    assert_eq!(policy.schedule(), Some(capped));
    let constant = built(policy.to_builder().schedule(Some(Schedule::Constant { millis: u64::MAX })));
    assert_eq!(constant.schedule(), Some(Schedule::Constant { millis: largest }));
}
