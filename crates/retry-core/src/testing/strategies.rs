//! What `proptest` draws from: field lines, outcomes, policies, server scripts.
//!
//! The corners are over-represented on purpose: values next to each limit, and everything that has broken a
//! released client.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::num::NonZeroU32;
use core::time::Duration;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::laws::WindowOperation;
use super::simulation::Reply;
use crate::backoff::Schedule;
use crate::hint::Hint;
use crate::http_date::HttpDate;
use crate::outcome::{Outcome, Verdict};
use crate::policy::{Combine, Jitter, Join, OverBudget, OverCeiling, Policy, WindowPolicy};
use crate::profiles;
use crate::retry_after::{Dates, Reading, RetryAfter};
use crate::status_set::{Needs, StatusSet};
use crate::time::{LARGEST, Monotonic, UnixTime};

/// A second that every date form but the two-digit one can express.
pub fn any_second() -> impl Strategy<Value = UnixTime> {
    (-62_167_219_200_i64..253_402_300_800).prop_map(UnixTime::from_seconds)
}

/// The local wall clock: mostly now, sometimes far away.
pub fn wall_clock() -> impl Strategy<Value = UnixTime> {
    prop_oneof![
        8 => (1_795_996_800_i64..1_796_083_200).prop_map(UnixTime::from_seconds),
        2 => any_second(),
        1 => any::<i64>().prop_map(UnixTime::from_seconds),
    ]
}

/// One field line: valid, nearly valid, or junk.
pub fn field_line() -> impl Strategy<Value = Vec<u8>> {
    let number = prop_oneof![
        (0_u64..400).prop_map(|number| format!("{number}")),
        (LARGEST.saturating_sub(2)..LARGEST.saturating_add(3)).prop_map(|number| format!("{number}")),
        any::<u128>().prop_map(|number| format!("{number:040}")),
        select(Vec::from(["2147484", "4294968", "9223372037", "9223372036854776", "18446744073709551616"]))
            .prop_map(String::from),
    ];
    let joined = vec(0_u64..400, 2..5)
        .prop_map(|numbers| numbers.iter().map(|number| format!("{number}")).collect::<Vec<_>>().join(", "));
    let junk = select(Vec::from([
        "",
        " ",
        "-1",
        "+3",
        "1.5",
        "2s",
        "soon",
        "inf",
        "nan",
        "1e3",
        "0x10",
        "1_000",
        "²",
        "1,,3",
        ",",
        "1.",
        "Sun, 06 Nov 1994 08:49:37 UTC",
        "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sunday, 06-Nov-94 08:49:60 GMT",
        "Sun Nov  6 08:49:37 1994",
        "Sat, 06 Nov 1994 08:49:37 GMT",
    ]))
    .prop_map(String::from);
    let text =
        prop_oneof![4 => number, 1 => joined, 3 => junk, 4 => date_text()].prop_map(String::into_bytes);
    let spoilt = (date_text(), any::<prop::sample::Index>(), any::<u8>()).prop_map(|(text, index, byte)| {
        let mut bytes = text.into_bytes();
        let place = index.index(bytes.len());
        if let Some(spoilt) = bytes.get_mut(place) {
            *spoilt = byte;
        }
        bytes
    });
    let blanks = || select(Vec::from([b"".as_slice(), b" ", b"\t", b"  \t"]));
    let line = prop_oneof![8 => text, 2 => spoilt, 1 => vec(any::<u8>(), 0..300)];
    (blanks(), line, blanks()).prop_map(|(before, line, after)| [before, &line, after].concat())
}

/// The lines of one response, in their order.
pub fn field_lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
    prop_oneof![6 => vec(field_line(), 0..3), 1 => vec(field_line(), 3..12)]
}

