//! `unpack-mpack`: an uploaded pack becomes part of the repository, and a branch moves. One transaction.

mod recorder;

use std::fs::File;
use std::io;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use hub_protocol::{BranchName, Id, PackError, UnpackAnswer, UnpackRequest, read_pack};
use redb::{ReadableTable, WriteTransaction};

use super::jobs::{JobState, Task, enqueue_prebuild, queue};
use super::json_body::JsonBody;
use super::name::RepositoryName;
use super::pusher::Pusher;
use super::store::{
    COMMITS, HEADS, Heads, History, JOBS, REPOSITORIES, Repository, SNAPSHOTS, StoreError, encode, heads,
    repository,
};
use super::{Hub, no_such_repository, upload, walk};
use crate::refusal::{Failure, Refused};

use recorder::Recorder;

/// Make an uploaded pack part of the repository, and move a branch
#[utoipa::path(
    post,
    path = "/{owner}/{slug}/push/unpack-mpack",
    tag = "hub",
    operation_id = "unpack",
    params(RepositoryName),
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
            let repositories = transaction.open_table(REPOSITORIES)?;
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
            let jobs = transaction.open_table(JOBS)?;
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
    let commits = transaction.open_table(COMMITS)?;
    let snapshots = transaction.open_table(SNAPSHOTS)?;
    if commits.get((number, head.as_bytes()))?.is_none() {
        return Err(Failure::Unprocessable(format!(
            "the head {head} is neither in the pack nor in the repository"
        ))
        .into());
    }
    let mut table = transaction.open_table(HEADS)?;
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
    if old.is_none()
        && let Some(other) =
            heads.keys().find(|other| is_folder_of(other, branch) || is_folder_of(branch, other))
    {
        return Err(Failure::Conflict(format!(
            "the branches {branch} and {other} cannot be beside each other: one would be the folder of the other"
        ))
        .into());
    }
    table.insert((number, branch.as_str()), head.as_bytes())?;
    if heads.is_empty() {
        repository.default_branch = branch.clone();
    }
    heads.insert(branch.clone(), *head);
    repository.generation += 1;
    transaction.open_table(REPOSITORIES)?.insert(name.to_string().as_str(), encode(repository).as_slice())?;
    Ok(heads)
}

/// Clients keep branches as files.
fn is_folder_of(folder: &BranchName, branch: &BranchName) -> bool {
    branch.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
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
