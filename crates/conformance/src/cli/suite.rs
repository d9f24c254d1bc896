//! The subcommands that run no client: `list`, `explain`, `serve`, `judge`, `matrix`, `diff`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, ensure};
use clap::Args;
use refusal_script::{Case, Event, Server, Trace, VerdictKind, judge};

use super::files::ReportFiles;
use super::run::{AdapterPlace, exit_code};
use super::tell;
use crate::adapter::Adapter;
use crate::report::{Difference, Narrator, Outcome, Report, explain, level_name, outcome, tree};
use crate::suite::Suite;

#[derive(Debug, Args)]
pub(super) struct CasesArguments {
    /// A directory of cases instead of those that the program carries
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
}

impl CasesArguments {
    pub(super) fn suite(&self) -> anyhow::Result<Suite> {
        match &self.cases {
            Some(directory) => Suite::read(directory),
            None => Suite::carried(),
        }
    }
}

#[derive(Debug, Args)]
pub(super) struct ListArguments {
    /// The adapters instead of the cases
    #[arg(long)]
    adapters_only: bool,
    #[command(flatten)]
    places: AdapterPlace,
    #[command(flatten)]
    cases: CasesArguments,
}

impl ListArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut text = String::new();
        if self.adapters_only {
            for name in Adapter::names(&self.places.adapters)? {
                let adapter = Adapter::read(&self.places.adapters, &name)?;
                text.push_str(&format!("{name:<16} {}\n", adapter.title));
            }
        } else {
            for (group, case) in self.cases.suite()?.cases {
                let quick = if case.quick { "quick" } else { "" };
                let level = level_name(case.level);
                text.push_str(&format!("{:<30} {level:<8} {quick:<6} {group:<11} {}\n", case.id, case.title));
            }
        }
        print(&text)
    }
}

#[derive(Debug, Args)]
pub(super) struct OneCase {
    /// The case's id
    id: String,
    #[command(flatten)]
    cases: CasesArguments,
}

#[derive(Debug, Args)]
pub(super) struct ExplainArguments {
    #[command(flatten)]
    case: OneCase,
    /// The case as it is written
    #[arg(long)]
    json: bool,
}

impl ExplainArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let suite = self.case.cases.suite()?;
        let case = suite.case(&self.case.id)?;
        if self.json {
            let json = serde_json::to_string_pretty(case).context("cannot write the case")?;
            return print(&format!("{json}\n"));
        }
        print(&explain(case))
    }
}

#[derive(Debug, Args)]
pub(super) struct ServeArguments {
    #[command(flatten)]
    case: OneCase,
    /// The address to listen on, and the port; port 0 is any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: std::net::SocketAddr,
    /// Print the trace itself, one JSON object a line, as `judge` reads it
    #[arg(long)]
    json: bool,
}

impl ServeArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let suite = self.case.cases.suite()?;
        let case = suite.case(&self.case.id)?.clone();
        let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
        let trace = runtime.block_on(async {
            let server = Server::start_on(case.clone(), self.listen).await?;
            tell(&format!("{}: {}", case.id, case.title));
            for url in server.urls() {
                tell(&url);
            }
            tell("Point the client there; Ctrl-C ends and judges. It is played once, so start again for another try.");
            let mut progress = server.progress();
            let mut narrator = Narrator::of(&case);
            let mut printed = 0;
            loop {
                for event in server.events_from(printed) {
                    printed += 1;
                    let line = if self.json {
                        (!matches!(event, Event::Lag { .. })).then(|| event.to_json())
                    } else {
                        narrator.tell(&event)
                    };
                    if let Some(line) = line {
                        print(&format!("{line}\n"))?;
                    }
                }
                tokio::select! {
                    changed = progress.changed() => changed.context("the server has ended")?,
                    _ = tokio::signal::ctrl_c() => break,
                }
            }
            anyhow::Ok(server.stop().await)
        })?;
        tell(&judge(&case, &trace).to_string());
        Ok(ExitCode::SUCCESS)
    }
}

