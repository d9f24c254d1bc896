//! Hold a policy, or a client of your own, to the laws (feature `testing`).
//!
//! - [`strategies`] make field lines, outcomes, policies and whole server scripts for `proptest`.
//! - [`Simulation`] runs any number of [`Client`]s against a scripted server in virtual time, and replays
//!   from a seed.
//! - [`laws`] are functions over the [`Trace`] that comes out.
//!
//! A policy that cuts its waits to what is left and goes early breaks the first law:
//!
//! ```
//! use core::time::Duration;
//! use retry_core::testing::{Reply, Simulation, laws};
//! use retry_core::{Hint, LogicalRequest, Monotonic, OverBudget, Outcome, Replay, profiles};
//!
//! let early = profiles::RECOMMENDED
//!     .to_builder()
//!     .over_budget(OverBudget::TruncateThenTry)
//!     .budget(Duration::from_secs(10))
//!     .build()?;
//! let client = LogicalRequest::new(&early, Replay::Always, Monotonic::ORIGIN);
//! let closed = Reply::answer(429, Hint::after_millis(60_000, b"60"));
//!
//! let trace = Simulation::seeded(1).client(client).run(|_| closed);
//! let broken = laws::never_before_the_not_before(&trace).unwrap_err();
//! assert_eq!(
//!     broken.to_string(),
//!     "never before the not-before: client 0, attempt 2 began at 10 s; it was asked to stay away until 60 s"
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
