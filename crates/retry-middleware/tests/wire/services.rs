//! The tower face among other services.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use retry_core::{Jitter, profiles};
use retry_middleware::{Clock, ReadOnce, Report, RetryLayer, SystemClock};
use tower::{Layer, ServiceBuilder, ServiceExt};

use crate::faces::Hyper;
use crate::responder::{Reply, Responder};

fn client() -> Hyper {
    Client::builder(TokioExecutor::new()).build_http()
}

fn get(url: &str) -> http::Request<Full<Bytes>> {
    http::Request::get(url).body(Full::default()).unwrap()
}

/// F26: a service that lets one request through at a time serves another key while one waits.
#[tokio::test]
async fn a_permit_is_free_during_a_wait() {
    let refusing =
        Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(503, 3) } else { Reply::ok() }).await;
    let healthy = Responder::start(|_, _| Reply::ok()).await;
    let quiet = profiles::RECOMMENDED.to_builder().jitter(Jitter::NONE).build().unwrap();
    let stack = ServiceBuilder::new().layer(RetryLayer::new(quiet)).concurrency_limit(1).service(client());

    let (waiting, url) = (stack.clone(), refusing.url("/a"));
    let waiter = tokio::spawn(async move { waiting.oneshot(get(&url)).await.unwrap().status() });
    while refusing.count() == 0 {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let started = SystemClock.monotonic();
    assert_eq!(stack.oneshot(get(&healthy.url("/b"))).await.unwrap().status(), 200);
    let took = SystemClock.monotonic().since(started);
    assert_eq!(refusing.count(), 1, "the other request was served only after the wait, {took:?}");
    assert_eq!(waiter.await.unwrap(), 200);
}

/// F29: a stream is sent once, and its refusal comes back as it is.
#[tokio::test]
async fn a_body_that_is_read_once_is_sent_once() {
    let server = Responder::start(|_, _| Reply::refuse(503, 1)).await;
    let client: Client<_, ReadOnce<Full<Bytes>>> = Client::builder(TokioExecutor::new()).build_http();
    let stack = RetryLayer::new(profiles::RECOMMENDED).layer(client);
    let request = http::Request::put(server.url("/a")).body(ReadOnce(Full::from("a stream"))).unwrap();
    let answer = stack.oneshot(request).await.unwrap();
    let report = answer.extensions().get::<Report>().unwrap();
    assert_eq!((answer.status().as_u16(), report.attempts, server.count()), (503, 1, 1));
    assert_eq!(report.reason(), Some(retry_core::Reason::NotReplayable));
    assert_eq!(server.arrivals()[0].body, b"a stream");
}

/// A layer around the middleware that follows a 307 by sending the body anew, as a stream.
struct Streaming;

#[async_trait::async_trait]
impl reqwest_middleware::Middleware for Streaming {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: reqwest_middleware::Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let mut again = request.try_clone().unwrap();
        let redirected = next.clone().run(request, extensions).await?;
        assert_eq!(redirected.status(), 307);
        *again.body_mut() = Some(reqwest::Body::wrap(Full::new(Bytes::from_static(b"a stream"))));
        next.run(again, extensions).await
    }
}

/// C4, F29: what may be sent again is a matter of what is sent now, not of what was sent first.
#[tokio::test]
async fn a_request_that_comes_back_as_a_stream_is_sent_once() {
    let server = Responder::start(|earlier, _| match earlier {
        0 => Reply::new(307, "", ""),
        _ => Reply::refuse(503, 1),
    })
    .await;
    let client = reqwest_middleware::ClientBuilder::new(crate::faces::reqwest_client())
        .with(Streaming)
        .with(retry_middleware::RetryMiddleware::new(profiles::RECOMMENDED))
        .build();
    let answer = client.put(server.url("/a")).body("bytes").send().await.unwrap();
    let report = answer.extensions().get::<Report>().unwrap();
    assert_eq!((answer.status().as_u16(), server.count()), (503, 2));
    assert_eq!(report.reason(), Some(retry_core::Reason::NotReplayable));
    assert_eq!(server.arrivals()[1].body, b"a stream");
}

/// What can never be sent is not tried again and again.
#[tokio::test]
async fn a_url_that_is_not_http_is_an_error_at_once() {
    let client = reqwest_middleware::ClientBuilder::new(crate::faces::reqwest_client())
        .with(retry_middleware::RetryMiddleware::new(profiles::RECOMMENDED))
        .build();
    let answering = client.get("ftp://example.com/").send();
    let answer = tokio::time::timeout(Duration::from_secs(60), answering).await.expect("no wait of minutes");
    assert!(answer.unwrap_err().is_builder());
}

/// F29, through reqwest: a streaming body is sent whole, once.
#[tokio::test]
async fn a_streaming_reqwest_body_is_sent_once() {
    let server = Responder::start(|_, _| Reply::refuse(503, 1)).await;
    let client = reqwest_middleware::ClientBuilder::new(crate::faces::reqwest_client())
        .with_arc(Arc::new(retry_middleware::RetryMiddleware::new(profiles::RECOMMENDED)))
        .build();
    let body = reqwest::Body::wrap(Full::new(Bytes::from_static(b"a stream")));
    let answer = client.put(server.url("/a")).body(body).send().await.unwrap();
    assert_eq!((answer.status().as_u16(), server.count()), (503, 1));
    assert_eq!(server.arrivals()[0].body, b"a stream");
}
