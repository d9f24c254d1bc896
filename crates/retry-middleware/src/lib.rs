//! The one retry loop over [`retry_core`]: asks, attempts, decides, waits, asks again.
//!
//! [`Driver::run`] takes a [`LogicalRequest`](retry_core::LogicalRequest) and an [`Exchange`] that makes
//! single attempts. It sleeps between attempts and nobody else does; it decides nothing, the core does.

mod carriers;
mod clock;
mod driver;
mod exchange;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod fate;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod key;
mod random;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod refusals;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod refused_body;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod report;
#[cfg(feature = "reqwest")]
mod reqwest_face;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod shared_request;
#[cfg(any(feature = "reqwest", feature = "tower"))]
mod shared_windows;
#[cfg(feature = "testing")]
pub mod testing;
#[cfg(feature = "tower")]
mod tower_face;

pub use carriers::{LARGEST_MARKED_BODY, hint, verdict};
pub use clock::{Clock, SystemClock};
pub use driver::{Driver, Event, Finished, Observer, Silent};
pub use exchange::{AttemptTimedOut, Attempted, Exchange, Fate};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use fate::fate_of;
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use key::{Destination, Key, KeyFunction};
pub use random::ThreadRandom;
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use refusals::{FinishBy, Unasked, Vouched};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use refused_body::{BodyGivenUp, LARGEST_DRAIN, RetryBody};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use report::Report;
#[cfg(feature = "reqwest")]
pub use reqwest_face::{RetryMiddleware, client_builder};
#[cfg(any(feature = "reqwest", feature = "tower"))]
pub use shared_request::SharedRequest;
#[cfg(feature = "tower")]
pub use tower_face::{ReadOnce, ReplayBody, RetryError, RetryLayer, RetryService};
