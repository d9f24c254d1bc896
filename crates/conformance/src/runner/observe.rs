//! One client before one server, for as long as the case says.

use std::io::Write as _;
use std::time::Duration;

use anyhow::Context as _;
use refusal_script::{Case, ExitMeaning, Progress, Server, Trace, Until};
use tempfile::NamedTempFile;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use super::process::{Ended, Process};
use super::{Client, Settings, values};

/// How long a client may take to exit after its last answer.
const SETTLE: Duration = Duration::from_millis(700);

/// What was seen.
pub(super) struct Played {
    pub(super) trace: Trace,
    /// The end of what the client wrote to its standard error.
    pub(super) complaint: Option<String>,
}

/// Plays a case to a client. `room` bounds how many run at once.
pub(super) async fn play(client: &Client, case: &Case, settings: &Settings, room: &Semaphore) -> Played {
    let _room = room.acquire().await;
    let server = match Server::start(case.clone()).await {
        Ok(server) => server,
        Err(error) => return harness_error(format!("cannot play the case: {error}")),
    };
    let mut running = match Running::start(client, case, settings, &server) {
        Ok(running) => running,
        Err(problem) => {
            return Played { trace: server.stop_with_error(format!("{problem:#}")).await, complaint: None };
        }
    };
    let exited = tokio::select! {
        ended = running.wait() => Some(ended),
        () = observation(case, &server, settings.first_contact) => None,
    };
    match exited {
        Some(Ended { code, signal, meaning }) => server.record_exit(code, signal, meaning),
        None => server.record_exit(None, None, ExitMeaning::EndedByRunner),
    }
    // The client first: one that loops would go on against a port that nobody listens on.
    let complaint = running.end().await;
    let trace = server.stop().await;
    Played { trace, complaint: Some(complaint).filter(|complaint| !complaint.is_empty()) }
}

fn harness_error(problem: String) -> Played {
    let end = refusal_script::Event::End { at_us: 0, harness_error: Some(problem) };
    Played { trace: Trace { events: vec![end] }, complaint: None }
}

/// Ends when the case has been watched for long enough.
async fn observation(case: &Case, server: &Server, first_contact: Duration) {
    let mut progress = server.progress();
    // What `wait_for` returns locks the server's progress; none of it is kept.
    let contact = async { drop(progress.wait_for(|progress| progress.first_contact_us.is_some()).await) };
    if tokio::time::timeout(first_contact, contact).await.is_err() {
        return;
    }
    let window = tokio::time::sleep(Duration::from_millis(case.observe.window_ms));
    let until_script_end = case.observe.until == Until::ScriptEnd;
    let is_enough = |progress: &Progress| progress.flooded || (until_script_end && progress.script_ended);
    let enough = async { drop(progress.wait_for(is_enough).await) };
    tokio::select! {
        () = window => {}
        () = enough => tokio::time::sleep(SETTLE).await,
    }
}

/// A client that runs, of either kind.
enum Running {
    Process { process: Box<Process>, _body: Option<NamedTempFile> },
    Task(JoinHandle<i32>),
}

impl Running {
    fn start(client: &Client, case: &Case, settings: &Settings, server: &Server) -> anyhow::Result<Self> {
        match client {
            Client::BuiltIn(built_in) => {
                Ok(Self::Task(tokio::spawn(built_in.run(case.clone(), server.urls()))))
            }
            Client::Program(adapter) => {
                let body = body_file(case)?;
                let path = body.as_ref().map(|file| file.path().to_owned());
                let values = values(case, server.urls(), path, settings);
                let process = Process::start(adapter, case, &values)?;
                Ok(Self::Process { process: Box::new(process), _body: body })
            }
        }
    }

    async fn wait(&mut self) -> Ended {
        match self {
            Self::Process { process, .. } => process.wait().await,
            Self::Task(task) => match task.await {
                Ok(code) => Ended { code: Some(code), signal: None, meaning: ExitMeaning::Fine },
                Err(_) => Ended { code: None, signal: None, meaning: ExitMeaning::Crash },
            },
        }
    }

    async fn end(self) -> String {
        match self {
            Self::Process { process, .. } => process.end().await,
            Self::Task(task) => {
                task.abort();
                String::new()
            }
        }
    }
}

/// The request body, made up: no two pieces of it are alike, so that a cut or a shift shows.
pub(super) fn body(bytes: u64) -> Vec<u8> {
    (0..bytes).map(|at| b'a' + u8::try_from((at ^ (at >> 8)) % 26).unwrap_or(0)).collect()
}

fn body_file(case: &Case) -> anyhow::Result<Option<NamedTempFile>> {
    let Some(bytes) = case.request.body_bytes else { return Ok(None) };
    let mut file = NamedTempFile::new().context("cannot make a file for the request body")?;
    file.write_all(&body(bytes)).context("cannot write the request body")?;
    Ok(Some(file))
}
