//! One request and its answer, read whole: what lies below everything that may be repeated.

use bytes::Bytes;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderMap, Method, StatusCode};
use retry_core::Monotonic;
use retry_middleware::{Clock, SystemClock};
use url::Url;

use super::errors::ClusterError;
use crate::hub::Token;
use crate::refusal::{BODY_TIME, refused_body};
use crate::transport::{Patience, Transport, TransportError, shown_url};

/// The longest good answer: some ten thousand instances.
const MAX_ANSWER: usize = 16 << 20;

/// One request.
pub(super) struct Question {
    pub(super) method: Method,
    pub(super) url: Url,
    pub(super) body: Option<Bytes>,
    pub(super) token: Option<Token>,
}

impl Question {
    /// What is asked, as it may be shown.
    pub(super) fn shown(&self) -> String {
        format!("{} {}", self.method, shown_url(&self.url))
    }
}

/// An answer.
#[derive(Debug, Clone)]
pub(super) struct Answer {
    pub(super) asked: String,
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    /// When its head arrived.
    pub(super) received: Monotonic,
}

/// Sends single requests.
pub(super) trait Wire: Send + Sync {
    fn send(&mut self, question: Question) -> impl Future<Output = Result<Answer, ClusterError>> + Send;
}

/// Sends them over the network.
pub(super) struct Network<'t>(pub(super) &'t Transport);

impl Wire for Network<'_> {
    async fn send(&mut self, question: Question) -> Result<Answer, ClusterError> {
        let asked = question.shown();
        let Question { method, url, body, token } = question;
        // Silence ends nothing here: placing takes its time, and who asks gives up when that is over.
        let mut request =
            self.0.request(method, &url, Patience::Connection)?.header(ACCEPT, "application/json");
        if let Some(token) = &token {
            request = request.header(AUTHORIZATION, token.value().clone());
        }
        if let Some(body) = body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        let lost = |error: reqwest::Error| TransportError::of(&url, &error);
        let mut response = request.send().await.map_err(lost)?;
        let received = SystemClock.monotonic();
        let (status, headers) = (response.status(), std::mem::take(response.headers_mut()));
        let body = if status.is_success() {
            let mut body = Vec::new();
            while let Some(piece) = response.chunk().await.map_err(lost)? {
                if body.len() + piece.len() > MAX_ANSWER {
                    let reason = format!("it is longer than {MAX_ANSWER} bytes");
                    return Err(ClusterError::Answer { asked, reason });
                }
                body.extend_from_slice(&piece);
            }
            body
        } else {
            refused_body(&mut response, BODY_TIME).await
        };
        Ok(Answer { asked, status, headers, body: body.into(), received })
    }
}
