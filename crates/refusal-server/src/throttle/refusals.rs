//! The throttle's one refusal.

use http::StatusCode;

use super::key::Key;
use crate::refusal::{Refusal, RetryAfter};

/// 429: the bucket of this key is empty. Commits nothing: a refused request takes no token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TooManyRequests {
    key: String,
    hint: RetryAfter,
}

impl TooManyRequests {
    pub(super) fn new(key: &Key, hint: RetryAfter) -> Self {
        Self { key: key.to_string(), hint }
    }
}

impl Refusal for TooManyRequests {
    fn status(&self) -> StatusCode {
        StatusCode::TOO_MANY_REQUESTS
    }

    fn title(&self) -> &'static str {
        "Too many requests"
    }

    fn detail(&self) -> String {
        format!("Too many requests for {}. Retry in {} s.", self.key, self.hint.as_seconds())
    }

    fn retry_after(&self) -> Option<RetryAfter> {
        Some(self.hint)
    }
}
