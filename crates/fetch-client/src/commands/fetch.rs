//! `fetch`, and what `clone` and `pull` share with it: packs into the store, then names for what came.

use std::collections::{BTreeMap, BTreeSet};

use hub_protocol::{BranchName, FetchRequest, Id, MAX_HAVES, MAX_WANTS, Refs};

use super::remote::RemoteInUse;
use super::{FetchReport, blocking};
use crate::download::download_pack;
use crate::errors::{Error, Failed, Spent};
use crate::hub::Hub;
use crate::repository::{Identity, Repository, Staged};
use crate::retry::ask_for_pack;
use crate::session::Session;
use crate::transport::unless_cancelled;

/// What to fetch, or pull.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchOptions {
    /// The name of the remote.
    pub remote: String,
    /// This branch only; without it all branches are fetched, and the current one is pulled.
    pub branch: Option<BranchName>,
}

/// Brings what the remote has and this repository has not; the working tree and the branches stay as they are.
///
/// # Errors
///
/// [`Failed`] with the error and what was spent.
pub async fn fetch(
    session: &Session,
    repository: &Repository,
    options: &FetchOptions,
) -> Result<FetchReport, Failed> {
    Spent::account(async |spent| {
        let remote = RemoteInUse::configured(repository, session, &options.remote)?;
        let fetched = fetch_remote(session, repository, &remote, options.branch.as_ref(), spent).await?;
        let branch = match &options.branch {
            Some(branch) => branch.clone(),
            None => repository.current_branch()?,
        };
        let head = fetched.heads.get(&branch).copied();
        Ok(fetched.report(&remote, repository, branch, head, *spent))
    })
    .await
}

/// What a fetch brought, before anybody decides what to do with it.
#[derive(Debug)]
pub(super) struct Fetched {
    /// The remote's branches that were asked for.
    pub(super) heads: BTreeMap<BranchName, Id>,
    pub(super) received: Received,
}

impl Fetched {
    pub(super) fn report(
        &self,
        remote: &RemoteInUse,
        repository: &Repository,
        branch: BranchName,
        head: Option<Id>,
        spent: Spent,
    ) -> FetchReport {
        let Received { staged, bytes } = self.received;
        FetchReport {
            url: remote.address.to_string(),
            target: repository.shown_root(),
            branch,
            head,
            commits: staged.commits,
            snapshots: staged.snapshots,
            objects: staged.objects,
            bytes,
            spent,
            update: None,
        }
    }
}

/// Fetches, and notes the remote's heads.
pub(super) async fn fetch_remote(
    session: &Session,
    repository: &Repository,
    remote: &RemoteInUse,
    branch: Option<&BranchName>,
    spent: &mut Spent,
) -> Result<Fetched, Error> {
    let hub = remote.hub(session);
    let refs = ask_for_refs(session, &hub, spent).await?;
    let heads = match branch {
        None => refs.branch_heads.clone(),
        Some(branch) => {
            let head = refs.branch_heads.get(branch).copied();
            let head = head.ok_or_else(|| Error::RemoteBranchMissing { branch: branch.clone() })?;
            BTreeMap::from([(branch.clone(), head)])
        }
    };
    let have = held(repository, &remote.name)?;
    let received = receive_heads(session, &hub, repository, &heads, have, spent).await?;

    let (repository, name, noted) = (repository.clone(), remote.name.clone(), heads.clone());
    blocking(move || {
        let _lock = repository.lock()?;
        note_remote(&repository, &name, &noted, &refs)
    })
    .await?;
    Ok(Fetched { heads, received })
}

/// Asks what the remote says of itself, once. Where that is refused, no pack is asked for, and this was the attempt.
pub(super) async fn ask_for_refs(session: &Session, hub: &Hub<'_>, spent: &mut Spent) -> Result<Refs, Error> {
    let asked = unless_cancelled(session.cancel(), hub.refs()).await?;
    asked.inspect_err(|_| spent.attempts += 1)
}

/// Notes what the remote said of itself. The commits are in the store by now: these names come last.
pub(super) fn note_remote(
    repository: &Repository,
    name: &str,
    heads: &BTreeMap<BranchName, Id>,
    refs: &Refs,
) -> Result<(), Error> {
    let identity = repository.identity()?;
    let told = Identity::told(&refs.repo_id, &refs.domain);
    if told != identity {
        repository.set_identity(&told)?;
    }
    for (branch, head) in heads {
        if repository.remote_head(name, branch)? != Some(*head) {
            repository.references().set_remote_head(name, branch, *head)?;
        }
    }
    Ok(())
}

/// The commits to tell the hub of: this remote's heads first, which it is the surest to know.
fn held(repository: &Repository, remote: &str) -> Result<Vec<Id>, Error> {
    let of_remote = repository.references().remote_heads(remote)?;
    let of_branches = repository.references().heads()?;
    let mut seen = BTreeSet::new();
    let mut have: Vec<Id> =
        of_remote.into_values().chain(of_branches.into_values()).filter(|id| seen.insert(*id)).collect();
    have.truncate(MAX_HAVES);
    Ok(have)
}

/// What came in packs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Received {
    pub(super) staged: Staged,
    pub(super) bytes: u64,
}

/// Brings `heads`, and all that they lead to, into the store.
///
/// More heads than one request may name are fetched by several; each finds the packs of the earlier ones settled.
pub(super) async fn receive_heads(
    session: &Session,
    hub: &Hub<'_>,
    repository: &Repository,
    heads: &BTreeMap<BranchName, Id>,
    have: Vec<Id>,
    spent: &mut Spent,
) -> Result<Received, Error> {
    let missing: BTreeSet<Id> =
        heads.values().copied().filter(|head| !repository.store().has_commit(*head)).collect();
    let missing: Vec<Id> = missing.into_iter().collect();
    let mut received = Received::default();
    for wanted in missing.chunks(MAX_WANTS) {
        let request = FetchRequest::new(wanted.to_vec(), have.clone());
        let answer = ask_for_pack(session, hub, &request, spent).await?;
        let (summary, staging) = download_pack(session, hub, &answer, repository.stage()?).await?;
        received.bytes += summary.size;
        received.staged.add(staging.staged());
        let wanted = wanted.to_vec();
        blocking(move || {
            staging.check_complete(&wanted)?;
            staging.settle()
        })
        .await?;
    }
    Ok(received)
}
