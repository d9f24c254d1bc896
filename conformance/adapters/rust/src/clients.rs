//! The clients, each at its defaults plus what its documentation says to do so that `Retry-After` is obeyed.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use backon::{ExponentialBuilder, Retryable as _};
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::{self, connect::HttpConnector};
use hyper_util::rt::TokioExecutor;
use retry_core::{Policy, profiles};
use retry_middleware::{ReadOnce, RetryLayer, RetryMiddleware};
use tower::{Layer as _, ServiceExt as _};

/// Where a crate asks how often: as often as the other adapters of the suite.
const RETRIES: u32 = 5;

/// One client under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    Reqwest,
    Backon,
    ReqwestRetry,
    ReqwestRetryAfter,
    Reessaie,
    Alkhttp,
    Middleware,
    Layer,
}

/// What its caller allows; `None` leaves the crate's default.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// The whole call.
    pub deadline: Option<Duration>,
    /// One wait.
    pub cap: Option<Duration>,
}

/// One request.
#[derive(Debug, Clone)]
pub struct Sending {
    pub method: String,
    pub url: String,
    pub body: Payload,
}

#[derive(Debug, Clone)]
pub enum Payload {
    None,
    Bytes(Bytes),
    /// Readable once.
    Stream(Bytes),
}

/// What the caller is left with.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub retry_after: Option<String>,
    pub body: Option<Bytes>,
    /// Why the crate stopped, where it says.
    pub reason: Option<&'static str>,
}

/// Sends one request, with all that the crate does about a refusal.
pub type Client = Arc<dyn Fn(Sending) -> Pending + Send + Sync>;
pub type Pending = Pin<Box<dyn Future<Output = Result<Answer, String>> + Send>>;

impl Peer {
    pub const ALL: [Self; 8] = [
        Self::Reqwest,
        Self::Backon,
        Self::ReqwestRetry,
        Self::ReqwestRetryAfter,
        Self::Reessaie,
        Self::Alkhttp,
        Self::Middleware,
        Self::Layer,
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|peer| peer.name() == name)
    }

    /// Its name on the command line: the crate's own.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reqwest => "reqwest",
            Self::Backon => "backon",
            Self::ReqwestRetry => "reqwest-retry",
            Self::ReqwestRetryAfter => "reqwest-retry-after",
            Self::Reessaie => "reessaie",
            Self::Alkhttp => "alkhttp",
            Self::Middleware => "retry-middleware",
            Self::Layer => "retry-middleware-tower",
        }
    }

    pub fn client(self, limits: Limits) -> Client {
        match self {
            Self::Reqwest => bare(),
            Self::Backon => backon(),
            Self::ReqwestRetry => reqwest_retry(limits),
            Self::ReqwestRetryAfter => reqwest_retry_after(limits),
            Self::Reessaie => reessaie(limits),
            Self::Alkhttp => alkhttp(limits),
            Self::Middleware => middleware(limits),
            Self::Layer => layer(limits),
        }
    }
}

/// The two majors of reqwest, and what wraps them, have one shape and no type in common.
macro_rules! send_by {
    ($reqwest:ident, $client:expr, $sending:expr) => {{
        let sending: Sending = $sending;
        let method: $reqwest::Method =
            sending.method.parse().map_err(|error| format!("not a method: {error}"))?;
        let request = $client.request(method, &sending.url);
        let request = match sending.body {
            Payload::None => request,
            Payload::Bytes(bytes) => request.body(bytes),
            Payload::Stream(bytes) => request.body($reqwest::Body::wrap(Full::new(bytes))),
        };
        let response = request.send().await.map_err(|error| error.to_string())?;
        Ok::<_, String>(Answer {
            status: response.status().as_u16(),
            retry_after: text(response.headers().get(http::header::RETRY_AFTER)),
            reason: reason(response.extensions()),
            body: response.bytes().await.ok(),
        })
    }};
}

macro_rules! client {
    ($reqwest:ident, $client:expr) => {{
        let client = $client;
        Arc::new(move |sending| -> Pending {
            let client = client.clone();
            Box::pin(async move { send_by!($reqwest, client, sending) })
        })
    }};
}

fn text(value: Option<&http::HeaderValue>) -> Option<String> {
    Some(String::from_utf8_lossy(value?.as_bytes()).into_owned())
}

fn reason(extensions: &http::Extensions) -> Option<&'static str> {
    Some(extensions.get::<retry_middleware::Report>()?.reason()?.name())
}

fn inner() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().expect("a client of defaults can be built")
}

fn bare() -> Client {
    client!(reqwest, inner())
}

/// As its README has it: a function that fails, retried under the default schedule.
fn backon() -> Client {
    let client = inner();
    Arc::new(move |sending| {
        let client = client.clone();
        Box::pin(async move {
            let send = async || -> Result<Answer, String> {
                let sent: Result<Answer, String> = async { send_by!(reqwest, client, sending.clone()) }.await;
                let answer = sent?;
                if answer.status < 400 { Ok(answer) } else { Err(format!("status {}", answer.status)) }
            };
            send.retry(ExponentialBuilder::default()).sleep(tokio::time::sleep).await
        })
    })
}

