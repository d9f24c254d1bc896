//! What the server does between a push and the first good fetch: real jobs in a durable queue.

mod index;
mod job;
mod prebuild;
pub(crate) mod queue;
mod workers;

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

pub(crate) use index::enqueue_prebuild;
pub use job::JobKind;
pub(crate) use job::{Job, JobState, Task};
pub(crate) use workers::start;

/// How often a job is started before a restart of the server no longer tries it. A person still can.
const MOST_ATTEMPTS: u32 = 5;

/// What the workers share with whoever gives them work: which kinds are held, and the bell.
#[derive(Debug)]
pub(crate) struct Desk {
    held: Mutex<BTreeSet<JobKind>>,
    bell: Notify,
}

impl Desk {
    pub(super) fn new(held: impl IntoIterator<Item = JobKind>) -> Self {
        Self { held: Mutex::new(held.into_iter().collect()), bell: Notify::new() }
    }

    /// Lets no further job of these kinds start. When this returns, none is about to.
    pub(crate) fn hold(&self, kinds: &[JobKind]) {
        self.held().extend(kinds);
    }

    /// Lets jobs of these kinds start again.
    pub(crate) fn release(&self, kinds: &[JobKind]) {
        self.held().retain(|kind| !kinds.contains(kind));
        self.ring();
    }

    /// The kinds that are held. No job starts while the guard lives.
    pub(crate) fn held(&self) -> MutexGuard<'_, BTreeSet<JobKind>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the workers that there may be something to do.
    pub(crate) fn ring(&self) {
        self.bell.notify_waiters();
    }
}
