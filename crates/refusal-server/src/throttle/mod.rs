//! The throttle: one bucket of tokens a key. A request that finds its bucket empty is told when it will not be.

mod buckets;
mod config;
mod key;
mod queue;
mod refusals;
mod routes;
#[cfg(test)]
mod tests;

pub use config::{ThrottleConfig, ThrottleRate, ThrottleRateError};
pub use refusals::TooManyRequests;

pub(crate) use routes::router;
