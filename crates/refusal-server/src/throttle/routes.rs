//! The throttle's routes.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::buckets::Buckets;
use super::config::ThrottleConfig;
use super::key::Key;
use super::refusals::TooManyRequests;
use crate::clock::BucketClock;
use crate::refusal::Refused;

/// Held for one decision at a time.
type Shared = Arc<Mutex<Buckets<BucketClock>>>;

/// The throttle's routes, over buckets that are all full.
pub(crate) fn router(config: ThrottleConfig) -> OpenApiRouter {
    let buckets: Shared = Arc::new(Mutex::new(Buckets::new(config, BucketClock::default())));
    OpenApiRouter::new().routes(routes!(get, post)).with_state(buckets)
}

/// What an admitted request is answered with.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Admitted {
    /// The key whose bucket gave a token.
    key: String,
}

/// What the refusal means.
const BUCKET_IS_EMPTY: &str =
    "The bucket is empty: whoever comes back at the instant told is admitted, unless others came first";

/// Ask something that is limited
#[utoipa::path(
    get,
    path = "/throttle/{key}",
    tag = "throttle",
    operation_id = "throttle_get",
    params(Key),
    responses(
        (status = 200, description = "Admitted", body = Admitted),
        (status = 422, description = "Not a key"),
        (status = 429, description = BUCKET_IS_EMPTY),
    ),
)]
async fn get(State(buckets): State<Shared>, key: Key) -> Result<Json<Admitted>, Refused> {
    admit(&buckets, &key)
}

/// Do something that is limited
///
/// The body is not looked at. A refused request has done nothing, and may be sent again byte for byte.
#[utoipa::path(
    post,
    path = "/throttle/{key}",
    tag = "throttle",
    operation_id = "throttle_post",
    params(Key),
    responses(
        (status = 200, description = "Admitted", body = Admitted),
        (status = 422, description = "Not a key"),
        (status = 429, description = BUCKET_IS_EMPTY),
    ),
)]
async fn post(State(buckets): State<Shared>, key: Key) -> Result<Json<Admitted>, Refused> {
    admit(&buckets, &key)
}

fn admit(buckets: &Shared, key: &Key) -> Result<Json<Admitted>, Refused> {
    let taken = buckets.lock().unwrap_or_else(PoisonError::into_inner).take(key);
    taken.map_err(|hint| TooManyRequests::new(key, hint))?;
    Ok(Json(Admitted { key: key.to_string() }))
}
