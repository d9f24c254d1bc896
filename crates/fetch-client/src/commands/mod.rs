//! What a user asks for.

mod clone;
mod fetch;
mod init;
mod ls_remote;
mod merge;
mod pull;
mod push;
mod remote;
mod status;

pub use clone::{CloneRequest, clone};
pub use fetch::{FetchOptions, fetch};
pub use init::init;
pub use ls_remote::ls_remote;
pub use pull::pull;
pub use push::{PushReport, PushRequest, push};
pub use status::{StatusReport, status};

use std::path::PathBuf;

use hub_protocol::{BranchName, Id};

use crate::errors::{Error, Spent};

/// What `clone`, `fetch` and `pull` have done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FetchReport {
    /// The address of the remote.
    pub url: String,
    /// The working tree.
    pub target: PathBuf,
    /// The branch that was asked for, or that the working tree is on.
    pub branch: BranchName,
    /// Its head: after a clone or a pull here, after a fetch at the remote.
    pub head: Option<Id>,
    /// How many commits came.
    pub commits: u64,
    /// How many snapshots came.
    pub snapshots: u64,
    /// How many objects came.
    pub objects: u64,
    /// How many bytes of packs came.
    pub bytes: u64,
    /// What the retries took.
    pub spent: Spent,
    /// What a pull did to the branch.
    pub update: Option<Update>,
}

/// What a pull did to the branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Update {
    /// There was nothing new.
    UpToDate,
    /// The branch moved on to the remote's head.
    FastForward,
    /// Both sides had moved: a merge was recorded.
    Merged,
}

/// Work that blocks, beside the runtime's own threads.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    tokio::task::spawn_blocking(work).await?
}
