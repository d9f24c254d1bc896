//! The time of day, as commits carry it.

use hub_protocol::utc_timestamp;
use retry_core::UnixTime;
use retry_middleware::{Clock, SystemClock};

/// What lies before 1970 is written as its first second.
pub(crate) fn now() -> String {
    utc_timestamp(SystemClock.wall().seconds_since(UnixTime::from_seconds(0)))
}
