//! `POST /{owner}/{slug}/fetch/mpack`: the question that is worth asking again.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use hub_protocol::{
    FetchAnswer, FetchRequest, Id, MAX_HAVES, MAX_TTL_SECONDS, MAX_WANTS, MIN_TTL_SECONDS, utc_timestamp,
};
use redb::ReadTransaction;

use super::jobs::{JobKind, JobState, Task, queue};
use super::json_body::JsonBody;
use super::name::RepositoryName;
use super::packs::{Build, Built, Kept};
use super::refusals::{FetchNotIndexed, MPackNotReady};
use super::store::{
    COMMITS, HEADS, Heads, History, JOBS, MISSING, PENDING, PackKey, REPOSITORIES, Repository, SNAPSHOTS,
    StoreError, any_of, heads,
};
use super::told::Question;
use super::{Hub, walk};
use crate::refusal::{Failure, Refused};

/// Ask for a pack
///
/// Answers with the URL of a pack, or says when to come back: while objects that it would hold are being
/// indexed, and, without `have`, while the pack for whole clones is being built.
#[utoipa::path(
    post,
    path = "/{owner}/{slug}/fetch/mpack",
    tag = "hub",
    operation_id = "fetch",
    params(RepositoryName),
    request_body = FetchRequest,
    responses(
        (status = 200, description = "A URL that carries its own signature", body = FetchAnswer),
        (status = 404, description = "No such repository, or no such commit"),
        (status = 413, description = "Too many wants or haves"),
        (status = 503, description = "Not yet: `Retry-After` says when to ask again"),
    ),
    security((), ("hub_token" = [])),
)]
pub(super) async fn post(
    State(hub): State<Arc<Hub>>,
    name: RepositoryName,
    headers: HeaderMap,
    JsonBody(request): JsonBody<FetchRequest>,
) -> Result<Json<FetchAnswer>, Refused> {
    check(&request)?;
    let question = Arc::new(Question { authorised: hub.tokens.admits(&headers), name, request });
    let revision = hub.database.revision();
    if let Some(refused) = hub.told.recall(&question, revision) {
        return Err(refused);
    }
    // Once around, unless a push moves the heads while the pack is built: then the question is a new one.
    let (plan, Kept { pack, expires }) = loop {
        let plan = {
            let question = Arc::clone(&question);
            hub.blocking(move |hub| assess(hub, &question)).await
        };
        let plan = plan.inspect_err(|refused| hub.told.remember(&question, revision, refused))?;
        let plan = Arc::new(plan);
        if let Some(kept) = answer(&hub, &question, &plan).await? {
            break (plan, kept);
        }
    };
    let path = format!("/{}/mpacks/{}", question.name, pack.mpack_id);
    Ok(Json(FetchAnswer {
        mpack_id: pack.mpack_id,
        url: hub.base_url(&headers)? + &hub.signer.sign("GET", &path, &pack.mpack_id, expires),
        size: pack.size,
        expires_at: utc_timestamp(expires),
        branch_heads: plan.heads.clone(),
        generation: plan.repository.generation,
    }))
}

/// A question that can be answered, in the state of the repository that it was asked of.
struct Plan {
    repository: Repository,
    heads: Heads,
    /// Those that the repository knows: what it has never seen lies on no path that it could cut short.
    haves: Vec<Id>,
    key: PackKey,
}

fn check(request: &FetchRequest) -> Result<(), Failure> {
    for (what, ids, most) in [("wants", &request.want, MAX_WANTS), ("haves", &request.have, MAX_HAVES)] {
        if ids.len() > most {
            return Err(Failure::TooLarge(format!(
                "{} {what} are too many: at most {most} are taken",
                ids.len()
            )));
        }
    }
    if request.want.is_empty() {
        return Err(Failure::Unprocessable("expected at least one want".into()));
    }
    if !(MIN_TTL_SECONDS..=MAX_TTL_SECONDS).contains(&request.ttl_seconds) {
        return Err(Failure::Unprocessable(format!(
            "expected a ttl_seconds from {MIN_TTL_SECONDS} to {MAX_TTL_SECONDS}, got {}",
            request.ttl_seconds
        )));
    }
    Ok(())
}

