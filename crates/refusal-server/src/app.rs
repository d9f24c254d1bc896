//! All rooms under one roof: the routes of each, and what every exchange has.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;

use crate::config::Config;
use crate::exchange::exchange;
use crate::hub::Hub;
use crate::refusal::{Failure, Refused};
use crate::{admin, hub};

pub(crate) fn router(hub: Arc<Hub>, config: &Config) -> Router {
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .merge(hub::router(Arc::clone(&hub)))
        .merge(admin::router(hub, config.admin_token.clone()))
        .fallback(async || Refused::from(Failure::NotFound("nothing is served at this path".into())))
        .method_not_allowed_fallback(async || Refused::from(Failure::MethodNotAllowed))
        .layer(from_fn(exchange))
}
