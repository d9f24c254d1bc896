//! A logical request that travels in request extensions, so that one clock counts in every layer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use retry_core::{LogicalRequest, Monotonic, Replay};

/// The place of a [`LogicalRequest`] in request extensions.
///
/// A face finds the request there again when another layer, around it, sends it once more. Behind
/// `reqwest-middleware`, whose extensions outlive an attempt, the face puts one in itself. Around a `tower`
/// service each attempt is a request of its own: put `SharedRequest::default()` into its extensions before
/// the outermost layer that retries.
#[derive(Debug, Clone, Default)]
pub struct SharedRequest(Arc<Place>);

#[derive(Debug, Default)]
struct Place {
    request: Mutex<Option<Box<LogicalRequest>>>,
    /// See [`Recorded`], in microseconds; 0 for nothing.
    recorded: AtomicU64,
}

/// The window that a request's own refusals recorded, which does not hold it (E7): its own decision did. It
/// travels with the request.
#[derive(Debug)]
pub(crate) struct Recorded {
    latest: Option<Monotonic>,
    place: Option<SharedRequest>,
}

/// A logical request on loan; it goes back when this is dropped, however that comes about.
pub(crate) struct Loan {
    place: Option<SharedRequest>,
    request: Option<Box<LogicalRequest>>,
}

impl SharedRequest {
    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Box<LogicalRequest>>> {
        self.0.request.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recorded {
    /// What the request at `place` recorded so far.
    pub(crate) fn of(place: Option<SharedRequest>) -> Self {
        let micros = place.as_ref().map_or(0, |place| place.0.recorded.load(Ordering::Relaxed));
        Self { latest: (micros > 0).then(|| Monotonic::from_micros(micros)), place }
    }

    /// Takes note of what a refusal recorded, if it did.
    pub(crate) fn note(&mut self, recorded: Option<Monotonic>) {
        let Some(instant) = recorded else { return };
        self.latest = recorded;
        if let Some(place) = &self.place {
            place.0.recorded.store(instant.as_micros(), Ordering::Relaxed);
        }
    }

    /// Whether a live window is the request's own.
    pub(crate) fn is(&self, not_before: Monotonic) -> bool {
        self.latest == Some(not_before)
    }
}

impl Loan {
    /// The request that is at `place`, resumed, or the one that `begin` makes. Whether it may be sent again is
    /// a matter of what is sent this time.
    pub(crate) fn of(
        place: Option<SharedRequest>,
        replay: Replay,
        begin: impl FnOnce() -> LogicalRequest,
    ) -> Self {
        let found = place.as_ref().and_then(|place| place.lock().take());
        let request = match found {
            Some(mut request) => {
                request.resume();
                request.set_replay(replay);
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
