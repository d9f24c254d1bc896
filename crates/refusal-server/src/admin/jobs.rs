use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};

use crate::hub::jobs::{Job, JobKind, JobState, queue};
use crate::hub::{Hub, JsonBody, StoreError};
use crate::refusal::{Failure, Refused};

/// The most jobs that a list shows: the latest.
const MOST_LISTED: usize = 1_000;

/// The queue, as it stands.
#[derive(Serialize)]
pub(super) struct Listed {
    held: Vec<JobKind>,
    jobs: Vec<Job>,
}

/// Which kind is meant; all of them where none is named.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Which {
    kind: Option<JobKind>,
}

impl Which {
    fn kinds(&self) -> Vec<JobKind> {
        self.kind.map_or_else(|| JobKind::ALL.to_vec(), |kind| vec![kind])
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Named {
    id: String,
}

#[derive(Serialize)]
pub(super) struct Held {
    held: Vec<JobKind>,
}

/// `GET /_admin/jobs`.
pub(super) async fn list(State(hub): State<Arc<Hub>>) -> Result<Json<Listed>, Refused> {
    hub.blocking(|hub| {
        let held = hub.desk.held().iter().copied().collect();
        let jobs = hub.database.read(|transaction| queue::list(transaction, MOST_LISTED))?;
        Ok(Json(Listed { held, jobs }))
    })
    .await
}

/// `POST /_admin/jobs/hold`: no further job of that kind starts. One that runs goes on.
pub(super) async fn hold(
    State(hub): State<Arc<Hub>>,
    JsonBody(which): JsonBody<Which>,
) -> Result<Json<Held>, Refused> {
    change(hub, move |hub| hub.desk.hold(&which.kinds())).await
}

/// `POST /_admin/jobs/release`: jobs of that kind start again.
pub(super) async fn release(
    State(hub): State<Arc<Hub>>,
    JsonBody(which): JsonBody<Which>,
) -> Result<Json<Held>, Refused> {
    change(hub, move |hub| hub.desk.release(&which.kinds())).await
}

async fn change(hub: Arc<Hub>, change: impl FnOnce(&Hub) + Send + 'static) -> Result<Json<Held>, Refused> {
    // A claim in progress holds the lock for as long as the disk needs.
    hub.blocking(move |hub| {
        change(hub);
        Ok(Json(Held { held: hub.desk.held().iter().copied().collect() }))
    })
    .await
}

/// `POST /_admin/jobs/retry`: a job that failed is tried once more, however often it was.
pub(super) async fn retry(
    State(hub): State<Arc<Hub>>,
    JsonBody(Named { id }): JsonBody<Named>,
) -> Result<Json<Job>, Refused> {
    let shown: String = id.chars().take(200).flat_map(char::escape_debug).collect();
    let job = hub
        .blocking(move |hub| {
            let found = hub.database.write(|transaction| queue::retry(transaction, &id))?;
            match found {
                None => Err(Failure::NotFound(format!("there is no job `{shown}`")).into()),
                Some(JobState::Failed) => hub.database.read(|transaction| {
                    let jobs = transaction.open_table(crate::hub::JOBS)?;
                    queue::get(&jobs, &id)?
                        .ok_or_else(|| StoreError::Damaged(format!("the job {id} is gone")).into())
                }),
                Some(_) => Err(Refused::from(Failure::Conflict(format!("the job `{shown}` has not failed")))),
            }
        })
        .await?;
    hub.desk.ring();
    Ok(Json(job))
}
