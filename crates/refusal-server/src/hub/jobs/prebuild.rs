//! `fetch.mpack.prebuild`: the pack for whole clones, built before anyone asks.

use hub_protocol::Id;
use tokio_util::sync::CancellationToken;

use super::{Job, JobState, queue};
use crate::hub::packs::{Build, Built};
use crate::hub::store::{HEADS, REPOSITORIES, Repository, StoreError, decode, heads};
use crate::hub::{Hub, upload};

/// Builds the pack of all heads for a client that has nothing. For a generation that is over it does nothing.
pub(super) fn run(
    hub: &Hub,
    job: &Job,
    generation: u64,
    stop: &CancellationToken,
) -> Result<JobState, StoreError> {
    let found = hub.database.read(|transaction| {
        let repositories = transaction.open_table(REPOSITORIES)?;
        let Some(bytes) = repositories.get(job.repository.as_str())? else { return Ok(None) };
        let repository: Repository = decode("a repository", bytes.value())?;
        let heads = heads(&transaction.open_table(HEADS)?, repository.number)?;
        Ok::<_, StoreError>(Some((repository, heads)))
    })?;
    let built = match found {
        Some((repository, heads)) if repository.generation == generation && !heads.is_empty() => {
            let wants: Vec<Id> = heads.into_values().collect();
            let build = Build { name: &job.repository, repository: &repository, wants: &wants, haves: &[] };
            hub.packs.build(hub, &build, true, &|| stop.is_cancelled())?
        }
        _ => Built::Outdated,
    };
    let state = match built {
        Built::Pack(_) => JobState::Done,
        Built::Outdated => JobState::Superseded,
    };
    hub.database.write(|transaction| queue::finish(transaction, job, state, None))?;
    if let Err(error) = upload::sweep(hub) {
        tracing::warn!(%error, "could not remove old uploads");
    }
    Ok(state)
}
