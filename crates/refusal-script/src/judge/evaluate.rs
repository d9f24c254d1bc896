//! One expectation at a time.

use super::sentence::{counted, exactly, seconds};
use super::view::{Attempt, Gap, Promised, View};
use crate::case::Precision;
use crate::expectation::{Expectation, Soft};
use crate::verdict::{Reason, VerdictKind};

/// Stamps of the two sides of a socket and the grain of timers; what is less than this early is not early.
const GRACE_US: u64 = 20_000;
/// A date has whole seconds: a client that rounds is imprecise, not wrong.
const DATE_GRACE_US: u64 = 1_000_000;
/// Lag below this is within what the grace covers.
const LAG_THAT_MATTERS_US: u64 = 50_000;
/// Differences from the control below this are noise.
const CONTROL_NOISE_US: u64 = 100_000;

/// What one expectation has to say.
pub(super) struct Finding {
    pub(super) kind: VerdictKind,
    pub(super) reason: Reason,
    pub(super) sentence: String,
    pub(super) soft: bool,
}

impl Finding {
    fn new(kind: VerdictKind, reason: Reason, sentence: String) -> Self {
        Self { kind, reason, sentence, soft: false }
    }

    fn fail(reason: Reason, sentence: String) -> Self {
        Self::new(VerdictKind::Fail, reason, sentence)
    }

    fn pass(sentence: String) -> Self {
        Self::new(VerdictKind::Pass, Reason::AsExpected, sentence)
    }

    fn bounded(sentence: String) -> Self {
        Self::new(VerdictKind::PassBounded, Reason::Silent, sentence)
    }
}

/// `None` where the expectation had nothing to look at.
pub(super) fn evaluate(expectation: &Expectation, view: &View<'_>) -> Option<Finding> {
    match expectation {
        Expectation::Attempts { min, max } => Some(attempts(*min, *max, view)),
        Expectation::NotBefore {} => not_before(view),
        Expectation::NotFasterThanControl {} => not_faster_than_control(view),
        Expectation::ReturnsLikeControl {} => returns_like_control(VerdictKind::Fail, view),
        Expectation::Silence { ms } => Some(silence(ms.saturating_mul(1_000), view)),
        Expectation::SameRequest { headers } => same_request(headers, view),
        Expectation::SecondOperations {} => second_operations(view),
        Expectation::Spread { ms } => spread(ms.saturating_mul(1_000), view),
        Expectation::Soft { better } => soft(*better, view).map(|finding| Finding { soft: true, ..finding }),
    }
}

fn attempts(min: Option<u32>, max: Option<u32>, view: &View<'_>) -> Finding {
    let made = |attempts: &Vec<Attempt<'_>>| u32::try_from(attempts.len()).unwrap_or(u32::MAX);
    let most = view.operations.values().map(made).max().unwrap_or(0);
    let expected = view.case.operation_count();
    let started = u32::try_from(view.operations.len()).unwrap_or(u32::MAX);
    let least = if started < expected { 0 } else { view.operations.values().map(made).min().unwrap_or(0) };
    if let Some(max) = max
        && most > max
    {
        let at_least = if view.flooded { "at least " } else { "" };
        let sentence = format!(
            "sent {at_least}{} in {}; at most {max} {} expected",
            counted(most as usize, "request"),
            seconds(view.watched_us()),
            if max == 1 { "was" } else { "were" }
        );
        return Finding::fail(Reason::TooManyAttempts, sentence);
    }
    if min.is_some_and(|min| least < min) {
        let sentence = format!("sent {}", counted(least as usize, "request"));
        return Finding::new(VerdictKind::Vacuous, Reason::NeverRetried, sentence);
    }
    let behind_the_script = |attempts: &Vec<Attempt<'_>>| {
        attempts.last().and_then(|last| last.answer).is_some_and(|answer| answer.step.is_none())
    };
    let sent = format!("sent {}", counted(most as usize, "request"));
    if max.is_none() || view.ended() || view.operations.values().all(behind_the_script) {
        Finding::pass(sent)
    } else {
        Finding::bounded(format!(
            "{sent} in the {} watched, and is still running",
            seconds(view.watched_us())
        ))
    }
}

