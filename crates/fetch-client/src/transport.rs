//! Single requests over HTTP: how connections are made, and why no answer came.

use std::collections::HashMap;
use std::error::Error as _;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::Method;
use reqwest::{Client, RequestBuilder, redirect};
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::errors::Error;

/// The most redirects that are followed, all within one origin.
const MAX_REDIRECTS: usize = 5;

/// How connections are made. The library reads no environment: who wants a proxy from it says so here.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct TransportSettings {
    /// The longest a connection may take to be made.
    pub connect_timeout: Duration,
    /// The longest silence of a server that owes us bytes.
    pub silence_timeout: Duration,
    /// Whether requests to other machines go through the proxy that the system, or the environment, names.
    pub system_proxy: bool,
}

impl Default for TransportSettings {
    /// Ten seconds to connect; one minute of silence, as the `muse` profile gives one attempt; no proxy.
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(10),
            silence_timeout: Duration::from_secs(60),
            system_proxy: false,
        }
    }
}

/// Sends single attempts: it never repeats one, and follows redirects within one origin only.
#[derive(Debug)]
pub(crate) struct Transport {
    settings: TransportSettings,
    clients: Mutex<HashMap<Kind, Client>>,
}

/// What a client has to be able to do. Each is made when it is first needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Kind {
    /// Reads the machine's certificates; one for `http` alone works where there are none.
    secure: bool,
    proxy: bool,
    patience: Patience,
}

/// How long a server may be silent before it has answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Patience {
    /// As long as the settings say.
    Silence,
    /// For as long as the connection lives: the time starts with the request, and what is sent may take hours.
    Connection,
}

impl Transport {
    /// Makes no connection yet.
    pub(crate) fn new(settings: TransportSettings) -> Self {
        Self { settings, clients: Mutex::default() }
    }

    /// Begins a request.
    ///
    /// # Errors
    ///
    /// [`TransportError`] when the URL is neither `http` nor `https`, or no TLS can be set up.
    pub(crate) fn request(
        &self,
        method: Method,
        url: &Url,
        patience: Patience,
    ) -> Result<RequestBuilder, TransportError> {
        let secure = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(TransportError::new(url, Reason::Scheme)),
        };
        let kind = Kind { secure, proxy: self.settings.system_proxy && !is_loopback(url), patience };
        let client = self.client(kind).map_err(|error| TransportError::of(url, &error))?;
        Ok(client.request(method, url.clone()))
    }

    fn client(&self, kind: Kind) -> reqwest::Result<Client> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(client) = clients.get(&kind) {
            return Ok(client.clone());
        }
        let client = self.build(kind)?;
        clients.insert(kind, client.clone());
        Ok(client)
    }

    fn build(&self, kind: Kind) -> reqwest::Result<Client> {
        // It can be installed once a process; whoever was first has chosen for all.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let TransportSettings { connect_timeout, silence_timeout, .. } = self.settings;
        let mut builder = Client::builder()
            .user_agent(concat!("fetch-client/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect_timeout)
            .tcp_keepalive(silence_timeout)
            .redirect(redirect::Policy::custom(within_origin))
            .retry(reqwest::retry::never())
            .referer(false);
        if kind.patience == Patience::Silence {
            builder = builder.read_timeout(silence_timeout);
        }
        if !kind.proxy {
            builder = builder.no_proxy();
        }
        if !kind.secure {
            builder = builder.tls_certs_only([]);
        }
        builder.build()
    }
}

/// A redirect to another origin is an answer, not a place to send a token or an upload to.
fn within_origin(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let previous = attempt.previous();
    if previous.len() > MAX_REDIRECTS {
        return attempt.error("more than five redirects");
    }
    let same_origin = previous.last().is_none_or(|from| from.origin() == attempt.url().origin());
    if same_origin { attempt.follow() } else { attempt.stop() }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(url::Host::Ipv4(address)) => address.is_loopback(),
        Some(url::Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Waits for `work`, unless the user interrupts.
pub(crate) async fn unless_cancelled<T>(
    cancel: &CancellationToken,
    work: impl Future<Output = T>,
) -> Result<T, Error> {
    cancel.run_until_cancelled(work).await.ok_or(Error::Interrupted)
}

/// No complete answer came, and why.
#[derive(Debug, thiserror::Error)]
#[error("{url}: {reason}")]
pub struct TransportError {
    /// Where the request went, without user name, password, query and fragment.
    url: String,
    reason: Reason,
}

#[derive(Debug, thiserror::Error)]
enum Reason {
    #[error("expected a URL that starts with http:// or https://")]
    Scheme,
    #[error("the host name cannot be resolved ({0})")]
    Unresolved(String),
    #[error("cannot connect ({0})")]
    NotConnected(String),
    #[error("no answer in time ({0})")]
    TimedOut(String),
    #[error("the connection was lost ({0})")]
    Lost(String),
}

impl TransportError {
    fn new(url: &Url, reason: Reason) -> Self {
        Self { url: shown_url(url), reason }
    }

    /// What reqwest says, in the words of this program.
    pub(crate) fn of(url: &Url, error: &reqwest::Error) -> Self {
        let cause = deepest_cause(error);
        let reason = if error.is_connect() {
            if in_chain(error, "dns error") { Reason::Unresolved(cause) } else { Reason::NotConnected(cause) }
        } else if error.is_timeout() {
            Reason::TimedOut(cause)
        } else {
            Reason::Lost(cause)
        };
        Self::new(url, reason)
    }

    /// Whether nothing of the request can have reached the server.
    #[must_use]
    pub fn not_sent(&self) -> bool {
        matches!(self.reason, Reason::Scheme | Reason::Unresolved(_) | Reason::NotConnected(_))
    }
}

/// The innermost cause: the outer ones repeat the URL and the kind.
pub(crate) fn deepest_cause(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    match cause.downcast_ref::<io::Error>() {
        // "Connection refused (os error 111)": the number tells a reader nothing.
        Some(error) if error.raw_os_error().is_some() => {
            error.to_string().split(" (os error").next().unwrap_or_default().to_lowercase()
        }
        _ => cause.to_string(),
    }
}

fn in_chain(error: &reqwest::Error, text: &str) -> bool {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if inner.to_string().contains(text) {
            return true;
        }
        cause = inner.source();
    }
    false
}

/// The URL as it may be shown: no credentials, and no query, where signatures live.
pub(crate) fn shown_url(url: &Url) -> String {
    let mut shown = url.clone();
    // Only URLs that cannot have credentials refuse to have them removed.
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    shown.set_query(None);
    shown.set_fragment(None);
    shown.to_string()
}
