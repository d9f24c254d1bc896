//! What a run comes to: numbers by level, never one percentage, and an exit code.

use refusal_script::{Level, VerdictKind};

use super::Report;

/// What one client showed at one level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Right, as far as it was watched.
    pub passed: usize,
    /// Right or wrong.
    pub witnessed: usize,
    /// Nothing was shown, because the client never retried or waits as long anyway.
    pub vacuous: usize,
    /// The client is not meant, or could not be run.
    pub other: usize,
}

/// The tallies of a client: must, promise, should, quality.
#[must_use]
pub fn tallies(report: &Report, client: &str) -> [(Level, Tally); 4] {
    [Level::Must, Level::Promise, Level::Should, Level::Quality].map(|level| {
        let mut tally = Tally::default();
        for record in report.cases.iter().filter(|record| record.case.level == level) {
            let Some(result) = report.result(client, &record.case.id) else { continue };
            match result.verdict.kind {
                VerdictKind::Pass | VerdictKind::PassBounded => {
                    tally.passed += 1;
                    tally.witnessed += 1;
                }
                kind if kind.is_witnessed() => tally.witnessed += 1,
                VerdictKind::Vacuous | VerdictKind::Coincident => tally.vacuous += 1,
                _ => tally.other += 1,
            }
        }
        (level, tally)
    })
}

/// What a run comes to; its number is the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to object to.
    Fine = 0,
    /// A must or a promise failed, a client crashed or made no contact, or a known failure is stale.
    Failed = 1,
    /// The harness failed.
    Harness = 2,
    /// Nothing failed, and something stayed open: a verdict, or all that there is to know of a client.
    Inconclusive = 3,
}

/// What a run comes to. `strict`: a should weighs as much as a must.
#[must_use]
pub fn outcome(report: &Report, strict: bool) -> Outcome {
    if report.clients.iter().any(|client| client.missing.is_some()) {
        return Outcome::Harness;
    }
    let nothing_shown = report.clients.iter().any(|client| shows_nothing(report, &client.name));
    let level = |id: &str| {
        report
            .cases
            .iter()
            .find(|record| record.case.id == id)
            .map_or(Level::Info, |record| record.case.level)
    };
    let mut outcome = if nothing_shown { Outcome::Inconclusive } else { Outcome::Fine };
    for result in &report.results {
        let weighs = match level(&result.case) {
            Level::Must | Level::Promise => true,
            Level::Should => strict,
            Level::Quality | Level::Info => false,
        };
        let found = match result.verdict.kind {
            VerdictKind::HarnessError => return Outcome::Harness,
            VerdictKind::Crash | VerdictKind::NoContact if result.known_failing.is_none() => Outcome::Failed,
            VerdictKind::Fail if weighs && result.known_failing.is_none() => Outcome::Failed,
            kind if result.known_failing.is_some() && is_stale(kind) => Outcome::Failed,
            VerdictKind::Inconclusive => Outcome::Inconclusive,
            _ => Outcome::Fine,
        };
        outcome = match (outcome, found) {
            (Outcome::Failed, _) | (_, Outcome::Failed) => Outcome::Failed,
            (Outcome::Inconclusive, _) | (_, Outcome::Inconclusive) => Outcome::Inconclusive,
            _ => outcome,
        };
    }
    outcome
}

/// No verdict says anything about how the client takes a refusal.
pub(super) fn shows_nothing(report: &Report, client: &str) -> bool {
    let shows = |kind: VerdictKind| kind.is_witnessed() || kind == VerdictKind::Info;
    !report.results.iter().any(|result| result.client == client && shows(result.verdict.kind))
}

/// A failure that was expected and did not come.
pub(super) fn is_stale(kind: VerdictKind) -> bool {
    matches!(
        kind,
        VerdictKind::Pass
            | VerdictKind::PassBounded
            | VerdictKind::Coincident
            | VerdictKind::Vacuous
            | VerdictKind::Unsupported
    )
}
