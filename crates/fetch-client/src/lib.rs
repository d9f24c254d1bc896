//! A client that comes back later: repositories over a hub that is asked again when it says so.
//!
//! The library reads no environment and prints nothing: settings are arguments, and who wants to show what
//! happens implements [`Observer`]. Arguments, rendering and exit codes live in the module `cli`, behind the feature of that
//! name.
//!
//! * [`init`], [`clone`], [`fetch`], [`pull`], [`push`], [`status`], [`ls_remote`]: what a user asks for, each
//!   under a [`Session`].
//! * [`Repository`]: what is on disk, whole after a kill at any point.
//! * [`resolve_retry_budget`]: how long refusals are waited out. Of a hub's requests only the one for a pack is
//!   ever repeated, by the driver of `retry-middleware` under the profile `muse`.
//! * [`Cluster`]: instances of a cluster. A creation that is refused for want of capacity is repeated only for
//!   who asks for that, by the same driver under the profile `shakenfist`.
//!
//! ```no_run
//! use std::time::Duration;
//!
//! use fetch_client::{CloneRequest, Session, TransportSettings, clone};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let session = Session::new(TransportSettings::default()).with_retry_budget(Duration::from_secs(60));
//! let address = "https://hub.example/me/work".parse()?;
//! let report = clone(&session, &CloneRequest { address, target: None, branch: None }).await?;
//! println!("{} after {} attempts", report.branch, report.spent.attempts);
//! # Ok(())
//! # }
//! ```

mod address;
mod budget;
#[cfg(feature = "cli")]
pub mod cli;
mod cluster;
mod commands;
mod download;
mod errors;
mod hub;
mod progress;
mod refusal;
mod repository;
mod retry;
mod session;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod timestamp;
mod transport;

pub use address::Address;
pub use budget::{DEFAULT_RETRY_BUDGET, JunkBudget, resolve_retry_budget};
pub use cluster::{
    AffinityRequest, Cluster, ClusterAddress, ClusterError, ClusterRefusal, ClusterSettings, Credentials,
    Instance, InstanceRequest, InterfaceRequest, Strategy,
};
pub use commands::{
    CloneRequest, FetchOptions, FetchReport, PushReport, PushRequest, StatusReport, Update, clone, fetch,
    init, ls_remote, pull, push, status,
};
pub use errors::{DownloadFault, Error, ErrorClass, Failed, Spent, StillPreparing};
pub use hub::Token;
pub use progress::{Direction, Observer, Transfer, Unobserved, Waiting};
pub use refusal::Refusal;
pub use repository::{Config, DEFAULT_REMOTE, Differences, Identity, Recorded, Remote, Repository, Warning};
pub use session::Session;
pub use transport::{TransportError, TransportSettings};
