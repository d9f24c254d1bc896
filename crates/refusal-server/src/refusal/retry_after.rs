//! The hint of a refusal.

use std::num::NonZeroU32;

use http::HeaderValue;

/// The delay of a refusal, in whole seconds and never 0: a hint of 0 makes clients spin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RetryAfter(NonZeroU32);

impl RetryAfter {
    /// A delay of `seconds`; 0 becomes 1.
    pub const fn seconds(seconds: u32) -> Self {
        match NonZeroU32::new(seconds) {
            Some(seconds) => Self(seconds),
            None => Self(NonZeroU32::MIN),
        }
    }

    /// The number of seconds.
    pub const fn as_seconds(self) -> u32 {
        self.0.get()
    }

    /// The field value, in the delay-seconds form of RFC 9110 section 10.2.3.
    pub fn to_header_value(self) -> HeaderValue {
        HeaderValue::from(self.0.get())
    }
}
