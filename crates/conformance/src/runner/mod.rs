//! The runner: a server and a client for each case, many at once.

mod built_in;
mod observe;
mod process;
mod strays;
mod wire;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use refusal_script::{Case, Event, Reason, Verdict, VerdictKind, gaps_us, judge};
use tokio::sync::Semaphore;

use crate::adapter::{Adapter, Values};
use crate::report::{CaseRecord, ClientRecord, ResultRecord};
use crate::suite::Suite;
use observe::Played;

pub use built_in::BuiltIn;
pub use strays::{adopt, end_adopted};

/// A client that has not sent anything by then is not going to.
const FIRST_CONTACT: Duration = Duration::from_secs(30);
/// How often an inconclusive case gets another chance.
const PLAYED_AGAIN: usize = 2;
/// Few enough for two processors.
const JOBS_WHEN_PLAYED_AGAIN: usize = 4;

/// A client under test.
#[derive(Debug, Clone)]
pub enum Client {
    /// A program.
    Program(Arc<Adapter>),
    /// One of the five that the suite tests itself with.
    BuiltIn(BuiltIn),
}

impl Client {
    /// Its name in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Program(adapter) => &adapter.name,
            Self::BuiltIn(built_in) => built_in.name(),
        }
    }

    /// Nothing in its command line says where to go; a program may still read the environment by itself.
    fn is_told_no_url(&self) -> bool {
        match self {
            Self::Program(adapter) => !adapter.mentions(&["{url}", "{urls}", "RAC_URL"]),
            Self::BuiltIn(_) => false,
        }
    }

    fn unsupported(&self, case: &Case) -> Option<String> {
        match self {
            Self::Program(adapter) => adapter.unsupported(case),
            // They claim whatever a case wants.
            Self::BuiltIn(_) => None,
        }
    }
}

/// How to run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Clients at once, controls included.
    pub jobs: usize,
    /// Where adapters and what they start lie.
    pub adapters: PathBuf,
    /// How long a client may take until its first request.
    pub first_contact: Duration,
}

impl Settings {
    /// With half a minute until the first request.
    #[must_use]
    pub fn new(jobs: usize, adapters: impl Into<PathBuf>) -> Self {
        Self { jobs, adapters: adapters.into(), first_contact: FIRST_CONTACT }
    }
}

/// The results of each client, in the order of the suite.
///
/// `done` is told of each as it comes in. What stays inconclusive, because this process lagged, is played
/// again when the others are done: that says nothing about the client, and the processors are free then.
pub async fn run(
    suite: &Suite,
    clients: &[Client],
    settings: &Settings,
    mut done: impl FnMut(&ResultRecord),
) -> Vec<ResultRecord> {
    let pairs: Vec<(&Client, &Case)> =
        clients.iter().flat_map(|client| suite.cases.iter().map(move |(_, case)| (client, case))).collect();
    let mut results: BTreeMap<usize, ResultRecord> = BTreeMap::new();
    for round in 0..=PLAYED_AGAIN {
        let jobs = if round == 0 { settings.jobs } else { settings.jobs.min(JOBS_WHEN_PLAYED_AGAIN) };
        let room = Semaphore::new(jobs.clamp(1, Semaphore::MAX_PERMITS));
        let mut running = FuturesUnordered::new();
        for (position, (client, case)) in pairs.iter().enumerate() {
            if results.get(&position).is_none_or(|result| result.verdict.kind == VerdictKind::Inconclusive) {
                let room = &room;
                running.push(async move { (position, one(client, case, settings, room).await) });
            }
        }
        while let Some((position, mut result)) = running.next().await {
            if round == 0 {
                done(&result);
            } else {
                result.verdict.notes.push(format!("played {} times: the runner had lagged", round + 1));
            }
            results.insert(position, result);
        }
    }
    let mut results: Vec<ResultRecord> = results.into_values().collect();
    for of_client in results.chunks_mut(suite.cases.len().max(1)) {
        rest_on_dependencies(suite, of_client);
    }
    results
}

