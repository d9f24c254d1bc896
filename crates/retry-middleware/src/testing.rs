//! A clock that jumps: virtual time for tests of everything above the sockets.

use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::{Mutex, PoisonError};
use std::task::Poll;
use std::time::Duration;

use retry_core::{Monotonic, UnixTime};

use crate::clock::Clock;

/// A clock that stands still until somebody sleeps, and then jumps to the instant asked for: of several who
/// sleep at the same time, to the earliest.
///
/// Every sleep that ends is recorded; one that is dropped was none. Attempts take no time unless they
/// [`advance`](VirtualClock::advance) it.
#[derive(Debug, Default)]
pub struct VirtualClock {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    now: Monotonic,
    sleeps: Vec<Duration>,
    /// Until when somebody sleeps now, and how many.
    sleepers: BTreeMap<Monotonic, usize>,
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
        let start = self.monotonic();
        let sleeper = Sleeper::begin(self, instant);
        tokio::task::yield_now().await;
        poll_fn(|context| {
            let mut state = self.state();
            let earliest = state.sleepers.keys().next().copied().unwrap_or(instant);
            if state.now < instant && earliest < instant {
                // Its turn comes when that one has ended or is dropped.
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            state.now = state.now.max(instant);
            Poll::Ready(())
        })
        .await;
        drop(sleeper);
        self.state().sleeps.push(instant.since(start));
    }
}

/// Somebody who sleeps, for as long as they do.
struct Sleeper<'c> {
    clock: &'c VirtualClock,
    until: Monotonic,
}

impl<'c> Sleeper<'c> {
    fn begin(clock: &'c VirtualClock, until: Monotonic) -> Self {
        *clock.state().sleepers.entry(until).or_default() += 1;
        Self { clock, until }
    }
}

impl Drop for Sleeper<'_> {
    fn drop(&mut self) {
        let mut state = self.clock.state();
        if let Some(count) = state.sleepers.get_mut(&self.until) {
            *count -= 1;
            if *count == 0 {
                state.sleepers.remove(&self.until);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Monotonic {
        Monotonic::from_millis(1_000 * seconds)
    }

    /// A timeout around something that sleeps must not end before it.
    #[tokio::test]
    async fn of_two_who_sleep_at_once_the_earlier_wakes_first_whatever_their_order() {
        let clock = VirtualClock::new();
        tokio::select! {
            biased;
            () = clock.sleep_until(at(9)) => panic!("the later one woke"),
            () = clock.sleep_until(at(2)) => {}
        }
        assert_eq!((clock.monotonic(), clock.sleeps()), (at(2), vec![Duration::from_secs(2)]));
        tokio::join!(clock.sleep_until(at(5)), clock.sleep_until(at(3)));
        assert_eq!(clock.monotonic(), at(5));
        assert_eq!(clock.sleeps()[1..], [Duration::from_secs(1), Duration::from_secs(3)]);
    }
}