fn too_early(gap: &Gap, promised: Promised) -> Option<Finding> {
    let grace = match promised.precision {
        Precision::Seconds => GRACE_US,
        Precision::Date => DATE_GRACE_US,
    };
    let fact = arrived(gap, promised);
    if gap.us.saturating_add(grace) < promised.us {
        return Some(Finding::fail(Reason::Early, fact));
    }
    (gap.us.saturating_add(GRACE_US) < promised.us)
        .then(|| Finding::new(VerdictKind::Pass, Reason::Imprecise, fact))
}

fn arrived(gap: &Gap, promised: Promised) -> String {
    format!(
        "attempt {} arrived {} after the refusal; it was asked to wait {}",
        gap.attempt,
        seconds(gap.us),
        exactly(promised.us)
    )
}

fn not_before(view: &View<'_>) -> Option<Finding> {
    let gaps = view.all_gaps();
    let promised: Vec<(&Gap, Promised)> =
        gaps.iter().filter_map(|gap| gap.promise.map(|promise| (gap, promise))).collect();
    let mut imprecise = None;
    for finding in promised.iter().filter_map(|(gap, promise)| too_early(gap, *promise)) {
        if finding.kind == VerdictKind::Fail {
            return Some(finding);
        }
        imprecise = imprecise.or(Some(finding));
    }
    for (gap, promise) in &promised {
        let lag = view.lag_around(gap.arrived_us);
        if lag > LAG_THAT_MATTERS_US && gap.us.saturating_sub(lag).saturating_add(GRACE_US) < promise.us {
            let sentence = format!("{}; the runner was {} late itself", arrived(gap, *promise), seconds(lag));
            return Some(Finding::new(VerdictKind::Inconclusive, Reason::Lag, sentence));
        }
    }
    if imprecise.is_some() {
        return imprecise;
    }
    let own = |gap: &Gap| view.control_gaps.and_then(|gaps| gaps.get(gap.attempt.checked_sub(2)?)).copied();
    let all_own = promised
        .iter()
        .all(|(gap, promise)| own(gap).is_some_and(|own| own.saturating_add(GRACE_US) >= promise.us));
    let (gap, promise) =
        promised.into_iter().min_by_key(|(gap, promise)| gap.us.saturating_sub(promise.us))?;
    let fact = arrived(gap, promise);
    match own(gap) {
        Some(own) if all_own => {
            let sentence = format!("{fact}, and without the field it waits {} anyway", seconds(own));
            Some(Finding::new(VerdictKind::Coincident, Reason::OwnBackoff, sentence))
        }
        _ => Some(Finding::pass(fact)),
    }
}

fn not_faster_than_control(view: &View<'_>) -> Option<Finding> {
    let control = view.control_gaps?;
    let mut first = None;
    for (gap, own_us) in view.gaps(1).iter().zip(control) {
        let fact = format!(
            "attempt {} arrived {} after the refusal; without the field it comes after {}",
            gap.attempt,
            seconds(gap.us),
            seconds(*own_us)
        );
        if gap.us.saturating_mul(2) < *own_us && own_us - gap.us > CONTROL_NOISE_US {
            return Some(Finding::fail(Reason::FasterThanControl, fact));
        }
        first = first.or(Some(Finding::pass(fact)));
    }
    first
}

fn silence(window_us: u64, view: &View<'_>) -> Finding {
    let mut watched_us = 0;
    let mut after_it = None;
    for attempts in view.operations.values() {
        let Some(answer) = attempts.first().and_then(|first| first.answer) else { continue };
        watched_us = view.end_us.saturating_sub(answer.at_us).max(watched_us);
        for (index, attempt) in attempts.iter().enumerate().skip(1) {
            let gap_us = attempt.at_us.saturating_sub(answer.at_us);
            let asked = match view.promise(answer) {
                Some(promised) => format!("it was asked to wait {}", exactly(promised.us)),
                None => format!("none was expected for {}", exactly(window_us)),
            };
            let sentence =
                format!("attempt {} arrived {} after the refusal; {asked}", index + 1, seconds(gap_us));
            if gap_us.saturating_add(GRACE_US) < window_us {
                return Finding::fail(Reason::BrokeSilence, sentence);
            }
            after_it = after_it.or(Some(sentence));
        }
    }
    if let Some(sentence) = after_it {
        return Finding::pass(sentence);
    }
    if let Some(exit) = view.own_exit() {
        let after = seconds(view.since_contact(exit.at_us));
        return Finding::pass(format!(
            "ended {after} after first contact, without another attempt{}",
            exit.code_in_words()
        ));
    }
    if watched_us.saturating_add(GRACE_US) >= window_us {
        return Finding::bounded(format!("no attempt in the {} watched", seconds(watched_us)));
    }
    let sentence = format!("watched for {} only, of {}", seconds(watched_us), exactly(window_us));
    Finding::new(VerdictKind::Inconclusive, Reason::WatchedTooShort, sentence)
}

