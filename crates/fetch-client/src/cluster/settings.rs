//! Where a cluster is, who asks, and how long to stay with it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use retry_core::Monotonic;
use url::Url;

use super::errors::ClusterError;

/// What a client of a cluster is told. Plain data.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ClusterSettings {
    /// Where the cluster is.
    pub address: ClusterAddress,
    /// Who asks.
    pub credentials: Credentials,
    /// Whether a creation that is refused with 507 and marked `transient` is sent again.
    ///
    /// Off unless somebody says otherwise: a suite that proves refusals, or that records its waits, must not
    /// have them waited out in here.
    pub retry_transient_capacity: bool,
    /// How long to stay with a request.
    pub strategy: Strategy,
}

impl ClusterSettings {
    /// The settings of a client that retries nothing and pauses for what it has created.
    #[must_use]
    pub fn new(address: ClusterAddress, credentials: Credentials) -> Self {
        Self { address, credentials, retry_transient_capacity: false, strategy: Strategy::default() }
    }
}

/// How long to stay with a request: ONE deadline, over retries, over waiting for dependencies, and over
/// waiting for an instance to leave `creating`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strategy {
    /// Not at all: one request, and no wait.
    Continue,
    /// A minute.
    #[default]
    Pause,
    /// An hour.
    Block,
    /// As long as this.
    Within(Duration),
}

impl Strategy {
    /// The length of it.
    #[must_use]
    pub const fn length(self) -> Duration {
        match self {
            // The deadline is already there, so nothing waits: no special case anywhere else.
            Self::Continue => Duration::ZERO,
            Self::Pause => Duration::from_secs(60),
            Self::Block => Duration::from_secs(3_600),
            Self::Within(length) => length,
        }
    }

    pub(super) fn deadline(self, now: Monotonic) -> Monotonic {
        now.after(self.length())
    }
}

/// Where a cluster is: `http` or `https`, a host, and perhaps a path that everything lies below.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterAddress(Url);

impl ClusterAddress {
    /// The URL of a path, which begins with a slash.
    pub(super) fn at(&self, path: &str) -> Url {
        let mut url = self.0.clone();
        url.set_path(&format!("{}{path}", self.0.path().trim_end_matches('/')));
        url
    }
}

impl FromStr for ClusterAddress {
    type Err = ClusterError;

    fn from_str(given: &str) -> Result<Self, ClusterError> {
        // What is wrong may be a password: the address itself is not shown.
        let refused = |reason: &str| ClusterError::Address(reason.to_owned());
        let url = Url::parse(given).map_err(|error| refused(&error.to_string()))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(refused("it starts with neither http:// nor https://"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("it holds a user name or a password"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(refused("it has a query or a fragment"));
        }
        Ok(Self(url))
    }
}

/// A namespace and the key that opens it. The key is shown to nobody.
#[derive(Clone)]
pub struct Credentials {
    pub(super) namespace: String,
    pub(super) key: String,
}

impl Credentials {
    /// Takes both as they are: the cluster judges them.
    #[must_use]
    pub fn new(namespace: impl Into<String>, key: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), key: key.into() }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Credentials").field("namespace", &self.namespace).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> ClusterSettings {
        ClusterSettings::new("http://host/api/".parse().expect("an address"), Credentials::new("me", "hush"))
    }

    #[test]
    fn nothing_is_retried_unless_somebody_says_so() {
        assert!(!settings().retry_transient_capacity);
        assert_eq!(settings().strategy, Strategy::Pause);
    }

    #[test]
    fn the_key_is_shown_to_nobody() {
        assert!(!format!("{:?}", settings()).contains("hush"));
    }

    #[test]
    fn paths_lie_below_the_address() {
        assert_eq!(settings().address.at("/instances").as_str(), "http://host/api/instances");
    }

    #[test]
    fn what_is_no_address_is_refused_with_the_reason() {
        for (given, reason) in [
            ("host", "relative URL without a base"),
            ("ftp://host", "it starts with neither http:// nor https://"),
            ("http://me:hush@host", "it holds a user name or a password"),
            ("http://host?a", "it has a query or a fragment"),
        ] {
            let error = given.parse::<ClusterAddress>().expect_err("no address").to_string();
            assert_eq!(error, format!("expected the address of a cluster such as https://host: {reason}"));
        }
    }
}
