//! Who may use the admin API.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::{ConnectInfo, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{HOST, ORIGIN};
use http::uri::Authority;

use crate::refusal::{Failure, Refused};
use crate::tokens::{Secret, bearer};

/// Lets through whoever presents the admin token; where there is none, peers on a loopback address.
///
/// A proxy on this machine makes everyone a loopback peer: behind one, configure a token. A browser on this
/// machine is one too, so what a page of another site sends is told by its fields.
pub(super) async fn gate(State(token): State<Option<Arc<Secret>>>, request: Request, next: Next) -> Response {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|ConnectInfo(peer)| peer.ip());
    let refusal = match (token, bearer(request.headers())) {
        (Some(token), Some(given)) if token.matches(given) => None,
        (Some(_), _) => {
            Some(Failure::Unauthorized("expected `Authorization: Bearer` with the admin token".into()))
        }
        (None, _) if peer.is_some_and(is_loopback) => is_from_a_page(&request)
            .then(|| Failure::Forbidden("no web page may do that while no admin token is configured".into())),
        (None, _) => Some(Failure::Forbidden(
            "only this machine may do that while no admin token is configured".into(),
        )),
    };
    match refusal {
        None => next.run(request).await,
        Some(refusal) => Refused::from(refusal).into_response(),
    }
}

/// Whether a browser sends this for a page: with its `Origin`, or to a name that was made to lead here.
fn is_from_a_page(request: &Request) -> bool {
    let host = request.headers().get(HOST).map(|host| Authority::try_from(host.as_bytes()).ok());
    let named = request.uri().authority().cloned().map(Some).or(host);
    request.headers().contains_key(ORIGIN)
        || named.is_some_and(|authority| !authority.is_some_and(|authority| names_loopback(authority.host())))
}

fn names_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(is_loopback)
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}
