//! The client, as a process for each command.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::hub::TOKEN;
use crate::process::{Ended, Line, Process};
use crate::program::Program;
use crate::scene::Scene;

/// The client, ready to be started in a directory of its own.
#[derive(Debug, Clone)]
pub struct Client<'a> {
    scene: &'a Scene,
    directory: PathBuf,
    environment: Vec<(OsString, OsString)>,
}

impl<'a> Client<'a> {
    pub(crate) fn new(scene: &'a Scene, directory: impl Into<PathBuf>) -> Self {
        Self { scene, directory: directory.into(), environment: Vec::new() }
    }

    /// Where it works.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Sets a variable of its environment.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.environment.push((name.into(), value.into()));
        self
    }

    /// Starts a command.
    ///
    /// # Errors
    ///
    /// When the system cannot start it.
    pub fn start(&self, arguments: &[impl AsRef<OsStr>]) -> anyhow::Result<Process> {
        self.begin(arguments, None)
    }

    /// Starts a command, and tells `on_line` of each line as it comes.
    ///
    /// # Errors
    ///
    /// When the system cannot start it.
    pub fn start_watched(
        &self,
        arguments: &[impl AsRef<OsStr>],
        on_line: impl Fn(&Line) + Send + Sync + 'static,
    ) -> anyhow::Result<Process> {
        self.begin(arguments, Some(Box::new(on_line)))
    }

    /// Runs a command to its end.
    ///
    /// # Errors
    ///
    /// When it cannot be started or does not end.
    pub fn run(&self, arguments: &[impl AsRef<OsStr>]) -> anyhow::Result<Ended> {
        self.start(arguments)?.wait()
    }

    /// Runs a command that is to succeed.
    ///
    /// # Errors
    ///
    /// When it does not; the error holds what it wrote.
    pub fn succeed(&self, arguments: &[impl AsRef<OsStr>]) -> anyhow::Result<Ended> {
        let ended = self.run(arguments)?;
        if ended.code() != Some(0) {
            let shown: Vec<_> =
                arguments.iter().map(|argument| argument.as_ref().to_string_lossy()).collect();
            bail!(
                "fetch-client {} ended with {}: {}",
                shown.join(" "),
                ended.status,
                ended.stderr.trim_end()
            );
        }
        Ok(ended)
    }

    /// Makes the directory a repository and commits what it holds.
    ///
    /// # Errors
    ///
    /// As [`Client::succeed`].
    pub fn commit_all(&self) -> anyhow::Result<Ended> {
        if !self.directory.join(".muse").exists() {
            self.succeed(&["init"])?;
        }
        self.succeed(&["commit", "--message", "a state of the folder"])
    }

    /// Commits what the directory holds and pushes it to `url`, readable for everybody.
    ///
    /// # Errors
    ///
    /// As [`Client::succeed`].
    pub fn publish(&self, url: &str) -> anyhow::Result<Ended> {
        self.commit_all()?;
        self.succeed(&["push", url, "--public", "--token", TOKEN])
    }

    fn begin(
        &self,
        arguments: &[impl AsRef<OsStr>],
        on_line: Option<crate::process::OnLine>,
    ) -> anyhow::Result<Process> {
        self.scene.start(
            Program::Client,
            |command| {
                command.current_dir(&self.directory).args(arguments);
                command.envs(self.environment.iter().map(|(name, value)| (name, value)));
            },
            on_line,
        )
    }
}
