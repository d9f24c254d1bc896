//! JSON bodies, read within a cap and a time.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::refusal::{Failure, Refused};

/// The longest JSON body: a thousand wants and a thousand haves are 150 KiB.
const MOST_BYTES: usize = 1 << 20;
/// A body of that size takes a second on a slow line; what takes longer is holding a place.
const LONGEST: Duration = Duration::from_secs(30);

/// A JSON body, read within a cap; an empty one counts as `{}`. What is wrong with it is said in the refusal.
pub(crate) struct JsonBody<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for JsonBody<T> {
    type Rejection = Refused;

    async fn from_request(request: Request, _state: &S) -> Result<Self, Refused> {
        let bytes = read_body(request).await?;
        // A derived reader takes an array for an object, member by member.
        if bytes.trim_ascii_start().starts_with(b"[") {
            let text = "the body is not the JSON expected here: expected an object, got an array".to_owned();
            return Err(Failure::Unprocessable(text).into());
        }
        serde_json::from_slice(if bytes.is_empty() { b"{}" } else { &bytes }).map(Self).map_err(|error| {
            Failure::Unprocessable(format!("the body is not the JSON expected here: {error}")).into()
        })
    }
}

/// Reads a body within the caps of a JSON body.
pub(crate) async fn read_body(request: Request) -> Result<Bytes, Failure> {
    let announced =
        request.headers().get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|length: u64| length > MOST_BYTES as u64) {
        return Err(too_large());
    }
    let reading = Limited::new(request.into_body(), MOST_BYTES).collect();
    match tokio::time::timeout(LONGEST, reading).await {
        Err(_elapsed) => {
            let text = format!("the body did not arrive within {} seconds", LONGEST.as_secs());
            Err(Failure::Timeout(text))
        }
        Ok(Ok(body)) => Ok(body.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large()),
        Ok(Err(error)) => Err(Failure::BadRequest(format!("the body broke off: {error}"))),
    }
}

fn too_large() -> Failure {
    Failure::TooLarge(format!("expected a JSON body of at most {MOST_BYTES} bytes, and more came"))
}