fn same_request(names: &[String], view: &View<'_>) -> Option<Finding> {
    let mut compared = 0;
    for attempts in view.operations.values() {
        let Some((first, later)) = attempts.split_first() else { continue };
        for (index, attempt) in later.iter().enumerate() {
            compared += 1;
            if let Some(difference) = difference(first, attempt, names) {
                let sentence = format!("attempt {} {difference}", index + 2);
                return Some(Finding::fail(Reason::RequestChanged, sentence));
            }
        }
    }
    (compared > 0)
        .then(|| Finding::pass(format!("{} the same as the first", counted(compared, "later attempt"))))
}

/// What a client sent is escaped: a sentence is printed to terminals.
fn difference(first: &Attempt<'_>, later: &Attempt<'_>, names: &[String]) -> Option<String> {
    if first.method != later.method {
        let (was, is) = (first.method.escape_debug(), later.method.escape_debug());
        return Some(format!("has the method {is}; the first had {was}"));
    }
    if first.target != later.target {
        let (was, is) = (first.target.escape_debug(), later.target.escape_debug());
        return Some(format!("asks for {is}; the first asked for {was}"));
    }
    for name in names {
        let (was, is) = (field(first, name), field(later, name));
        if was != is {
            return Some(format!("has {name}: {is:?}; the first had {was:?}"));
        }
    }
    match (&first.body, &later.body) {
        (Some(was), Some(is)) if was.sha256 != is.sha256 && was.bytes == is.bytes && was.complete => {
            Some("has another body than the first, of the same length".to_owned())
        }
        (Some(was), Some(is)) if was.complete && (was.sha256 != is.sha256 || !is.complete) => Some(format!(
            "has another body ({}{}); the first had {}",
            counted(usize::try_from(is.bytes).unwrap_or(usize::MAX), "byte"),
            if is.complete { "" } else { ", cut" },
            counted(usize::try_from(was.bytes).unwrap_or(usize::MAX), "byte"),
        )),
        _ => None,
    }
}

fn field<'a>(attempt: &Attempt<'a>, name: &str) -> Vec<&'a str> {
    let named = attempt.headers.iter().filter(|(field, _)| field.eq_ignore_ascii_case(name));
    named.map(|(_, value)| value.as_str()).collect()
}

fn second_operations(view: &View<'_>) -> Option<Finding> {
    // Every window that was announced, with the operation that was told.
    let told: Vec<(u32, u64, u64)> = view
        .operations
        .iter()
        .flat_map(|(operation, attempts)| attempts.iter().map(move |attempt| (*operation, attempt)))
        .filter_map(|(operation, attempt)| {
            let answer = attempt.answer?;
            Some((operation, answer.at_us, answer.at_us.saturating_add(view.promise(answer)?.us)))
        })
        .collect();
    let (_, earliest_us, _) = told.iter().min_by_key(|(_, at_us, _)| *at_us)?;
    for (operation, attempts) in &view.operations {
        let Some(first) = attempts.first() else { continue };
        for (teller, at_us, ends_us) in &told {
            if teller != operation && *at_us < first.at_us && first.at_us.saturating_add(GRACE_US) < *ends_us
            {
                let sentence = format!(
                    "operation {operation} sent its first request {} after operation {teller} was asked to wait {}",
                    seconds(first.at_us - at_us),
                    exactly(ends_us - at_us)
                );
                return Some(Finding::fail(Reason::InsideKnownWindow, sentence));
            }
        }
    }
    let later = view.operations.values().filter_map(|attempts| attempts.first());
    if later.clone().any(|first| first.at_us > *earliest_us) {
        return Some(Finding::pass("later operations stayed out of the window".to_owned()));
    }
    let unsent = view.case.operation_count() as usize
        - view.operations.len().min(view.case.operation_count() as usize);
    if unsent == 0 {
        return None;
    }
    Some(if view.ended() {
        Finding::pass(format!("{} held back for good", counted(unsent, "operation")))
    } else {
        Finding::bounded(format!(
            "{} held back for the {} watched",
            counted(unsent, "operation"),
            seconds(view.watched_us())
        ))
    })
}

