//! A program that runs: its lines, its signals, its end.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};

use crate::clock;
use crate::memory::peak_memory_of;
use crate::program::Program;

/// How long anything is waited for before a test gives up: far beyond what a busy machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Which of its two outputs a process wrote to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// One line that a process wrote.
#[derive(Debug, Clone)]
pub struct Line {
    /// Where to.
    pub stream: Stream,
    /// When it was read, since the process was started.
    pub at: Duration,
    /// The line without its end.
    pub text: String,
}

/// A process that was started here, with all that it writes. Dropping it kills it.
#[derive(Debug)]
pub struct Process {
    shared: Arc<Shared>,
    peak: PathBuf,
    /// Closed when this is dropped, which ends the process even where nobody is left to kill it.
    _stdin: Option<ChildStdin>,
}

/// How a process ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// As the system tells it.
    pub status: ExitStatus,
    /// All of standard output.
    pub stdout: String,
    /// All of standard error.
    pub stderr: String,
    /// How long it ran.
    pub after: Duration,
    /// The most memory that it has held at once, in bytes, where it ended by itself and the system tells.
    pub peak_memory: Option<u64>,
}

impl Ended {
    /// The exit code; `None` where a signal ended it.
    #[must_use]
    pub fn code(&self) -> Option<i32> {
        self.status.code()
    }
}

/// Is told of each line as it comes.
pub(crate) type OnLine = Box<dyn Fn(&Line) + Send + Sync>;

impl Process {
    /// Starts `program` anew, by way of `executable`; `peak` is where it is to write how much memory it took.
    pub(crate) fn start(
        program: Program,
        executable: &Path,
        peak: PathBuf,
        adapt: impl FnOnce(&mut Command),
        on_line: Option<OnLine>,
    ) -> anyhow::Result<Self> {
        let name = program.name();
        let mut command = program.command(executable, &peak);
        adapt(&mut command);
        let started = clock::now();
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("could not start {name}"))?;
        let pid = Pid::from_child(&child);
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("it is piped");
        let stderr = child.stderr.take().expect("it is piped");
        let shared = Arc::new(Shared {
            name: name.to_owned(),
            arguments: command.get_args().skip(2).map(OsStr::to_string_lossy).collect::<Vec<_>>().join(" "),
            pid,
            started,
            on_line,
            state: Mutex::new(State { child, status: None, ended: None, lines: Vec::new(), open: 2 }),
            changed: Condvar::new(),
        });
        let (out, err, end) = (Arc::clone(&shared), Arc::clone(&shared), Arc::clone(&shared));
        std::thread::spawn(move || out.read(Stream::Out, stdout));
        std::thread::spawn(move || err.read(Stream::Err, stderr));
        std::thread::spawn(move || end.await_end());
        Ok(Self { shared, peak, _stdin: stdin })
    }

    /// The process's number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.shared.pid.as_raw_nonzero().get().unsigned_abs()
    }

    /// Waits until the process has written a line that `wanted` takes, whether before this call or after.
    ///
    /// # Errors
    ///
    /// When the process ends without one, or [`PATIENCE`] does.
    pub fn line(&self, what: &str, wanted: impl Fn(&Line) -> bool) -> anyhow::Result<Line> {
        let found =
            self.shared.wait_until(PATIENCE, |state| match state.lines.iter().find(|line| wanted(line)) {
                Some(line) => Some(Some(line.clone())),
                None if state.open == 0 => Some(None),
                None => None,
            });
        match found {
            Some(Some(line)) => Ok(line),
            Some(None) => bail!("{} ended before it wrote {what}:\n{}", self.shared.name, self.log()),
            None => bail!("{} did not write {what} in {PATIENCE:?}:\n{}", self.shared.name, self.log()),
        }
    }

    /// Waits for the end.
    ///
    /// # Errors
    ///
    /// When it does not come within `limit`.
    pub fn wait_for(&self, limit: Duration) -> anyhow::Result<Ended> {
        let ended = self.shared.wait_until(limit, |state| {
            let status = state.status.filter(|_| state.open == 0)?;
            let text = |stream| {
                let mut text = String::new();
                for line in state.lines.iter().filter(|line| line.stream == stream) {
                    text.push_str(&line.text);
                    text.push('\n');
                }
                text
            };
            let after = state.ended.unwrap_or_default();
            let peak_memory = std::fs::read_to_string(&self.peak).ok().and_then(|bytes| bytes.parse().ok());
            Some(Ended { status, stdout: text(Stream::Out), stderr: text(Stream::Err), after, peak_memory })
        });
        ended.with_context(|| format!("{} did not end in {limit:?}:\n{}", self.shared.name, self.log()))
    }

    /// Waits for the end, for as long as [`PATIENCE`] allows.
    ///
    /// # Errors
    ///
    /// As [`Process::wait_for`].
    pub fn wait(&self) -> anyhow::Result<Ended> {
        self.wait_for(PATIENCE)
    }

    /// Whether it has ended, by itself or not.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.shared.state().status.is_some()
    }

    /// What SIGINT or Ctrl-C does.
    pub fn interrupt(&self) {
        self.shared.signal(Signal::INT);
    }

    /// What SIGTERM does.
    pub fn terminate(&self) {
        self.shared.signal(Signal::TERM);
    }

    /// What SIGKILL does, and its end awaited.
    ///
    /// # Errors
    ///
    /// When even that does not end it within [`PATIENCE`].
    pub fn kill(&self) -> anyhow::Result<Ended> {
        self.shared.signal(Signal::KILL);
        self.wait()
    }

    /// The most memory that it has held so far, in bytes; `None` once it has ended, or where nobody can tell.
    #[must_use]
    pub fn peak_memory(&self) -> Option<u64> {
        peak_memory_of(self.id())
    }

    /// All lines so far, with what they were written to and when.
    #[must_use]
    pub fn log(&self) -> String {
        self.shared.log()
    }

    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.shared.signal(Signal::KILL);
    }
}

