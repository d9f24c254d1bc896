//! What builds, what does not, and what is warned about (B8).

use std::fmt::{Debug, Write as _};
use std::num::NonZeroU32;
use std::time::Duration;

use retry_core::{Jitter, Join, Policy, PolicyBuilder, Schedule, StatusSet, WindowPolicy, profiles};

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
    insta::assert_snapshot!(warnings(from().retry_on(StatusSet::EMPTY)), @"never retries: no status is listed and unanswered attempts are not repeated");
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

/// Whatever number is asked for, a policy that is built can be written and read in both formats, and is bounded.
#[test]
fn the_largest_settings_are_bounded_and_survive_both_formats() {
    let windows = WindowPolicy { capacity: NonZeroU32::MAX, join: Join::Latest, ceiling_millis: u64::MAX };
    let steep = Schedule::Exponential { base_millis: u64::MAX, factor: u64::MAX, cap_millis: u64::MAX };
    let policy = built(
        profiles::ALKHTTP
            .to_builder()
            .budget(Duration::MAX)
            .attempt_timeout(Duration::MAX)
            .schedule(Some(steep))
            .windows(Some(windows))
            .jitter(Jitter { per_mille: 1_000, cap_millis: Some(u64::MAX) })
            .max_attempts(Some(u32::MAX)),
    );
    let largest = retry_core::LARGEST;
    assert_eq!(policy.windows().map(|windows| windows.ceiling_millis), Some(largest));
    assert_eq!(policy.jitter().cap_millis, Some(largest));
    let capped = Schedule::Exponential { base_millis: largest, factor: largest, cap_millis: largest };
    assert_eq!(policy.schedule(), Some(capped));
    let toml = toml::to_string(&policy).unwrap();
    assert_eq!(toml::from_str::<Policy>(&toml).unwrap(), policy, "{toml}");
    let json = serde_json::to_string(&policy).unwrap();
    assert_eq!(serde_json::from_str::<Policy>(&json).unwrap(), policy, "{json}");
}

/// Section 8, read back through the public accessors.
#[test]
fn the_profiles_are_the_published_table() {
    insta::assert_snapshot!(table(&profiles::MUSE), @r#"
    retried statuses: {503: Needs { transient: false, hint: false }}
    enabled: true
    unanswered repeated: false
    dates: TreatAsAbsent
    lenient fractions: false
    default_backoff: 5s
    schedule: None
    floor: 1s
    ceiling: (60s, Clamp)
    combine: HintOnly
    budget: (120s, GiveUp)
    max_attempts: None
    first_deadline: false
    windows: None
    jitter: Jitter { per_mille: 0, cap_millis: None }
    attempt timeout: 60s
    "#);
    insta::assert_snapshot!(table(&profiles::SHAKENFIST), @r#"
    retried statuses: {507: Needs { transient: true, hint: false }}
    enabled: false
    unanswered repeated: false
    dates: TreatAsAbsent
    lenient fractions: false
    default_backoff: 15s
    schedule: None
    floor: 1s
    ceiling: (60s, Clamp)
    combine: HintOnly
    budget: (60s, TruncateThenTry)
    max_attempts: Some(5)
    first_deadline: false
    windows: None
    jitter: Jitter { per_mille: 0, cap_millis: None }
    attempt timeout: 300s
    "#);
    insta::assert_snapshot!(table(&profiles::ALKHTTP), @r#"
    retried statuses: {408: Needs { transient: false, hint: false }, 429: Needs { transient: false, hint: false }, 500: Needs { transient: false, hint: false }, 502: Needs { transient: false, hint: false }, 503: Needs { transient: false, hint: false }, 504: Needs { transient: false, hint: false }}
    enabled: true
    unanswered repeated: true
    dates: Honour
    lenient fractions: false
    default_backoff: 0ns
    schedule: Some(Exponential { base_millis: 100, factor: 2, cap_millis: 2000 })
    floor: 0ns
    ceiling: (300s, Clamp)
    combine: Max
    budget: (10s, TruncateThenTry)
    max_attempts: Some(4)
    first_deadline: true
    windows: Some(WindowPolicy { capacity: 256, join: Earliest, ceiling_millis: 300000 })
    jitter: Jitter { per_mille: 250, cap_millis: Some(2000) }
    attempt timeout: 30s
    "#);
    insta::assert_snapshot!(table(&profiles::RECOMMENDED), @r#"
    retried statuses: {408: Needs { transient: false, hint: false }, 413: Needs { transient: false, hint: true }, 429: Needs { transient: false, hint: false }, 502: Needs { transient: false, hint: false }, 503: Needs { transient: false, hint: false }, 504: Needs { transient: false, hint: false }, 507: Needs { transient: true, hint: false }}
    enabled: true
    unanswered repeated: true
    dates: Honour
    lenient fractions: false
    default_backoff: 0ns
    schedule: Some(Exponential { base_millis: 1000, factor: 2, cap_millis: 30000 })
    floor: 1s
    ceiling: (120s, GiveUp)
    combine: Max
    budget: (300s, GiveUp)
    max_attempts: Some(10)
    first_deadline: false
    windows: Some(WindowPolicy { capacity: 1024, join: Latest, ceiling_millis: 3600000 })
    jitter: Jitter { per_mille: 500, cap_millis: Some(30000) }
    attempt timeout: 30s
    "#);
}

fn table(policy: &Policy) -> String {
    let mut rows = String::new();
    let mut row = |name: &str, value: &dyn Debug| writeln!(rows, "{name}: {value:?}").unwrap();
    row("retried statuses", policy.retry_on());
    row("enabled", &policy.enabled());
    row("unanswered repeated", &policy.repeat_unanswered());
    row("dates", &policy.dates());
    row("lenient fractions", &policy.lenient_fractions());
    row("default_backoff", &policy.default_backoff());
    row("schedule", &policy.schedule());
    row("floor", &policy.floor());
    row("ceiling", &(policy.ceiling(), policy.over_ceiling()));
    row("combine", &policy.combine());
    row("budget", &(policy.budget(), policy.over_budget()));
    row("max_attempts", &policy.max_attempts());
    row("first_deadline", &policy.first_deadline());
    row("windows", &policy.windows());
    row("jitter", &policy.jitter());
    row("attempt timeout", &policy.attempt_timeout());
    rows
}

/// P10: the opt-in is read back, too.
#[test]
fn lenient_fractions_are_off_until_asked_for() {
    let lenient = built(profiles::RECOMMENDED.to_builder().lenient_fractions(true));
    assert!(lenient.lenient_fractions());
    assert!(!profiles::RECOMMENDED.lenient_fractions());
}
