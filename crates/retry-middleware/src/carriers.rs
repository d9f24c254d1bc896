//! From HTTP fields and bodies to what the core decides with.

use http::HeaderMap;
use http::header::{AGE, DATE, RETRY_AFTER};
use retry_core::{Hint, Policy, Reading, RetryAfter, UnixTime, Verdict};

/// At most this much of a body is read to find its marker, in bytes.
pub const LARGEST_MARKED_BODY: usize = 16 * 1_024;

/// What a head asks for, read the way `policy` reads it. `now` is the wall clock at its arrival.
#[must_use]
pub fn hint(headers: &HeaderMap, policy: &Policy, now: UnixTime) -> Hint {
    let first = |name| headers.get(name).map(http::HeaderValue::as_bytes);
    let reading = Reading {
        now,
        date: first(DATE),
        age: first(AGE),
        dates: policy.dates(),
        lenient_fractions: policy.lenient_fractions(),
    };
    let lines = headers.get_all(RETRY_AFTER).into_iter().map(http::HeaderValue::as_bytes);
    RetryAfter::parse(lines, &reading).into()
}

/// What a refusal's body says about itself: transient only as a JSON object whose `transient` is `true`
/// (C2). Anything else, a cut-off body included, is unmarked.
#[must_use]
pub fn verdict(body: &[u8]) -> Verdict {
    let parsed = serde_json::from_slice::<serde_json::Value>(body).ok();
    let marker =
        parsed.as_ref().and_then(serde_json::Value::as_object).and_then(|object| object.get("transient"));
    if marker == Some(&serde_json::Value::Bool(true)) { Verdict::Transient } else { Verdict::Unmarked }
}
