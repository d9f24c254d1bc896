//! The two faces behind one interface, so that both are held to the same cases.

use std::future::Future;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use retry_core::{Monotonic, Policy};
use retry_middleware::{
    FinishBy, Report, RetryLayer, RetryMiddleware, RetryService, SharedRequest, Vouched, client_builder,
};
use tower::Layer;
use tower_service::Service;

/// What came back.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) report: Report,
    pub(crate) body: Result<Bytes, String>,
}

/// What a request asks of the face beside its bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asks {
    pub(crate) vouched: bool,
    pub(crate) finish_by: Option<Monotonic>,
}

/// A client with one of the faces.
pub(crate) trait Face: Clone + Send + Sync + 'static {
    fn new(policy: Policy) -> Self;

    /// The same client below another retry layer, which sends up to 50 times and pauses 5 ms.
    fn send_stubbornly(&self, url: &str) -> impl Future<Output = Result<Answer, String>> + Send;

    fn send_asking(
        &self,
        method: &str,
        url: &str,
        body: &'static str,
        asks: Asks,
    ) -> impl Future<Output = Result<Answer, String>> + Send;

    fn send(&self, method: &str, url: &str) -> impl Future<Output = Result<Answer, String>> + Send {
        self.send_asking(method, url, "", Asks::default())
    }

    fn get(&self, url: &str) -> impl Future<Output = Result<Answer, String>> + Send {
        self.send("GET", url)
    }
}

/// The face for reqwest-middleware.
#[derive(Clone)]
pub(crate) struct Reqwest {
    client: reqwest_middleware::ClientWithMiddleware,
    stubborn: reqwest_middleware::ClientWithMiddleware,
}

pub(crate) fn reqwest_client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    client_builder().no_proxy().build().unwrap()
}

struct Stubborn;

#[async_trait::async_trait]
impl reqwest_middleware::Middleware for Stubborn {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: reqwest_middleware::Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        let mut last = None;
        for _ in 0..50 {
            let answer = next.clone().run(request.try_clone().unwrap(), extensions).await;
            match answer {
                Ok(response) if response.status().is_success() => return Ok(response),
                refused => last = Some(refused),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        last.unwrap()
    }
}

async fn read(response: reqwest_middleware::Result<reqwest::Response>) -> Result<Answer, String> {
    let response = response.map_err(|error| format!("{error:?}"))?;
    let report = *response.extensions().get::<Report>().expect("every answer has a report");
    let status = response.status().as_u16();
    let body = response.bytes().await.map_err(|error| format!("{error:?}"));
    Ok(Answer { status, report, body })
}

impl Face for Reqwest {
    fn new(policy: Policy) -> Self {
        let retry = std::sync::Arc::new(RetryMiddleware::new(policy));
        let builder = || reqwest_middleware::ClientBuilder::new(reqwest_client());
        Self {
            client: builder().with_arc(retry.clone()).build(),
            stubborn: builder().with(Stubborn).with_arc(retry).build(),
        }
    }

    async fn send_stubbornly(&self, url: &str) -> Result<Answer, String> {
        read(self.stubborn.get(url).send().await).await
    }

    async fn send_asking(
        &self,
        method: &str,
        url: &str,
        body: &'static str,
        asks: Asks,
    ) -> Result<Answer, String> {
        let method = method.parse().expect("a method");
        let mut request = self.client.request(method, url);
        if !body.is_empty() {
            request = request.body(body);
        }
        if asks.vouched {
            request = request.with_extension(Vouched);
        }
        if let Some(deadline) = asks.finish_by {
            request = request.with_extension(FinishBy(deadline));
        }
        read(request.send().await).await
    }
}

pub(crate) type Hyper = Client<HttpConnector, Full<Bytes>>;

/// The face for tower.
#[derive(Clone)]
pub(crate) struct Tower {
    service: RetryService<Hyper>,
}

impl Tower {
    async fn call(&self, request: http::Request<Full<Bytes>>) -> Result<Answer, String> {
        let mut service = self.service.clone();
        std::future::poll_fn(|context: &mut Context<'_>| -> Poll<_> {
            Service::<http::Request<Full<Bytes>>>::poll_ready(&mut service, context)
        })
        .await
        .map_err(|error| error.to_string())?;
        let response = service.call(request).await.map_err(|error| format!("{error} {error:?}"))?;
        let report = *response.extensions().get::<Report>().expect("every answer has a report");
        let status = response.status().as_u16();
        let body = response.into_body().collect().await;
        let body = body.map(|whole| whole.to_bytes()).map_err(|error| error.to_string());
        Ok(Answer { status, report, body })
    }
}

impl Face for Tower {
    fn new(policy: Policy) -> Self {
        let client = Client::builder(TokioExecutor::new()).build_http();
        Self { service: RetryLayer::new(policy).layer(client) }
    }

    async fn send_stubbornly(&self, url: &str) -> Result<Answer, String> {
        let shared = SharedRequest::default();
        let mut last = None;
        for _ in 0..50 {
            let request = http::Request::get(url).extension(shared.clone()).body(Full::default()).unwrap();
            match self.call(request).await {
                Ok(answer) if answer.status == 200 => return Ok(answer),
                refused => last = Some(refused),
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        last.unwrap()
    }

    async fn send_asking(
        &self,
        method: &str,
        url: &str,
        body: &'static str,
        asks: Asks,
    ) -> Result<Answer, String> {
        let mut request = http::Request::builder().method(method).uri(url).body(Full::from(body)).unwrap();
        if asks.vouched {
            request.extensions_mut().insert(Vouched);
        }
        if let Some(deadline) = asks.finish_by {
            request.extensions_mut().insert(FinishBy(deadline));
        }
        self.call(request).await
    }
}