/// reqwest-retry's schedule without its jitter, here and below: the suite compares how fast a client comes
/// back with the field and without, which chance must not decide.
fn schedule(limits: Limits) -> reqwest_retry::policies::ExponentialBackoffTimed {
    let schedule = reqwest_retry::policies::ExponentialBackoff::builder().jitter(reqwest_retry::Jitter::None);
    let total = limits.deadline.unwrap_or(Duration::MAX);
    schedule.build_with_total_retry_duration_and_max_retries(total, RETRIES)
}

fn reqwest_retry(limits: Limits) -> Client {
    use reqwest_retry::RetryTransientMiddleware;
    let policy = schedule(limits);
    client!(
        reqwest,
        reqwest_middleware::ClientBuilder::new(inner())
            .with(RetryTransientMiddleware::new_with_policy(policy))
            .build()
    )
}

/// It holds the next request and makes none: reqwest-retry, around it, does.
fn reqwest_retry_after(limits: Limits) -> Client {
    use reqwest_retry_07::{Jitter, RetryPolicy, RetryTransientMiddleware, policies::ExponentialBackoff};
    fn below(policy: impl RetryPolicy + Send + Sync + 'static) -> Client {
        let inner =
            reqwest_12::Client::builder().no_proxy().build().expect("a client of defaults can be built");
        client!(
            reqwest_12,
            reqwest_middleware_04::ClientBuilder::new(inner)
                .with(RetryTransientMiddleware::new_with_policy(policy))
                .with(reqwest_retry_after::RetryAfterMiddleware::new())
                .build()
        )
    }
    let schedule = ExponentialBackoff::builder().jitter(Jitter::None);
    // This version has no way to say both.
    match limits.deadline {
        Some(total) => below(schedule.build_with_total_retry_duration_and_max_retries(total)),
        None => below(schedule.build_with_max_retries(RETRIES)),
    }
}

fn reessaie(limits: Limits) -> Client {
    use reessaie::{RetryAfterMiddleware, RetryAfterPolicy};
    let policy = RetryAfterPolicy::with_policy(schedule(limits));
    client!(
        reqwest,
        reqwest_middleware::ClientBuilder::new(inner())
            .with(RetryAfterMiddleware::new_with_policy(policy))
            .build()
    )
}

fn alkhttp(limits: Limits) -> Client {
    use alkhttp::client::{HttpClientConfig, SharedHttpClient};
    let mut config = HttpClientConfig::default();
    config.max_total_retry_duration = limits.deadline.unwrap_or(config.max_total_retry_duration);
    let shared = SharedHttpClient::new(config).expect("a client of defaults can be built");
    client!(reqwest, shared.client())
}

/// `recommended`, with the caller's limits.
fn policy(limits: Limits) -> Policy {
    let mut policy = profiles::RECOMMENDED.to_builder();
    if let Some(deadline) = limits.deadline {
        policy = policy.budget(deadline);
    }
    if let Some(cap) = limits.cap {
        policy = policy.ceiling(cap);
    }
    policy.build().expect("a budget and a ceiling above the floor contradict nothing")
}

fn middleware(limits: Limits) -> Client {
    let inner =
        retry_middleware::client_builder().no_proxy().build().expect("a client of defaults can be built");
    client!(
        reqwest,
        reqwest_middleware::ClientBuilder::new(inner).with(RetryMiddleware::new(policy(limits))).build()
    )
}

fn layer(limits: Limits) -> Client {
    let layer = RetryLayer::new(policy(limits));
    let (again, once) = (layer.layer(hyper()), layer.layer(hyper()));
    Arc::new(move |sending| {
        let (again, once) = (again.clone(), once.clone());
        Box::pin(async move {
            let request = http::Request::builder().method(sending.method.as_str()).uri(&sending.url);
            let request = request.body(()).map_err(|error| error.to_string())?;
            let answer = match sending.body {
                Payload::None => again.oneshot(request.map(|()| Full::default())).await,
                Payload::Bytes(bytes) => again.oneshot(request.map(|()| Full::new(bytes))).await,
                Payload::Stream(bytes) => once.oneshot(request.map(|()| ReadOnce(Full::new(bytes)))).await,
            };
            let response = answer.map_err(|error| error.to_string())?;
            Ok(Answer {
                status: response.status().as_u16(),
                retry_after: text(response.headers().get(http::header::RETRY_AFTER)),
                reason: reason(response.extensions()),
                body: response.into_body().collect().await.ok().map(|whole| whole.to_bytes()),
            })
        })
    })
}

fn hyper<B>() -> legacy::Client<HttpConnector, B>
where
    B: http_body::Body + Send,
    B::Data: Send,
{
    legacy::Client::builder(TokioExecutor::new()).build_http()
}
