//! Hold a policy, or a client of your own, to the laws (feature `testing`).
//!
//! - [`strategies`] make field lines, outcomes, policies and whole server scripts for `proptest`.
//! - [`Simulation`] runs any number of [`Client`]s against a scripted server in virtual time, and replays
//!   from a seed.
//! - [`laws`] are functions over the [`Trace`] that comes out.
//!
//! A policy that cuts its waits to what is left goes early, and so breaks the first law. Which hint is enough
//! to see it is what `proptest` finds out:
//!
//! ```
//! use core::time::Duration;
//! use proptest::test_runner::{TestError, TestRunner};
//! use retry_core::testing::{Reply, Simulation, laws};
//! use retry_core::{Hint, LogicalRequest, Monotonic, OverBudget, Replay, profiles};
//!
//! let early = profiles::RECOMMENDED
//!     .to_builder()
//!     .over_budget(OverBudget::TruncateThenTry)
//!     .budget(Duration::from_secs(10))
//!     .build()?;
//!
//! let failure = TestRunner::deterministic().run(&(0..=120_u64), |seconds| {
//!     let client = LogicalRequest::new(&early, Replay::Always, Monotonic::ORIGIN);
//!     let closed = Reply::answer(429, Hint::after_millis(seconds * 1_000, b""));
//!     let trace = Simulation::seeded(1).client(client).run(|_| closed);
//!     Ok(laws::never_before_the_not_before(&trace)?)
//! });
//!
//! // Shrunk: it takes no long wait. Two seconds, told often enough, do not end with the budget either.
//! let Err(TestError::Fail(broken, 2)) = failure else { panic!("{failure:?}") };
//! assert_eq!(
//!     broken.message(),
//!     "never before the not-before: \
//!      client 0, attempt 5 began at 10 s; it was asked to stay away until 10.949 s"
//! );
//! # Ok::<(), retry_core::PolicyError>(())
//! ```

pub mod laws;
mod simulation;
pub mod strategies;
mod trace;
mod window_laws;

pub use laws::Broken;
pub use simulation::{Arrival, Client, Reply, Seeded, Simulation};
pub use trace::{Record, Trace};
