//! One page of Markdown: what a repository keeps of a run.

use std::fmt::Write as _;

use refusal_script::{Level, VerdictKind};

use super::html::{legend, short_version, when};
use super::summary::tallies;
use super::tree::{level_name, verdict_mark};
use super::{ClientRecord, Report, counted};

/// The clients, the matrix, and a sentence about each failure.
#[must_use]
pub fn markdown(report: &Report) -> String {
    let run = &report.run;
    // Writing to a string does not fail, so the results of `write!` are of no interest here and below.
    let tested = report.clients.iter().filter(|client| client.missing.is_none()).count();
    let mut text = format!(
        "# How {} {} \"come back later\"\n\nEdition {}, {}, run on {}, runner {} on {}, {}, {} at once.\n\
         Made by `conformance run`; not edited by hand.\n\n",
        counted(tested, "client"),
        if tested == 1 { "takes" } else { "take" },
        run.edition,
        counted(report.cases.len(), "case"),
        when(run.started_unix_ms),
        run.runner,
        run.host,
        counted(run.processors, "processor"),
        counted(run.jobs, "run")
    );
    clients(&mut text, report);
    matrix(&mut text, report);
    failures(&mut text, report);
    text
}

fn clients(text: &mut String, report: &Report) {
    text.push_str("| client | version | must | promise | should | quality | how it was run |\n|---|---|---|---|---|---|---|\n");
    for client in &report.clients {
        let _ = write!(text, "| {} | {} |", cell(&client.name), cell(short_version(client)));
        if let Some(problem) = &client.missing {
            let _ = writeln!(text, " | | | | not tested: {} |", cell(problem));
            continue;
        }
        for (_, tally) in tallies(report, &client.name) {
            let _ = write!(text, " {} of {}", tally.passed, tally.witnessed);
            if tally.vacuous > 0 {
                let _ = write!(text, ", {} vacuous", tally.vacuous);
            }
            text.push_str(" |");
        }
        let _ = writeln!(text, " {} |", cell(&client.title));
    }
    text.push_str("\nRight of witnessed, by level. Vacuous: the client never came back, or waits as long anyway, so nothing was shown.\n\n");
}

fn matrix(text: &mut String, report: &Report) {
    let columns: Vec<&ClientRecord> =
        report.clients.iter().filter(|client| client.missing.is_none()).collect();
    let signs: Vec<String> =
        legend().iter().map(|(kind, mark, words)| format!("{mark} {kind}: {words}")).collect();
    let _ = writeln!(text, "{}\n", signs.join(" · "));
    let _ = write!(text, "| case | level |");
    for client in &columns {
        let _ = write!(text, " {} |", cell(&client.name));
    }
    let _ = writeln!(text, "\n|---|---|{}", ":-:|".repeat(columns.len()));
    for record in &report.cases {
        let case = &record.case;
        let _ = write!(text, "| `{}` {} | {} |", case.id, cell(&case.title), level_name(case.level));
        for client in &columns {
            let mark =
                report.result(&client.name, &case.id).map_or("", |result| verdict_mark(result.verdict.kind));
            let _ = write!(text, " {mark} |");
        }
        text.push('\n');
    }
}

fn failures(text: &mut String, report: &Report) {
    text.push_str("\n## What failed\n");
    for client in &report.clients {
        let mut failed = String::new();
        for record in &report.cases {
            let Some(result) = report.result(&client.name, &record.case.id) else { continue };
            let weighs = record.case.level != Level::Info;
            if weighs
                && matches!(
                    result.verdict.kind,
                    VerdictKind::Fail | VerdictKind::Crash | VerdictKind::NoContact
                )
            {
                let level = level_name(record.case.level);
                let _ =
                    writeln!(failed, "- `{}` ({level}): {}", record.case.id, cell(&result.verdict.sentence));
            }
        }
        if !failed.is_empty() {
            let _ = write!(text, "\n### {}\n\n{failed}", cell(&client.name));
        }
    }
}

/// Text that stays in its cell, and is text.
fn cell(text: &str) -> String {
    let mut cell = String::new();
    for character in text.chars() {
        match character {
            '|' | '\\' | '`' | '*' | '_' | '<' | '[' => cell.extend(['\\', character]),
            '\n' | '\r' => cell.push(' '),
            _ => cell.push(character),
        }
    }
    cell
}
