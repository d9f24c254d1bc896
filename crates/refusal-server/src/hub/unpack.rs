//! `unpack-mpack`: an uploaded pack becomes part of the repository, and a branch moves. One transaction.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use hub_protocol::{
    BranchName, Commit, Id, PackError, PackSink, Snapshot, UnpackAnswer, UnpackRequest, read_pack,
};
use redb::{ReadableTable, Table, WriteTransaction};

use super::jobs::{JobState, Task, enqueue_prebuild, queue};
use super::json_body::JsonBody;
use super::name::RepositoryName;
use super::pusher::Pusher;
use super::store::{
    COMMITS, HEADS, Heads, History, JOBS, MISSING, OBJECTS, OwnId, REPOSITORIES, Repository, SNAPSHOTS,
    StoreError, encode, heads, repository,
};
use super::{Hub, no_such_repository, upload, walk};
use crate::refusal::{Failure, Refused};

/// Make an uploaded pack part of the repository, and move a branch
#[utoipa::path(
    post,
    path = "/{owner}/{slug}/push/unpack-mpack",
    tag = "hub",
    operation_id = "unpack",
    params(
        ("owner" = String, Path, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length = 64),
        ("slug" = String, Path, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length = 64),
    ),
    request_body = UnpackRequest,
    responses(
        (status = 200, description = "Where the branches stand now", body = UnpackAnswer),
        (status = 401, description = "A token is needed"),
        (status = 404, description = "No such repository"),
        (status = 409, description = "The branch would lose commits"),
    ),
    security(("hub_token" = [])),
)]
pub(super) async fn post(
    State(hub): State<Arc<Hub>>,
    _pusher: Pusher,
    name: RepositoryName,
    JsonBody(request): JsonBody<UnpackRequest>,
) -> Result<Json<UnpackAnswer>, Refused> {
    let answer = hub.blocking(move |hub| unpack(hub, &name, &request)).await?;
    hub.desk.ring();
    Ok(Json(answer))
}

fn unpack(hub: &Hub, name: &RepositoryName, request: &UnpackRequest) -> Result<UnpackAnswer, Refused> {
    hub.database.write(|transaction| {
        let mut repository = {
            let repositories = transaction.open_table(REPOSITORIES).map_err(StoreError::from)?;
            repository(&repositories, name)?.ok_or_else(|| no_such_repository(name))?
        };
        record_contents(hub, transaction, &repository, &request.mpack_id)?;
        let branch_heads = move_head(transaction, name, &mut repository, request)?;
        enqueue(transaction, name, &repository, request.mpack_id)?;
        Ok(UnpackAnswer { branch_heads, generation: repository.generation })
    })
}

/// Records the commits and snapshots of the pack, and which of their objects are still to be indexed.
fn record_contents(
    hub: &Hub,
    transaction: &WriteTransaction,
    repository: &Repository,
    mpack_id: &Id,
) -> Result<(), Refused> {
    let number = repository.number;
    let path = hub.files.upload(number, mpack_id);
    let failed = || format!("could not read the pack {mpack_id}");
    let (file, in_pack) = match File::open(&path).and_then(|file| Ok((file, upload::contents(&path)?))) {
        Ok(opened) => opened,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            // Taken apart already: the same push again, whose first answer may have been lost.
            let jobs = transaction.open_table(JOBS).map_err(StoreError::from)?;
            let job = queue::get(&jobs, &Task::Index { mpack_id: *mpack_id }.job_id(number))?;
            return match job {
                Some(job) if job.state == JobState::Done => Ok(()),
                _ => {
                    Err(Failure::Unprocessable(format!("the pack {mpack_id} has not been uploaded here"))
                        .into())
                }
            };
        }
        Err(error) => return Err(StoreError::file(failed())(error).into()),
    };
    let mut recorder = Recorder::open(transaction, number, in_pack)?;
    match read_pack(file, &hub.config.limits, &mut recorder) {
        Ok(_) => {}
        Err(PackError::Store { .. }) if recorder.at_objects => {}
        Err(error) => {
            return Err(match recorder.refusal {
                Some(refusal) => refusal,
                None => StoreError::pack(failed())(error).into(),
            });
        }
    }
    recorder.check_references()
}

/// Moves the branch, and raises the generation if that moved it.
fn move_head(
    transaction: &WriteTransaction,
    name: &RepositoryName,
    repository: &mut Repository,
    request: &UnpackRequest,
) -> Result<Heads, Refused> {
    let UnpackRequest { branch, head, force, .. } = request;
    let number = repository.number;
    let commits = transaction.open_table(COMMITS).map_err(StoreError::from)?;
    let snapshots = transaction.open_table(SNAPSHOTS).map_err(StoreError::from)?;
    if commits.get((number, head.as_bytes())).map_err(StoreError::from)?.is_none() {
        return Err(Failure::Unprocessable(format!(
            "the head {head} is neither in the pack nor in the repository"
        ))
        .into());
    }
    let mut table = transaction.open_table(HEADS).map_err(StoreError::from)?;
    let mut heads = heads(&table, number)?;
    let old = heads.get(branch).copied();
    if old == Some(*head) {
        return Ok(heads);
    }
    if let Some(old) = old
        && !force
    {
        let graph = History { repository: number, commits: &commits, snapshots: &snapshots };
        if !walk::descends_from(&graph, *head, old)? {
            return Err(not_a_fast_forward(branch, &old, head).into());
        }
    }
    table.insert((number, branch.as_str()), head.as_bytes()).map_err(StoreError::from)?;
    if heads.is_empty() {
        repository.default_branch = branch.clone();
    }
    heads.insert(branch.clone(), *head);
    repository.generation += 1;
    transaction
        .open_table(REPOSITORIES)
        .map_err(StoreError::from)?
        .insert(name.to_string().as_str(), encode(repository).as_slice())
        .map_err(StoreError::from)?;
    Ok(heads)
}

