//! `pull`: a fetch, then a fast-forward or a merge.

use hub_protocol::{Commit, Id};

use super::fetch::fetch_remote;
use super::merge::merge;
use super::remote::RemoteInUse;
use super::{FetchOptions, FetchReport, Update, blocking};
use crate::errors::{Error, Failed, Spent};
use crate::repository::{Move, Repository, RepositoryLock, leads_to, merge_base};
use crate::session::Session;
use crate::timestamp;

/// Fetches, and brings the current branch and the working tree up to the remote's branch.
///
/// Where only the remote has moved, the branch moves on to its head; where both have, they are merged file by
/// file. Files that both changed, or that are changed here and not committed, end it with nothing changed here.
///
/// # Errors
///
/// [`Failed`] with the error and what was spent; [`Error::Conflicts`] and [`Error::WouldOverwrite`] name the files.
pub async fn pull(
    session: &Session,
    repository: &Repository,
    options: &FetchOptions,
) -> Result<FetchReport, Failed> {
    Spent::account(async |spent| {
        let remote = RemoteInUse::configured(repository, session, &options.remote)?;
        let branch = repository.current_branch()?;
        let from = options.branch.clone().unwrap_or_else(|| branch.clone());
        let fetched = fetch_remote(session, repository, &remote, Some(&from), spent).await?;
        let theirs = *fetched.heads.get(&from).expect("a fetch of one branch has its head");

        let merging = Merging {
            theirs,
            message: format!("Merge {from} of {}", remote.address),
            committed_at: timestamp::now(),
        };
        let (here, cancel) = (repository.clone(), session.cancel().clone());
        let (branch, head, update) = blocking(move || {
            let lock = here.lock()?;
            // Read under the lock: the branch may have moved while the pack came.
            let branch = here.current_branch()?;
            let ours = here.head(&branch)?;
            let (head, update) = merging.target(&here, &lock, ours)?;
            if ours != Some(head) {
                let wanted = Move { branch: branch.clone(), from: ours, to: head };
                here.move_to(&lock, &wanted, &cancel)?;
            }
            Ok((branch, head, update))
        })
        .await?;
        let report = fetched.report(&remote, repository, branch, Some(head), *spent);
        Ok(FetchReport { update: Some(update), ..report })
    })
    .await
}

struct Merging {
    theirs: Id,
    message: String,
    committed_at: String,
}

impl Merging {
    /// The commit that the branch is to move to. A merge is in the store by the time it is returned.
    fn target(
        &self,
        repository: &Repository,
        lock: &RepositoryLock,
        ours: Option<Id>,
    ) -> Result<(Id, Update), Error> {
        let (store, theirs) = (repository.store(), self.theirs);
        let Some(ours) = ours else { return Ok((theirs, Update::FastForward)) };
        if leads_to(store, ours, theirs)? {
            return Ok((ours, Update::UpToDate));
        }
        if leads_to(store, theirs, ours)? {
            return Ok((theirs, Update::FastForward));
        }
        let base = store.files_of(merge_base(store, ours, theirs)?)?;
        let merged = merge(&base, &store.files_of(Some(ours))?, &store.files_of(Some(theirs))?)
            .map_err(|paths| Error::Conflicts { paths })?;
        let mut staging = repository.stage()?;
        let snapshot = staging.put_snapshot(&merged)?;
        let commit =
            Commit::new(vec![ours, theirs], snapshot, self.message.as_str(), self.committed_at.as_str())?;
        Ok((repository.settle_commit(lock, staging, &commit)?, Update::Merged))
    }
}
