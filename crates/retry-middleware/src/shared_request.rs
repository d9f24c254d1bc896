//! A logical request that travels in request extensions, so that one clock counts in every layer.

use std::sync::{Arc, Mutex, PoisonError};

use retry_core::LogicalRequest;

/// The place of a [`LogicalRequest`] in request extensions.
///
/// A face puts one in when it meets a request for the first time and finds it again when another layer,
/// around it, sends the same request once more. Behind `reqwest-middleware` that happens by itself. A
/// `tower` layer that clones requests has to be handed one: put `SharedRequest::default()` into the
/// request's extensions before the outermost layer.
#[derive(Debug, Clone, Default)]
pub struct SharedRequest(Arc<Mutex<Option<LogicalRequest>>>);

/// A logical request on loan; it goes back when this is dropped, however that comes about.
pub(crate) struct Loan {
    place: SharedRequest,
    request: Option<LogicalRequest>,
}

impl SharedRequest {
    /// Lends the request that is here, resumed, or the one that `begin` makes.
    pub(crate) fn lend(&self, begin: impl FnOnce() -> LogicalRequest) -> Loan {
        let found = self.lock().take();
        let request = found.map_or_else(begin, |mut request| {
            request.resume();
            request
        });
        Loan { place: self.clone(), request: Some(request) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<LogicalRequest>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Loan {
    pub(crate) fn request(&mut self) -> &mut LogicalRequest {
        self.request.as_mut().expect("the request is taken out in `drop` only")
    }
}

impl Drop for Loan {
    fn drop(&mut self) {
        *self.place.lock() = self.request.take();
    }
}
