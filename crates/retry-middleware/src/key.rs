//! What a window is shared by (E9).

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;

/// The key of a window: requests with equal keys share what servers told them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Key(Box<str>);

/// Who answered a request, or is about to be asked.
///
/// After redirects that the client followed itself, the URL is the responder's and the fields are those of
/// the request as it was first sent.
#[derive(Debug, Clone, Copy)]
pub struct Destination<'a> {
    /// `http` or `https`.
    pub scheme: &'a str,
    /// The host, without userinfo.
    pub host: &'a str,
    /// The port, the scheme's own where the URL names none.
    pub port: u16,
    /// The path, without query and fragment.
    pub path: &'a str,
    /// The request's fields, so that a credential can be made part of the key.
    pub headers: &'a HeaderMap,
}

/// The caller's own way to make keys.
pub type KeyFunction = Arc<dyn Fn(&Destination<'_>) -> Key + Send + Sync>;

impl Key {
    /// A key of the caller's own making: a tenant, a credential's name, an endpoint.
    ///
    /// Errors and logs show it. Of a credential take the name or a hash, never the secret itself.
    #[must_use]
    pub fn new(text: impl Into<Box<str>>) -> Self {
        Self(text.into())
    }

    /// The default: scheme, host, port and path. No userinfo, no query, no fragment; http apart from https.
    /// The case of scheme and host makes no difference (RFC 9110 section 4.2.3).
    #[must_use]
    pub fn of(destination: &Destination<'_>) -> Self {
        let Destination { scheme, host, port, path, .. } = destination;
        let mut text = format!("{scheme}://{host}:{port}{path}");
        text[..scheme.len() + "://".len() + host.len()].make_ascii_lowercase();
        Self(text.into_boxed_str())
    }

    /// The key's text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