/// A date in one of the three forms.
fn date_text() -> impl Strategy<Value = String> {
    const LONG: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
    let near = (1_795_000_000_i64..1_797_000_000).prop_map(UnixTime::from_seconds);
    (prop_oneof![near, any_second()], 0..3_u8).prop_map(|(at, form)| {
        let fixed = HttpDate::format(at).unwrap_or(*b"Thu, 01 Jan 1970 00:00:00 GMT");
        let fixed = String::from_utf8_lossy(&fixed).into_owned();
        let part = |range| fixed.get(range).unwrap_or_default();
        let (day, month, year, time) = (part(5..7), part(8..11), part(12..16), part(17..25));
        match form {
            0 => fixed.clone(),
            1 => {
                let short = part(0..3);
                let long = LONG.iter().find(|long| long.starts_with(short)).copied().unwrap_or("Sunday");
                format!("{long}, {day}-{month}-{} {time} GMT", year.get(2..).unwrap_or_default())
            }
            _ => {
                let day = day.strip_prefix('0').map_or(String::from(day), |digit| format!(" {digit}"));
                format!("{} {month} {day} {time} {year}", part(0..3))
            }
        }
    })
}

/// What one response asks for, through the parser.
pub fn hint() -> impl Strategy<Value = Hint> {
    (field_lines(), wall_clock(), any::<bool>()).prop_map(|(lines, now, honour)| {
        let dates = if honour { Dates::Honour } else { Dates::TreatAsAbsent };
        let reading = Reading { dates, ..Reading::at(now) };
        RetryAfter::parse(lines.iter().map(Vec::as_slice), &reading).into()
    })
}

/// What became of an attempt.
pub fn outcome() -> impl Strategy<Value = Outcome> {
    let status = prop_oneof![
        3 => select(Vec::from([429_u16, 503, 507])),
        2 => select(Vec::from([200_u16, 201, 204, 302, 400, 404, 408, 409, 413, 500, 502, 504])),
        1 => 100_u16..600,
    ];
    let verdict = select(Vec::from([Verdict::Unmarked, Verdict::Transient]));
    let hint = prop_oneof![
        hint(),
        (0_u64..90).prop_map(|seconds| Hint::after_millis(seconds.saturating_mul(1_000), b""))
    ];
    prop_oneof![
        8 => (status, hint, verdict)
            .prop_map(|(status, hint, verdict)| Outcome::Answered { status, hint, verdict }),
        1 => Just(Outcome::NotSent),
        1 => Just(Outcome::Lost),
    ]
}

/// What a server answers, and how long it takes.
pub fn reply() -> impl Strategy<Value = Reply> {
    let took = || prop_oneof![4 => 0_u64..3_000, 1 => 0_u64..400_000].prop_map(Duration::from_millis);
    (outcome(), took(), took()).prop_map(|(outcome, took, body_took)| Reply { outcome, took, body_took })
}

/// What a server answers to the first arrivals, in order; what comes after is for the test to say.
pub fn script() -> impl Strategy<Value = Vec<Reply>> {
    vec(reply(), 1..20)
}

/// Any policy that builds.
pub fn policy() -> impl Strategy<Value = Policy> {
    let millis = || prop_oneof![Just(0_u64), 1_u64..5_000, 1_u64..200_000];
    let bounds = (millis(), millis(), millis(), millis(), millis());
    let choices = (any::<[bool; 8]>(), option::of(1_u32..8), option::of(schedule()), option::of(windows()));
    (select(Vec::from(profiles::NAMES)), bounds, choices, jitter(), statuses()).prop_filter_map(
        "contradictory",
        |((_, base), bounds, choices, jitter, statuses)| {
            let (one, two, budget, default_backoff, timeout) = bounds;
            let (
                [enabled, repeat, honour, fractions, hint_only, clamp, truncate, first],
                attempts,
                schedule,
                windows,
            ) = choices;
            base.to_builder()
                .enabled(enabled || repeat)
                .retry_on(statuses)
                .repeat_unanswered(repeat)
                .dates(if honour { Dates::Honour } else { Dates::TreatAsAbsent })
                .lenient_fractions(fractions)
                .combine(if hint_only { Combine::HintOnly } else { Combine::Max })
                .schedule(schedule)
                .default_backoff(Duration::from_millis(default_backoff))
                .floor(Duration::from_millis(one.min(two)))
                .ceiling(Duration::from_millis(one.max(two)))
                .over_ceiling(if clamp { OverCeiling::Clamp } else { OverCeiling::GiveUp })
                .budget(Duration::from_millis(budget))
                .over_budget(if truncate { OverBudget::TruncateThenTry } else { OverBudget::GiveUp })
                .max_attempts(attempts)
                .first_deadline(first)
                .windows(windows)
                .jitter(jitter)
                .attempt_timeout(Duration::from_millis(timeout))
                .build()
                .ok()
        },
    )
}

