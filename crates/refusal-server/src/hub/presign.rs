//! `POST /{owner}/{slug}/push/mpack-presign`: where to upload a pack.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use hub_protocol::{BranchName, PresignAnswer, PresignRequest, utc_timestamp};

use super::Hub;
use super::json_body::JsonBody;
use super::name::RepositoryName;
use super::pusher::Pusher;
use super::store::{REPOSITORIES, Repository, StoreError, encode, repository};
use crate::refusal::{Failure, Refused};

/// The branch that clones check out, until the first push names another.
pub(super) const DEFAULT_BRANCH: &str = "main";

/// Ask where to upload a pack
///
/// The first such question creates the repository.
#[utoipa::path(
    post,
    path = "/{owner}/{slug}/push/mpack-presign",
    tag = "hub",
    operation_id = "presign",
    params(RepositoryName),
    request_body = PresignRequest,
    responses(
        (status = 200, description = "A URL that carries its own signature", body = PresignAnswer),
        (status = 401, description = "A token is needed"),
        (status = 413, description = "The pack is too large"),
    ),
    security(("hub_token" = [])),
)]
pub(super) async fn post(
    State(hub): State<Arc<Hub>>,
    _pusher: Pusher,
    name: RepositoryName,
    headers: HeaderMap,
    JsonBody(request): JsonBody<PresignRequest>,
) -> Result<Json<PresignAnswer>, Refused> {
    let PresignRequest { mpack_id, size, public } = request;
    let largest = hub.config.largest_mpack;
    if size > largest {
        return Err(Failure::TooLarge(format!(
            "a pack of {size} bytes is too large: at most {largest} are taken"
        ))
        .into());
    }
    let creating = name.clone();
    hub.blocking(move |hub| create(hub, &creating, public.unwrap_or(false))).await?;
    let expires = hub.clock.unix_seconds() + hub.config.upload_lifetime.as_secs();
    let path = format!("/{name}/uploads/{mpack_id}/{size}");
    Ok(Json(PresignAnswer {
        upload_url: hub.base_url(&headers)? + &hub.signer.sign("PUT", &path, &mpack_id, expires),
        expires_at: utc_timestamp(expires),
    }))
}

/// Creates the repository unless it exists.
fn create(hub: &Hub, name: &RepositoryName, public: bool) -> Result<(), StoreError> {
    let exists = hub.database.read(|transaction| {
        Ok::<_, StoreError>(repository(&transaction.open_table(REPOSITORIES)?, name)?.is_some())
    })?;
    if exists {
        return Ok(());
    }
    hub.database.write(|transaction| {
        let mut repositories = transaction.open_table(REPOSITORIES)?;
        if repository(&repositories, name)?.is_some() {
            return Ok(());
        }
        let new = Repository {
            number: super::jobs::queue::next(transaction, "repository")?,
            repo_id: format!("{:032x}", rand::random::<u128>()),
            public,
            generation: 0,
            default_branch: BranchName::new(DEFAULT_BRANCH).expect("the name of the default branch is sound"),
        };
        repositories.insert(name.to_string().as_str(), encode(&new).as_slice())?;
        tracing::info!(repository = %name, public, "repository created");
        Ok(())
    })
}
