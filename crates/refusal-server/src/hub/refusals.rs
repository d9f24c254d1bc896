//! The two answers that mean "ask again": frozen to the byte, one type each.

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::refusal::{Refusal, RetryAfter};

/// 503: objects that the fetch needs are not indexed yet. Wins over [`MPackNotReady`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FetchNotIndexed {
    /// How many objects are missing.
    pub missing: u64,
    /// When to come back: [`FetchNotIndexed::RETRY_AFTER`] unless overridden at start.
    pub retry_after: RetryAfter,
}

impl FetchNotIndexed {
    /// An index job reads a whole pack: the longer of the two waits.
    pub const RETRY_AFTER: RetryAfter = RetryAfter::seconds(60);
}

impl Refusal for FetchNotIndexed {
    fn status(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn title(&self) -> &'static str {
        "Objects not yet indexed"
    }

    fn detail(&self) -> String {
        format!("Objects not yet indexed: {} missing. Retry shortly.", self.missing)
    }

    fn retry_after(&self) -> Option<RetryAfter> {
        Some(self.retry_after)
    }

    fn members(&self) -> Map<String, Value> {
        transient("mpack_index", self.missing)
    }
}

/// 503: everything is indexed, and the pack that a whole clone is answered with is being built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MPackNotReady {
    /// When to come back: [`MPackNotReady::RETRY_AFTER`] unless overridden at start.
    pub retry_after: RetryAfter,
}

impl MPackNotReady {
    /// All objects are at hand, only the pack has to be written: the shorter of the two waits.
    pub const RETRY_AFTER: RetryAfter = RetryAfter::seconds(30);
}

impl Refusal for MPackNotReady {
    fn status(&self) -> StatusCode {
        StatusCode::SERVICE_UNAVAILABLE
    }

    fn title(&self) -> &'static str {
        "Mpack not ready"
    }

    fn detail(&self) -> String {
        // The dash is U+2014, and part of what is frozen.
        "mpack not ready — prebuild in progress. Retry shortly.".into()
    }

    fn retry_after(&self) -> Option<RetryAfter> {
        Some(self.retry_after)
    }

    fn members(&self) -> Map<String, Value> {
        transient("mpack_prebuild", 0)
    }
}

fn transient(stage: &str, missing: u64) -> Map<String, Value> {
    let members = json!({ "transient": true, "stage": stage, "missing": missing });
    match members {
        Value::Object(members) => members,
        _ => unreachable!("the literal above is an object"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts, statuses and delays of the contract, byte for byte.
    #[test]
    fn the_two_refusals_are_frozen() {
        let not_indexed = FetchNotIndexed { missing: 412, retry_after: FetchNotIndexed::RETRY_AFTER };
        assert_eq!(not_indexed.status(), 503);
        assert_eq!(not_indexed.retry_after(), Some(RetryAfter::seconds(60)));
        assert_eq!(not_indexed.detail(), "Objects not yet indexed: 412 missing. Retry shortly.");
        let not_ready = MPackNotReady { retry_after: MPackNotReady::RETRY_AFTER };
        assert_eq!(not_ready.status(), 503);
        assert_eq!(not_ready.retry_after(), Some(RetryAfter::seconds(30)));
        assert_eq!(not_ready.detail(), "mpack not ready \u{2014} prebuild in progress. Retry shortly.");
    }
}
