//! Everything that one test starts, and its end.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use rustix::process::Signal;
use tempfile::TempDir;

use crate::client::Client;
use crate::hub::Hub;
use crate::process::{OnLine, Process, Shared};
use crate::program::Program;
use crate::random::Random;
use crate::raw_server::{Answer, RawServer, Request};
use crate::tap::Tap;
use crate::trace::{Exchange, Trace};

/// What a scene is seeded with unless `E2E_SEED` says otherwise.
const SEED: u64 = 20_261_130;

/// A folder, a seed, and the processes that are started in it. All of it ends with the scene.
///
/// A thread that panics while it holds a scene prints the seed, the log of every process, and every trace.
#[derive(Debug)]
pub struct Scene {
    executable: PathBuf,
    seed: u64,
    paths: AtomicUsize,
    cast: Arc<Mutex<Cast>>,
}

#[derive(Debug)]
struct Cast {
    /// `None` once it has been removed.
    folder: Option<TempDir>,
    processes: Vec<Arc<Shared>>,
    traces: Vec<Trace>,
}

impl Scene {
    /// A scene whose programs are started by way of `executable`, which calls [`become_program`] first.
    ///
    /// [`become_program`]: crate::become_program
    ///
    /// # Errors
    ///
    /// When no folder can be made.
    pub fn new(executable: impl Into<PathBuf>) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("comeback-").tempdir().context("no temporary folder")?;
        let seed = match std::env::var("E2E_SEED") {
            Ok(text) => {
                text.parse().with_context(|| format!("expected a number in E2E_SEED, got {text:?}"))?
            }
            Err(_) => SEED,
        };
        Ok(Self {
            executable: executable.into(),
            seed,
            paths: AtomicUsize::new(0),
            cast: Arc::new(Mutex::new(Cast {
                folder: Some(folder),
                processes: Vec::new(),
                traces: Vec::new(),
            })),
        })
    }

    /// Bytes and choices that are the same for each run with the same seed.
    #[must_use]
    pub fn random(&self) -> Random {
        Random::new(self.seed)
    }

    /// The folder that all paths of the scene lie in.
    #[must_use]
    pub fn folder(&self) -> PathBuf {
        let cast = self.cast.lock().unwrap_or_else(PoisonError::into_inner);
        // After its end a scene is of no use, and neither is its folder.
        cast.folder.as_ref().map_or(Path::new("ended"), TempDir::path).to_owned()
    }

    /// A path in the scene's folder where nothing is yet.
    #[must_use]
    pub fn new_path(&self, name: &str) -> PathBuf {
        let number = self.paths.fetch_add(1, Ordering::Relaxed);
        self.folder().join(format!("{name}-{number}"))
    }

    /// A new, empty folder.
    ///
    /// # Errors
    ///
    /// When it cannot be made.
    pub fn new_folder(&self, name: &str) -> anyhow::Result<PathBuf> {
        let path = self.new_path(name);
        std::fs::create_dir(&path).with_context(|| format!("could not make {}", path.display()))?;
        Ok(path)
    }

    /// The server, with these arguments beside those that every scene gives it.
    ///
    /// # Errors
    ///
    /// When it does not say that it is ready.
    pub fn hub(&self, arguments: &[&str]) -> anyhow::Result<Hub> {
        Hub::start(self, arguments)
    }

    /// The client, working in `directory`.
    #[must_use]
    pub fn client(&self, directory: impl Into<PathBuf>) -> Client<'_> {
        Client::new(self, directory)
    }

    /// A relay in front of `server`; see [`Tap::start`].
    ///
    /// # Errors
    ///
    /// When no port can be had.
    pub fn tap(
        &self,
        server: SocketAddr,
        on_answer: impl Fn(&Exchange) + Send + Sync + 'static,
    ) -> anyhow::Result<Tap> {
        let tap = Tap::start(server, on_answer)?;
        self.note(tap.trace());
        Ok(tap)
    }

    /// A server that answers as it is told; see [`RawServer::start`].
    ///
    /// # Errors
    ///
    /// When no port can be had.
    pub fn raw_server(
        &self,
        answer: impl FnMut(&Request) -> Answer + Send + 'static,
    ) -> anyhow::Result<RawServer> {
        let server = RawServer::start(answer)?;
        self.note(server.trace());
        Ok(server)
    }

    /// The means to end it all from another thread.
    #[must_use]
    pub fn ender(&self) -> Ender {
        Ender(Arc::clone(&self.cast))
    }

    pub(crate) fn start(
        &self,
        program: Program,
        adapt: impl FnOnce(&mut Command),
        on_line: Option<OnLine>,
    ) -> anyhow::Result<Process> {
        let process =
            Process::start(program, &self.executable, self.new_path("peak-memory"), adapt, on_line)?;
        self.cast.lock().unwrap_or_else(PoisonError::into_inner).processes.push(process.shared());
        Ok(process)
    }

    fn note(&self, trace: &Trace) {
        self.cast.lock().unwrap_or_else(PoisonError::into_inner).traces.push(trace.clone());
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let cast = self.cast.lock().unwrap_or_else(PoisonError::into_inner);
            eprintln!("\nThe scene, with E2E_SEED={}:", self.seed);
            for process in &cast.processes {
                eprint!("{}", process.log());
            }
            for trace in &cast.traces {
                eprint!("{}", trace.log());
            }
        }
        self.ender().end();
    }
}

/// Ends a scene from another thread.
#[derive(Debug, Clone)]
pub struct Ender(Arc<Mutex<Cast>>);

impl Ender {
    /// Kills every process and removes the folder.
    pub fn end(&self) {
        let mut cast = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for process in cast.processes.drain(..) {
            process.signal(Signal::KILL);
            process.wait_for_end();
        }
        // What is left of it lies in the system's folder for such things.
        drop(cast.folder.take());
    }
}