#[derive(Debug, Args)]
pub(super) struct JudgeArguments {
    /// The trace; standard input if there is none. Its first event, `start`, names the case
    trace: Option<PathBuf>,
    #[command(flatten)]
    cases: CasesArguments,
}

impl JudgeArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let suite = self.cases.suite()?;
        let (text, place) = match &self.trace {
            Some(path) => (read(path)?, path.display().to_string()),
            None => {
                let text = std::io::read_to_string(std::io::stdin()).context("cannot read standard input")?;
                (text, "standard input".to_owned())
            }
        };
        let trace = Trace::from_json_lines(&text).with_context(|| place.clone())?;
        let case = case_of(&trace, &suite).with_context(|| place)?;
        let verdict = judge(case, &trace);
        print(&format!("{}\n", serde_json::to_string(&verdict).context("cannot write the verdict")?))?;
        Ok(exit_code(match verdict.kind {
            VerdictKind::Fail | VerdictKind::Crash | VerdictKind::NoContact => Outcome::Failed,
            VerdictKind::HarnessError => Outcome::Harness,
            VerdictKind::Inconclusive => Outcome::Inconclusive,
            _ => Outcome::Fine,
        }))
    }
}

/// The case that a trace is of; under another revision the client was told something else.
fn case_of<'a>(trace: &Trace, suite: &'a Suite) -> anyhow::Result<&'a Case> {
    let named = trace.events.iter().find_map(|event| match event {
        Event::Start { case, rev, .. } => Some((case, *rev)),
        _ => None,
    });
    let (id, rev) = named.context("expected an event `start` that names the case, got none")?;
    let case = suite.case(id)?;
    ensure!(
        case.rev == rev,
        "expected a trace of {id:?} in revision {}, got one in revision {rev}",
        case.rev
    );
    Ok(case)
}

#[derive(Debug, Args)]
pub(super) struct MatrixArguments {
    /// Results as JSON lines, of `conformance run --jsonl`
    #[arg(required = true)]
    results: Vec<PathBuf>,
    #[command(flatten)]
    files: ReportFiles,
    /// A failed `should` counts like a failed `must`
    #[arg(long)]
    strict: bool,
}

impl MatrixArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let reports = self.results.iter().map(|path| report(path)).collect::<anyhow::Result<Vec<_>>>()?;
        of_one_edition(&reports)?;
        let merged = Report::merged(reports).context("expected at least one result")?;
        let files = self.files.open()?;
        if self.files.is_empty() {
            print(&tree(&merged))?;
        }
        files.write(&merged)?;
        Ok(exit_code(outcome(&merged, self.strict)))
    }
}

#[derive(Debug, Args)]
pub(super) struct DiffArguments {
    /// The result before
    old: PathBuf,
    /// The result now
    new: PathBuf,
}

impl DiffArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let reports = [report(&self.old)?, report(&self.new)?];
        of_one_edition(&reports)?;
        let [old, new] = &reports;
        let differences = Difference::between(old, new);
        let lines: String = differences.iter().map(|difference| format!("{difference}\n")).collect();
        print(if lines.is_empty() { "no difference\n" } else { &lines })?;
        let worse = differences.iter().any(Difference::is_regression);
        Ok(exit_code(if worse { Outcome::Failed } else { Outcome::Fine }))
    }
}

fn read(path: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// An edition is one exact set of cases: verdicts of two have nothing in common.
fn of_one_edition(reports: &[Report]) -> anyhow::Result<()> {
    let editions: Vec<&str> = reports.iter().map(|report| report.run.edition.as_str()).collect();
    ensure!(
        editions.windows(2).all(|pair| pair.first() == pair.last()),
        "expected results of one edition, got {}",
        editions.join(", ")
    );
    Ok(())
}

fn report(path: &Path) -> anyhow::Result<Report> {
    Report::from_lines(&read(path)?).with_context(|| path.display().to_string())
}

fn print(text: &str) -> anyhow::Result<ExitCode> {
    std::io::stdout().write_all(text.as_bytes()).context("cannot print")?;
    Ok(ExitCode::SUCCESS)
}
