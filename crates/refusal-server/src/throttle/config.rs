//! What the throttle is told at its start.

use std::fmt;
use std::num::{NonZeroU32, NonZeroUsize};
use std::str::FromStr;
use std::time::Duration;

/// The throttle's own settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThrottleConfig {
    /// How fast each bucket fills.
    pub rate: ThrottleRate,
    /// How many tokens a bucket holds; what is beyond [`LARGEST_BURST`](Self::LARGEST_BURST) counts as that.
    pub burst: NonZeroU32,
    /// Whether those who are refused are told instants one after the other, and not all the same one.
    pub spread: bool,
    /// The most keys that have a bucket at once.
    pub most_keys: NonZeroUsize,
}

impl ThrottleConfig {
    /// A handful at once, so that a person with a shell sees both answers.
    pub const BURST: NonZeroU32 = NonZeroU32::new(5).unwrap();
    /// Beyond it the time to fill a slow bucket would not fit the arithmetic of nanoseconds.
    pub const LARGEST_BURST: NonZeroU32 = NonZeroU32::new(1_000_000).unwrap();
    /// As many keys as retry-core's windows hold by default: about 100 KiB.
    pub const MOST_KEYS: NonZeroUsize = NonZeroUsize::new(1_024).unwrap();
}

impl Default for ThrottleConfig {
    fn default() -> Self {
        Self { rate: ThrottleRate::DEFAULT, burst: Self::BURST, spread: true, most_keys: Self::MOST_KEYS }
    }
}

/// How fast a bucket fills: one token in so much time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ThrottleRate(Duration);

impl ThrottleRate {
    /// One request a second.
    pub const DEFAULT: Self = Self(Duration::from_secs(1));
    const FASTEST: f64 = 1_000_000.0;
    const SLOWEST: f64 = 0.001;

    /// So many tokens a second, from 0.001 to 1,000,000.
    ///
    /// # Errors
    ///
    /// [`ThrottleRateError`] for any other number, and for what is none.
    pub fn per_second(tokens: f64) -> Result<Self, ThrottleRateError> {
        if !(Self::SLOWEST..=Self::FASTEST).contains(&tokens) {
            return Err(ThrottleRateError(tokens.to_string()));
        }
        Ok(Self(Duration::from_secs_f64(tokens.recip())))
    }

    /// How long one token takes; never zero.
    pub fn period(self) -> Duration {
        self.0
    }
}

impl FromStr for ThrottleRate {
    type Err = ThrottleRateError;

    fn from_str(text: &str) -> Result<Self, ThrottleRateError> {
        text.parse().map_or_else(|_| Err(ThrottleRateError(text.to_owned())), Self::per_second)
    }
}

/// The number of tokens a second.
impl fmt::Display for ThrottleRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Six decimals of what a period in nanoseconds has rounded: 3 is shown as 3 again.
        let rate = (self.0.as_secs_f64().recip() * 1e6).round() / 1e6;
        write!(f, "{rate}")
    }
}

/// Not a rate at which a bucket can be filled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a number of requests a second from 0.001 to 1000000, got `{}`", .0.escape_debug())]
pub struct ThrottleRateError(String);