fn not_a_fast_forward(branch: &BranchName, old: &Id, new: &Id) -> Failure {
    Failure::Conflict(format!(
        "{branch} is at {old}, which {new} does not follow: fetch and merge first, or push with force"
    ))
}

/// Queues what the push makes necessary: the index job, or, where the pack is indexed already, the prebuild
/// for heads that moved all the same.
fn enqueue(
    transaction: &WriteTransaction,
    name: &RepositoryName,
    repository: &Repository,
    mpack_id: Id,
) -> Result<(), StoreError> {
    let (name, number, task) = (name.to_string(), repository.number, Task::Index { mpack_id });
    if queue::enqueue(transaction, &name, number, task)? {
        return Ok(());
    }
    // The pack is here again, and whole: what an index job had failed on may be mended.
    queue::retry(transaction, &task.job_id(number))?;
    enqueue_prebuild(transaction, &name, repository)?;
    Ok(())
}

/// Takes the start of a pack into the database, and stops before its objects.
struct Recorder<'a> {
    number: u64,
    commits: Table<'a, OwnId, &'static [u8]>,
    snapshots: Table<'a, OwnId, &'static [u8]>,
    objects: Table<'a, OwnId, u64>,
    missing: Table<'a, OwnId, ()>,
    /// Sorted.
    in_pack: Vec<Id>,
    /// Objects that a snapshot of this pack names and that were found somewhere.
    found: HashSet<Id>,
    /// Which commits and snapshots the commits of this pack name, each with the one that does.
    references: Vec<(Id, Reference)>,
    refusal: Option<Refused>,
    at_objects: bool,
}

#[derive(Clone, Copy)]
enum Reference {
    Parent(Id),
    Snapshot(Id),
}

impl<'a> Recorder<'a> {
    fn open(transaction: &'a WriteTransaction, number: u64, in_pack: Vec<Id>) -> Result<Self, StoreError> {
        Ok(Self {
            number,
            commits: transaction.open_table(COMMITS)?,
            snapshots: transaction.open_table(SNAPSHOTS)?,
            objects: transaction.open_table(OBJECTS)?,
            missing: transaction.open_table(MISSING)?,
            in_pack,
            found: HashSet::new(),
            references: Vec::new(),
            refusal: None,
            at_objects: false,
        })
    }

    /// Whatever a commit names has to be in the pack or in the repository: a history with holes is refused.
    fn check_references(&self) -> Result<(), Refused> {
        for (commit, reference) in &self.references {
            let (what, id, table) = match reference {
                Reference::Parent(id) => ("parent", id, &self.commits),
                Reference::Snapshot(id) => ("snapshot", id, &self.snapshots),
            };
            if table.get((self.number, id.as_bytes())).map_err(StoreError::from)?.is_none() {
                return Err(Failure::Unprocessable(format!(
                    "the {what} {id} of the commit {commit} is neither in the pack nor in the repository"
                ))
                .into());
            }
        }
        Ok(())
    }

    fn take_snapshot(&mut self, id: Id, snapshot: &Snapshot) -> Result<(), Refused> {
        let bytes = encode(snapshot);
        self.snapshots.insert((self.number, id.as_bytes()), bytes.as_slice()).map_err(StoreError::from)?;
        for (path, entry) in snapshot.files() {
            if !self.found.insert(entry.object) {
                continue;
            }
            let key = (self.number, entry.object.as_bytes());
            if self.objects.get(key).map_err(StoreError::from)?.is_some() {
                continue;
            }
            if self.in_pack.binary_search(&entry.object).is_ok() {
                self.missing.insert(key, ()).map_err(StoreError::from)?;
            } else if self.missing.get(key).map_err(StoreError::from)?.is_none() {
                return Err(Failure::Unprocessable(format!(
                    "the object {} of `{}` in the snapshot {id} is neither in the pack nor in the repository",
                    entry.object,
                    path.as_str().escape_debug()
                ))
                .into());
            }
        }
        Ok(())
    }

    fn stop(&mut self, refusal: Refused) -> io::Error {
        self.refusal = Some(refusal);
        io::ErrorKind::Other.into()
    }
}

impl PackSink for Recorder<'_> {
    fn commit(&mut self, id: Id, commit: Commit) -> io::Result<()> {
        self.references.extend(commit.parents().iter().map(|parent| (id, Reference::Parent(*parent))));
        self.references.push((id, Reference::Snapshot(commit.snapshot())));
        let inserted =
            self.commits.insert((self.number, id.as_bytes()), encode(&commit).as_slice()).map(drop);
        inserted.map_err(|error| self.stop(StoreError::from(error).into()))
    }

    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> io::Result<()> {
        self.take_snapshot(id, &snapshot).map_err(|refusal| self.stop(refusal))
    }

    fn object_begin(&mut self, _id: Id, _len: u64) -> io::Result<()> {
        self.at_objects = true;
        Err(io::ErrorKind::Other.into())
    }

    fn object_chunk(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn object_done(&mut self, _id: Id) -> io::Result<()> {
        Ok(())
    }
}
