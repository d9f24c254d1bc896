//! The name of one exchange: the one that the client gave, or a fresh one.

use http::{HeaderMap, HeaderName, HeaderValue};

use crate::tokens::hex;

/// The field that carries the id, in both directions.
pub(super) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// Long enough for a UUID with a prefix, short enough for a log line.
const LONGEST: usize = 128;

/// Names one request in logs, in answers, and in what a user reports.
pub(super) struct RequestId(String);

impl RequestId {
    /// The client's own id where it is acceptable (printable, short, no separators that would forge a log
    /// line), else a fresh one.
    pub(super) fn of(request: &HeaderMap) -> Self {
        request
            .get(HEADER)
            .and_then(|value| value.to_str().ok())
            .filter(|id| is_acceptable(id))
            .map_or_else(Self::fresh, |id| Self(id.to_owned()))
    }

    fn fresh() -> Self {
        Self(hex(&rand::random::<[u8; 16]>()))
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }

    pub(super) fn to_header_value(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("an acceptable id is printable ASCII")
    }
}

fn is_acceptable(id: &str) -> bool {
    !id.is_empty()
        && id.len() <= LONGEST
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._:".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_of(incoming: &str) -> RequestId {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_str(incoming).unwrap());
        RequestId::of(&headers)
    }

    #[test]
    fn an_acceptable_id_is_kept() {
        assert_eq!(id_of("client-7:a.b_c").as_str(), "client-7:a.b_c");
    }

    #[test]
    fn an_id_that_is_empty_too_long_or_could_forge_a_log_line_is_replaced() {
        for incoming in ["", "two words", "a\tb", "a=\"b\"", &"x".repeat(129)] {
            let id = id_of(incoming);
            assert_ne!(id.as_str(), incoming);
            assert_eq!(id.as_str().len(), 32, "{incoming:?}");
        }
    }
}
