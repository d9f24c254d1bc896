//! `status`: the working tree against the last commit, the branch against the remote.

use hub_protocol::{BranchName, Id};

use crate::errors::Error;
use crate::repository::{DEFAULT_REMOTE, Differences, Repository, Warning, ancestors, ancestors_beyond};

/// Where a repository stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StatusReport {
    /// The current branch.
    pub branch: BranchName,
    /// Its head, if it has a commit.
    pub head: Option<Id>,
    /// How the working tree differs from the head.
    pub differences: Differences,
    /// Commits that only this side has, and only the remote's branch, as it was last seen.
    pub ahead_and_behind: Option<(usize, usize)>,
    /// What does not take part in commits though nobody asked for that.
    pub warnings: Vec<Warning>,
}

/// Compares the working tree with the last commit, and the branch with the remote's as it was last seen.
///
/// # Errors
///
/// What keeps the repository or the working tree from being read.
pub fn status(repository: &Repository) -> Result<StatusReport, Error> {
    // Puts in order what a killed process left; where another process is at work, what it does is still to come.
    let _lock = match repository.lock() {
        Err(Error::Busy { .. }) => None,
        lock => Some(lock?),
    };
    let branch = repository.current_branch()?;
    let head = repository.head(&branch)?;
    let (differences, warnings) = repository.differences(head)?;
    let store = repository.store();
    let ahead_and_behind = match (head, repository.remote_head(DEFAULT_REMOTE, &branch)?) {
        (Some(ours), Some(theirs)) => {
            let ahead = ancestors_beyond(store, [ours], &ancestors(store, [theirs])?)?.len();
            let behind = ancestors_beyond(store, [theirs], &ancestors(store, [ours])?)?.len();
            Some((ahead, behind))
        }
        _ => None,
    };
    Ok(StatusReport { branch, head, differences, ahead_and_behind, warnings })
}
