//! The layer around every request: its id, its log line, its refusal, and what is left of its body.

mod drain;
mod request_id;

use std::panic::AssertUnwindSafe;

use axum::extract::Request;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use http::header::HOST;
use http::{StatusCode, Version};
use tracing::Instrument;

use crate::refusal::{Failure, Refused, Representation, render};
use request_id::RequestId;

/// Wraps one request and its answer. Every answer of the server passes here, so what every answer has
/// (a request id) and what every refusal has (see [`render`]) is decided once.
pub(crate) async fn exchange(mut request: Request, next: Next) -> Response {
    let id = RequestId::of(request.headers());
    let representation = Representation::accepted(request.headers());
    let leftover = drain::watch(&mut request);
    // The path alone: the query of a presigned URL is a credential.
    let span = tracing::info_span!(
        "request", id = id.as_str(), method = %request.method(), path = request.uri().path()
    );
    async {
        let mut response = match require_host(&request) {
            Err(failure) => Refused::from(failure).into_response(),
            Ok(()) => AssertUnwindSafe(next.run(request)).catch_unwind().await.unwrap_or_else(|_| {
                Refused::from(Failure::Internal("the server failed in a way it did not foresee".into()))
                    .into_response()
            }),
        };
        if let Some(refused) = response.extensions_mut().remove::<Refused>() {
            response = render(refused.refusal(), representation, std::mem::take(response.headers_mut()));
            log(refused.refusal());
        } else {
            tracing::debug!(status = response.status().as_u16(), "answered");
        }
        response.headers_mut().insert(request_id::HEADER, id.to_header_value());
        leftover.drain().await;
        response
    }
    .instrument(span)
    .await
}

/// RFC 9112 section 3.2: a request of HTTP/1.1 names its host, once.
fn require_host(request: &Request) -> Result<(), Failure> {
    let hosts = request.headers().get_all(HOST).iter().count();
    if request.version() == Version::HTTP_11 && hosts != 1 {
        return Err(Failure::BadRequest(format!("expected one field `Host`, got {hosts}")));
    }
    Ok(())
}

fn log(refusal: &dyn crate::Refusal) {
    // Details are made within the lines, so that lines that nobody asked for cost nothing.
    let status = refusal.status().as_u16();
    match refusal.retry_after() {
        Some(delay) => {
            let retry_after = delay.as_seconds();
            tracing::info!(status, retry_after, detail = refusal.detail(), "refused for now");
        }
        None if refusal.status() == StatusCode::INTERNAL_SERVER_ERROR => {
            tracing::error!(status, detail = refusal.detail(), "failed");
        }
        None => tracing::debug!(status, detail = refusal.detail(), "refused"),
    }
}
