//! Requests that HTTP/2 says were not processed are sent again whatever their method (C6).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper_util::client::legacy::Client;
use hyper_util::rt::TokioExecutor;
use retry_core::profiles;
use retry_middleware::{Report, RetryLayer, RetryMiddleware, client_builder};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tower::{Layer, ServiceExt};

/// Frame types (RFC 9113 section 6).
const HEADERS: u8 = 1;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const GOAWAY: u8 = 7;

/// Error codes (RFC 9113 section 7).
const NO_ERROR: u8 = 0;
const INTERNAL_ERROR: u8 = 2;
const REFUSED_STREAM: u8 = 7;

/// How the server ends its first request; it answers later ones.
#[derive(Debug, Clone, Copy)]
enum End {
    Reset(u8),
    /// A GOAWAY with this last stream, then the connection ends.
    GoAway {
        last_stream: u8,
    },
}

/// A server of raw frames, so that each is what a test says.
struct Server {
    url: String,
    requests: Arc<AtomicUsize>,
    task: tokio::task::JoinHandle<()>,
}

impl Server {
    async fn start(end: End) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/a", listener.local_addr().unwrap());
        let requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let counter = Arc::clone(&counter);
                tokio::spawn(async move {
                    // A client may hang up whenever it likes.
                    let _ = serve(stream, end, &counter).await;
                });
            }
        });
        Self { url, requests, task }
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, end: End, requests: &AtomicUsize) -> std::io::Result<()> {
    let mut preface = [0; 24];
    stream.read_exact(&mut preface).await?;
    stream.write_all(&frame(SETTINGS, 0, 0, &[])).await?;
    loop {
        let mut head = [0; 9];
        stream.read_exact(&mut head).await?;
        let [a, b, c, kind, flags, .., id] = head;
        let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
        stream.read_exact(&mut payload).await?;
        if kind == SETTINGS && flags == 0 {
            stream.write_all(&frame(SETTINGS, 1, 0, &[])).await?;
        }
        if kind != HEADERS {
            continue;
        }
        match (requests.fetch_add(1, Ordering::SeqCst), end) {
            (0, End::Reset(code)) => stream.write_all(&frame(RST_STREAM, 0, id, &[0, 0, 0, code])).await?,
            (0, End::GoAway { last_stream }) => {
                let payload = [0, 0, 0, last_stream, 0, 0, 0, NO_ERROR];
                stream.write_all(&frame(GOAWAY, 0, 0, &payload)).await?;
                return stream.shutdown().await;
            }
            // `:status: 200` of the static table (RFC 7541), the end of headers and of the stream.
            _ => stream.write_all(&frame(HEADERS, 5, id, &[0x88])).await?,
        }
    }
}

fn frame(kind: u8, flags: u8, stream: u8, payload: &[u8]) -> Vec<u8> {
    let length = u8::try_from(payload.len()).unwrap();
    let mut frame = vec![0, 0, length, kind, flags, 0, 0, 0, stream];
    frame.extend_from_slice(payload);
    frame
}

/// What a POST comes to, and how many requests the server saw.
async fn through_reqwest(end: End) -> (Option<(u16, u32)>, usize) {
    let server = Server::start(end).await;
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = client_builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let client =
        reqwest_middleware::ClientBuilder::new(client).with(RetryMiddleware::new(profiles::ALKHTTP)).build();
    let answer = client.post(&server.url).body("once").send().await.ok();
    let seen = answer.map(|answer| (answer.status().as_u16(), attempts(answer.extensions())));
    (seen, server.requests())
}

async fn through_tower(end: End) -> (Option<(u16, u32)>, usize) {
    let server = Server::start(end).await;
    let client: Client<_, Full<Bytes>> =
        Client::builder(TokioExecutor::new()).http2_only(true).retry_canceled_requests(false).build_http();
    let request = http::Request::post(&server.url).body(Full::from("once")).unwrap();
    let answer = RetryLayer::new(profiles::ALKHTTP).layer(client).oneshot(request).await.ok();
    let seen = answer.map(|answer| (answer.status().as_u16(), attempts(answer.extensions())));
    (seen, server.requests())
}

fn attempts(extensions: &http::Extensions) -> u32 {
    extensions.get::<Report>().unwrap().attempts
}

/// C6: a stream that was refused was not processed.
#[tokio::test]
async fn a_refused_stream_is_sent_again() {
    let end = End::Reset(REFUSED_STREAM);
    assert_eq!(through_reqwest(end).await, (Some((200, 2)), 2));
    assert_eq!(through_tower(end).await, (Some((200, 2)), 2));
}

/// C6: a stream beyond the last one that a GOAWAY names was not processed.
#[tokio::test]
async fn a_stream_that_a_goaway_excludes_is_sent_again() {
    let end = End::GoAway { last_stream: 0 };
    assert_eq!(through_reqwest(end).await, (Some((200, 2)), 2));
    assert_eq!(through_tower(end).await, (Some((200, 2)), 2));
}

/// C6: any other end may come after the server has acted.
#[tokio::test]
async fn a_stream_that_may_have_been_processed_is_not_sent_again() {
    for end in [End::Reset(INTERNAL_ERROR), End::GoAway { last_stream: 1 }] {
        assert_eq!(through_reqwest(end).await, (None, 1), "{end:?}");
        assert_eq!(through_tower(end).await, (None, 1), "{end:?}");
    }
}
