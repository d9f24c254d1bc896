//! The buckets, and which of them makes room.

use std::collections::HashMap;
use std::time::Duration;

use governor::clock::{Clock, Reference};
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};

use super::config::ThrottleConfig;
use super::key::Key;
use super::queue::{Queue, whole_seconds};
use crate::refusal::RetryAfter;

/// A bounded number of buckets, one a key.
///
/// A key that is new always gets a full one. Where all places are taken, the bucket that is full the soonest
/// goes first: often it is full already, and then nothing is forgotten. Whoever fills all places with keys of
/// its own could have used those keys anyway.
pub(super) struct Buckets<C: Clock> {
    config: ThrottleConfig,
    quota: Quota,
    /// The time to fill all but one of a bucket's tokens.
    slack: Duration,
    clock: C,
    start: C::Instant,
    buckets: HashMap<Key, Bucket<C>>,
}

struct Bucket<C: Clock> {
    limiter: RateLimiter<NotKeyed, InMemoryState, C, governor::middleware::NoOpMiddleware<C::Instant>>,
    /// No earlier than the instant at which it is full again.
    full: Duration,
    queue: Queue,
}

impl<C: Clock + Clone> Buckets<C> {
    pub(super) fn new(config: ThrottleConfig, clock: C) -> Self {
        let burst = config.burst.min(ThrottleConfig::LARGEST_BURST);
        let period = config.rate.period();
        let quota = Quota::with_period(period).expect("a rate's period is not zero").allow_burst(burst);
        let slack = period * (burst.get() - 1);
        Self { quota, slack, start: clock.now(), clock, buckets: HashMap::new(), config }
    }

    /// Takes a token of this key's bucket, or says when it is worth asking again.
    pub(super) fn take(&mut self, key: &Key) -> Result<(), RetryAfter> {
        // Read before the bucket reads it: what is told from it can only be later than the bucket needs.
        let now = self.since_start(self.clock.now());
        if !self.buckets.contains_key(key) {
            self.make_room();
            let limiter = RateLimiter::direct_with_clock(self.quota, self.clock.clone());
            self.buckets.insert(key.clone(), Bucket { limiter, full: now, queue: Queue::default() });
        }
        let (start, period) = (self.start, self.config.rate.period());
        let bucket = self.buckets.get_mut(key).expect("it is there, or was just put there");
        match bucket.limiter.check() {
            Ok(()) => {
                bucket.full = bucket.full.max(now) + period;
                Ok(())
            }
            Err(refused) => {
                let free = Duration::from(refused.earliest_possible().duration_since(start));
                let seconds = if self.config.spread {
                    bucket.queue.tell(now, free, period, self.slack)
                } else {
                    whole_seconds(free.saturating_sub(now))
                };
                Err(RetryAfter::seconds(u32::try_from(seconds).unwrap_or(u32::MAX)))
            }
        }
    }

    fn make_room(&mut self) {
        if self.buckets.len() < self.config.most_keys.get() {
            return;
        }
        let soonest = self.buckets.iter().min_by_key(|(_, bucket)| bucket.full).map(|(key, _)| key.clone());
        if let Some(key) = soonest {
            self.buckets.remove(&key);
        }
    }

    fn since_start(&self, instant: C::Instant) -> Duration {
        instant.duration_since(self.start).into()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }
}
