//! A policy as text: what TOML and JSON say, checked like any policy (feature `serde`).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::num::NonZeroU32;
use core::time::Duration;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Error as _, IntoDeserializer as _, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::backoff::Schedule;
use crate::policy::{Combine, Jitter, Join, OverBudget, OverCeiling, Policy, WindowPolicy};
use crate::profiles;
use crate::retry_after::Dates;
use crate::status_set::{Needs, StatusSet};

impl<'de> Deserialize<'de> for Policy {
    /// Reads the settings that differ from `profile`, which is `recommended` where it is missing. Lengths
    /// are whole milliseconds. An unknown setting, and whatever [`PolicyError`](crate::PolicyError) names,
    /// is an error.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Document::deserialize(deserializer)?.into_policy().map_err(D::Error::custom)
    }
}

impl Serialize for Policy {
    /// Writes every setting, so that the text does not depend on a profile.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Document::of(self).serialize(serializer)
    }
}

/// Every setting, each missing where the profile's stands. `none` switches a thing off, in JSON `null` too.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Document {
    #[serde(skip_serializing_if = "Option::is_none")]
    profile: Option<String>,
    enabled: Option<bool>,
    retry_on: Option<Vec<Listed>>,
    repeat_unanswered: Option<bool>,
    dates: Option<DatesWord>,
    lenient_fractions: Option<bool>,
    combine: Option<CombineWord>,
    #[serde(deserialize_with = "or_none")]
    backoff: Option<OrNone<Backoff>>,
    default_backoff_ms: Option<u64>,
    floor_ms: Option<u64>,
    ceiling_ms: Option<u64>,
    over_ceiling: Option<OverCeilingWord>,
    budget_ms: Option<u64>,
    over_budget: Option<OverBudgetWord>,
    #[serde(deserialize_with = "or_none")]
    max_attempts: Option<OrNone<u32>>,
    first_deadline: Option<bool>,
    #[serde(deserialize_with = "or_none")]
    windows: Option<OrNone<WindowsTable>>,
    jitter_per_mille: Option<u16>,
    #[serde(deserialize_with = "or_none")]
    jitter_cap_ms: Option<OrNone<u64>>,
    attempt_timeout_ms: Option<u64>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table like { status = 503 }")]
struct Listed {
    status: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needs: Option<NeedsWord>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum NeedsWord {
    Transient,
    Hint,
    TransientAndHint,
}

/// A thing or the word `none`. TOML has no null.
#[derive(Debug)]
enum OrNone<T> {
    None,
    Some(T),
}

fn or_none<'de, D, T>(deserializer: D) -> Result<Option<OrNone<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(OrNoneVisitor(PhantomData)).map(Some)
}

/// By hand, because an untagged enum does not say what is wrong with the thing.
struct OrNoneVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for OrNoneVisitor<T> {
    type Value = OrNone<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value or `none`")
    }

    fn visit_str<E: de::Error>(self, word: &str) -> Result<Self::Value, E> {
        if word == "none" { Ok(OrNone::None) } else { Err(E::invalid_value(Unexpected::Str(word), &self)) }
    }

    fn visit_unit<E: de::Error>(self) -> Result<Self::Value, E> {
        Ok(OrNone::None)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
        T::deserialize(number.into_deserializer()).map(OrNone::Some)
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Self::Value, E> {
        T::deserialize(number.into_deserializer()).map(OrNone::Some)
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(members)).map(OrNone::Some)
    }
}

impl<T: Serialize> Serialize for OrNone<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::None => serializer.serialize_str("none"),
            Self::Some(value) => value.serialize(serializer),
        }
    }
}

impl<T> OrNone<T> {
    fn of(value: Option<T>) -> Self {
        value.map_or(Self::None, Self::Some)
    }

