//! The answers that no wait helps against.

use std::fmt;

use http::header::{CONTENT_RANGE, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::Refusal;

/// A request that was wrong, not allowed, or broke something: waiting does not help, so none of these
/// carries a `Retry-After`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Failure {
    /// 400: the request itself is malformed.
    BadRequest(String),
    /// 401: a token is needed; the text says which was missing or wrong.
    Unauthorized(String),
    /// 403: the request is understood and not allowed.
    Forbidden(String),
    /// 404: no such thing, or none that this client may see.
    NotFound(String),
    /// 405: the path exists, the method does not.
    MethodNotAllowed,
    /// 408: the body stopped arriving.
    Timeout(String),
    /// 409: the request contradicts the state of the server.
    Conflict(String),
    /// 413: over a cap; the text names the cap.
    TooLarge(String),
    /// 416: no byte of the asked range exists; holds the number of bytes that do.
    RangeNotSatisfiable(u64),
    /// 422: well-formed and not acceptable; the text says why.
    Unprocessable(String),
    /// 500: the server's own fault; the text says what could not be done.
    Internal(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadRequest(text)
            | Self::Unauthorized(text)
            | Self::Forbidden(text)
            | Self::NotFound(text)
            | Self::Timeout(text)
            | Self::Conflict(text)
            | Self::TooLarge(text)
            | Self::Unprocessable(text)
            | Self::Internal(text) => f.write_str(text),
            Self::MethodNotAllowed => f.write_str("this path does not answer this method"),
            Self::RangeNotSatisfiable(size) => {
                write!(f, "no byte of the asked range exists: there are {size} bytes")
            }
        }
    }
}

impl std::error::Error for Failure {}

impl Refusal for Failure {
    fn status(&self) -> StatusCode {
        match self {
            Self::BadRequest(_) => StatusCode::BAD_REQUEST,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Forbidden(_) => StatusCode::FORBIDDEN,
            Self::NotFound(_) => StatusCode::NOT_FOUND,
            Self::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Self::Timeout(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Conflict(_) => StatusCode::CONFLICT,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::RangeNotSatisfiable(_) => StatusCode::RANGE_NOT_SATISFIABLE,
            Self::Unprocessable(_) => StatusCode::UNPROCESSABLE_ENTITY,
            Self::Internal(_) => StatusCode::INTERNAL_SERVER_ERROR,
        }
    }

    fn title(&self) -> &'static str {
        match self {
            Self::BadRequest(_) => "Bad request",
            Self::Unauthorized(_) => "A token is needed",
            Self::Forbidden(_) => "Not allowed",
            Self::NotFound(_) => "Not found",
            Self::MethodNotAllowed => "Method not allowed",
            Self::Timeout(_) => "The request stopped arriving",
            Self::Conflict(_) => "Conflict",
            Self::TooLarge(_) => "Too large",
            Self::RangeNotSatisfiable(_) => "Range not satisfiable",
            Self::Unprocessable(_) => "Not acceptable as it is",
            Self::Internal(_) => "The server failed",
        }
    }

    fn detail(&self) -> String {
        self.to_string()
    }

    fn add_headers(&self, headers: &mut HeaderMap) {
        match self {
            Self::Unauthorized(_) => {
                headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Self::RangeNotSatisfiable(size) => {
                let value = HeaderValue::from_str(&format!("bytes */{size}"))
                    .expect("digits and ASCII signs are a field value");
                headers.insert(CONTENT_RANGE, value);
            }
            _ => {}
        }
    }
}
