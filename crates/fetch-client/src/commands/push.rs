//! `push`: what the remote lacks as one pack, then the move of its branch.

use std::collections::{BTreeMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};

use http::StatusCode;
use hub_protocol::{BranchName, Id, PackWriter, PresignRequest, Refs, Summary, Totals, UnpackRequest};
use tokio_util::sync::CancellationToken;

use super::blocking;
use super::remote::{RemoteInUse, name_of};
use crate::address::Address;
use crate::errors::{Error, IoContext};
use crate::hub::Hub;
use crate::repository::{DEFAULT_REMOTE, Remote, Repository, Staging, Store, ancestors, ancestors_beyond};
use crate::session::Session;
use crate::transport::unless_cancelled;

/// What to push, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushRequest {
    /// An address, or the name of a remote. An address that is new is noted as `origin` where there is none yet.
    pub remote: String,
    /// The branch; without it the current one.
    pub branch: Option<BranchName>,
    /// Move the remote's branch even where that loses commits.
    pub force: bool,
    /// Let everybody read the repository that this push creates.
    pub public: bool,
}

/// What a push has done.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PushReport {
    /// The address of the remote.
    pub url: String,
    /// The branch.
    pub branch: BranchName,
    /// Its head, here and there.
    pub head: Id,
    /// What was sent; nothing where the remote had it all.
    pub sent: Option<Summary>,
}

/// Sends the branch's commits, and moves the remote's branch to its head.
///
/// # Errors
///
/// [`Error::PushRefused`] where the remote has commits that this would lose; [`Error::NothingToPush`],
/// [`Error::BranchMissing`], [`Error::RemoteMissing`], or what the hub or the connection said.
pub async fn push(
    session: &Session,
    repository: &Repository,
    request: &PushRequest,
) -> Result<PushReport, Error> {
    let current = repository.current_branch()?;
    let branch = request.branch.clone().unwrap_or_else(|| current.clone());
    let head = repository.head(&branch)?.ok_or_else(|| {
        if branch == current {
            Error::NothingToPush { branch: branch.clone() }
        } else {
            Error::BranchMissing { branch: branch.clone() }
        }
    })?;
    let remote = choose_remote(repository, session, &request.remote)?;
    let hub = remote.hub(session);
    unless_cancelled(session.cancel(), async {
        let there = match hub.refs().await {
            Ok(refs) => Some(refs),
            // Created by this push; or not ours to see, which the hub says next.
            Err(Error::Refused(refusal)) if refusal.is_not_found() => None,
            Err(error) => return Err(error),
        };
        let heads = there.as_ref().map(|refs: &Refs| refs.branch_heads.clone()).unwrap_or_default();
        let sent = if heads.get(&branch) == Some(&head) {
            None
        } else {
            Some(send(session, repository, &hub, request, (&branch, head), &heads).await?)
        };
        note_push(repository, &remote, &branch, head)?;
        Ok(PushReport { url: remote.address.to_string(), branch: branch.clone(), head, sent })
    })
    .await?
}

/// The remote of this name or with this address; an address without a name becomes `origin`, or goes unnoted.
fn choose_remote(repository: &Repository, session: &Session, given: &str) -> Result<RemoteInUse, Error> {
    let config = repository.config()?;
    let address: Address = match given.parse() {
        Ok(address) => address,
        Err(_) if !given.contains("://") => return RemoteInUse::configured(repository, session, given),
        Err(error) => return Err(error),
    };
    match name_of(&config, &address) {
        Some(name) => RemoteInUse::configured(repository, session, name),
        None => RemoteInUse::new(DEFAULT_REMOTE, &Remote { url: address.to_string(), token: None }, session),
    }
}

/// Notes the remote's new head, and the remote itself where it is the first.
fn note_push(
    repository: &Repository,
    remote: &RemoteInUse,
    branch: &BranchName,
    head: Id,
) -> Result<(), Error> {
    let _lock = repository.lock()?;
    let mut config = repository.config()?;
    if config.remotes.is_empty() {
        let noted = Remote { url: remote.address.to_string(), token: None };
        config.remotes.insert(remote.name.clone(), noted);
        repository.set_config(&config)?;
    }
    if name_of(&config, &remote.address) == Some(&remote.name) {
        repository.references().set_remote_head(&remote.name, branch, head)?;
    }
    Ok(())
}

