//! The two clocks and the one sleep.

use std::future::Future;
use std::sync::OnceLock;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use retry_core::{Monotonic, UnixTime};
use tokio::time::Instant;

/// Where the driver reads time and waits. A clock and its sleep belong together: `sleep_until` ends no
/// earlier than `monotonic` says.
pub trait Clock: Send + Sync {
    /// The monotonic clock, rounded down to whole microseconds.
    fn monotonic(&self) -> Monotonic;

    /// The wall clock, rounded down to whole seconds.
    fn wall(&self) -> UnixTime;

    /// Waits until `instant`. It may end early: the driver asks again (T5).
    fn sleep_until(&self, instant: Monotonic) -> impl Future<Output = ()> + Send;
}

impl<C: Clock> Clock for &C {
    fn monotonic(&self) -> Monotonic {
        (**self).monotonic()
    }

    fn wall(&self) -> UnixTime {
        (**self).wall()
    }

    fn sleep_until(&self, instant: Monotonic) -> impl Future<Output = ()> + Send {
        (**self).sleep_until(instant)
    }
}

/// The clocks of this process, with tokio's timer. All values share one origin, so a request that was
/// begun in one layer keeps its instants in another.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the crate's one read of the monotonic clock")]
    fn instant() -> Instant {
        Instant::now()
    }

    fn origin() -> Instant {
        static ORIGIN: OnceLock<Instant> = OnceLock::new();
        *ORIGIN.get_or_init(Self::instant)
    }
}

impl Clock for SystemClock {
    fn monotonic(&self) -> Monotonic {
        // The origin first: it is no later than the reading, also on the very first call.
        let origin = Self::origin();
        let micros = Self::instant().saturating_duration_since(origin).as_micros();
        Monotonic::from_micros(u64::try_from(micros).unwrap_or(u64::MAX))
    }

    #[expect(clippy::disallowed_methods, reason = "the crate's one read of the wall clock")]
    fn wall(&self) -> UnixTime {
        let seconds = match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).unwrap_or(i64::MAX),
            // A clock set before 1970: rounded down as well.
            Err(before) => {
                let before = before.duration();
                let whole = i64::try_from(before.as_secs()).unwrap_or(i64::MAX);
                -whole - i64::from(before.subsec_nanos() > 0)
            }
        };
        UnixTime::from_seconds(seconds)
    }

    async fn sleep_until(&self, instant: Monotonic) {
        let from_origin = Duration::from_micros(instant.as_micros());
        match Self::origin().checked_add(from_origin) {
            Some(deadline) => tokio::time::sleep_until(deadline).await,
            // Beyond what the timer can express, which is centuries away.
            None => std::future::pending().await,
        }
    }
}
