//! All rooms under one roof: the routes of each, and what every exchange has.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::cluster::Cluster;
use crate::config::Config;
use crate::exchange::exchange;
use crate::hub::Hub;
use crate::refusal::{Failure, Refused};
use crate::{admin, cluster, hub, openapi, throttle};

/// The whole server. A new room is one more line, and its handlers describe themselves.
pub(crate) fn router(hub: Arc<Hub>, cluster: Arc<Cluster>, config: &Config) -> Router {
    let rooms = openapi::base()
        .merge(OpenApiRouter::new().routes(routes!(health)))
        .merge(hub::router(Arc::clone(&hub)))
        .merge(cluster::router(Arc::clone(&cluster)))
        .merge(throttle::router(config.throttle.clone()))
        .merge(admin::router(hub, cluster, config.admin_token.clone()));
    openapi::publish(rooms)
        .fallback(async || Refused::from(Failure::NotFound("nothing is served at this path".into())))
        .method_not_allowed_fallback(async || Refused::from(Failure::MethodNotAllowed))
        .layer(from_fn(exchange))
}

/// Whether the server answers
#[utoipa::path(
    get,
    path = "/healthz",
    tag = "server",
    responses((status = 200, description = "It does", body = String)),
)]
async fn health() -> &'static str {
    "ok\n"
}
