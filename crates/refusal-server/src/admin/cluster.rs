//! The cluster's switches: what is held until it is released again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Deserialize;
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::cluster::{Cluster, ClusterStatus, Hold, StageName};
use crate::hub::JsonBody;
use crate::refusal::{Failure, Refused};

/// The longest name of a stage that is taken.
const LONGEST_STAGE: usize = 64;

pub(super) fn router(cluster: Arc<Cluster>) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(status))
        .routes(routes!(hold_capacity))
        .routes(routes!(release_capacity))
        .routes(routes!(hold_starts))
        .routes(routes!(release_starts))
        .routes(routes!(hold_networks))
        .routes(routes!(release_networks))
        .routes(routes!(revoke_access))
        .with_state(cluster)
}

/// At which stage creations are refused.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = HoldCapacity)]
struct At {
    /// The name to refuse under, known or not; the guard's own, `capacity_guard`, where there is none.
    #[schema(max_length = 64)]
    stage: Option<String>,
}

/// Which network is meant; all of them where none is named.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = WhichNetwork)]
struct WhichNetwork {
    network: Option<String>,
}

/// Show what is held, and what the cluster has given out
#[utoipa::path(
    get,
    path = "/_admin/cluster",
    tag = "admin",
    operation_id = "cluster_status",
    responses((status = 200, description = "As it is now", body = ClusterStatus)),
)]
async fn status(State(cluster): State<Arc<Cluster>>) -> Json<ClusterStatus> {
    Json(cluster.status())
}

/// Refuse every creation until told otherwise
#[utoipa::path(
    post,
    path = "/_admin/cluster/capacity/hold",
    tag = "admin",
    request_body = At,
    responses(
        (status = 200, description = "From now on none slips through", body = ClusterStatus),
        (status = 422, description = "Not such a document"),
    ),
)]
async fn hold_capacity(
    State(cluster): State<Arc<Cluster>>,
    JsonBody(At { stage }): JsonBody<At>,
) -> Result<Json<ClusterStatus>, Refused> {
    if let Some(stage) = &stage
        && stage.chars().count() > LONGEST_STAGE
    {
        let text = format!("expected the name of a stage of at most {LONGEST_STAGE} characters");
        return Err(Failure::Unprocessable(text).into());
    }
    let stage = stage.as_deref().map(StageName::from_elsewhere);
    cluster.hold_capacity(Some(Hold { stage }));
    Ok(Json(cluster.status()))
}

/// Stop refusing creations
#[utoipa::path(
    post,
    path = "/_admin/cluster/capacity/release",
    tag = "admin",
    responses((status = 200, description = "From now on capacity decides again", body = ClusterStatus)),
)]
async fn release_capacity(State(cluster): State<Arc<Cluster>>) -> Json<ClusterStatus> {
    cluster.hold_capacity(None);
    Json(cluster.status())
}

/// Keep placed instances `creating` until told otherwise
#[utoipa::path(
    post,
    path = "/_admin/cluster/starts/hold",
    tag = "admin",
    responses((status = 200, description = "From now on none is started", body = ClusterStatus)),
)]
async fn hold_starts(State(cluster): State<Arc<Cluster>>) -> Json<ClusterStatus> {
    cluster.hold_starts(true);
    Json(cluster.status())
}

/// Start placed instances again
#[utoipa::path(
    post,
    path = "/_admin/cluster/starts/release",
    tag = "admin",
    responses((status = 200, description = "They are being started", body = ClusterStatus)),
)]
async fn release_starts(State(cluster): State<Arc<Cluster>>) -> Json<ClusterStatus> {
    cluster.hold_starts(false);
    Json(cluster.status())
}

/// Make a network not ready: creations on it are answered 406
#[utoipa::path(
    post,
    path = "/_admin/cluster/networks/hold",
    tag = "admin",
    request_body = WhichNetwork,
    responses(
        (status = 200, description = "It is not ready", body = ClusterStatus),
        (status = 404, description = "No such network"),
        (status = 422, description = "Not such a document"),
    ),
)]
async fn hold_networks(
    State(cluster): State<Arc<Cluster>>,
    JsonBody(which): JsonBody<WhichNetwork>,
) -> Result<Json<ClusterStatus>, Refused> {
    set_ready(&cluster, &which, false)
}

/// Make a network ready
#[utoipa::path(
    post,
    path = "/_admin/cluster/networks/release",
    tag = "admin",
    request_body = WhichNetwork,
    responses(
        (status = 200, description = "It is ready", body = ClusterStatus),
        (status = 404, description = "No such network"),
        (status = 422, description = "Not such a document"),
    ),
)]
async fn release_networks(
    State(cluster): State<Arc<Cluster>>,
    JsonBody(which): JsonBody<WhichNetwork>,
) -> Result<Json<ClusterStatus>, Refused> {
    set_ready(&cluster, &which, true)
}

fn set_ready(cluster: &Cluster, which: &WhichNetwork, ready: bool) -> Result<Json<ClusterStatus>, Refused> {
    if cluster.set_network_ready(which.network.as_deref(), ready) {
        Ok(Json(cluster.status()))
    } else {
        Err(Failure::NotFound("there is no such network".into()).into())
    }
}

/// Make every access token worthless
#[utoipa::path(
    post,
    path = "/_admin/cluster/access/revoke",
    tag = "admin",
    responses((status = 200, description = "Clients have to authenticate again", body = ClusterStatus)),
)]
async fn revoke_access(State(cluster): State<Arc<Cluster>>) -> Json<ClusterStatus> {
    cluster.revoke_access();
    Json(cluster.status())
}
