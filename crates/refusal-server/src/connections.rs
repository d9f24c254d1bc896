//! Connections: how many there are at once, and what ends each.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{ConnectInfo, Request};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use crate::patience::Patience;

/// A peer that has not sent a whole head by then is let go; so is an idle connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to rest when the system has no room for another connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What the configuration says of connections.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) connections: NonZeroUsize,
    pub(crate) write_timeout: Duration,
    pub(crate) drain: Duration,
}

/// Serves until `stop`, and lets what is under way then end within the drain.
pub(crate) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken, bounds: Bounds) {
    let graceful = GracefulShutdown::new();
    let abandon = CancellationToken::new();
    let connections = TaskTracker::new();
    let mut places = Places::new(bounds.connections);
    loop {
        let accepted = tokio::select! {
            accepted = async { (places.one().await, listener.accept().await) } => accepted,
            () = stop.cancelled() => break,
        };
        match accepted {
            (place, Ok((stream, peer))) => {
                // Answers are written whole: waiting for more to send only delays them. A failure costs time, no more.
                let _ = stream.set_nodelay(true);
                let stream = Patience::new(stream, bounds.write_timeout);
                let connection = connection(stream, peer, router.clone(), &graceful);
                let abandon = abandon.clone();
                connections.spawn(async move {
                    let _place = place;
                    tokio::select! {
                        () = connection => {}
                        () = abandon.cancelled() => {}
                    }
                });
            }
            (_, Err(error)) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    if tokio::time::timeout(bounds.drain, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time and are cut off");
        abandon.cancel();
    }
    // Each holds the database open: another server may want it next.
    connections.close();
    connections.wait().await;
}

/// The connections that there may be. Whoever comes while all are taken waits in the system's own queue.
struct Places {
    free: Arc<Semaphore>,
    were_taken: bool,
}

impl Places {
    fn new(count: NonZeroUsize) -> Self {
        let count = count.get().min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(count)), were_taken: false }
    }

    async fn one(&mut self) -> OwnedSemaphorePermit {
        let taken = self.free.available_permits() == 0;
        if taken && !self.were_taken {
            tracing::warn!("all connections are taken: further peers wait until one ends");
        }
        self.were_taken = taken;
        Arc::clone(&self.free).acquire_owned().await.expect("the semaphore is never closed")
    }
}

/// One connection, from its first request to its end.
fn connection(
    stream: Patience,
    peer: SocketAddr,
    router: Router,
    graceful: &GracefulShutdown,
) -> impl Future<Output = ()> + Send + use<> {
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
