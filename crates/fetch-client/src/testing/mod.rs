//! What suites of tests against a cluster are written with.
//!
//! Neither of these turns on the client's own retry: a refusal that is proved must not be waited out, and a wait
//! that is recorded must not hide inside another loop.

mod assertion;
mod recorded_waits;

pub use assertion::assert_refused_at_stage;
pub use recorded_waits::{RecordedWait, RecordedWaits};
