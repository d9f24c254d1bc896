//! The cluster's routes.

use std::sync::Arc;

use axum::Json;
use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequest, FromRequestParts, Path, Request, State};
use http::request::Parts;
use serde_json::Value;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::Cluster;
use super::documents::{AccessGranted, AccessRequest, ShownNode};
use super::faults::{Faults, Fields};
use super::instance::Instance;
use super::refusals::Plain;
use super::wanted::Wanted;
use crate::hub::read_body;
use crate::refusal::{Failure, Refused};
use crate::tokens::{bearer, is_token_name};

/// The cluster's routes.
pub(crate) fn router(cluster: Arc<Cluster>) -> OpenApiRouter {
    let (router, document) = OpenApiRouter::new()
        .routes(routes!(authenticate))
        .routes(routes!(list, create))
        .routes(routes!(show, delete))
        .routes(routes!(nodes))
        .with_state(cluster)
        .split_for_parts();
    // Before the rooms are joined: this room's errors have a shape of their own.
    let router = router.method_not_allowed_fallback(async || Refused::from(Plain(Failure::MethodNotAllowed)));
    OpenApiRouter::with_openapi(document).merge(OpenApiRouter::from(router))
}

/// Exchange a key for an access token
#[utoipa::path(
    post,
    path = "/auth",
    tag = "cluster",
    request_body = AccessRequest,
    responses(
        (status = 200, description = "A token for every other request", body = AccessGranted),
        (status = 400, description = "Not such a document; all faults are told at once"),
        (status = 401, description = "The key does not open that namespace"),
    ),
)]
async fn authenticate(
    State(cluster): State<Arc<Cluster>>,
    Document(document): Document,
) -> Result<Json<AccessGranted>, Refused> {
    let mut faults = Faults::default();
    let mut fields = Fields::of(document, "", &mut faults);
    let expected = "1 to 64 letters, digits or `-._@`";
    let namespace = fields.text("namespace", expected, is_token_name, &mut faults);
    let key = fields.secret("key", &mut faults);
    fields.end(&mut faults);
    let (Some(namespace), Some(key), true) = (namespace, key, faults.is_empty()) else {
        return Err(bad_request(&faults));
    };
    let tokens = cluster.tokens.clone();
    let asked = namespace.clone();
    let is_open = tokio::task::spawn_blocking(move || tokens.opens(&key, &asked))
        .await
        .map_err(|error| Plain(Failure::Internal(format!("the key could not be looked up: {error}"))))?;
    if !is_open {
        let text = format!("the key does not open the namespace `{namespace}`");
        return Err(Plain(Failure::Unauthorized(text)).into());
    }
    let expires_in = cluster.config.token_lifetime.as_secs();
    let access_token = cluster.access.issue(&namespace, cluster.clock.unix_seconds() + expires_in);
    Ok(Json(AccessGranted { access_token, namespace, expires_in }))
}

/// Create an instance
///
/// Authenticated, validated, recorded, given its addresses and placed, in this order; a refusal on the way
/// leaves everything as it was. The instance is `creating` in the answer and `created` a little later.
#[utoipa::path(
    post,
    path = "/instances",
    tag = "cluster",
    operation_id = "create_instance",
    request_body = Wanted,
    responses(
        (status = 200, description = "It is placed", body = Instance),
        (status = 400, description = "Not such a document; all faults are told at once"),
        (status = 401, description = "No access token, or one that is no longer good"),
        (status = 404, description = "The node or a network that was asked for does not exist"),
        (status = 406, description = "A network that it is to be on is not ready: ask again in a second"),
        (status = 409, description = "No node satisfies the affinity, or the network has no such address; waiting \
            does not help"),
        (status = 507, description = "No capacity. With a `stage`, `transient` says whether waiting helps, and \
            `Retry-After` for how long; without one, a network has no free address"),
    ),
    security(("access_token" = [])),
)]
async fn create(
    State(cluster): State<Arc<Cluster>>,
    Namespace(namespace): Namespace,
    Document(document): Document,
) -> Result<Json<Instance>, Refused> {
    let wanted = Wanted::parse(document).map_err(|faults| bad_request(&faults))?;
    cluster.create(namespace, wanted).map(Json)
}

