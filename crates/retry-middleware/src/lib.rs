//! The one retry loop over [`retry_core`]: asks, attempts, decides, waits, asks again.
//!
//! [`Driver::run`] takes a [`LogicalRequest`](retry_core::LogicalRequest) and an [`Exchange`] that makes
//! single attempts. It sleeps between attempts and nobody else does; it decides nothing, the core does.

mod carriers;
mod clock;
mod driver;
mod exchange;
mod random;
#[cfg(feature = "testing")]
pub mod testing;

pub use carriers::{LARGEST_MARKED_BODY, hint, verdict};
pub use clock::{Clock, SystemClock};
pub use driver::{Driver, Event, Finished, Observer, Silent};
pub use exchange::{AttemptTimedOut, Attempted, Exchange, Fate};
pub use random::ThreadRandom;
