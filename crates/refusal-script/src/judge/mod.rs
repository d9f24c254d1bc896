//! The judge: one pure function.

mod evaluate;
mod sentence;
mod view;

use crate::case::{Case, Level};
use crate::trace::{ExitMeaning, Trace};
use crate::verdict::{Reason, Verdict, VerdictKind};
use evaluate::{Finding, evaluate};
use sentence::{counted, seconds};
use view::View;

/// What a client showed in one run of a case.
///
/// Stamps are taken before a refusal is written and when a request has been read, so a gap can only
/// overestimate the wait: early is proven by one run. Late never fails. What was not watched is not
/// claimed.
#[must_use]
pub fn judge(case: &Case, trace: &Trace) -> Verdict {
    let view = View::of(case, trace);
    if let Some(problem) = view.harness_error {
        return Verdict::new(VerdictKind::HarnessError, Reason::Harness, problem);
    }
    let meaning = view.exit.map(|exit| exit.meaning);
    if meaning == Some(ExitMeaning::Unsupported) {
        let sentence = "the client says that it cannot do what the case needs (exit 77)";
        return Verdict::new(VerdictKind::Unsupported, Reason::Unsupported, sentence);
    }
    let crash = (meaning == Some(ExitMeaning::Crash)).then(|| crashed(&view));
    if view.operations.is_empty() {
        return crash.unwrap_or_else(|| no_contact(&view));
    }
    let findings = case.expect.iter().filter_map(|expectation| evaluate(expectation, &view)).collect();
    let mut verdict = combine(findings, &view);
    if let Some(crash) = crash
        && verdict.kind != VerdictKind::Fail
    {
        return crash;
    }
    if verdict.kind == VerdictKind::Fail
        && let Some(spec) = &case.spec
    {
        verdict.sentence = format!("{} ({spec})", verdict.sentence);
    }
    weigh(verdict, case.level)
}

/// A failure weighs as much as its case.
fn weigh(verdict: Verdict, level: Level) -> Verdict {
    use VerdictKind::{Coincident, Fail, Info, Pass, PassBounded, Suboptimal};
    let kind = match (level, verdict.kind) {
        (Level::Info, Pass | PassBounded | Fail | Suboptimal | Coincident) => Info,
        (Level::Quality, Fail) => Suboptimal,
        (_, kind) => kind,
    };
    Verdict { kind, ..verdict }
}

fn combine(findings: Vec<Finding>, view: &View<'_>) -> Verdict {
    let (soft, hard): (Vec<_>, Vec<_>) = findings.into_iter().partition(|finding| finding.soft);
    let short = hard.iter().any(|finding| finding.kind == VerdictKind::Vacuous);
    // What is soft counts where it grades; content, it counts where there is nothing else.
    let (graded, content): (Vec<_>, Vec<_>) =
        soft.into_iter().partition(|finding| finding.kind == VerdictKind::Suboptimal);
    let worst = |findings: Vec<Finding>| {
        // The first of equals: expectations are listed in the order in which they matter.
        findings.into_iter().min_by_key(|finding| rank(finding.kind))
    };
    let found = worst(hard.into_iter().chain(graded).collect()).or_else(|| worst(content));
    let Some(found) = found else { return nothing_shown(view) };
    let mut verdict = Verdict::new(found.kind, found.reason, found.sentence);
    match verdict.kind {
        VerdictKind::Vacuous => return nothing_shown(view),
        VerdictKind::Pass if short => {
            verdict.kind = VerdictKind::PassBounded;
            verdict.reason = Reason::PartOfScript;
            verdict.sentence.push_str("; the rest of the script was not played");
        }
        _ => {}
    }
    if verdict.reason == Reason::Imprecise {
        verdict.notes.push("a date was obeyed within a second, not exactly".to_owned());
    }
    verdict
}

/// The lowest decides. A shortage of attempts decides only where nothing else was found.
fn rank(kind: VerdictKind) -> u8 {
    match kind {
        VerdictKind::Fail => 0,
        VerdictKind::Inconclusive => 1,
        VerdictKind::Suboptimal => 2,
        VerdictKind::Coincident => 3,
        VerdictKind::PassBounded => 4,
        VerdictKind::Pass => 5,
        _ => 6,
    }
}

fn nothing_shown(view: &View<'_>) -> Verdict {
    let attempts = view.attempts();
    let made = if attempts == view.operations.len() {
        "no second attempt".to_owned()
    } else if view.flooded {
        format!("at least {attempts} attempts, none of them sent after a refusal")
    } else {
        format!("{} and no more", counted(attempts, "attempt"))
    };
    match view.exit {
        Some(exit) if exit.meaning == ExitMeaning::Fine => {
            let sentence = format!(
                "{made}; the client ended {} after first contact{}",
                seconds(view.since_contact(exit.at_us)),
                exit.code_in_words()
            );
            Verdict::new(VerdictKind::Vacuous, Reason::NeverRetried, sentence)
        }
        _ => {
            let sentence = format!("{made} in the {} watched", seconds(view.watched_us()));
            Verdict::new(VerdictKind::Vacuous, Reason::DidNotReturn, sentence)
        }
    }
}

fn no_contact(view: &View<'_>) -> Verdict {
    let sentence = match view.exit {
        Some(exit) if exit.meaning == ExitMeaning::Fine => {
            format!("the client ended without a request to the case's URL{}", exit.code_in_words())
        }
        _ => format!("no request to the case's URL within {}", seconds(view.end_us)),
    };
    Verdict::new(VerdictKind::NoContact, Reason::NoRequest, sentence)
}

fn crashed(view: &View<'_>) -> Verdict {
    let sentence = match view.exit {
        Some(exit) => match (exit.signal, exit.code) {
            (Some(signal), _) => format!("the client was ended by signal {signal}"),
            (None, Some(code)) => format!("the client ended with exit code {code}, which says that it broke"),
            (None, None) => "the client could not be run".to_owned(),
        },
        None => "the client could not be run".to_owned(),
    };
    Verdict::new(VerdictKind::Crash, Reason::Crashed, sentence)
}

/// The times between the answers and the next attempts of the first operation, in microseconds: what a
/// control run is made for. What may have been the runner's own lag is none of the client's backoff.
#[must_use]
pub fn gaps_us(case: &Case, trace: &Trace) -> Vec<u64> {
    let view = View::of(case, trace);
    view.gaps(1).iter().map(|gap| gap.us.saturating_sub(view.lag_around(gap.arrived_us))).collect()
}
