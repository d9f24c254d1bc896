use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::refusal::{Failure, Refused};
use crate::tokens::{Secret, bearer};

/// Lets through whoever presents the admin token; where there is none, peers on a loopback address.
///
/// A proxy on this machine makes everyone a loopback peer: behind one, configure a token.
pub(super) async fn gate(State(token): State<Option<Arc<Secret>>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let refusal = match (token, bearer(request.headers())) {
        (Some(token), Some(given)) if token.matches(given) => None,
        (Some(_), _) => {
            Some(Failure::Unauthorized("expected `Authorization: Bearer` with the admin token".into()))
        }
        (None, _) if peer.is_some_and(|peer| peer.to_canonical().is_loopback()) => None,
        (None, _) => Some(Failure::Forbidden(
            "only this machine may do that while no admin token is configured".into(),
        )),
    };
    match refusal {
        None => next.run(request).await,
        Some(refusal) => Refused::from(refusal).into_response(),
    }
}