    fn into_option(self) -> Option<T> {
        match self {
            Self::None => None,
            Self::Some(value) => Some(value),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum Backoff {
    Constant { ms: u64 },
    Exponential { base_ms: u64, factor: u64, cap_ms: u64 },
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WindowsTable {
    capacity: NonZeroU32,
    join: JoinWord,
    ceiling_ms: u64,
}

macro_rules! words {
    ($($word:ident for $choice:ty { $($name:ident),+ $(,)? })+) => {$(
        #[derive(Debug, Clone, Copy, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        enum $word { $($name),+ }

        impl From<$word> for $choice {
            fn from(word: $word) -> Self {
                match word { $($word::$name => Self::$name),+ }
            }
        }

        impl From<$choice> for $word {
            fn from(choice: $choice) -> Self {
                match choice { $(<$choice>::$name => Self::$name),+ }
            }
        }
    )+};
}

words! {
    DatesWord for Dates { Honour, TreatAsAbsent }
    CombineWord for Combine { HintOnly, Max }
    OverCeilingWord for OverCeiling { GiveUp, Clamp }
    OverBudgetWord for OverBudget { GiveUp, TruncateThenTry }
    JoinWord for Join { Latest, Earliest }
}

impl Document {
    fn of(policy: &Policy) -> Self {
        let jitter = policy.jitter;
        Self {
            profile: None,
            enabled: Some(policy.enabled),
            retry_on: Some(policy.retry_on.iter().map(Listed::of).collect()),
            repeat_unanswered: Some(policy.repeat_unanswered),
            dates: Some(policy.dates.into()),
            lenient_fractions: Some(policy.lenient_fractions),
            combine: Some(policy.combine.into()),
            backoff: Some(OrNone::of(policy.schedule.map(Backoff::of))),
            default_backoff_ms: Some(policy.default_backoff_millis),
            floor_ms: Some(policy.floor_millis),
            ceiling_ms: Some(policy.ceiling_millis),
            over_ceiling: Some(policy.over_ceiling.into()),
            budget_ms: Some(policy.budget_millis),
            over_budget: Some(policy.over_budget.into()),
            max_attempts: Some(OrNone::of(policy.max_attempts.map(NonZeroU32::get))),
            first_deadline: Some(policy.first_deadline),
            windows: Some(OrNone::of(policy.windows.map(WindowsTable::of))),
            jitter_per_mille: Some(jitter.per_mille),
            jitter_cap_ms: Some(OrNone::of(jitter.cap_millis)),
            attempt_timeout_ms: Some(policy.attempt_timeout_millis),
        }
    }

    fn into_policy(self) -> Result<Policy, String> {
        let name = self.profile.as_deref().unwrap_or("recommended");
        let base = profiles::named(name).ok_or_else(|| {
            format!("expected a profile muse, shakenfist, alkhttp or recommended, got {name:?}")
        })?;
        let millis = |given: Option<u64>, standing: u64| Duration::from_millis(given.unwrap_or(standing));
        let statuses = self.retry_on.map_or(Ok(base.retry_on), |listed| status_set(&listed))?;
        let jitter = Jitter {
            per_mille: self.jitter_per_mille.unwrap_or(base.jitter.per_mille),
            cap_millis: self.jitter_cap_ms.map_or(base.jitter.cap_millis, OrNone::into_option),
        };
        let schedule = match self.backoff {
            None => base.schedule,
            Some(given) => given.into_option().map(Backoff::into_schedule),
        };
        let max_attempts = match self.max_attempts {
            None => base.max_attempts.map(NonZeroU32::get),
            Some(given) => given.into_option(),
        };
        let windows = match self.windows {
            None => base.windows,
            Some(given) => given.into_option().map(WindowsTable::into_policy),
        };
        base.to_builder()
            .enabled(self.enabled.unwrap_or(base.enabled))
            .retry_on(statuses)
            .repeat_unanswered(self.repeat_unanswered.unwrap_or(base.repeat_unanswered))
            .dates(self.dates.map_or(base.dates, Into::into))
            .lenient_fractions(self.lenient_fractions.unwrap_or(base.lenient_fractions))
            .combine(self.combine.map_or(base.combine, Into::into))
            .schedule(schedule)
            .default_backoff(millis(self.default_backoff_ms, base.default_backoff_millis))
            .floor(millis(self.floor_ms, base.floor_millis))
            .ceiling(millis(self.ceiling_ms, base.ceiling_millis))
            .over_ceiling(self.over_ceiling.map_or(base.over_ceiling, Into::into))
            .budget(millis(self.budget_ms, base.budget_millis))
            .over_budget(self.over_budget.map_or(base.over_budget, Into::into))
            .max_attempts(max_attempts)
            .first_deadline(self.first_deadline.unwrap_or(base.first_deadline))
            .windows(windows)
            .jitter(jitter)
            .attempt_timeout(millis(self.attempt_timeout_ms, base.attempt_timeout_millis))
            .build()
            .map_err(|contradiction| format!("{contradiction}"))
    }
}

fn status_set(listed: &[Listed]) -> Result<StatusSet, String> {
    let mut set = StatusSet::EMPTY;
    for Listed { status, needs } in listed {
        if set.needs(*status).is_some() {
            return Err(format!("expected each status once in retry_on, got {status} twice"));
        }
        set = set
            .with(*status, needs.map_or(Needs::NOTHING, NeedsWord::into_needs))
            .ok_or_else(|| format!("expected a status from 100 to 599 in retry_on, got {status}"))?;
    }
    Ok(set)
}

impl Listed {
    fn of((status, needs): (u16, Needs)) -> Self {
        let needs = match needs {
            Needs { transient: true, hint: true } => Some(NeedsWord::TransientAndHint),
            Needs { transient: true, hint: false } => Some(NeedsWord::Transient),
            Needs { transient: false, hint: true } => Some(NeedsWord::Hint),
            Needs { transient: false, hint: false } => None,
        };
        Self { status, needs }
    }
}

impl NeedsWord {
    const fn into_needs(self) -> Needs {
        match self {
            Self::Transient => Needs::TRANSIENT,
            Self::Hint => Needs::HINT,
            Self::TransientAndHint => Needs { transient: true, hint: true },
        }
    }
}

impl Backoff {
    const fn of(schedule: Schedule) -> Self {
        match schedule {
            Schedule::Constant { millis } => Self::Constant { ms: millis },
            Schedule::Exponential { base_millis, factor, cap_millis } => {
                Self::Exponential { base_ms: base_millis, factor, cap_ms: cap_millis }
            }
        }
    }

    const fn into_schedule(self) -> Schedule {
        match self {
            Self::Constant { ms } => Schedule::Constant { millis: ms },
            Self::Exponential { base_ms, factor, cap_ms } => {
                Schedule::Exponential { base_millis: base_ms, factor, cap_millis: cap_ms }
            }
        }
    }
}

impl WindowsTable {
    fn of(windows: WindowPolicy) -> Self {
        Self { capacity: windows.capacity, join: windows.join.into(), ceiling_ms: windows.ceiling_millis }
    }

    fn into_policy(self) -> WindowPolicy {
        WindowPolicy { capacity: self.capacity, join: self.join.into(), ceiling_millis: self.ceiling_ms }
    }
}
