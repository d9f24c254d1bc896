//! Sends requests that are answered with 200, one after the other, over one loopback connection, and nothing
//! else: `instructions CLIENT URL COUNT`. The difference between two counts is what requests cost; `run.sh`
//! takes it. `instructions serve` answers, in a process that nobody counts.

use std::error::Error;
use std::future::{Ready, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::Body;
use http_body_util::{BodyExt as _, Empty};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use reqwest_middleware::{ClientBuilder, Middleware, Next};
use retry_core::profiles;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tower::retry::Policy;
use tower::{Layer as _, Service, ServiceBuilder, ServiceExt as _};

type Failure = Box<dyn Error + Send + Sync>;
type Hyper = legacy::Client<HttpConnector, Empty<Bytes>>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    match arguments[..] {
        ["serve"] => runtime.block_on(serve()),
        [client, url, count] => runtime.block_on(run(client, url, count.parse()?)),
        _ => Err("expected `serve`, or a client, a URL and a count".into()),
    }
}

/// Repeats an expression that sends by reqwest.
macro_rules! repeat {
    ($count:expr, $send:expr) => {{
        for _ in 0..$count {
            let response = $send.await?;
            expect_200(response.status().as_u16())?;
            response.bytes().await?;
        }
        Ok(())
    }};
}

async fn run(client: &str, url: &str, count: u32) -> Result<(), Failure> {
    let bare = || reqwest::Client::builder().no_proxy().build();
    match client {
        "reqwest" => {
            let client = bare()?;
            repeat!(count, client.get(url).send())
        }
        "reqwest-middleware" => {
            let client = ClientBuilder::new(bare()?).with(Nothing).build();
            repeat!(count, client.get(url).send())
        }
        "reqwest-retry" => {
            let policy = reqwest_retry::policies::ExponentialBackoff::builder().build_with_max_retries(3);
            let retry = reqwest_retry::RetryTransientMiddleware::new_with_policy(policy);
            let client = ClientBuilder::new(bare()?).with(retry).build();
            repeat!(count, client.get(url).send())
        }
        "reessaie" => {
            let policy = reessaie::RetryAfterPolicy::with_max_retries(3);
            let retry = reessaie::RetryAfterMiddleware::new_with_policy(policy);
            let client = ClientBuilder::new(bare()?).with(retry).build();
            repeat!(count, client.get(url).send())
        }
        "retry-middleware" => {
            let retry = retry_middleware::RetryMiddleware::new(profiles::RECOMMENDED);
            let client = retry_middleware::client_builder().no_proxy().build()?;
            let client = ClientBuilder::new(client).with(retry).build();
            repeat!(count, client.get(url).send())
        }
        "reqwest-0.12" => {
            let client = reqwest_12::Client::builder().no_proxy().build()?;
            repeat!(count, client.get(url).send())
        }
        "reqwest-retry-after" => {
            let client = reqwest_12::Client::builder().no_proxy().build()?;
            let retry = reqwest_retry_after::RetryAfterMiddleware::new();
            let client = reqwest_middleware_04::ClientBuilder::new(client).with(retry).build();
            repeat!(count, client.get(url).send())
        }
        "hyper" => through(count, url, hyper()).await,
        "tower-retry" => through(count, url, ServiceBuilder::new().retry(Attempts(3)).service(hyper())).await,
        "tower-retry-timeout" => {
            let stack = ServiceBuilder::new().retry(Attempts(3)).timeout(Duration::from_secs(30));
            through(count, url, stack.service(hyper())).await
        }
        "retry-middleware-tower" => {
            let layer = retry_middleware::RetryLayer::new(profiles::RECOMMENDED);
            through(count, url, layer.layer(hyper())).await
        }
        other => Err(format!("there is no client {other:?}").into()),
    }
}

fn hyper() -> Hyper {
    legacy::Client::builder(TokioExecutor::new()).build_http()
}

/// Sends through a service of tower, which is asked for readiness before each request.
async fn through<S, B>(count: u32, url: &str, mut service: S) -> Result<(), Failure>
where
    S: Service<http::Request<Empty<Bytes>>, Response = http::Response<B>>,
    S::Error: Into<Failure>,
    B: Body<Data = Bytes>,
    B::Error: Into<Failure>,
{
    let uri: http::Uri = url.parse()?;
    for _ in 0..count {
        let request = http::Request::get(uri.clone()).body(Empty::new())?;
        let response = service.ready().await.map_err(Into::into)?.call(request).await.map_err(Into::into)?;
        expect_200(response.status().as_u16())?;
        response.into_body().collect().await.map_err(Into::into)?;
    }
    Ok(())
}

fn expect_200(status: u16) -> Result<(), Failure> {
    if status == 200 { Ok(()) } else { Err(format!("expected 200, got {status}").into()) }
}

/// A middleware that does nothing: what any of them costs.
struct Nothing;

#[async_trait::async_trait]
impl Middleware for Nothing {
    async fn handle(
        &self,
        request: reqwest::Request,
        extensions: &mut http::Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<reqwest::Response> {
        next.run(request, extensions).await
    }
}

/// The policy of tower's documentation, with an answer's status looked at.
#[derive(Clone)]
struct Attempts(usize);

impl<B, E> Policy<http::Request<Empty<Bytes>>, http::Response<B>, E> for Attempts {
    type Future = Ready<()>;

    fn retry(
        &mut self,
        _request: &mut http::Request<Empty<Bytes>>,
        result: &mut Result<http::Response<B>, E>,
    ) -> Option<Ready<()>> {
        let refused = result.as_ref().map_or(true, |response| response.status().as_u16() == 503);
        if refused && self.0 > 0 {
            self.0 -= 1;
            Some(ready(()))
        } else {
            None
        }
    }

    fn clone_request(
        &mut self,
        request: &http::Request<Empty<Bytes>>,
    ) -> Option<http::Request<Empty<Bytes>>> {
        Some(request.clone())
    }
}

/// Prints its URL and answers whatever comes, until it is killed.
async fn serve() -> Result<(), Failure> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}/a/path", listener.local_addr()?);
    loop {
        let (mut stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let mut read = Vec::new();
            while stream.read_buf(&mut read).await.is_ok_and(|count| count > 0) {
                if read.ends_with(b"\r\n\r\n") {
                    read.clear();
                    if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfine").await.is_err() {
                        return;
                    }
                }
            }
        });
    }
}
