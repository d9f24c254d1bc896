//! From a configuration to a server that runs, and to its end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::cluster::{Cluster, ClusterConfigError};
use crate::config::Config;
use crate::connections::{Bounds, serve};
use crate::{app, hub, tokens};

/// The server, before it runs.
#[derive(Debug)]
pub struct Server;

impl Server {
    /// Opens the data, takes up unfinished jobs, and serves from now on, on tasks of the current runtime.
    ///
    /// # Errors
    ///
    /// [`StartError`] says what stood in the way.
    pub async fn bind(config: Config) -> Result<Running, StartError> {
        let loopback = config.listen.ip().is_loopback();
        if [&config.dev_token, &config.admin_token].into_iter().flatten().any(|token| !token.is_sound()) {
            return Err(StartError::UnsoundToken);
        }
        if config.dev_token.is_some() && !loopback {
            return Err(StartError::DevTokenInPublic(config.listen));
        }
        if let Some(url) = &config.public_url
            && !is_base_url(url)
        {
            return Err(StartError::PublicUrl(url.clone()));
        }
        config.cluster.check().map_err(StartError::Cluster)?;
        let data = |error| StartError::Data { folder: config.data.display().to_string(), error };
        std::fs::create_dir_all(&config.data).map_err(data)?;
        let tokens = tokens::Tokens::open(&config.data, config.dev_token.clone()).map_err(data)?;
        let listener = TcpListener::bind(config.listen)
            .await
            .map_err(|error| StartError::Listen { address: config.listen, error })?;
        let address =
            listener.local_addr().map_err(|error| StartError::Listen { address: config.listen, error })?;
        let stop = CancellationToken::new();
        let cluster = Arc::new(Cluster::new(&config, tokens.clone(), stop.clone()));
        let opening = config.clone();
        let hub = tokio::task::spawn_blocking(move || hub::Hub::open(&opening, address, tokens))
            .await
            .map_err(|error| StartError::Data {
                folder: config.data.display().to_string(),
                error: io::Error::other(error),
            })?
            .map_err(|error| StartError::Store { folder: config.data.display().to_string(), error })?;
        let hub = Arc::new(hub);
        let workers = hub::jobs::start(&hub, &stop);
        let router = app::router(hub, cluster, &config);
        let bounds = Bounds {
            connections: config.connections,
            write_timeout: config.write_timeout,
            drain: config.drain,
        };
        let serving = serve(listener, router, stop.clone(), bounds);
        let drain = config.drain;
        let task = tokio::spawn(async move {
            serving.await;
            if tokio::time::timeout(drain, workers.wait()).await.is_err() {
                tracing::warn!("a job is still under way: it runs again at the next start");
            }
        });
        Ok(Running { address, stop, task: Some(task) })
    }
}

/// A server that runs. Dropping it stops it without waiting for what is under way.
#[derive(Debug)]
pub struct Running {
    address: SocketAddr,
    stop: CancellationToken,
    task: Option<JoinHandle<()>>,
}

impl Running {
    /// The address that it listens on, with the port that was free.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address as a URL without a path.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Takes no further request, waits for those under way (within the configured drain) and for the jobs
    /// that have started, and ends.
    pub async fn shutdown(mut self) {
        self.stop.cancel();
        if let Some(task) = self.task.take()
            && let Err(error) = task.await
        {
            tracing::error!(%error, "the server ended in a way it did not foresee");
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address cannot be had.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the system said.
        error: io::Error,
    },
    /// The data folder cannot be used.
    #[error("cannot use the data folder {folder}: {error}")]
    Data {
        /// The folder.
        folder: String,
        /// What the system said.
        error: io::Error,
    },
    /// The data in the folder cannot be used.
    #[error("cannot use the data folder {folder}: {error}")]
    Store {
        /// The folder.
        folder: String,
        /// What is wrong with it.
        error: hub::StoreError,
    },
    /// The cluster contradicts itself.
    #[error("the cluster cannot be as it is configured: {0}")]
    Cluster(ClusterConfigError),
    /// A token that everyone can read in the process list is for this machine only.
    #[error("a development token is for loopback addresses only, and {0} is none: use `token add` instead")]
    DevTokenInPublic(SocketAddr),
    /// Presigned URLs could not start with that.
    #[error("expected a public URL such as `https://hub.example`, got `{}`", .0.escape_debug())]
    PublicUrl(String),
    /// Nobody could present such a token; an empty one would admit everyone.
    #[error("expected a token of visible ASCII characters, got an empty text or one that holds others")]
    UnsoundToken,
}

fn is_base_url(url: &str) -> bool {
    url.parse::<http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
    })
}
