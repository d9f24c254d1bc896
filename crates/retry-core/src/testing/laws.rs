//! The laws of `docs/laws.md`, as functions over what happened.
//!
//! Each says in its first line what must hold. The error names the client, the attempt and the instants.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::time::Duration;

use super::simulation::Seeded;
use super::trace::{Record, Trace};
use crate::decision::{Application, Decision};
use crate::hint::{Asked, Hint, Seconds};
use crate::http_date::HttpDate;
use crate::outcome::{Outcome, Replay};
use crate::policy::Policy;
use crate::request::{LogicalRequest, NoRandom, Random};
use crate::retry_after::{Reading, RetryAfter};
use crate::time::{LARGEST, Monotonic, UnixTime};

pub use super::window_laws::{WindowOperation, latest_join_is_a_semilattice, windows_match_the_plain_model};

/// A law that does not hold, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    law: &'static str,
    detail: String,
}

impl Broken {
    pub(super) fn law(law: &'static str, detail: String) -> Result<(), Self> {
        Err(Self { law, detail })
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.law, self.detail)
    }
}

impl core::error::Error for Broken {}

/// No attempt begins before the instant that the answer before it asked for.
///
/// Holds for policies that give up over the ceiling and over the budget and keep no first deadline; the
/// others go early by choice (B3, E2).
///
/// # Errors
///
/// The first attempt that is early.
pub fn never_before_the_not_before(trace: &Trace) -> Result<(), Broken> {
    for (client, records) in trace.clients() {
        let mut not_before = None;
        let mut attempt = 0_u32;
        for record in records {
            match record {
                Record::Ended { received, outcome, .. } => {
                    not_before = outcome.hint().asked().millis().map(|millis| received.after_millis(millis));
                }
                Record::Began { at, .. } => {
                    attempt = attempt.saturating_add(1);
                    if let Some(until) = not_before.filter(|until| at < until) {
                        return Broken::law(
                            "never before the not-before",
                            format!(
                                "client {client}, attempt {attempt} began at {}; it was asked to stay away until {}",
                                Seconds(at.as_millis()),
                                Seconds(until.as_millis())
                            ),
                        );
                    }
                }
                Record::Wanted { .. } | Record::Polled { .. } => {}
            }
        }
    }
    Ok(())
}

/// No attempt begins inside the window that its client was told of (E7).
///
/// Holds for policies that give up over the budget.
///
/// # Errors
///
/// The first attempt inside a window.
pub fn never_inside_a_window(trace: &Trace) -> Result<(), Broken> {
    for (client, records) in trace.clients() {
        let mut told = None;
        for record in records {
            match record {
                Record::Polled { window, .. } => told = *window,
                Record::Began { at, .. } => {
                    if let Some(until) = told.filter(|until| at < until) {
                        return Broken::law(
                            "never inside a window",
                            format!("client {client} began at {at:?}; the window is closed until {until:?}"),
                        );
                    }
                }
                Record::Wanted { .. } | Record::Ended { .. } => {}
            }
        }
    }
    Ok(())
}

/// The time between a client's attempts adds up to no more than the budget (B6).
///
/// # Errors
///
/// The first client that waits longer.
pub fn waits_within_the_budget(trace: &Trace, budget: Duration) -> Result<(), Broken> {
    for (client, records) in trace.clients() {
        let mut idle_since = Monotonic::ORIGIN;
        let mut waited = Duration::ZERO;
        for record in records {
            match record {
                Record::Wanted { at } | Record::Ended { at, .. } => idle_since = *at,
                Record::Began { at, .. } => waited = waited.saturating_add(at.since(idle_since)),
                Record::Polled { .. } => {}
            }
        }
        if waited > budget {
            return Broken::law(
                "waits within the budget",
                format!("client {client} waited {waited:?} of {budget:?}"),
            );
        }
    }
    Ok(())
}

/// A call ends no later than its budget and one attempt's timeout after it was wanted (B6).
///
/// # Errors
///
/// The first client that takes longer.
pub fn call_within_the_budget_and_one_attempt(
    trace: &Trace,
    budget: Duration,
    attempt_timeout: Duration,
) -> Result<(), Broken> {
    let most = budget.saturating_add(attempt_timeout);
    for (client, records) in trace.clients() {
        let wanted = records.iter().find_map(|record| match record {
            Record::Wanted { at } => Some(*at),
            _ => None,
        });
        let ended = records.iter().rev().find_map(|record| match record {
            Record::Ended { at, .. } | Record::Polled { at, .. } => Some(*at),
            _ => None,
        });
        let (Some(wanted), Some(ended)) = (wanted, ended) else { continue };
        let took = ended.since(wanted);
        if took > most {
            return Broken::law(
                "call within the budget and one attempt",
                format!("client {client} took {took:?} of {most:?}"),
            );
        }
    }
    Ok(())
}

/// No client attempts more often than allowed (B5). With a cap of 1 this is the law of budget 0 (B1), and
/// of a request that must never be sent twice (C4).
///
/// # Errors
///
/// The first client that attempts more often.
pub fn attempts_within_the_cap(trace: &Trace, most: u32) -> Result<(), Broken> {
    for (client, _) in trace.clients() {
        let attempts = trace.attempts(client).len();
        if u32::try_from(attempts).unwrap_or(u32::MAX) > most {
            return Broken::law(
                "attempts within the cap",
                format!("client {client} made {attempts} attempts of {most}"),
            );
        }
    }
    Ok(())
}

