//! `GET /{owner}/{slug}/refs`: where the branches stand.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use http::HeaderMap;
use hub_protocol::Refs;

use super::Hub;
use super::name::RepositoryName;
use super::store::{HEADS, REPOSITORIES, heads};
use crate::refusal::Refused;

/// What kind of work the hub's repositories hold: plain files.
const DOMAIN: &str = "code";

/// Where the branches stand
///
/// Reads the database alone, so it never has to wait for a job and never answers 503.
#[utoipa::path(
    get,
    path = "/{owner}/{slug}/refs",
    tag = "hub",
    operation_id = "refs",
    params(RepositoryName),
    responses(
        (status = 200, description = "The heads", body = Refs),
        (status = 404, description = "No such repository, or none that you may see"),
    ),
    security((), ("hub_token" = [])),
)]
pub(super) async fn get(
    State(hub): State<Arc<Hub>>,
    name: RepositoryName,
    headers: HeaderMap,
) -> Result<Json<Refs>, Refused> {
    let refs = hub
        .blocking(move |hub| {
            let authorised = hub.tokens.admits(&headers);
            hub.database.read(|transaction| {
                let repositories = transaction.open_table(REPOSITORIES)?;
                let repository = hub.visible(&repositories, &name, authorised)?;
                let table = transaction.open_table(HEADS)?;
                let branch_heads = heads(&table, repository.number)?;
                Ok::<_, Refused>(Refs {
                    repo_id: repository.repo_id,
                    domain: DOMAIN.into(),
                    default_branch: repository.default_branch,
                    branch_heads,
                })
            })
        })
        .await?;
    Ok(Json(refs))
}
