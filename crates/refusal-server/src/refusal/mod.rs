//! What every answer that is not the thing asked for has in common.
//!
//! A refusal is a type: it knows its status, when the client may come back, and its body. No handler
//! writes a status or a `Retry-After` by hand; [`render`] builds each of these answers, once the
//! [exchange](crate::exchange) layer knows which representation the client accepts.

mod failure;
mod render;
mod retry_after;

use std::fmt;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};

pub use failure::Failure;
pub(crate) use render::{Representation, render};
pub use retry_after::RetryAfter;

/// An answer that is not what was asked for: "come back later" with a [`RetryAfter`], "no" without.
pub trait Refusal: fmt::Debug + Send + Sync + 'static {
    /// The status of the answer.
    fn status(&self) -> StatusCode;

    /// A short name of the kind of refusal, the same for each of its occurrences (RFC 9457 section 3.1.3).
    fn title(&self) -> &'static str;

    /// The exact text, for the person who reads it.
    fn detail(&self) -> String;

    /// When the client may come back; `None` when waiting does not help.
    fn retry_after(&self) -> Option<RetryAfter> {
        None
    }

    /// What the problem details hold beside title, status and detail (RFC 9457 section 3.2).
    fn members(&self) -> Map<String, Value> {
        Map::new()
    }

    /// The body for a client that did not ask for problem details.
    fn body(&self) -> Body {
        Body::Text(self.detail())
    }

    /// Adds fields that only this refusal has, such as `WWW-Authenticate`.
    fn add_headers(&self, _headers: &mut HeaderMap) {}
}

/// The default representation of a refusal.
#[derive(Debug, Clone, PartialEq)]
pub enum Body {
    /// Plain UTF-8 text.
    Text(String),
    /// A JSON value.
    Json(Value),
}

/// A refusal on its way out: the exchange layer renders it.
#[derive(Debug, Clone)]
pub struct Refused(Arc<dyn Refusal>);

impl Refused {
    /// The refusal itself.
    pub fn refusal(&self) -> &dyn Refusal {
        self.0.as_ref()
    }
}

impl<R: Refusal> From<R> for Refused {
    fn from(refusal: R) -> Self {
        Self(Arc::new(refusal))
    }
}

impl IntoResponse for Refused {
    fn into_response(self) -> Response {
        let mut response = self.0.status().into_response();
        response.extensions_mut().insert(self);
        response
    }
}
