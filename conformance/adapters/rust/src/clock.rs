//! The one clock.

use std::time::Instant;

#[expect(clippy::disallowed_methods, reason = "this program's one read of a clock")]
pub fn now() -> Instant {
    Instant::now()
}
