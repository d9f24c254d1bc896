//! `/_admin`: what tests and demonstrations need to make the server's timing theirs.

mod gate;
mod jobs;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};

use crate::hub::Hub;
use crate::tokens::Secret;

/// The admin routes, behind their gate.
pub(crate) fn router(hub: Arc<Hub>, token: Option<Secret>) -> Router {
    Router::new()
        .route("/_admin/jobs", get(jobs::list))
        .route("/_admin/jobs/hold", post(jobs::hold))
        .route("/_admin/jobs/release", post(jobs::release))
        .route("/_admin/jobs/retry", post(jobs::retry))
        .route_layer(from_fn_with_state(token.map(Arc::new), gate::gate))
        .with_state(hub)
}