/// A policy that never goes early: it gives up over the ceiling and over the budget, and keeps no first
/// deadline.
pub fn obedient_policy() -> impl Strategy<Value = Policy> {
    policy().prop_filter_map("contradictory", |policy| {
        policy
            .to_builder()
            .over_ceiling(OverCeiling::GiveUp)
            .over_budget(OverBudget::GiveUp)
            .first_deadline(false)
            .build()
            .ok()
    })
}

/// Statuses and what they need.
pub fn statuses() -> impl Strategy<Value = StatusSet> {
    let needs = select(Vec::from([Needs::NOTHING, Needs::TRANSIENT, Needs::HINT]));
    let status = prop_oneof![4 => select(Vec::from([429_u16, 503, 507])), 1 => 100_u16..600];
    vec((status, needs), 0..6).prop_map(|listed| {
        listed
            .into_iter()
            .fold(StatusSet::EMPTY, |set, (status, needs)| set.with(status, needs).unwrap_or(set))
    })
}

/// How refusals are shared: small stores, so that they fill up.
pub fn windows() -> impl Strategy<Value = WindowPolicy> {
    (1_u32..6, any::<bool>(), 0_u64..200_000).prop_map(|(capacity, latest, ceiling_millis)| WindowPolicy {
        capacity: NonZeroU32::new(capacity).unwrap_or(NonZeroU32::MIN),
        join: if latest { Join::Latest } else { Join::Earliest },
        ceiling_millis,
    })
}

/// What is done to a store of windows, in the order of its instants.
pub fn window_operations() -> impl Strategy<Value = Vec<(Monotonic, WindowOperation)>> {
    let step = (0_u64..12, 0_u8..8, 0_u8..4, 0_u64..50);
    vec(step, 0..60).prop_map(|steps| {
        let mut now = Monotonic::ORIGIN;
        let operation = |(passed, key, kind, span)| {
            now = now.after_millis(passed);
            let operation = match kind {
                0 => WindowOperation::Ask { key },
                1 => {
                    let started = Monotonic::from_millis(now.as_millis().saturating_sub(span));
                    WindowOperation::Success { key, started }
                }
                _ => WindowOperation::Record { key, not_before: now.after_millis(span) },
            };
            (now, operation)
        };
        steps.into_iter().map(operation).collect()
    })
}

fn schedule() -> impl Strategy<Value = Schedule> {
    let millis = || prop_oneof![4 => 0_u64..5_000, 1 => 0_u64..=LARGEST];
    prop_oneof![
        millis().prop_map(|millis| Schedule::Constant { millis }),
        (millis(), prop_oneof![1_u64..4, 1..=LARGEST], millis()).prop_map(
            |(base_millis, factor, cap_millis)| Schedule::Exponential { base_millis, factor, cap_millis }
        ),
    ]
}

fn jitter() -> impl Strategy<Value = Jitter> {
    (0_u16..=1_000, option::of(0_u64..5_000))
        .prop_map(|(per_mille, cap_millis)| Jitter { per_mille, cap_millis })
}
