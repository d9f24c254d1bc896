//! The queue of jobs, for people and tests: shown, held, released, retried.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::hub::jobs::{Job, JobKind, JobState, queue};
use crate::hub::{Hub, JsonBody, StoreError};
use crate::refusal::{Failure, Refused};

/// The most jobs that a list shows: the latest.
const MOST_LISTED: usize = 1_000;

pub(super) fn router(hub: Arc<Hub>) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(hold))
        .routes(routes!(release))
        .routes(routes!(retry))
        .with_state(hub)
}

/// The queue, as it stands.
#[derive(Serialize, ToSchema)]
#[schema(as = JobQueue)]
struct Listed {
    held: Vec<JobKind>,
    jobs: Vec<Job>,
}

/// Which kind is meant; all of them where none is named.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WhichJobs)]
struct Which {
    kind: Option<JobKind>,
}

impl Which {
    fn kinds(&self) -> Vec<JobKind> {
        self.kind.map_or_else(|| JobKind::ALL.to_vec(), |kind| vec![kind])
    }
}

/// One job.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NamedJob)]
struct Named {
    id: String,
}

/// The kinds that are held.
#[derive(Serialize, ToSchema)]
#[schema(as = HeldJobs)]
struct Held {
    held: Vec<JobKind>,
}

/// List the jobs, and which kinds are held
#[utoipa::path(
    get,
    path = "/_admin/jobs",
    tag = "admin",
    operation_id = "list_jobs",
    responses((status = 200, description = "The latest thousand", body = Listed)),
)]
async fn list(State(hub): State<Arc<Hub>>) -> Result<Json<Listed>, Refused> {
    hub.blocking(|hub| {
        let held = hub.desk.held().iter().copied().collect();
        let jobs = hub.database.read(|transaction| queue::list(transaction, MOST_LISTED))?;
        Ok(Json(Listed { held, jobs }))
    })
    .await
}

/// Hold jobs
///
/// No further job of that kind starts. One that runs goes on.
#[utoipa::path(
    post,
    path = "/_admin/jobs/hold",
    tag = "admin",
    operation_id = "hold_jobs",
    request_body = Which,
    responses(
        (status = 200, description = "From now on none starts", body = Held),
        (status = 422, description = "Not such a document"),
    ),
)]
async fn hold(State(hub): State<Arc<Hub>>, JsonBody(which): JsonBody<Which>) -> Result<Json<Held>, Refused> {
    change(hub, move |hub| hub.desk.hold(&which.kinds())).await
}

/// Let jobs start again
#[utoipa::path(
    post,
    path = "/_admin/jobs/release",
    tag = "admin",
    operation_id = "release_jobs",
    request_body = Which,
    responses(
        (status = 200, description = "They start", body = Held),
        (status = 422, description = "Not such a document"),
    ),
)]
async fn release(
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

/// Try a job once more that failed, however often it was tried
#[utoipa::path(
    post,
    path = "/_admin/jobs/retry",
    tag = "admin",
    operation_id = "retry_job",
    request_body = Named,
    responses(
        (status = 200, description = "It is queued", body = Job),
        (status = 404, description = "No such job"),
        (status = 409, description = "It has not failed"),
        (status = 422, description = "Not such a document"),
    ),
)]
async fn retry(
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
