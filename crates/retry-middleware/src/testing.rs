//! A clock that jumps: virtual time for tests of everything above the sockets.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use retry_core::{Monotonic, UnixTime};

use crate::clock::Clock;

/// A clock that stands still until somebody sleeps, and then jumps to the instant asked for.
///
/// Every sleep is recorded. Attempts take no time unless they [`advance`](VirtualClock::advance) it.
#[derive(Debug, Default)]
pub struct VirtualClock {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    now: Monotonic,
    sleeps: Vec<Duration>,
}

impl VirtualClock {
    /// A clock at its origin; its wall clock stands at the epoch.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets time pass without a sleep.
    pub fn advance(&self, length: Duration) {
        let mut state = self.state();
        state.now = state.now.after(length);
    }

    /// The sleeps so far, in order.
    #[must_use]
    pub fn sleeps(&self) -> Vec<Duration> {
        self.state().sleeps.clone()
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for VirtualClock {
    fn monotonic(&self) -> Monotonic {
        self.state().now
    }

    fn wall(&self) -> UnixTime {
        let seconds = self.state().now.as_micros() / 1_000_000;
        UnixTime::from_seconds(i64::try_from(seconds).unwrap_or(i64::MAX))
    }

    /// Yields once before it jumps, so that whatever races with the sleep and is ready wins.
    async fn sleep_until(&self, instant: Monotonic) {
        tokio::task::yield_now().await;
        let mut state = self.state();
        let length = instant.since(state.now);
        state.now = state.now.max(instant);
        state.sleeps.push(length);
    }
}
