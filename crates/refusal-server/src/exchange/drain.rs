//! Reads what a handler left of a request body, within bounds, before the answer goes out.
//!
//! A server that answers an upload early and closes makes the client's system throw the answer away: the
//! client sees a reset instead of the status (F44). Reading on for a while lets it finish and read.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use bytes::Bytes;
use http::header::EXPECT;
use http_body::{Body as _, Frame, SizeHint};
use http_body_util::BodyExt;

/// Most uploads that are refused early are smaller; a larger one loses its connection.
const MOST_BYTES: u64 = 16 << 20;
/// A client that sends nothing more for this long does not hold the answer back any longer.
const LONGEST: Duration = Duration::from_secs(5);

type Slot = Arc<Mutex<Option<Body>>>;

/// What a handler left of the request body.
pub(super) struct Leftover(Slot);

/// Replaces the request's body by one that hands back what nobody read.
pub(super) fn watch(request: &mut Request) -> Leftover {
    let slot = Slot::default();
    if !request.body().is_end_stream() {
        let expects_continue = request.headers().contains_key(EXPECT);
        let body = std::mem::take(request.body_mut());
        let watched = Watched { body, asked_for: !expects_continue, slot: Arc::clone(&slot) };
        *request.body_mut() = Body::new(watched);
    }
    Leftover(slot)
}

impl Leftover {
    pub(super) async fn drain(self) {
        let Some(mut body) = self.0.lock().unwrap_or_else(PoisonError::into_inner).take() else { return };
        let reading = async {
            let mut total = 0;
            while let Some(Ok(frame)) = body.frame().await {
                total += frame.data_ref().map_or(0, |data| data.len() as u64);
                if total > MOST_BYTES {
                    break;
                }
            }
        };
        // What comes of it does not matter: either way the answer goes out now.
        let _ = tokio::time::timeout(LONGEST, reading).await;
    }
}

struct Watched {
    body: Body,
    /// Whether the client is sending: one that waits for `100 Continue` starts at the first poll.
    asked_for: bool,
    slot: Slot,
}

impl http_body::Body for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.asked_for = true;
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if self.asked_for && !self.body.is_end_stream() {
            let body = std::mem::take(&mut self.body);
            *self.slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
        }
    }
}