/// What outlives the [`Process`]: its log, and the means to end it.
pub(crate) struct Shared {
    name: String,
    arguments: String,
    pid: Pid,
    started: Instant,
    on_line: Option<OnLine>,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    child: Child,
    status: Option<ExitStatus>,
    ended: Option<Duration>,
    lines: Vec<Line>,
    /// How many of its outputs may still bring something.
    open: u8,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Shared")
            .field("name", &self.name)
            .field("pid", &self.pid)
            .finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn log(&self) -> String {
        let state = self.state();
        let mut text = format!("--- {} {}\n", self.name, self.arguments);
        for Line { stream, at, text: line } in &state.lines {
            let mark = if *stream == Stream::Out { "out" } else { "err" };
            let _ = writeln!(text, "{:8.3} {mark} {line}", at.as_secs_f64());
        }
        match (state.status, state.ended) {
            (Some(status), Some(at)) => {
                let _ = writeln!(text, "{:8.3} {status}", at.as_secs_f64());
            }
            _ => text.push_str("         still running\n"),
        }
        text
    }

    /// A process that has ended keeps its number until it is reaped, which happens under the same lock: no other
    /// process can be hit.
    pub(crate) fn signal(&self, signal: Signal) {
        let state = self.state();
        if state.status.is_none() {
            // It fails where the process has ended by itself, which is as good.
            let _ = rustix::process::kill_process(self.pid, signal);
        }
    }

    pub(crate) fn wait_for_end(&self) {
        self.wait_until(PATIENCE, |state| state.status.map(drop));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until<T>(&self, limit: Duration, mut done: impl FnMut(&State) -> Option<T>) -> Option<T> {
        let start = clock::now();
        let mut state = self.state();
        loop {
            if let Some(found) = done(&state) {
                return Some(found);
            }
            let left = limit.checked_sub(clock::since(start))?;
            let woken = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner);
            state = woken.0;
        }
    }

    fn read(&self, stream: Stream, source: impl Read) {
        let mut source = BufReader::new(source);
        let mut bytes = Vec::new();
        while source.read_until(b'\n', &mut bytes).is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&bytes).trim_end_matches(['\n', '\r']).to_owned();
            bytes.clear();
            let line = Line { stream, at: clock::since(self.started), text };
            if let Some(on_line) = &self.on_line {
                on_line(&line);
            }
            self.state().lines.push(line);
            self.changed.notify_all();
        }
        self.state().open -= 1;
        self.changed.notify_all();
    }

    fn await_end(&self) {
        // The process ends and stays a zombie, so that its number is nobody else's yet.
        while rustix::process::waitid(WaitId::Pid(self.pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        let mut state = self.state();
        state.status = state.child.wait().ok();
        state.ended = Some(clock::since(self.started));
        self.changed.notify_all();
    }
}
