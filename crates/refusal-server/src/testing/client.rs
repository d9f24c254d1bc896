//! A client that does what it is told, and answers as they come.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode, Uri};
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;

use super::{Published, TOKEN};

/// A client that does one request on one connection, and nothing of its own accord.
pub(crate) struct Client {
    address: SocketAddr,
}

/// An answer, read whole.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// Sends a request; its URI may be a path or a whole URL. The answer has to be one that the server
    /// documents: so each test of a room is one of its description too.
    pub(crate) async fn send(&self, request: Request<Full<Bytes>>) -> Reply {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let reply = self.send_unchecked(request).await;
        Published::of(self).await.check(&method, &path, &reply);
        reply
    }

    /// Sends a request of which the server documents nothing.
    pub(crate) async fn send_unchecked(&self, mut request: Request<Full<Bytes>>) -> Reply {
        let path = request.uri().path_and_query().unwrap().as_str().parse::<Uri>().unwrap();
        *request.uri_mut() = path;
        let host = self.address.to_string().parse().unwrap();
        request.headers_mut().entry("host").or_insert(host);
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
        let connection = tokio::spawn(connection);
        let response = sender.send_request(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        drop(sender);
        connection.abort();
        Reply { status: head.status, headers: head.headers, body }
    }

    pub(crate) async fn get(&self, url: &str) -> Reply {
        self.send(Request::get(url).body(Full::default()).unwrap()).await
    }

    pub(crate) async fn put(&self, url: &str, body: impl Into<Bytes>) -> Reply {
        self.send(Request::put(url).body(Full::new(body.into())).unwrap()).await
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Reply {
        self.send(Request::post(path).body(Full::new(body.to_string().into())).unwrap()).await
    }

    pub(crate) async fn post_authorised(&self, path: &str, body: &Value) -> Reply {
        let request = Request::post(path).header("authorization", format!("Bearer {TOKEN}"));
        self.send(request.body(Full::new(body.to_string().into())).unwrap()).await
    }
}

impl Reply {
    #[track_caller]
    pub(crate) fn assert_status(&self, status: u16) -> &Self {
        assert_eq!(self.status, status, "{}", self.text());
        self
    }

    /// Asserts status and text, to the byte.
    #[track_caller]
    pub(crate) fn assert(&self, status: u16, text: &str) -> &Self {
        assert_eq!((self.status.as_u16(), self.text()), (status, text));
        self
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap_or("(not UTF-8)")
    }

    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    /// The values of all lines of a field.
    pub(crate) fn all(&self, name: &str) -> Vec<&str> {
        self.headers.get_all(name).iter().map(|value| value.to_str().unwrap()).collect()
    }
}
