//! Who may push.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;

use super::Hub;
use crate::refusal::Refused;

/// A client that may push. Comes before the body in a handler's arguments: whoever may not is told so before
/// anything is read.
pub(super) struct Pusher;

impl FromRequestParts<Arc<Hub>> for Pusher {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Refused> {
        hub.tokens.require(&parts.headers)?;
        Ok(Self)
    }
}
