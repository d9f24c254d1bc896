//! What a person reads in a terminal.

use std::fmt::Write as _;

use refusal_script::{Level, VerdictKind};

use super::summary::{is_stale, shows_nothing, tallies};
use super::{ClientRecord, Report};

/// A sign for each verdict, so that no colour is needed to tell them apart.
#[must_use]
pub fn verdict_mark(kind: VerdictKind) -> &'static str {
    match kind {
        VerdictKind::Pass => "✓",
        VerdictKind::PassBounded => "≥",
        VerdictKind::Fail => "✗",
        VerdictKind::Suboptimal => "~",
        VerdictKind::Info => "i",
        VerdictKind::Vacuous => "∅",
        VerdictKind::Coincident => "=",
        VerdictKind::Unsupported => "–",
        VerdictKind::Blocked => "⊘",
        VerdictKind::Crash => "†",
        VerdictKind::NoContact => "?",
        VerdictKind::Inconclusive => "≈",
        VerdictKind::HarnessError => "!",
    }
}

/// The tree of one report: clients, groups, cases.
#[must_use]
pub fn tree(report: &Report) -> String {
    let mut text = String::new();
    for client in &report.clients {
        client_tree(&mut text, report, client);
    }
    text
}

/// Writing to a string does not fail, so the results of `write!` are of no interest below.
fn client_tree(text: &mut String, report: &Report, client: &ClientRecord) {
    let _ = writeln!(text, "{}: {} ({})", client.name, client.title, one_line(&client.version));
    if let Some(problem) = &client.missing {
        let _ = writeln!(text, "  not tested: {}", one_line(problem));
        return;
    }
    let mut group = "";
    for record in &report.cases {
        let Some(result) = report.result(&client.name, &record.case.id) else { continue };
        if record.group != group {
            group = &record.group;
            let _ = writeln!(text, "  {group}");
        }
        let verdict = &result.verdict;
        let _ = writeln!(
            text,
            "    {} {:<12} {:<8} {}  {}",
            verdict_mark(verdict.kind),
            verdict.kind,
            level_name(record.case.level),
            record.case.id,
            verdict.sentence
        );
        for note in &verdict.notes {
            let _ = writeln!(text, "        {note}");
        }
        match &result.known_failing {
            Some(_) if is_stale(verdict.kind) => {
                let _ = writeln!(text, "        listed as known to fail, and does not: the entry is stale");
            }
            Some(reason) => {
                let _ = writeln!(text, "        known to fail: {reason}");
            }
            None => {}
        }
        let troubled =
            matches!(verdict.kind, VerdictKind::Crash | VerdictKind::NoContact | VerdictKind::HarnessError);
        if let Some(complaint) = result.complaint.as_ref().filter(|_| troubled) {
            for line in complaint.lines().rev().take(3).collect::<Vec<_>>().into_iter().rev() {
                let _ = writeln!(text, "        | {}", one_line(line));
            }
        }
    }
    for (level, tally) in tallies(report, &client.name) {
        let _ = writeln!(
            text,
            "  {:<8} {} of {} witnessed, {} vacuous",
            level_name(level),
            tally.passed,
            tally.witnessed,
            tally.vacuous
        );
    }
    if shows_nothing(report, &client.name) {
        let _ = writeln!(text, "  nothing was shown: no case found out how this client takes a refusal");
    }
}

/// What a client wrote cannot move the cursor of a terminal.
fn one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { '\u{fffd}' } else { character }).collect()
}

/// The word of the case files.
pub(crate) fn level_name(level: Level) -> &'static str {
    match level {
        Level::Must => "must",
        Level::Promise => "promise",
        Level::Should => "should",
        Level::Quality => "quality",
        Level::Info => "info",
    }
}
