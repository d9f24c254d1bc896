//! A conversation with a cluster: what stands between one request and the retries.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use retry_core::{Monotonic, profiles};
use retry_middleware::Clock;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::select;

use super::errors::{ClusterError, ClusterRefusal};
use super::settings::ClusterSettings;
use super::wire::{Answer, Question, Wire};
use crate::errors::Spent;
use crate::hub::Token;

/// How long to wait for a dependency, or for an instance, before looking again.
pub(super) const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// A conversation with a cluster: what authenticates, and waits for what is not ready.
pub(super) struct Talk<'s, W, C> {
    pub(super) wire: W,
    pub(super) clock: &'s C,
    pub(super) settings: &'s ClusterSettings,
    /// Good until the cluster says otherwise.
    pub(super) token: Option<Token>,
}

/// What is asked, besides the token.
#[derive(Clone)]
pub(super) struct Ask {
    pub(super) method: Method,
    pub(super) path: String,
    pub(super) body: Option<Bytes>,
}

impl Ask {
    pub(super) fn new(method: Method, path: impl Into<String>) -> Self {
        Self { method, path: path.into(), body: None }
    }
}

#[derive(Deserialize)]
struct Access {
    access_token: String,
}

impl<W: Wire, C: Clock> Talk<'_, W, C> {
    /// Asks, and comes back with the first answer that is final: a 401 authenticates once and asks again, and
    /// a 406 is asked again every second until the deadline. Neither is an attempt of its own.
    pub(super) async fn ask(&mut self, ask: &Ask, deadline: Monotonic) -> Result<Answer, ClusterError> {
        let mut may_authenticate = true;
        loop {
            let token = match &self.token {
                Some(token) => token.clone(),
                None => match self.authenticate().await? {
                    Ok(token) => token,
                    Err(refused) => return Ok(refused),
                },
            };
            let answer = self.send(self.question(ask, Some(token))).await?;
            match answer.status {
                StatusCode::UNAUTHORIZED if may_authenticate => {
                    may_authenticate = false;
                    self.token = None;
                }
                StatusCode::NOT_ACCEPTABLE => {
                    if self.wait_a_little(deadline).await.is_none() {
                        return Ok(answer);
                    }
                }
                _ => return Ok(answer),
            }
        }
    }

    /// The same for answers that are documents.
    pub(super) async fn read<T: DeserializeOwned>(
        &mut self,
        ask: &Ask,
        deadline: Monotonic,
    ) -> Result<T, ClusterError> {
        read(self.ask(ask, deadline).await?)
    }

    /// Waits until it is time to look again; `None`, and at once, when that would not be before the deadline.
    pub(super) async fn wait_a_little(&self, deadline: Monotonic) -> Option<()> {
        let until = self.clock.monotonic().after(LOOK_AGAIN);
        if until >= deadline {
            return None;
        }
        sleep_through(self.clock, until).await;
        Some(())
    }

    /// A fresh token, or the answer that there is none.
    async fn authenticate(&mut self) -> Result<Result<Token, Answer>, ClusterError> {
        let credentials = &self.settings.credentials;
        let body = json!({ "namespace": credentials.namespace, "key": credentials.key });
        let ask = Ask { body: Some(body.to_string().into()), ..Ask::new(Method::POST, "/auth") };
        let answer = self.send(self.question(&ask, None)).await?;
        if !answer.status.is_success() {
            return Ok(Err(answer));
        }
        let asked = answer.asked.clone();
        let Access { access_token } = read(answer)?;
        let unusable = |error: crate::Error| ClusterError::Answer { asked, reason: error.to_string() };
        let token = Token::new(&access_token).map_err(unusable)?;
        self.token = Some(token.clone());
        Ok(Ok(token))
    }

    /// Sends one request, and gives it up when the profile's time for an attempt is over (T6).
    async fn send(&mut self, question: Question) -> Result<Answer, ClusterError> {
        let length = profiles::SHAKENFIST.attempt_timeout();
        let (asked, clock) = (question.shown(), self.clock);
        let give_up = clock.monotonic().after(length);
        select! {
            biased;
            answered = self.wire.send(question) => answered,
            () = sleep_through(clock, give_up) => Err(ClusterError::Silent { asked, length }),
        }
    }

    pub(super) fn question(&self, ask: &Ask, token: Option<Token>) -> Question {
        let url = self.settings.address.at(&ask.path);
        Question { method: ask.method.clone(), url, body: ask.body.clone(), token }
    }
}

/// A timer may end early; what waits for it must not (T5).
pub(super) async fn sleep_through(clock: &impl Clock, instant: Monotonic) {
    while clock.monotonic() < instant {
        clock.sleep_until(instant).await;
    }
}

/// The document of a good answer.
pub(super) fn read<T: DeserializeOwned>(answer: Answer) -> Result<T, ClusterError> {
    if !answer.status.is_success() {
        return Err(refused(answer, Spent { attempts: 1, ..Spent::default() }, None));
    }
    let Answer { asked, body, .. } = answer;
    serde_json::from_slice(&body).map_err(|error| ClusterError::Answer { asked, reason: error.to_string() })
}

pub(super) fn refused(answer: Answer, spent: Spent, stop: Option<retry_core::Stop>) -> ClusterError {
    let Answer { asked, status, headers, body, .. } = answer;
    let refusal = ClusterRefusal { spent, stop, ..ClusterRefusal::new(asked, status, body) };
    ClusterError::Refused(Box::new(refusal.with_headers(headers)))
}
