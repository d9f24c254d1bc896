//! From HTTP fields and bodies to what the core decides with.

use std::fmt;
use std::time::Duration;

use http::HeaderMap;
use http::header::{AGE, DATE, RETRY_AFTER};
use retry_core::{Hint, Policy, Reading, RetryAfter, UnixTime, Verdict};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// At most this much of a body is read to find its marker, in bytes.
pub const LARGEST_MARKED_BODY: usize = 16 * 1_024;

/// At most this long after the head a marker is waited for.
pub const MARKER_PATIENCE: Duration = Duration::from_secs(2);

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
///
/// Nothing is kept of the other members, and whatever JSON allows may stand in them.
#[must_use]
pub fn verdict(body: &[u8]) -> Verdict {
    let marker = str::from_utf8(body).ok().and_then(|text| serde_json::from_str::<Marker>(text).ok());
    match marker {
        Some(Marker { transient: true }) => Verdict::Transient,
        _ => Verdict::Unmarked,
    }
}

/// What is read of a refusal's body. Of several members `transient` the last counts.
struct Marker {
    transient: bool,
}

impl<'de> Deserialize<'de> for Marker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MarkerVisitor)
    }
}

struct MarkerVisitor;

impl<'de> Visitor<'de> for MarkerVisitor {
    type Value = Marker;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Marker, A::Error> {
        let mut transient = false;
        while let Some((name, value)) = members.next_entry::<&'de RawValue, &'de RawValue>()? {
            // Raw, because a number out of range or half a surrogate pair elsewhere takes no mark away.
            if serde_json::from_str::<String>(name.get()).is_ok_and(|name| name == "transient") {
                transient = value.get() == "true";
            }
        }
        Ok(Marker { transient })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// C2: exactly `true`, and the last one where there are several.
    #[test]
    fn only_true_marks_a_body_as_transient() {
        for body in [
            r#"{"transient":true}"#,
            r#" { "error" : "full" , "transient" : true } "#,
            r#"{"transient":false,"transient":true}"#,
            r#"{"tr\u0061nsient":true}"#,
        ] {
            assert_eq!(verdict(body.as_bytes()), Verdict::Transient, "{body}");
        }
        for body in [
            "",
            "true",
            "null",
            "{}",
            r#"{"transient":"true"}"#,
            r#"{"transient":1}"#,
            r#"{"transient":null}"#,
            r#"{"transient":[true]}"#,
            r#"{"transient":true,"transient":false}"#,
            r#"{"Transient":true}"#,
            r#"{"error":{"transient":true}}"#,
            r#"[{"transient":true}]"#,
            r#""{\"transient\":true}""#,
            r#"{"transient":true"#,
            r#"{"transient":true} x"#,
        ] {
            assert_eq!(verdict(body.as_bytes()), Verdict::Unmarked, "{body}");
        }
        assert_eq!(verdict(b"{\"transient\":true,\"x\":\"\xff\"}"), Verdict::Unmarked);
    }

    /// C2: what stands beside the mark does not matter, as long as it is JSON.
    #[test]
    fn a_mark_holds_whatever_stands_beside_it() {
        let nested = format!("{}{}", "[".repeat(10_000), "]".repeat(10_000));
        for value in ["1e999", &"9".repeat(5_000), r#""\ud800""#, &nested] {
            let body = format!(r#"{{"x":{value},"transient":true,"y":{value}}}"#);
            assert_eq!(verdict(body.as_bytes()), Verdict::Transient, "{}", &value[..value.len().min(20)]);
        }
    }
}