/// A wait that the budget did not cut is at least the floor (W1).
///
/// Holds for policies that keep no first deadline.
///
/// # Errors
///
/// The first shorter wait.
pub fn waits_at_least_the_floor(trace: &Trace, floor: Duration) -> Result<(), Broken> {
    for (client, record) in trace.records() {
        if let Record::Ended { decision: Decision::Wait(wait), .. } = record
            && !wait.applied.contains(Application::Truncated)
            && wait.length() < floor
        {
            return Broken::law(
                "waits at least the floor",
                format!("client {client} waits {:?}; the floor is {floor:?}", wait.length()),
            );
        }
    }
    Ok(())
}

/// After a stop or a success nothing is sent any more.
///
/// # Errors
///
/// The first client that goes on.
pub fn a_stop_is_absorbing(trace: &Trace) -> Result<(), Broken> {
    for (client, records) in trace.clients() {
        let mut ended = false;
        for record in records {
            match record {
                Record::Ended { decision: Decision::Stop(_) | Decision::Done, .. } => ended = true,
                Record::Began { at, .. } if ended => {
                    return Broken::law(
                        "a stop is absorbing",
                        format!("client {client} began again at {at:?}"),
                    );
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// A stop tells the hint of the server's last answer, and never one of its own (C5).
///
/// # Errors
///
/// The first stop that tells something else.
pub fn a_stop_tells_the_last_hint(trace: &Trace) -> Result<(), Broken> {
    for (client, record) in trace.records() {
        if let Record::Ended { decision: Decision::Stop(stop), outcome, .. } = record
            && stop.asked != outcome.hint().asked()
        {
            return Broken::law(
                "a stop tells the last hint",
                format!(
                    "client {client} tells {:?}; the answer said {:?}",
                    stop.asked,
                    outcome.hint().asked()
                ),
            );
        }
    }
    Ok(())
}

/// A larger hint never gives a shorter wait; a stop is longer than any wait (T3).
///
/// # Errors
///
/// The two waits.
pub fn a_larger_hint_never_waits_less(
    policy: &Policy,
    status: u16,
    smaller_millis: u64,
    larger_millis: u64,
) -> Result<(), Broken> {
    let wait = |millis| match first_decision(policy, status, Hint::after_millis(millis, b""), &mut NoRandom) {
        Decision::Wait(wait) => wait.length(),
        Decision::Done | Decision::Stop(_) => Duration::MAX,
    };
    let (short, long) = (wait(smaller_millis), wait(larger_millis));
    if smaller_millis <= larger_millis && short > long {
        return Broken::law(
            "a larger hint never waits less",
            format!("{smaller_millis} ms waits {short:?}, {larger_millis} ms waits {long:?}"),
        );
    }
    Ok(())
}

/// A wait with jitter is at least the one without (W3).
///
/// # Errors
///
/// The two waits.
pub fn jitter_never_shortens(policy: &Policy, status: u16, hint: Hint, seed: u64) -> Result<(), Broken> {
    let exact = first_decision(policy, status, hint, &mut NoRandom);
    let random = first_decision(policy, status, hint, &mut Seeded::new(seed));
    let holds = match (exact, random) {
        (Decision::Wait(exact), Decision::Wait(random)) => random.until >= exact.until,
        (exact, random) => exact == random,
    };
    if holds { Ok(()) } else { Broken::law("jitter never shortens", format!("{exact:?} became {random:?}")) }
}

/// Any bytes give an outcome, and no usable one is larger than the largest number.
///
/// # Errors
///
/// The value that is.
pub fn parsing_is_total(lines: &[&[u8]], reading: &Reading<'_>) -> Result<(), Broken> {
    let parsed = RetryAfter::parse(lines.iter().copied(), reading);
    let within = match parsed {
        RetryAfter::Delay { seconds, .. } => seconds <= LARGEST,
        RetryAfter::Date { at, delay, .. } => {
            let last = UnixTime::from_seconds(253_402_300_800);
            at <= last
                && Hint::from(parsed).asked() == Asked::Date { at, millis: delay.saturating_mul(1_000) }
        }
        RetryAfter::Absent | RetryAfter::Malformed { .. } => parsed.delay().is_none(),
    };
    if within { Ok(()) } else { Broken::law("parsing is total", format!("{lines:?} gives {parsed:?}")) }
}

/// What the formatter writes the parser reads back, without an anomaly.
///
/// # Errors
///
/// What it reads instead.
pub fn parse_of_format_is_the_identity(at: UnixTime) -> Result<(), Broken> {
    let Some(text) = HttpDate::format(at) else { return Ok(()) };
    let back = HttpDate::parse(&text, UnixTime::from_seconds(0));
    if back == Some(HttpDate { at, wrong_weekday: false, leap_second: false }) {
        return Ok(());
    }
    let text = String::from_utf8_lossy(&text);
    Broken::law("parse of format is the identity", format!("{at:?} is written {text} and read {back:?}"))
}

/// What the first refusal leads to, of a request that was sent at the clock's origin.
fn first_decision(policy: &Policy, status: u16, hint: Hint, random: &mut impl Random) -> Decision {
    let start = Monotonic::ORIGIN;
    let mut request = LogicalRequest::new(policy, Replay::Always, start);
    request.begin(start);
    request.end(&Outcome::answered(status, hint), start, start, random)
}