async fn one(client: &Client, case: &Case, settings: &Settings, room: &Semaphore) -> ResultRecord {
    let result = |verdict, trace, complaint| ResultRecord {
        client: client.name().to_owned(),
        case: case.id.clone(),
        verdict,
        known_failing: match client {
            Client::Program(adapter) => adapter.known_failing.get(&case.id).cloned(),
            Client::BuiltIn(_) => None,
        },
        complaint,
        trace,
    };
    if let Some(why) = client.unsupported(case) {
        let verdict = Verdict::new(VerdictKind::Unsupported, Reason::Unsupported, why);
        return result(verdict, Vec::new(), None);
    }
    let played = observe::play(client, case, settings, room);
    let control = async {
        if !case.control {
            return None;
        }
        let control = case.without_hint();
        let Played { trace, .. } = observe::play(client, &control, settings, room).await;
        let problem = trace.events.iter().find_map(|event| match event {
            Event::End { harness_error, .. } => harness_error.clone(),
            _ => None,
        });
        Some(match problem {
            Some(problem) => Err(format!("the control: {problem}")),
            None => Ok(gaps_us(&control, &trace)),
        })
    };
    let (Played { mut trace, complaint }, gaps) = tokio::join!(played, control);
    if let Some(gaps_us) = gaps {
        match gaps_us {
            Ok(gaps_us) => trace.events.push(Event::Control { gaps_us }),
            Err(problem) => trace.events.push(Event::End { at_us: 0, harness_error: Some(problem) }),
        }
    }
    let mut verdict = judge(case, &trace);
    if verdict.kind == VerdictKind::NoContact && client.is_told_no_url() {
        verdict.sentence.push_str(
            "; its command line names neither {url}, which stands for that URL, nor $RAC_URL, which holds it",
        );
    }
    result(verdict, trace.events, complaint)
}

/// Once all is in, each verdict is seen in the light of those that it depends on.
fn rest_on_dependencies(suite: &Suite, results: &mut [ResultRecord]) {
    let before: BTreeMap<String, Verdict> =
        results.iter().map(|result| (result.case.clone(), result.verdict.clone())).collect();
    for (result, (_, case)) in results.iter_mut().zip(&suite.cases) {
        let dependencies = case.depends_on.iter().filter_map(|id| Some((id.as_str(), before.get(id)?)));
        result.verdict = result.verdict.clone().given(dependencies);
    }
}

/// What a report says about the clients: version, command line, and why one cannot be run at all.
pub async fn describe(clients: &[Client], settings: &Settings) -> Vec<ClientRecord> {
    let mut records = Vec::new();
    for client in clients {
        records.push(match client {
            Client::BuiltIn(built_in) => ClientRecord {
                name: built_in.name().to_owned(),
                title: built_in.title().to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
                command: Vec::new(),
                missing: None,
            },
            Client::Program(adapter) => {
                let (version, missing) = match process::version(adapter, settings).await {
                    Ok(version) => (version, None),
                    Err(problem) => ("missing".to_owned(), Some(problem)),
                };
                ClientRecord {
                    name: adapter.name.clone(),
                    title: adapter.title.clone(),
                    version,
                    command: adapter.command.clone(),
                    missing,
                }
            }
        });
    }
    records
}

/// What a report says about the cases.
#[must_use]
pub fn case_records(suite: &Suite) -> Vec<CaseRecord> {
    suite.cases.iter().map(|(group, case)| CaseRecord { group: group.clone(), case: case.clone() }).collect()
}

fn values(case: &Case, urls: Vec<String>, body_file: Option<PathBuf>, settings: &Settings) -> Values {
    Values {
        urls,
        start: case.operations.map(|operations| operations.start),
        method: case.request.method.clone(),
        body_file,
        deadline_s: case.request.deadline_s,
        cap_s: case.request.cap_s,
        adapters: settings.adapters.clone(),
        case: case.id.clone(),
    }
}
