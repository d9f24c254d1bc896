//! `conformance run`.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use refusal_script::Need;
use tokio::signal::unix::{SignalKind, signal};

use super::files::{OpenReport, ReportFiles};
use super::suite::CasesArguments;
use crate::adapter::Adapter;
use crate::clock::unix_ms;
use crate::report::{Outcome, Report, RunRecord, outcome, tree};
use crate::runner::{BuiltIn, Client, Settings, adopt, case_records, describe, end_adopted, run};
use crate::suite::{Selection, Suite};

/// More clients at once would share the processors so thinly that the runner's own lag shows.
const DEFAULT_JOBS: usize = 24;
/// Each is a process, a server and its sockets.
const MOST_JOBS: usize = 256;

#[derive(Debug, Args)]
pub(super) struct RunArguments {
    /// The client's command line; `{url}`, `{method}`, `{body_file}`, `{deadline_s}` and `{cap_s}` stand
    /// for what a case asks for, inside whole arguments. The same is in RAC_URL, RAC_METHOD, …
    #[arg(last = true, value_name = "ARGV")]
    command: Vec<String>,
    /// The client as a line for `sh`, which finds the URL in "$RAC_URL"
    #[arg(long, value_name = "LINE", conflicts_with = "command")]
    sh: Option<String>,
    /// A client with an adapter, by name; may be repeated. `all` means every adapter
    #[arg(long, value_name = "NAME", conflicts_with_all = ["command", "sh"])]
    adapter: Vec<String>,
    /// One of the clients that the suite tests itself with; may be repeated
    #[arg(long, value_name = "NAME", value_enum, conflicts_with_all = ["command", "sh"])]
    built_in: Vec<BuiltInName>,
    /// What the command line can do beside what its placeholders say; may be repeated
    #[arg(long, value_name = "NEED", value_enum, conflicts_with_all = ["adapter", "built_in"])]
    supports: Vec<NeedName>,
    /// The side of an alternative that the command line claims, for example 507=interactive
    #[arg(long, value_name = "CHOICE=SIDE", value_parser = claim, conflicts_with_all = ["adapter", "built_in"])]
    claim: Vec<(String, String)>,
    /// The name of the command line in reports
    #[arg(long, default_value = "client", conflicts_with_all = ["adapter", "built_in"])]
    name: String,
    /// Which cases
    #[arg(long, value_enum, default_value_t = Profile::Quick)]
    profile: Profile,
    /// A case by id, or by the beginning of it and `*`; may be repeated, and stands instead of the profile
    #[arg(long = "case", value_name = "ID")]
    named: Vec<String>,
    /// Clients at once, 1 to 256
    #[arg(long, default_value_t = DEFAULT_JOBS, value_parser = jobs)]
    jobs: usize,
    /// How long a client may take until its first request
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    first_contact_s: u64,
    /// A failed `should` counts like a failed `must`
    #[arg(long)]
    strict: bool,
    /// Write the result, traces included, as JSON lines
    #[arg(long, value_name = "FILE")]
    jsonl: Option<PathBuf>,
    #[command(flatten)]
    files: ReportFiles,
    #[command(flatten)]
    places: AdapterPlace,
    #[command(flatten)]
    cases: CasesArguments,
}

#[derive(Debug, Args)]
pub(super) struct AdapterPlace {
    /// The directory of adapters
    #[arg(long, value_name = "DIR", env = "RAC_ADAPTERS", default_value = "conformance/adapters")]
    pub(super) adapters: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Profile {
    /// Those that have each caught a fault in a released client
    Quick,
    /// All of them
    Full,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum BuiltInName {
    Perfect,
    Eager,
    NeverRetries,
    TightLoop,
    Hangs,
}

impl From<BuiltInName> for BuiltIn {
    fn from(name: BuiltInName) -> Self {
        match name {
            BuiltInName::Perfect => Self::Perfect,
            BuiltInName::Eager => Self::Eager,
            BuiltInName::NeverRetries => Self::NeverRetries,
            BuiltInName::TightLoop => Self::TightLoop,
            BuiltInName::Hangs => Self::Hangs,
        }
    }
}

#[derive(Debug, Clone, Copy, ValueEnum)]
#[value(rename_all = "snake_case")]
enum NeedName {
    Post,
    Body,
    TwoOperations,
    Concurrent,
    Redirects,
    Deadline,
    Cap,
}

impl From<NeedName> for Need {
    fn from(name: NeedName) -> Self {
        match name {
            NeedName::Post => Self::Post,
            NeedName::Body => Self::Body,
            NeedName::TwoOperations => Self::TwoOperations,
            NeedName::Concurrent => Self::Concurrent,
            NeedName::Redirects => Self::Redirects,
            NeedName::Deadline => Self::Deadline,
            NeedName::Cap => Self::Cap,
        }
    }
}

fn claim(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((choice, side)) if !choice.is_empty() && !side.is_empty() => {
            Ok((choice.to_owned(), side.to_owned()))
        }
        _ => Err(format!("expected CHOICE=SIDE, got {text:?}")),
    }
}

fn jobs(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| (1..=MOST_JOBS).contains(number));
    number.ok_or_else(|| format!("expected a number from 1 to {MOST_JOBS}, got {text:?}"))
}

