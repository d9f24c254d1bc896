//! The hub: repositories are pushed to it and fetched from it, and it says when it is not ready yet.

mod config;
mod download;
mod fetch;
pub(crate) mod jobs;
mod json_body;
mod name;
mod packs;
mod presign;
mod pusher;
mod range;
mod refs;
mod refusals;
mod signature;
mod store;
#[cfg(test)]
mod tests;
mod told;
mod unpack;
mod upload;
mod walk;

use std::net::SocketAddr;
use std::sync::Arc;

use http::HeaderMap;
use http::header::HOST;
use http::uri::Authority;
use redb::ReadableTable;
use tokio::sync::Semaphore;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::clock::Clock;
use crate::config::Config;
use crate::refusal::{Failure, Refused};
use crate::tokens::Tokens;

pub use config::HubConfig;
pub use jobs::JobKind;
pub use refusals::{FetchNotIndexed, MPackNotReady};
pub use store::StoreError;

pub(crate) use json_body::{JsonBody, read_body};
pub(crate) use store::JOBS;

use name::RepositoryName;
use store::{Database, Files, META, Repository};

/// All that the hub's handlers and workers share.
pub(crate) struct Hub {
    pub(crate) config: HubConfig,
    pub(crate) database: Database,
    pub(crate) desk: jobs::Desk,
    public_url: Option<String>,
    address: SocketAddr,
    clock: Clock,
    tokens: Tokens,
    signer: signature::Signer,
    files: Files,
    packs: packs::Packs,
    told: told::Told,
    /// How many packs are built for requests at once: each reads a part of the disk and keeps one core busy.
    builds: Semaphore,
    /// How many packs are uploaded at once: each holds a thread while its body arrives.
    uploads: Semaphore,
}

const BUILDS: usize = 2;
const UPLOADS: usize = 64;

impl Hub {
    /// Opens the data, or makes it, and puts unfinished jobs back into the queue. Blocks.
    pub(crate) fn open(config: &Config, address: SocketAddr, tokens: Tokens) -> Result<Self, StoreError> {
        // The database first: its lock keeps a second server away from the files.
        let database = Database::open(&config.data.join("hub.redb"))?;
        let files = Files::open(&config.data)?;
        database.write(jobs::queue::resume)?;
        let hub = Self {
            signer: signature::Signer::new(&signing_key(&database)?),
            desk: jobs::Desk::new(config.hub.held.iter().copied()),
            config: config.hub.clone(),
            public_url: config.public_url.as_ref().map(|url| url.trim_end_matches('/').to_owned()),
            clock: config.clock.clone(),
            packs: packs::Packs::default(),
            told: told::Told::default(),
            builds: Semaphore::new(BUILDS),
            uploads: Semaphore::new(UPLOADS),
            address,
            database,
            files,
            tokens,
        };
        hub.packs.sweep(&hub)?;
        upload::sweep(&hub)?;
        Ok(hub)
    }

    /// Runs what blocks (the database, files, hashing) where it holds up nobody.
    pub(crate) async fn blocking<T, E>(
        self: &Arc<Self>,
        work: impl FnOnce(&Hub) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let hub = Arc::clone(self);
        match tokio::task::spawn_blocking(move || work(&hub)).await {
            Ok(result) => result,
            Err(error) if error.is_cancelled() => Err(StoreError::Stopping.into()),
            Err(error) => Err(StoreError::Damaged(format!("a task failed: {error}")).into()),
        }
    }

    /// What presigned URLs start with: as configured, else as the client called the server.
    fn base_url(&self, headers: &HeaderMap) -> Result<String, Failure> {
        if let Some(url) = &self.public_url {
            return Ok(url.clone());
        }
        match headers.get(HOST).map(|host| host.to_str().ok()?.parse::<Authority>().ok()) {
            Some(Some(host)) => Ok(format!("http://{host}")),
            None => Ok(format!("http://{}", self.address)),
            Some(None) => Err(Failure::BadRequest("the field `Host` names no host".into())),
        }
    }

    /// A repository that this client may read.
    fn visible(
        &self,
        repositories: &impl ReadableTable<&'static str, &'static [u8]>,
        name: &RepositoryName,
        authorised: bool,
    ) -> Result<Repository, Refused> {
        match store::repository(repositories, name)? {
            Some(repository) if repository.public || authorised => Ok(repository),
            // One answer for both, word for word: that a private repository exists is private too.
            _ => Err(no_such_repository(name).into()),
        }
    }
}

fn no_such_repository(name: &RepositoryName) -> Failure {
    Failure::NotFound(format!("there is no repository {name}, or none that you may see"))
}

/// The key that signs URLs; made once, so that a restart does not break those that are out.
fn signing_key(database: &Database) -> Result<[u8; 32], StoreError> {
    database.write(|transaction| {
        let mut meta = transaction.open_table(META)?;
        let kept = meta.get("signing key")?.map(|key| <[u8; 32]>::try_from(key.value()));
        match kept {
            Some(Ok(key)) => Ok(key),
            Some(Err(_)) => Err(StoreError::Damaged("the signing key is not 32 bytes long".into())),
            None => {
                let key: [u8; 32] = rand::random();
                meta.insert("signing key", key.as_slice())?;
                Ok(key)
            }
        }
    })
}

/// The hub's routes.
pub(crate) fn router(hub: Arc<Hub>) -> OpenApiRouter {
    OpenApiRouter::new()
        .routes(routes!(refs::get))
        .routes(routes!(presign::post))
        .routes(routes!(upload::put))
        .routes(routes!(unpack::post))
        .routes(routes!(fetch::post))
        .routes(routes!(download::get))
        .with_state(hub)
}
