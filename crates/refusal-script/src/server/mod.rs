//! The engine: plays a case on a raw socket and records what comes.

mod connection;
mod recorder;
mod request;
mod response;

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::case::{Case, CaseError};
use crate::clock::Clock;
use crate::trace::{Event, ExitMeaning, Trace};
use recorder::Recorder;

pub use recorder::Progress;

/// Connections beyond this are closed at once: no client needs more for 64 operations.
const MOST_CONNECTIONS: usize = 256;
/// A server that was forgotten stops by itself.
const LONGEST_RUN: Duration = Duration::from_secs(3_600);
/// How often the server looks whether it is being run in time.
const TICK: Duration = Duration::from_millis(10);
/// A tick later than this is recorded.
const RECORDED_LAG: Duration = Duration::from_millis(20);

/// One case on a port of its own, listening on the loopback interface until it is stopped or dropped, or
/// for an hour.
///
/// Clients keep state per origin; a port of its own keeps one run apart from all others.
#[derive(Debug)]
pub struct Server {
    case_id: String,
    operations: u32,
    address: SocketAddr,
    recorder: Arc<Recorder>,
    tasks: [JoinHandle<()>; 2],
}

/// A server that could not be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The case contradicts itself.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// No port could be had.
    #[error("cannot listen on {address}: {problem}")]
    Listen {
        /// Where it was to listen; port 0 stands for any that is free.
        address: SocketAddr,
        /// What the system says.
        problem: io::Error,
    },
}

impl Server {
    /// Listens on a free port of 127.0.0.1 and plays the case to whoever asks for it.
    ///
    /// # Errors
    ///
    /// A case that does not pass [`Case::check`], or no free port.
    pub async fn start(case: Case) -> Result<Self, StartError> {
        Self::start_on(case, SocketAddr::from(([127, 0, 0, 1], 0))).await
    }

    /// As [`Server::start`], on an address of the caller's choice.
    ///
    /// # Errors
    ///
    /// As [`Server::start`].
    pub async fn start_on(case: Case, address: SocketAddr) -> Result<Self, StartError> {
        case.check()?;
        let cannot_listen = |problem| StartError::Listen { address, problem };
        let listener = TcpListener::bind(address).await.map_err(cannot_listen)?;
        let address = listener.local_addr().map_err(cannot_listen)?;
        let (case_id, operations) = (case.id.clone(), case.operation_count());
        let recorder = Arc::new(Recorder::new(case, Clock::start()));
        let accept = tokio::spawn(accept(listener, Arc::clone(&recorder)));
        let tick = tokio::spawn(tick(Arc::clone(&recorder)));
        Ok(Self { case_id, operations, address, recorder, tasks: [accept, tick] })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The URL that a client is to be sent to.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.case_id)
    }

    /// The URL of each operation of a case that has several; one otherwise.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        if self.operations == 1 {
            return vec![self.url()];
        }
        (1..=self.operations).map(|operation| format!("{}?operation={operation}", self.url())).collect()
    }

    /// How far the run has come; changes wake the receiver.
    #[must_use]
    pub fn progress(&self) -> watch::Receiver<Progress> {
        self.recorder.progress()
    }

    /// Microseconds since the start, on the clock of the trace.
    #[must_use]
    pub fn now_us(&self) -> u64 {
        self.recorder.clock().at_us()
    }

    /// What has been seen so far.
    #[must_use]
    pub fn trace(&self) -> Trace {
        self.recorder.trace(0)
    }

    /// The events from a position on, for somebody who follows a run.
    #[must_use]
    pub fn events_from(&self, position: usize) -> Vec<Event> {
        self.recorder.trace(position).events
    }

    /// Adds the end of the client to the trace.
    pub fn record_exit(&self, code: Option<i32>, signal: Option<i32>, meaning: ExitMeaning) {
        let at_us = self.now_us();
        self.recorder.push(Event::Exit { at_us, code, signal, meaning });
    }

    /// Adds the gaps of a control run to the trace.
    pub fn record_control(&self, gaps_us: Vec<u64>) {
        self.recorder.push(Event::Control { gaps_us });
    }

    /// Closes every connection and returns the trace.
    pub async fn stop(self) -> Trace {
        self.finish(None).await
    }

    /// As [`Server::stop`], where the runner could not do its part.
    pub async fn stop_with_error(self, problem: String) -> Trace {
        self.finish(Some(problem)).await
    }

    async fn finish(mut self, harness_error: Option<String>) -> Trace {
        let at_us = self.now_us();
        for task in &mut self.tasks {
            task.abort();
            // Cancelled, which is what was asked for; connections go down with the task that owns them.
            let _ = task.await;
        }
        self.recorder.push(Event::End { at_us, harness_error });
        self.recorder.trace(0)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        for task in &self.tasks {
            task.abort();
        }
    }
}

async fn accept(listener: TcpListener, recorder: Arc<Recorder>) {
    let mut connections = JoinSet::new();
    let forgotten = tokio::time::sleep(LONGEST_RUN);
    tokio::pin!(forgotten);
    let mut number = 0;
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                number += 1;
                match accepted {
                    Ok((stream, _)) if connections.len() < MOST_CONNECTIONS => {
                        connections.spawn(connection::serve(stream, number, Arc::clone(&recorder)));
                    }
                    Ok(_) => recorder.reject(number, format!("more than {MOST_CONNECTIONS} connections at once")),
                    // Out of file descriptors, or a client that hung up already: the next one may do better.
                    Err(error) => {
                        recorder.reject(number, format!("no connection: {error}"));
                        tokio::time::sleep(TICK).await;
                    }
                }
            }
            Some(_) = connections.join_next() => {}
            () = &mut forgotten => return,
        }
    }
}

async fn tick(recorder: Arc<Recorder>) {
    let mut ticker = tokio::time::interval(TICK);
    ticker.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let tick_us = u64::try_from(TICK.as_micros()).unwrap_or(u64::MAX);
    let recorded_us = u64::try_from(RECORDED_LAG.as_micros()).unwrap_or(u64::MAX);
    let mut last_us = recorder.clock().at_us();
    loop {
        ticker.tick().await;
        let at_us = recorder.clock().at_us();
        let late_us = at_us.saturating_sub(last_us).saturating_sub(tick_us);
        if late_us > recorded_us {
            recorder.lag(at_us, late_us);
        }
        last_us = at_us;
    }
}