impl RunArguments {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let clients = self.clients()?;
        let selection = match (&self.named, self.profile) {
            (named, _) if !named.is_empty() => Selection::Named(named.clone()),
            (_, Profile::Quick) => Selection::Quick,
            (_, Profile::Full) => Selection::Full,
        };
        let all = self.cases.suite()?;
        known_failing_exist(&clients, &all)?;
        let suite = all.select(&selection)?;
        let adapters =
            std::path::absolute(&self.places.adapters).context("cannot find the directory of adapters")?;
        let settings = Settings {
            first_contact: Duration::from_secs(self.first_contact_s),
            ..Settings::new(self.jobs, adapters)
        };
        let lines = self.jsonl.as_deref().map(OpenReport::open).transpose()?;
        let files = self.files.open()?;
        let runtime = tokio::runtime::Runtime::new().context("cannot start")?;
        adopt();
        let report = runtime.block_on(async {
            let told_to_end = told_to_end()?;
            let report = tokio::select! {
                report = report(&suite, &clients, &settings) => Some(report),
                // The clients end with the futures that hold them.
                () = told_to_end => None,
            };
            end_adopted().await;
            anyhow::Ok(report)
        })?;
        let Some(report) = report else { bail!("interrupted; every client was ended") };
        // Files first: what nobody reads from standard output is not to cost what was found out.
        if let Some(file) = lines {
            file.replace_with_lines(&report)?;
        }
        files.write(&report)?;
        std::io::stdout().write_all(tree(&report).as_bytes()).context("cannot print the report")?;
        Ok(exit_code(outcome(&report, self.strict)))
    }

    fn clients(&self) -> anyhow::Result<Vec<Client>> {
        let supports = || self.supports.iter().map(|need| Need::from(*need)).collect();
        let program = |mut adapter: Adapter| {
            adapter.claims.extend(self.claim.iter().cloned());
            vec![Client::Program(Arc::new(adapter))]
        };
        if let Some(line) = &self.sh {
            let command = vec!["sh".to_owned(), "-c".to_owned(), line.clone()];
            return Ok(program(Adapter::of_command(self.name.clone(), command, supports())));
        }
        if !self.command.is_empty() {
            return Ok(program(Adapter::of_command(self.name.clone(), self.command.clone(), supports())));
        }
        let directory = &self.places.adapters;
        let mut clients: Vec<Client> =
            self.built_in.iter().map(|name| Client::BuiltIn((*name).into())).collect();
        for name in &self.adapter {
            let names = if name == "all" { Adapter::names(directory)? } else { vec![name.clone()] };
            for name in names {
                clients.push(Client::Program(Arc::new(Adapter::read(directory, &name)?)));
            }
        }
        ensure!(
            !clients.is_empty(),
            "expected a client: `-- ARGV…`, `--sh LINE`, `--adapter NAME` or `--built-in NAME`"
        );
        let mut names = BTreeSet::new();
        let twice = clients.iter().map(Client::name).find(|name| !names.insert(*name));
        ensure!(twice.is_none(), "expected each client once, got {:?} twice", twice.unwrap_or_default());
        Ok(clients)
    }
}

/// An adapter may name cases of the edition that a directory of cases leaves out, and no others.
fn known_failing_exist(clients: &[Client], suite: &Suite) -> anyhow::Result<()> {
    let carried = Suite::carried()?;
    for client in clients {
        let Client::Program(adapter) = client else { continue };
        for id in adapter.known_failing.keys().filter(|id| carried.case(id).is_err()) {
            suite.case(id).with_context(|| format!("adapter {:?}: known_failing", adapter.name))?;
        }
    }
    Ok(())
}

/// Ends when this process is told to: whoever stops a run means its clients too.
fn told_to_end() -> anyhow::Result<impl Future<Output = ()>> {
    let mut told = Vec::new();
    for kind in [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()] {
        told.push(signal(kind).context("cannot listen to signals")?);
    }
    Ok(async move {
        let any = told.iter_mut().map(|signal| Box::pin(signal.recv()));
        futures_util::future::select_all(any).await;
    })
}

async fn report(suite: &Suite, clients: &[Client], settings: &Settings) -> Report {
    let started_unix_ms = unix_ms();
    let before = load();
    let described = describe(clients, settings).await;
    let present: Vec<Client> = clients
        .iter()
        .zip(&described)
        .filter(|(_, record)| record.missing.is_none())
        .map(|(client, _)| client.clone())
        .collect();
    let bar = progress(suite.cases.len() * present.len());
    let results = run(suite, &present, settings, |result| {
        bar.set_message(format!("{} {}", result.client, result.case));
        bar.inc(1);
    })
    .await;
    bar.finish_and_clear();
    let run = RunRecord {
        edition: suite.edition.clone(),
        runner: env!("CARGO_PKG_VERSION").to_owned(),
        started_unix_ms,
        took_ms: unix_ms().saturating_sub(started_unix_ms),
        host: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
        processors: std::thread::available_parallelism().map_or(1, usize::from),
        load: before.into_iter().chain(load()).collect(),
        jobs: settings.jobs,
    };
    Report { run, clients: described, cases: case_records(suite), results }
}

fn progress(length: usize) -> ProgressBar {
    if !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::new(length as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:24} {pos}/{len} {elapsed} {wide_msg}") {
        bar.set_style(style);
    }
    bar
}

/// The load of the last minute, where the system tells.
fn load() -> Option<String> {
    let text = std::fs::read_to_string("/proc/loadavg").ok()?;
    text.split(' ').next().map(str::to_owned)
}

pub(super) fn exit_code(outcome: Outcome) -> ExitCode {
    ExitCode::from(outcome as u8)
}
