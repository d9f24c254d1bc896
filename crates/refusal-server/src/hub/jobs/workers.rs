//! The tasks that take jobs from the queue and run them.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use super::{Job, JobKind, JobState, Task, index, prebuild, queue};
use crate::hub::Hub;
use crate::hub::store::StoreError;

/// How long to rest when the database cannot be written to, as on a full disk, before it is asked again.
const STORE_PAUSE: Duration = Duration::from_secs(1);

/// The tasks that run jobs.
pub(crate) struct Workers(JoinSet<()>);

impl Workers {
    /// Waits until each has ended the job that it had started.
    pub(crate) async fn wait(mut self) {
        while self.0.join_next().await.is_some() {}
    }
}

/// Starts the workers. They start no job once `stop` is cancelled, and break off those that are under way:
/// what was running is taken up again by the next start.
pub(crate) fn start(hub: &Arc<Hub>, stop: &CancellationToken) -> Workers {
    let mut workers = JoinSet::new();
    for _ in 0..hub.config.workers.get() {
        workers.spawn(work(Arc::clone(hub), stop.clone()));
    }
    Workers(workers)
}

async fn work(hub: Arc<Hub>, stop: CancellationToken) {
    while !stop.is_cancelled() {
        let bell = hub.desk.bell.notified();
        tokio::pin!(bell);
        // Listen before looking: a job that is queued in between rings for this worker too.
        bell.as_mut().enable();
        match hub.blocking(claim).await {
            Ok(Some(job)) => run(&hub, job, &stop).await,
            Ok(None) => tokio::select! {
                () = bell => {}
                () = stop.cancelled() => {}
            },
            Err(error) => {
                tracing::error!(%error, "could not take a job from the queue");
                rest(&stop).await;
            }
        }
    }
}

fn claim(hub: &Hub) -> Result<Option<Job>, StoreError> {
    // Held for the whole claim: once a hold has been granted, no job slips through.
    let held = hub.desk.held();
    let is_held = |kind: JobKind| held.contains(&kind);
    if !hub.database.read(|transaction| queue::has_claimable(transaction, is_held))? {
        return Ok(None);
    }
    hub.database.write(|transaction| queue::claim(transaction, is_held))
}

async fn run(hub: &Arc<Hub>, job: Job, stop: &CancellationToken) {
    tracing::info!(job = job.id, attempt = job.attempts, "job started");
    tokio::select! {
        () = tokio::time::sleep(hub.config.delay_of(job.kind)) => {}
        () = stop.cancelled() => return,
    }
    let (working, stopping) = (job.clone(), stop.clone());
    let outcome = hub
        .blocking(move |hub| match working.task {
            Task::Index { mpack_id } => index::run(hub, &working, mpack_id, &stopping),
            Task::Prebuild { generation } => prebuild::run(hub, &working, generation, &stopping),
        })
        .await;
    match outcome {
        Ok(state) => tracing::info!(job = job.id, ?state, "job ended"),
        Err(StoreError::Stopping) => tracing::info!(job = job.id, "job broken off; it runs again"),
        Err(error) => fail(hub, &job, error.to_string(), stop).await,
    }
    // What ends lets others start, and makes waiting requests succeed.
    hub.desk.ring();
}

/// Records a failure, for as long as it takes: on a full disk that may have to wait as well.
async fn fail(hub: &Arc<Hub>, job: &Job, error: String, stop: &CancellationToken) {
    tracing::error!(job = job.id, error, "job failed");
    while !stop.is_cancelled() {
        let (job, error) = (job.clone(), error.clone());
        let recorded = hub
            .blocking(move |hub| {
                hub.database
                    .write(|transaction| queue::finish(transaction, &job, JobState::Failed, Some(error)))
            })
            .await;
        match recorded {
            Ok(()) => return,
            Err::<(), StoreError>(error) => {
                tracing::error!(%error, "could not record that a job failed");
                rest(stop).await;
            }
        }
    }
}

async fn rest(stop: &CancellationToken) {
    tokio::select! {
        () = tokio::time::sleep(STORE_PAUSE) => {}
        () = stop.cancelled() => {}
    }
}
