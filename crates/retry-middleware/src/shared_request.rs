//! A logical request that travels in request extensions, so that one clock counts in every layer.

use std::sync::{Arc, Mutex, PoisonError};

use retry_core::LogicalRequest;

/// The place of a [`LogicalRequest`] in request extensions.
///
/// A face finds the request there again when another layer, around it, sends it once more. Behind
/// `reqwest-middleware`, whose extensions outlive an attempt, the face puts one in itself. Around a `tower`
/// service each attempt is a request of its own: put `SharedRequest::default()` into its extensions before
/// the outermost layer that retries.
#[derive(Debug, Clone, Default)]
pub struct SharedRequest(Arc<Mutex<Option<Box<LogicalRequest>>>>);

/// A logical request on loan; it goes back when this is dropped, however that comes about.
pub(crate) struct Loan {
    place: Option<SharedRequest>,
    request: Option<Box<LogicalRequest>>,
}

impl SharedRequest {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<LogicalRequest>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loan {
    /// The request that is at `place`, resumed, or the one that `begin` makes.
    pub(crate) fn of(place: Option<SharedRequest>, begin: impl FnOnce() -> LogicalRequest) -> Self {
        let found = place.as_ref().and_then(|place| place.lock().take());
        let request = match found {
            Some(mut request) => {
                request.resume();
                request
            }
            None => Box::new(begin()),
        };
        Self { place, request: Some(request) }
    }

    pub(crate) fn request(&mut self) -> &mut LogicalRequest {
        self.request.as_mut().expect("the request is taken out in `drop` only")
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        if let Some(place) = &self.place {
            *place.lock() = self.request.take();
        }
    }
}