fn spread(least_us: u64, view: &View<'_>) -> Option<Finding> {
    let returns: Vec<u64> =
        view.operations.values().filter_map(|attempts| attempts.get(1)).map(|second| second.at_us).collect();
    let (first, last) = (returns.iter().min()?, returns.iter().max()?);
    if returns.len() < 2 {
        return None;
    }
    let fact = format!("{} came back within {}", counted(returns.len(), "operation"), seconds(last - first));
    Some(if last - first < least_us {
        Finding::fail(Reason::Herd, format!("{fact} of each other; at least {} is better", exactly(least_us)))
    } else {
        Finding::pass(fact)
    })
}

fn soft(better: Soft, view: &View<'_>) -> Option<Finding> {
    let grade = |reason, sentence| Some(Finding::new(VerdictKind::Suboptimal, reason, sentence));
    match better {
        Soft::Attempts { min } => {
            let made = view.operations.values().map(Vec::len).min().unwrap_or(0);
            if made < min as usize {
                let sentence = format!("sent {}; {min} are better", counted(made, "request"));
                return grade(Reason::FewAttempts, sentence);
            }
            Some(Finding::pass(format!("sent {}", counted(made, "request"))))
        }
        Soft::EndsWithin { ms } => {
            let limit_us = ms.saturating_mul(1_000);
            match view.own_exit() {
                Some(exit) if view.since_contact(exit.at_us) <= limit_us => Some(Finding::pass(format!(
                    "ended {} after first contact",
                    seconds(view.since_contact(exit.at_us))
                ))),
                Some(exit) => {
                    let after = seconds(view.since_contact(exit.at_us));
                    let sentence =
                        format!("ended {after} after first contact; within {} is better", exactly(limit_us));
                    grade(Reason::DidNotEnd, sentence)
                }
                None => {
                    let sentence = format!(
                        "still running {} after first contact; an end within {} is better",
                        seconds(view.watched_us()),
                        exactly(limit_us)
                    );
                    grade(Reason::DidNotEnd, sentence)
                }
            }
        }
        Soft::Prompt { ms } => {
            let limit_us = ms.saturating_mul(1_000);
            let gaps = view.all_gaps();
            let late = gaps.iter().filter_map(|gap| Some((gap, gap.promise?)));
            let (gap, promised) = late.max_by_key(|(gap, promise)| gap.us.saturating_sub(promise.us))?;
            if gap.us.saturating_sub(promised.us) > limit_us {
                return grade(Reason::Late, arrived(gap, promised));
            }
            Some(Finding::pass(arrived(gap, promised)))
        }
        Soft::ReturnsLikeControl => returns_like_control(VerdictKind::Suboptimal, view),
    }
}

/// `lost` is the verdict on a client that comes back without the field and not with it.
fn returns_like_control(lost: VerdictKind, view: &View<'_>) -> Option<Finding> {
    let own_us = *view.control_gaps?.first()?;
    if view.operations.get(&1).is_some_and(|attempts| attempts.len() > 1) {
        return Some(Finding::pass("comes back with and without the field".to_owned()));
    }
    let own = seconds(own_us);
    let sentence = match view.own_exit() {
        Some(exit) => {
            let code = exit.code_in_words();
            format!("without the field it comes back after {own}; with it, it ended{code} and did not")
        }
        None if view.watched_us() > own_us.saturating_mul(2) => {
            let watched = seconds(view.watched_us());
            format!("without the field it comes back after {own}; with it, not in the {watched} watched")
        }
        None => return None,
    };
    Some(Finding::new(lost, Reason::LostByHint, sentence))
}
