//! What the server says of itself: an OpenAPI 3.1 document at `/openapi.json`, and a page for people at `/docs`; `/`
//! points to both.
//!
//! A room registers its handlers with `routes!`, which takes each operation's description from the handler
//! itself. What all refusals have in common is added by [`complete`], once.

mod complete;
mod page;
#[cfg(test)]
mod tests;

use std::sync::{Arc, OnceLock};

use axum::extract::State;
use axum::response::{Html, IntoResponse, Response};
use http::header::CONTENT_TYPE;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::cluster::{CapacityRefused, PlainError};
use complete::{Problem, complete};

#[derive(OpenApi)]
#[openapi(
    info(
        title = "refusal-server",
        description = "A server whose refusals say when to come back. Every answer carries an `X-Request-Id`; \
            every refusal is `no-store`, and is told as problem details (RFC 9457) to whoever accepts them.",
        license(name = "MIT OR Apache-2.0", identifier = "MIT OR Apache-2.0"),
    ),
    tags(
        (name = "hub", description = "Repositories are pushed to it and fetched from it."),
        (name = "cluster", description = "Instances are asked of it."),
        (name = "throttle", description = "As many requests as its buckets have tokens."),
        (name = "admin", description = "For tests and demonstrations: this machine, or whoever has the admin token."),
        (name = "server", description = "The server itself."),
    ),
    components(schemas(Problem, PlainError, CapacityRefused)),
)]
struct Base;

/// What all rooms' routes are merged into.
pub(crate) fn base() -> OpenApiRouter {
    let mut document = Base::openapi();
    let components = document.components.get_or_insert_default();
    for (name, scheme, description) in [
        (
            "hub_token",
            HttpAuthScheme::Bearer,
            "A token of `refusal-server token add`, or the development token.",
        ),
        ("access_token", HttpAuthScheme::Bearer, "From `POST /auth`."),
        ("admin_token", HttpAuthScheme::Bearer, "The admin token, where the server was given one."),
    ] {
        let scheme = HttpBuilder::new().scheme(scheme).description(Some(description)).build();
        components.add_security_scheme(name, SecurityScheme::Http(scheme));
    }
    OpenApiRouter::with_openapi(document)
}

/// The rooms' routes with those that publish what they are, themselves included.
pub(crate) fn publish(rooms: OpenApiRouter) -> axum::Router {
    let published = Arc::new(OnceLock::new());
    let own = OpenApiRouter::new()
        .routes(routes!(front))
        .routes(routes!(document))
        .routes(routes!(docs))
        .with_state(Arc::clone(&published));
    let (router, described) = rooms.merge(own).split_for_parts();
    let document = complete(described);
    let page = page::render(&document);
    let unset = published.set(Published { document: document.to_string(), page }).is_ok();
    debug_assert!(unset, "it is set here, once");
    router
}

/// Both, as they are sent.
#[derive(Debug)]
struct Published {
    document: String,
    page: String,
}

type Slot = State<Arc<OnceLock<Published>>>;

/// Where to read on
#[utoipa::path(
    get,
    path = "/",
    tag = "server",
    operation_id = "front",
    responses((status = 200, description = "Where people and machines find what is served", body = String)),
)]
async fn front() -> &'static str {
    "refusal-server: /docs says what it serves, /openapi.json says so to machines\n"
}

/// This document
#[utoipa::path(
    get,
    path = "/openapi.json",
    tag = "server",
    operation_id = "openapi",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)),
)]
async fn document(State(published): Slot) -> Response {
    let document = published.get().map_or("{}", |published| published.document.as_str()).to_owned();
    ([(CONTENT_TYPE, "application/json")], document).into_response()
}

/// This document as a page for people
#[utoipa::path(
    get,
    path = "/docs",
    tag = "server",
    operation_id = "docs",
    responses((status = 200, description = "HTML that needs nothing else", body = String, content_type = "text/html")),
)]
async fn docs(State(published): Slot) -> Html<String> {
    Html(published.get().map_or_else(String::new, |published| published.page.clone()))
}
