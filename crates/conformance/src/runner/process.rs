//! Programs under test, each in a process group of its own and marked, so that it ends with all its
//! children.

use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStderr, Command};
use tokio::task::JoinHandle;

use super::{Settings, strays};
use crate::adapter::{Adapter, UNSUPPORTED_EXIT, Values};
use refusal_script::{Case, ExitMeaning};

/// How much of what a client complains about is kept: the end of it.
const COMPLAINT: usize = 2 * 1_024;
/// How long what a client has written is waited for once it is gone.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long a program may take to say its version.
const VERSION_TIMEOUT: Duration = Duration::from_secs(10);

/// A program that runs.
pub(super) struct Process {
    child: Child,
    group: Group,
    mark: String,
    complaint: JoinHandle<String>,
    fine_exits: Vec<i32>,
}

/// How a program ended.
pub(super) struct Ended {
    pub(super) code: Option<i32>,
    pub(super) signal: Option<i32>,
    pub(super) meaning: ExitMeaning,
}

impl Process {
    pub(super) fn start(adapter: &Adapter, case: &Case, values: &Values) -> anyhow::Result<Self> {
        let line = values.command(adapter)?;
        let (program, arguments) = line.split_first().context("expected a command, got nothing")?;
        let mut command = Command::new(program);
        for variable in ["RAC_START", "RAC_BODY_FILE", "RAC_DEADLINE_S", "RAC_CAP_S"] {
            command.env_remove(variable);
        }
        command.args(arguments).envs(values.environment()).envs(&adapter.environment).envs(&case.environment);
        // A proxy would answer in the server's place.
        for variable in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
            command.env_remove(variable);
        }
        let mark = strays::new_mark();
        command.env(strays::MARK, &mark);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        command.process_group(0).kill_on_drop(true);
        let mut child = command.spawn().with_context(|| format!("cannot start {program:?}"))?;
        let group = Group::of(&child);
        let complaint = tokio::spawn(tail(child.stderr.take()));
        Ok(Self { child, group, mark, complaint, fine_exits: adapter.fine_exits.clone() })
    }

    pub(super) async fn wait(&mut self) -> Ended {
        match self.child.wait().await {
            Ok(status) => self.ended(status),
            Err(_) => Ended { code: None, signal: None, meaning: ExitMeaning::Crash },
        }
    }

    fn ended(&self, status: ExitStatus) -> Ended {
        let (code, signal) = (status.code(), status.signal());
        let meaning = match code {
            Some(0 | 1) => ExitMeaning::Fine,
            Some(UNSUPPORTED_EXIT) => ExitMeaning::Unsupported,
            Some(code) if self.fine_exits.contains(&code) => ExitMeaning::Fine,
            _ => ExitMeaning::Crash,
        };
        Ended { code, signal, meaning }
    }

    /// Ends the program and its children, and returns what it complained about.
    pub(super) async fn end(mut self) -> String {
        self.group.kill();
        // Killed, or gone already.
        let _ = self.child.wait().await;
        strays::end_marked(&self.mark).await;
        // Whoever left the group and lost its mark may still hold the other end.
        let complaint = tokio::time::timeout(LAST_WORDS, self.complaint).await;
        complaint.ok().and_then(Result::ok).unwrap_or_default()
    }
}

/// A process group; it ends when this is dropped, whatever happened to the runner.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        Self(child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw))
    }

    fn kill(&mut self) {
        if let Some(group) = self.0.take() {
            // Nobody is left in it, which is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

async fn tail(stderr: Option<ChildStderr>) -> String {
    let Some(stderr) = stderr else { return String::new() };
    let mut stderr = BufReader::new(stderr);
    let (mut kept, mut piece) = (Vec::new(), [0; 1_024]);
    while let Ok(length @ 1..) = stderr.read(&mut piece).await {
        kept.extend_from_slice(piece.get(..length).unwrap_or_default());
        let surplus = kept.len().saturating_sub(COMPLAINT);
        kept.drain(..surplus);
    }
    String::from_utf8_lossy(&kept).trim().to_owned()
}

/// The first line that the program prints about its version.
///
/// # Errors
///
/// Why the client cannot be run: its program is not there, or an adapter's version command, which says
/// whether what the adapter rests on is installed, does not succeed.
pub(super) async fn version(adapter: &Adapter, settings: &Settings) -> Result<String, String> {
    let unknown = || "unknown".to_owned();
    let place = settings.adapters.display().to_string();
    let program = adapter.command.first().map(|program| program.replace("{adapters}", &place));
    let program = program.unwrap_or_default();
    find(&program).map_err(|error| format!("cannot start {program:?}: {error}"))?;
    let line: Vec<String> =
        adapter.version.iter().map(|element| element.replace("{adapters}", &place)).collect();
    let Some((program, arguments)) = line.split_first() else { return Ok(unknown()) };
    let output = Command::new(program).args(arguments).stdin(Stdio::null()).kill_on_drop(true).output();
    match tokio::time::timeout(VERSION_TIMEOUT, output).await {
        Ok(Ok(output)) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            Ok(text.lines().next().map_or_else(unknown, |line| line.trim().to_owned()))
        }
        Ok(Ok(output)) => {
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = complaint.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
            Err(format!("`{}` failed ({}) and said: {}", line.join(" "), output.status, last.trim()))
        }
        Ok(Err(error)) => Err(format!("cannot start {program:?}: {error}")),
        Err(_) => Ok(unknown()),
    }
}

/// Whether the system would find a program to start: the search that `exec` makes, ahead of time.
fn find(program: &str) -> io::Result<()> {
    let executable = |path: &Path| {
        rustix::fs::access(path, rustix::fs::Access::EXEC_OK)?;
        if path.is_dir() { Err(io::ErrorKind::IsADirectory.into()) } else { Ok(()) }
    };
    if program.contains('/') {
        return executable(Path::new(program));
    }
    let paths = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&paths).any(|directory| executable(&directory.join(program)).is_ok()) {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::NotFound, "there is no such program in PATH"))
}
