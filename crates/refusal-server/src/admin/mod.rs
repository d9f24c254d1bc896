//! `/_admin`: what tests and demonstrations need to make the server's timing theirs.

mod cluster;
mod gate;
mod jobs;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::middleware::from_fn_with_state;
use utoipa_axum::router::OpenApiRouter;

use crate::cluster::Cluster;
use crate::hub::Hub;
use crate::tokens::Secret;

/// The admin routes, behind their gate.
pub(crate) fn router(hub: Arc<Hub>, cluster: Arc<Cluster>, token: Option<Secret>) -> OpenApiRouter {
    OpenApiRouter::new()
        .merge(jobs::router(hub))
        .merge(cluster::router(cluster))
        .route_layer(from_fn_with_state(token.map(Arc::new), gate::gate))
}
