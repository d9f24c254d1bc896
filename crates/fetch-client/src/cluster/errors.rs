//! What can go wrong with a cluster, and its refusals kept whole.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use retry_core::Stop;
use retry_middleware::AttemptTimedOut;
use serde_json::Value;

use super::instance::Instance;
use crate::errors::Spent;
use crate::refusal::printable;
use crate::transport::TransportError;

/// What went wrong in asking a cluster.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// Not the address of a cluster.
    #[error("expected the address of a cluster such as https://host: {0}")]
    Address(String),
    /// Not the id of an instance.
    #[error("expected the id of an instance, letters, digits and dashes, got {0:?}")]
    Id(String),
    /// The cluster said no. After retries: its last no.
    #[error("{0}")]
    Refused(Box<ClusterRefusal>),
    /// No complete answer came.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// No answer came in the time that one request may take.
    #[error("{asked} was not answered within {} s", .length.as_secs())]
    Silent {
        /// What was asked.
        asked: String,
        /// How long was waited for the answer.
        length: Duration,
    },
    /// No answer came within the deadline.
    #[error("{asked}: {error}")]
    TimedOut {
        /// What was asked.
        asked: String,
        /// Which attempt was given up.
        error: AttemptTimedOut,
    },
    /// An answer that makes no sense.
    #[error("the answer to {asked} cannot be used: {reason}")]
    Answer {
        /// What was asked.
        asked: String,
        /// What is wrong with the answer.
        reason: String,
    },
    /// The instance was created, and watching it failed: what it was then is kept.
    #[error("the instance {} was created, and how far it has come cannot be seen: {error}", .instance.uuid)]
    Unwatched {
        /// The instance.
        instance: Box<Instance>,
        /// What went wrong.
        error: Box<ClusterError>,
    },
    /// Cancelled from outside.
    #[error("interrupted")]
    Interrupted,
}

/// Why an attempt has no answer. The driver gives attempts up, and does not know what they asked.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Failed(ClusterError),
    TimedOut(AttemptTimedOut),
}

impl Unanswered {
    /// The error, where this is what was asked.
    pub(crate) fn of(self, asked: String) -> ClusterError {
        match self {
            Self::Failed(error) => error,
            Self::TimedOut(error) => ClusterError::TimedOut { asked, error },
        }
    }
}

impl From<AttemptTimedOut> for Unanswered {
    fn from(error: AttemptTimedOut) -> Self {
        Self::TimedOut(error)
    }
}

impl ClusterError {
    /// The cluster's answer, where it said no.
    #[must_use]
    pub fn refusal(&self) -> Option<&ClusterRefusal> {
        match self {
            Self::Refused(refusal) => Some(refusal),
            Self::Unwatched { error, .. } => error.refusal(),
            _ => None,
        }
    }
}

/// A cluster's no, whole: status, fields, body.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClusterRefusal {
    /// What was asked: method and URL.
    pub asked: String,
    /// The status.
    pub status: StatusCode,
    /// The fields; none where the refusal was made without them.
    pub headers: HeaderMap,
    /// The body, its first 64 KiB.
    pub body: Bytes,
    /// Attempts and waits until then.
    pub spent: Spent,
    /// Why it was not asked again, where that was a decision.
    pub stop: Option<Stop>,
}

impl ClusterRefusal {
    /// A refusal of which only this is known: after one attempt, and without fields.
    #[must_use]
    pub fn new(asked: impl Into<String>, status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self {
            asked: asked.into(),
            status,
            headers: HeaderMap::new(),
            body: body.into(),
            spent: Spent { attempts: 1, ..Spent::default() },
            stop: None,
        }
    }

    /// The same with its fields.
    #[must_use]
    pub fn with_headers(self, headers: HeaderMap) -> Self {
        Self { headers, ..self }
    }

    /// A member of the body, where that is a JSON object which has it.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<Value> {
        match serde_json::from_slice(&self.body) {
            Ok(Value::Object(mut members)) => members.remove(name),
            _ => None,
        }
    }

    /// Whether the cluster says that waiting helps: a body whose `transient` is `true`, and nothing else.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.member("transient") == Some(Value::Bool(true))
    }

    /// The stage at which a creation was refused, where the cluster names one.
    #[must_use]
    pub fn stage(&self) -> Option<String> {
        self.member("stage")?.as_str().map(str::to_owned)
    }

    /// Everything, for who has to find out what happened.
    #[must_use]
    pub fn whole(&self) -> String {
        let mut text = format!("{}\n{}\n", self.asked, self.status);
        for (name, value) in &self.headers {
            text += &format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()).escape_debug());
        }
        text + "\n" + &String::from_utf8_lossy(&self.body)
    }
}

impl fmt::Display for ClusterRefusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self.member("error").and_then(|error| error.as_str().map(str::to_owned));
        let text = text.unwrap_or_else(|| String::from_utf8_lossy(&self.body).into_owned());
        write!(formatter, "{} answered {}: {}", self.asked, self.status.as_u16(), printable(&text, 1_000))?;
        if self.spent.attempts > 1 {
            let waited = self.spent.waited.as_secs_f64();
            write!(formatter, " ({} attempts, {waited:.1} s waited)", self.spent.attempts)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An error that was made without fields is one all the same.
    #[test]
    fn a_refusal_without_headers_can_be_constructed() {
        let body = r#"{"error":"full","status":507,"stage":"capacity_guard","transient":true}"#;
        let refusal =
            ClusterRefusal::new("POST http://host/instances", StatusCode::INSUFFICIENT_STORAGE, body);
        assert!(refusal.headers.is_empty());
        assert!(refusal.is_transient());
        assert_eq!(refusal.stage().as_deref(), Some("capacity_guard"));
        assert_eq!(refusal.to_string(), "POST http://host/instances answered 507: full");
    }
}