/// Whether the question can be answered now. Not indexed wins over not ready.
fn assess(hub: &Hub, question: &Question) -> Result<Plan, Refused> {
    hub.database.read(|transaction| {
        let repositories = transaction.open_table(REPOSITORIES)?;
        let repository = hub.visible(&repositories, &question.name, question.authorised)?;
        let number = repository.number;
        let commits = transaction.open_table(COMMITS)?;
        let is_known =
            |id: &Id| -> Result<bool, StoreError> { Ok(commits.get((number, id.as_bytes()))?.is_some()) };
        for want in &question.request.want {
            if !is_known(want)? {
                return Err(
                    Failure::NotFound(format!("there is no commit {want} in {}", question.name)).into()
                );
            }
        }
        let mut haves = Vec::new();
        for have in &question.request.have {
            if is_known(have)? {
                haves.push(*have);
            }
        }
        check_indexed(hub, transaction, number, &question.request.want, &haves)?;
        if question.request.have.is_empty() && is_prebuilding(transaction, &repository)? {
            return Err(MPackNotReady { retry_after: hub.config.retry_after_prebuild }.into());
        }
        let heads = heads(&transaction.open_table(HEADS)?, number)?;
        let key = PackKey::new(&repository, &question.request.want, &haves);
        Ok(Plan { repository, heads, haves, key })
    })
}

/// Refuses while objects that the answer would hold are not indexed.
fn check_indexed(
    hub: &Hub,
    transaction: &ReadTransaction,
    number: u64,
    wants: &[Id],
    haves: &[Id],
) -> Result<(), Refused> {
    let table = transaction.open_table(MISSING)?;
    if !any_of(&table, number)? {
        return Ok(());
    }
    let commits = transaction.open_table(COMMITS)?;
    let snapshots = transaction.open_table(SNAPSHOTS)?;
    let graph = History { repository: number, commits: &commits, snapshots: &snapshots };
    let mut missing = 0;
    // Each comes once.
    for id in walk::contents(&graph, wants, haves)?.objects {
        missing += u64::from(table.get((number, id.as_bytes()))?.is_some());
    }
    if missing == 0 {
        return Ok(());
    }
    let jobs = transaction.open_table(JOBS)?;
    let pending = transaction.open_table(PENDING)?;
    let is_ours = |job: &super::jobs::Job| job.kind == JobKind::Index && job.repository_number == number;
    if queue::first(&jobs, &pending, is_ours)?.is_none() {
        // Nobody is working on it: a hint to come back would be a lie.
        let failed = queue::list(transaction, usize::MAX)?
            .into_iter()
            .rfind(|job| is_ours(job) && job.state == JobState::Failed)
            .and_then(|job| job.error)
            .unwrap_or_else(|| "no job is left that would index them".into());
        return Err(
            Failure::Internal(format!("{missing} of the objects could not be indexed: {failed}")).into()
        );
    }
    Err(FetchNotIndexed { missing, retry_after: hub.config.retry_after_index }.into())
}

/// Whether the prebuild of the current generation is queued or running.
fn is_prebuilding(transaction: &ReadTransaction, repository: &Repository) -> Result<bool, StoreError> {
    let id = Task::Prebuild { generation: repository.generation }.job_id(repository.number);
    let job = queue::get(&transaction.open_table(JOBS)?, &id)?;
    Ok(job.is_some_and(|job| job.state.is_pending()))
}

/// The pack that answers the plan: one that is at hand, or one built now. `None` when the heads have moved.
async fn answer(hub: &Arc<Hub>, question: &Arc<Question>, plan: &Arc<Plan>) -> Result<Option<Kept>, Refused> {
    if let Some(kept) = find(hub, question, plan).await? {
        return Ok(Some(kept));
    }
    let turn = hub.packs.turn(plan.key);
    let _turn = turn.lock().await;
    if let Some(kept) = find(hub, question, plan).await? {
        return Ok(Some(kept));
    }
    let _permit = hub.builds.acquire().await.map_err(|_closed| StoreError::Stopping)?;
    let (question, plan) = (Arc::clone(question), Arc::clone(plan));
    hub.blocking(move |hub| {
        let name = question.name.to_string();
        let (repository, wants, haves) = (&plan.repository, &question.request.want, &plan.haves);
        let build = Build { name: &name, repository, wants, haves };
        let Built::Pack(pack) = hub.packs.build(hub, &build, false, &|| false)? else { return Ok(None) };
        match hub.packs.keep(hub, pack, question.request.ttl_seconds)? {
            Some(kept) => Ok(Some(kept)),
            None => {
                Err(Failure::Internal(format!("the pack {} vanished as soon as it was built", pack.mpack_id))
                    .into())
            }
        }
    })
    .await
}

/// A pack that was built for this question in this generation.
async fn find(
    hub: &Arc<Hub>,
    question: &Arc<Question>,
    plan: &Arc<Plan>,
) -> Result<Option<Kept>, StoreError> {
    let (ttl_seconds, key) = (question.request.ttl_seconds, plan.key);
    hub.blocking(move |hub| hub.packs.find(hub, &key, ttl_seconds)).await
}
