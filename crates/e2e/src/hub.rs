//! The server, as a process that tests hold and release.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, bail};
use serde_json::{Value, json};

use crate::clock;
use crate::message::ask;
use crate::process::{PATIENCE, Process, Stream};
use crate::program::Program;
use crate::scene::Scene;

/// The token that may push to every [`Hub`].
pub const TOKEN: &str = "end-to-end";
/// How often the admin API, which tells states and no events, is asked whether a job has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// What the server does between a push and the first good fetch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    /// Makes the objects of a pack known.
    Index,
    /// Builds the pack for clones.
    Prebuild,
}

impl JobKind {
    /// The name that the server gives it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Index => "mpack.index",
            Self::Prebuild => "fetch.mpack.prebuild",
        }
    }
}

impl fmt::Display for JobKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// The server, as a process.
#[derive(Debug)]
pub struct Hub {
    process: Process,
    address: SocketAddr,
    data: PathBuf,
}

impl Hub {
    /// Starts it on a free port, with its data in a new folder of the scene.
    ///
    /// # Errors
    ///
    /// When it does not say that it is ready.
    pub fn start(scene: &Scene, arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_with(scene, scene.new_path("hub"), SocketAddr::from(([127, 0, 0, 1], 0)), arguments)
    }

    /// Starts another one where this one was, with its data and on its port.
    ///
    /// # Errors
    ///
    /// As [`Hub::start`].
    pub fn start_again(&self, scene: &Scene, arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_with(scene, self.data.clone(), self.address, arguments)
    }

    fn start_with(
        scene: &Scene,
        data: PathBuf,
        listen: SocketAddr,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        let process = scene.start(
            Program::Server,
            |command| {
                command.arg("--listen").arg(listen.to_string()).arg("--data").arg(&data);
                command.args(["--dev-token", TOKEN]).args(arguments);
            },
            None,
        )?;
        let ready = process.line("its ready line", |line| line.stream == Stream::Out)?;
        let address = ready
            .text
            .strip_prefix("refusal-server ready on http://")
            .and_then(|address| address.parse().ok())
            .with_context(|| format!("expected the ready line, got {:?}", ready.text))?;
        Ok(Self { process, address, data })
    }

    /// The process.
    #[must_use]
    pub fn process(&self) -> &Process {
        &self.process
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The folder with all that it keeps.
    #[must_use]
    pub fn data(&self) -> &std::path::Path {
        &self.data
    }

    /// The address of a repository.
    #[must_use]
    pub fn url(&self, repository: &str) -> String {
        format!("http://{}/{repository}", self.address)
    }

    /// Lets no further job of this kind start.
    ///
    /// # Errors
    ///
    /// When the admin API says no.
    pub fn hold(&self, kind: JobKind) -> anyhow::Result<()> {
        admin(self.address, "hold", kind)
    }

    /// Lets jobs of this kind start again.
    ///
    /// # Errors
    ///
    /// When the admin API says no.
    pub fn release(&self, kind: JobKind) -> anyhow::Result<()> {
        admin(self.address, "release", kind)
    }

    /// The same as [`Hub::release`], for a callback that outlives this.
    pub fn releaser(&self) -> impl Fn(JobKind) -> anyhow::Result<()> + Send + Sync + use<> {
        let address = self.address;
        move |kind| admin(address, "release", kind)
    }

    /// The state of each job of this kind, in their order.
    ///
    /// # Errors
    ///
    /// When the admin API says no.
    pub fn jobs(&self, kind: JobKind) -> anyhow::Result<Vec<String>> {
        let (head, body) = ask(self.address, "GET /_admin/jobs", "")?;
        if head.status() != Some(200) {
            bail!("expected the list of jobs, got {}: {body}", head.first_line());
        }
        let listed: Value = serde_json::from_str(&body)?;
        let jobs = listed["jobs"].as_array().context("expected a list of jobs")?;
        let states = jobs.iter().filter(|job| job["kind"] == kind.name()).map(|job| {
            job["state"].as_str().map(str::to_owned).with_context(|| format!("expected a state in {job}"))
        });
        states.collect()
    }

    /// Waits until `number` jobs of this kind are in `state`.
    ///
    /// # Errors
    ///
    /// When that takes longer than [`PATIENCE`].
    pub fn wait_for_jobs(&self, kind: JobKind, number: usize, state: &str) -> anyhow::Result<()> {
        let start = clock::now();
        loop {
            let jobs = self.jobs(kind)?;
            if jobs.iter().filter(|job| *job == state).count() >= number {
                return Ok(());
            }
            if clock::since(start) > PATIENCE {
                bail!("expected {number} jobs {kind} to be {state}, and they are {jobs:?}");
            }
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

fn admin(address: SocketAddr, what: &str, kind: JobKind) -> anyhow::Result<()> {
    let body = json!({ "kind": kind.name() }).to_string();
    let (head, body) = ask(address, &format!("POST /_admin/jobs/{what}"), &body)?;
    match head.status() {
        Some(200) => Ok(()),
        _ => bail!("could not {what} {kind}: {}: {body}", head.first_line()),
    }
}
