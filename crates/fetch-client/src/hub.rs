//! The hub's endpoints, one attempt each.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt;
use http::Method;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, HeaderValue, RANGE};
use hub_protocol::{
    FetchAnswer, FetchRequest, PresignAnswer, PresignRequest, Refs, UnpackAnswer, UnpackRequest,
};
use reqwest::{Body, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use tokio_util::io::ReaderStream;
use url::Url;

use crate::address::Address;
use crate::errors::{Error, IoContext};
use crate::progress::{Direction, Observer, Transfer};
use crate::refusal::Refusal;
use crate::transport::{Patience, Transport, TransportError, shown_url};

/// The longest answer that is read into memory: the heads of 100,000 branches.
const MAX_ANSWER: usize = 16 << 20;
/// How much of a pack is read from the disk at once.
const UPLOAD_PIECE: usize = 256 * 1024;

/// An access token. It is shown to nobody.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(HeaderValue);

impl Token {
    /// Takes a token, which must be fit for a header field.
    ///
    /// # Errors
    ///
    /// [`Error::Token`] where it is empty or holds a character that no token has.
    pub fn new(token: &str) -> Result<Self, Error> {
        let visible = |byte: u8| byte.is_ascii_graphic();
        if token.is_empty() || !token.bytes().all(visible) {
            return Err(Error::Token);
        }
        let mut value = HeaderValue::try_from(format!("Bearer {token}")).map_err(|_| Error::Token)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    /// The value of the field `Authorization`.
    pub(crate) fn value(&self) -> &HeaderValue {
        &self.0
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Token(kept back)")
    }
}

/// One repository on a hub.
#[derive(Debug)]
pub(crate) struct Hub<'a> {
    transport: &'a Transport,
    address: &'a Address,
    token: Option<&'a Token>,
}

impl<'a> Hub<'a> {
    pub(crate) fn new(transport: &'a Transport, address: &'a Address, token: Option<&'a Token>) -> Self {
        Self { transport, address, token }
    }

    pub(crate) fn address(&self) -> &Address {
        self.address
    }

    pub(crate) async fn refs(&self) -> Result<Refs, Error> {
        let url = self.address.endpoint("refs");
        self.ask(Method::GET, &url, self.request(Method::GET, &url)?).await
    }

    pub(crate) async fn presign(&self, body: &PresignRequest) -> Result<PresignAnswer, Error> {
        let url = self.address.endpoint("push/mpack-presign");
        self.ask(Method::POST, &url, self.request(Method::POST, &url)?.json(body)).await
    }

    /// Uploads the pack at `path` in pieces: any pack may be larger than memory.
    pub(crate) async fn upload(
        &self,
        presigned: &PresignAnswer,
        path: &Path,
        size: u64,
        observer: Arc<dyn Observer>,
    ) -> Result<(), Error> {
        let url = self.address.presigned(&presigned.upload_url)?;
        let file = File::open(path).while_doing("opening", path)?;
        let mut done = 0;
        let pieces = ReaderStream::with_capacity(tokio::fs::File::from_std(file), UPLOAD_PIECE).inspect(
            move |piece| {
                if let Ok(piece) = piece {
                    done += piece.len() as u64;
                    observer.transferred(&Transfer { direction: Direction::Upload, done, total: size });
                }
            },
        );
        let request = self
            .transport
            .request(Method::PUT, &url, Patience::Connection)?
            .header(CONTENT_LENGTH, size)
            .body(Body::wrap_stream(pieces));
        succeeded(&Method::PUT, send(&url, request).await?).await.map(drop)
    }

    pub(crate) async fn unpack(&self, body: &UnpackRequest) -> Result<UnpackAnswer, Error> {
        let url = self.address.endpoint("push/unpack-mpack");
        self.ask(
            Method::POST,
            &url,
            self.patient_request(Method::POST, &url, Patience::Connection)?.json(body),
        )
        .await
    }

    /// Where a fetch is asked for.
    pub(crate) fn fetch_url(&self) -> Url {
        self.address.endpoint("fetch/mpack")
    }

    /// One attempt's request, made afresh each time.
    pub(crate) fn fetch_request(&self, body: &FetchRequest) -> Result<RequestBuilder, Error> {
        Ok(self.request(Method::POST, &self.fetch_url())?.json(body))
    }

    /// Begins the download of a pack, `from` its given byte on.
    pub(crate) async fn download(&self, url: &Url, from: u64) -> Result<Response, Error> {
        let mut request = self.transport.request(Method::GET, url, Patience::Silence)?;
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        succeeded(&Method::GET, send(url, request).await?).await
    }

    fn request(&self, method: Method, url: &Url) -> Result<RequestBuilder, Error> {
        self.patient_request(method, url, Patience::Silence)
    }

    fn patient_request(
        &self,
        method: Method,
        url: &Url,
        patience: Patience,
    ) -> Result<RequestBuilder, Error> {
        let mut request = self.transport.request(method, url, patience)?.header(ACCEPT, "application/json");
        if let Some(Token(value)) = self.token {
            request = request.header(AUTHORIZATION, value.clone());
        }
        Ok(request)
    }

    async fn ask<T: DeserializeOwned>(
        &self,
        method: Method,
        url: &Url,
        request: RequestBuilder,
    ) -> Result<T, Error> {
        let response = succeeded(&method, send(url, request).await?).await?;
        read_json(url, response).await
    }

    /// The answer to a fetch that was not refused.
    pub(crate) async fn fetch_answer(&self, response: Response) -> Result<FetchAnswer, Error> {
        read_json(&self.fetch_url(), response).await
    }
}

async fn send(url: &Url, request: RequestBuilder) -> Result<Response, TransportError> {
    request.send().await.map_err(|error| TransportError::of(url, &error))
}

/// Tells an answer from a refusal.
async fn succeeded(method: &Method, response: Response) -> Result<Response, Error> {
    if response.status().is_success() {
        return Ok(response);
    }
    Err(Error::Refused(Box::new(Refusal::read(method, response).await)))
}

async fn read_json<T: DeserializeOwned>(url: &Url, mut response: Response) -> Result<T, Error> {
    let unusable = |reason: String| Error::Answer { url: shown_url(url), reason };
    let mut body = Vec::new();
    while let Some(piece) = response.chunk().await.map_err(|error| TransportError::of(url, &error))? {
        if body.len() + piece.len() > MAX_ANSWER {
            return Err(unusable(format!("it is longer than {MAX_ANSWER} bytes")));
        }
        body.extend_from_slice(&piece);
    }
    serde_json::from_slice(&body).map_err(|error| unusable(error.to_string()))
}
