//! A profile with single fields changed.

use std::time::Duration;

use retry_core::{Jitter, Policy, Schedule, StatusSet};

use super::json::{Invalid, Object, Written};
use super::names;

/// Everything that may be overridden; another name is an error, so that a misspelt one is noticed.
const FIELDS: [&str; 16] = [
    "enabled",
    "floor_ms",
    "ceiling_ms",
    "over_ceiling",
    "combine",
    "default_backoff_ms",
    "backoff",
    "budget_ms",
    "over_budget",
    "max_attempts",
    "dates",
    "lenient_fractions",
    "repeat_unanswered",
    "jitter_per_mille",
    "jitter_cap_ms",
    "retry_on",
];

/// `profile` with the fields of `changes` in place of its own, built anew (B8).
pub(super) fn apply(profile: Policy, changes: &Object<'_>) -> Result<Policy, Invalid> {
    refuse_others(changes, &FIELDS)?;
    let mut policy = profile.to_builder();
    if let Some(enabled) = changes.optional("enabled", Written::boolean)? {
        policy = policy.enabled(enabled);
    }
    if let Some(floor) = changes.optional("floor_ms", millis)? {
        policy = policy.floor(floor);
    }
    if let Some(ceiling) = changes.optional("ceiling_ms", millis)? {
        policy = policy.ceiling(ceiling);
    }
    if let Some(choice) = changes.optional("over_ceiling", |choice| choice.one_of(&names::OVER_CEILING))? {
        policy = policy.over_ceiling(choice);
    }
    if let Some(combine) = changes.optional("combine", |combine| combine.one_of(&names::COMBINE))? {
        policy = policy.combine(combine);
    }
    if let Some(length) = changes.optional("default_backoff_ms", millis)? {
        policy = policy.default_backoff(length);
    }
    if let Some(schedule) = changes.optional("backoff", |backoff| backoff.nullable(schedule))? {
        policy = policy.schedule(schedule);
    }
    if let Some(budget) = changes.optional("budget_ms", millis)? {
        policy = policy.budget(budget);
    }
    if let Some(choice) = changes.optional("over_budget", |choice| choice.one_of(&names::OVER_BUDGET))? {
        policy = policy.over_budget(choice);
    }
    if let Some(most) = changes.optional("max_attempts", |most| most.nullable(attempts))? {
        policy = policy.max_attempts(most);
    }
    if let Some(dates) = changes.optional("dates", |dates| dates.one_of(&names::DATES))? {
        policy = policy.dates(dates);
    }
    if let Some(lenient) = changes.optional("lenient_fractions", Written::boolean)? {
        policy = policy.lenient_fractions(lenient);
    }
    if let Some(repeat) = changes.optional("repeat_unanswered", Written::boolean)? {
        policy = policy.repeat_unanswered(repeat);
    }
    if let Some(jitter) = jitter(profile.jitter(), changes)? {
        policy = policy.jitter(jitter);
    }
    if let Some(statuses) = changes.optional("retry_on", statuses)? {
        policy = policy.retry_on(statuses);
    }
    policy.build().map_err(Invalid::because)
}

/// A share that is given without a cap has none.
fn jitter(profile: Jitter, changes: &Object<'_>) -> Result<Option<Jitter>, Invalid> {
    let share = |value: Written<'_>| value.natural().map(|share| u16::try_from(share).unwrap_or(u16::MAX));
    let per_mille = changes.optional("jitter_per_mille", share)?;
    let cap_millis = changes.optional("jitter_cap_ms", Written::natural)?;
    Ok(match (per_mille, cap_millis) {
        (None, None) => None,
        (None, cap_millis) => Some(Jitter { cap_millis, ..profile }),
        (Some(per_mille), cap_millis) => Some(Jitter { per_mille, cap_millis }),
    })
}

fn schedule(written: Written<'_>) -> Result<Schedule, Invalid> {
    #[derive(Clone, Copy)]
    enum Kind {
        Constant,
        Exponential,
    }
    let object = written.object()?;
    let kinds = [("constant", Kind::Constant), ("exponential", Kind::Exponential)];
    match object.required("kind", |kind| kind.one_of(&kinds))? {
        Kind::Constant => {
            refuse_others(&object, &["kind", "ms"])?;
            Ok(Schedule::Constant { millis: object.required("ms", Written::natural)? })
        }
        Kind::Exponential => {
            refuse_others(&object, &["kind", "base_ms", "factor", "cap_ms"])?;
            Ok(Schedule::Exponential {
                base_millis: object.required("base_ms", Written::natural)?,
                factor: object.required("factor", Written::natural)?,
                cap_millis: object.required("cap_ms", Written::natural)?,
            })
        }
    }
}

fn statuses(written: Written<'_>) -> Result<StatusSet, Invalid> {
    let mut set = StatusSet::EMPTY;
    written.list(|entry| {
        let entry = entry.object()?;
        refuse_others(&entry, &["status", "needs"])?;
        let status = entry.required("status", |status| status.natural_within(100..=599))?;
        let needs = entry.optional("needs", |needs| needs.one_of(&names::NEEDS))?.unwrap_or_default();
        let unlisted = u16::try_from(status).ok().filter(|status| set.needs(*status).is_none());
        set = unlisted.and_then(|status| set.with(status, needs)).ok_or_else(|| {
            Invalid::because(format_args!("expected each status once, got {status} again")).within("status")
        })?;
        Ok(())
    })?;
    Ok(set)
}

fn millis(written: Written<'_>) -> Result<Duration, Invalid> {
    written.natural().map(Duration::from_millis)
}

/// More attempts than can be counted are no cap that could be met.
fn attempts(written: Written<'_>) -> Result<u32, Invalid> {
    written.natural().map(|attempts| u32::try_from(attempts).unwrap_or(u32::MAX))
}

fn refuse_others(object: &Object<'_>, known: &[&str]) -> Result<(), Invalid> {
    match object.names().find(|name| !known.contains(name)) {
        Some(name) => {
            let problem = format_args!("expected one of {}", known.join(", "));
            Err(Invalid::because(problem).within(&format!("{name:?}")))
        }
        None => Ok(()),
    }
}