/// List the namespace's instances
#[utoipa::path(
    get,
    path = "/instances",
    tag = "cluster",
    operation_id = "list_instances",
    responses(
        (status = 200, description = "All of them", body = Vec<Instance>),
        (status = 401, description = "No access token, or one that is no longer good"),
    ),
    security(("access_token" = [])),
)]
async fn list(State(cluster): State<Arc<Cluster>>, Namespace(namespace): Namespace) -> Json<Vec<Instance>> {
    Json(cluster.list(&namespace))
}

/// Show an instance
#[utoipa::path(
    get,
    path = "/instances/{uuid}",
    tag = "cluster",
    operation_id = "show_instance",
    params(("uuid" = String, Path, format = "uuid")),
    responses(
        (status = 200, description = "As it is now", body = Instance),
        (status = 401, description = "No access token, or one that is no longer good"),
        (status = 404, description = "No such instance in this namespace"),
    ),
    security(("access_token" = [])),
)]
async fn show(
    State(cluster): State<Arc<Cluster>>,
    Namespace(namespace): Namespace,
    uuid: Result<Path<String>, PathRejection>,
) -> Result<Json<Instance>, Refused> {
    cluster.show(&namespace, &segment(uuid)).map(Json)
}

/// Delete an instance
///
/// It is gone at once; its capacity comes back 5.5 s later, and its addresses five minutes later.
#[utoipa::path(
    delete,
    path = "/instances/{uuid}",
    tag = "cluster",
    operation_id = "delete_instance",
    params(("uuid" = String, Path, format = "uuid")),
    responses(
        (status = 200, description = "As it was", body = Instance),
        (status = 401, description = "No access token, or one that is no longer good"),
        (status = 404, description = "No such instance in this namespace"),
    ),
    security(("access_token" = [])),
)]
async fn delete(
    State(cluster): State<Arc<Cluster>>,
    Namespace(namespace): Namespace,
    uuid: Result<Path<String>, PathRejection>,
) -> Result<Json<Instance>, Refused> {
    cluster.delete(&namespace, &segment(uuid)).map(Json)
}

/// List the nodes, and how full they are
#[utoipa::path(
    get,
    path = "/nodes",
    tag = "cluster",
    operation_id = "list_nodes",
    responses(
        (status = 200, description = "In the configured order", body = Vec<ShownNode>),
        (status = 401, description = "No access token, or one that is no longer good"),
    ),
    security(("access_token" = [])),
)]
async fn nodes(State(cluster): State<Arc<Cluster>>, _: Namespace) -> Json<Vec<ShownNode>> {
    let ledger = cluster.ledger();
    let show = |(node, promised, measured): (&super::Node, _, _)| ShownNode {
        name: node.name.clone(),
        up: node.up,
        is_hypervisor: node.is_hypervisor,
        cpu_max_per_instance: node.cpu_max_per_instance,
        capacity: node.capacity(),
        measured,
        promised,
    };
    Json(ledger.lines().map(show).collect())
}

/// The namespace that the request's access token opens. Comes before the body in a handler's arguments:
/// whoever may not is told so before anything is read.
struct Namespace(String);

impl FromRequestParts<Arc<Cluster>> for Namespace {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, cluster: &Arc<Cluster>) -> Result<Self, Refused> {
        let text = match bearer(&parts.headers) {
            None => "expected `Authorization: Bearer TOKEN`, with a token from /auth",
            Some(token) => match cluster.access.check(token, cluster.clock.unix_seconds()) {
                Some(namespace) => return Ok(Self(namespace)),
                None => "the access token is not good, or no longer: get one from /auth",
            },
        };
        Err(Plain(Failure::Unauthorized(text.into())).into())
    }
}

/// A JSON body that is still to be read field by field.
struct Document(Value);

impl<S: Send + Sync> FromRequest<S> for Document {
    type Rejection = Refused;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refused> {
        let bytes = read_body(request).await.map_err(Plain)?;
        serde_json::from_slice(&bytes)
            .map(Self)
            .map_err(|error| bad_request(&format!("the body is not JSON: {error}")))
    }
}

fn bad_request(fault: &impl std::fmt::Display) -> Refused {
    Plain(Failure::BadRequest(fault.to_string())).into()
}

/// A path segment; one that cannot be read names nothing.
fn segment(segment: Result<Path<String>, PathRejection>) -> String {
    segment.map(|Path(segment)| segment).unwrap_or_default()
}