async fn send(
    session: &Session,
    repository: &Repository,
    hub: &Hub<'_>,
    request: &PushRequest,
    (branch, head): (&BranchName, Id),
    there: &BTreeMap<BranchName, Id>,
) -> Result<Summary, Error> {
    let (here, cancel) = (repository.clone(), session.cancel().clone());
    let known: Vec<Id> = there.values().copied().collect();
    let (staging, summary) = blocking(move || {
        let staging = here.stage()?;
        let pack = Contents::beyond(here.store(), head, &known)?;
        let summary = pack.write(here.store(), &pack_path(&staging), &cancel)?;
        Ok((staging, summary))
    })
    .await?;
    let Summary { mpack_id, size, .. } = summary;
    let public = request.public.then_some(true);
    let presigned = hub.presign(&PresignRequest { mpack_id, size, public }).await?;
    hub.upload(&presigned, &pack_path(&staging), size, session.observer().clone()).await?;
    let unpack = UnpackRequest { mpack_id, branch: branch.clone(), head, force: request.force };
    match hub.unpack(&unpack).await {
        Ok(_) => Ok(summary),
        Err(Error::Refused(refusal)) if refusal.status == StatusCode::CONFLICT => {
            Err(Error::PushRefused { refusal })
        }
        Err(error) => Err(error),
    }
}

fn pack_path(staging: &Staging) -> PathBuf {
    staging.scratch("pack")
}

/// What a pack is to hold.
#[derive(Debug, Default)]
struct Contents {
    commits: Vec<Id>,
    snapshots: Vec<Id>,
    objects: Vec<Id>,
}

impl Contents {
    /// What `head` leads to and none of `known` does. Commits of `known` that are not here do not help.
    fn beyond(store: &Store, head: Id, known: &[Id]) -> Result<Self, Error> {
        let known = ancestors(store, known.iter().copied().filter(|id| store.has_commit(*id)))?;
        let commits = ancestors_beyond(store, [head], &known)?;
        let mut there = HashSet::new();
        for commit in &commits {
            for parent in store.commit(*commit)?.parents().iter().filter(|parent| known.contains(parent)) {
                there.extend(store.files_of(Some(*parent))?.objects());
            }
        }
        let mut contents = Self { commits: commits.into_iter().collect(), ..Self::default() };
        let mut snapshots = HashSet::new();
        for commit in &contents.commits {
            let snapshot = store.commit(*commit)?.snapshot();
            if snapshots.insert(snapshot) {
                contents.snapshots.push(snapshot);
                contents
                    .objects
                    .extend(store.snapshot(snapshot)?.objects().filter(|object| there.insert(*object)));
            }
        }
        Ok(contents)
    }

    fn write(&self, store: &Store, path: &Path, cancel: &CancellationToken) -> Result<Summary, Error> {
        let length = |id: &Id| {
            let path = store.object_path(*id);
            std::fs::metadata(&path).map(|found| found.len()).while_doing("looking at", &path)
        };
        let lengths = self.objects.iter().map(length).collect::<Result<Vec<u64>, Error>>()?;
        let totals = Totals {
            commits: self.commits.len() as u64,
            snapshots: self.snapshots.len() as u64,
            objects: self.objects.len() as u64,
            bytes: lengths.iter().sum(),
        };
        let go_on = || if cancel.is_cancelled() { Err(Error::Interrupted) } else { Ok(()) };
        let file = File::create(path).while_doing("creating", path)?;
        let mut pack = PackWriter::new(file, totals)?;
        for commit in &self.commits {
            pack.commit(&store.commit(*commit)?)?;
        }
        for snapshot in &self.snapshots {
            go_on()?;
            pack.snapshot(&store.snapshot(*snapshot)?)?;
        }
        for (object, length) in self.objects.iter().zip(lengths) {
            go_on()?;
            pack.object(*object, length, store.open_object(*object)?)?;
        }
        Ok(pack.finish()?.1)
    }
}
