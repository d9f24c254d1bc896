use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::cluster::{Cluster, ClusterConfigError};
use crate::config::Config;
use crate::{app, hub, tokens};

/// A peer that has not sent a whole head by then is let go; so is an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to rest when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

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
        match &config.dev_token {
            Some(token) if token.is_empty() => return Err(StartError::EmptyToken),
            Some(_) if !loopback => return Err(StartError::DevTokenInPublic(config.listen)),
            _ => {}
        }
        if config.admin_token.as_ref().is_some_and(tokens::Secret::is_empty) {
            return Err(StartError::EmptyToken);
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
            .map_err(StartError::Store)?;
        let hub = Arc::new(hub);
        let workers = hub::jobs::start(&hub, &stop);
        let router = app::router(hub, cluster, &config);
        let serving = serve(listener, router, stop.clone(), config.drain);
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
    #[error(transparent)]
    Store(hub::StoreError),
    /// The cluster contradicts itself.
    #[error("the cluster cannot be as it is configured: {0}")]
    Cluster(ClusterConfigError),
    /// A token that everyone can read in the process list is for this machine only.
    #[error("a development token is for loopback addresses only, and {0} is none: use `token add` instead")]
    DevTokenInPublic(SocketAddr),
    /// Presigned URLs could not start with that.
    #[error("expected a public URL such as `https://hub.example`, got `{}`", .0.escape_debug())]
    PublicUrl(String),
    /// An empty token would admit everyone.
    #[error("expected a token, got an empty text")]
    EmptyToken,
}

fn is_base_url(url: &str) -> bool {
    url.parse::<http::Uri>().is_ok_and(|uri| {
        matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() && uri.query().is_none()
    })
}

async fn serve(listener: TcpListener, router: Router, stop: CancellationToken, drain: Duration) {
    let graceful = GracefulShutdown::new();
    let abandon = CancellationToken::new();
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = connection(stream, peer, router.clone(), &graceful);
                let abandon = abandon.clone();
                connections.spawn(async move {
                    tokio::select! {
                        () = connection => {}
                        () = abandon.cancelled() => {}
                    }
                });
            }
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time and are cut off");
        abandon.cancel();
    }
    // Each holds the database open: another server may want it next.
    connections.close();
    connections.wait().await;
}

/// One connection, from its first request to its end.
fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    router: Router,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + Send + use<> {
    // Answers are written whole: waiting for more to send only delays them. A failure costs time, no more.
    let _ = stream.set_nodelay(true);
    let service = hyper::service::service_fn(move |request: hyper::Request<hyper::body::Incoming>| {
        let router = router.clone();
        async move {
            let mut request: Request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            Ok::<_, Infallible>(match router.oneshot(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            })
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    let watched = graceful.watch(connection);
    async move {
        if let Err(error) = watched.await {
            tracing::debug!(%peer, %error, "a connection ended early");
        }
    }
}
