//! Single requests over HTTP, and what they come to: an answer, a refusal, or none.

use std::collections::HashMap;
use std::error::Error as _;
use std::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use http::{HeaderMap, Method, StatusCode};
use reqwest::{Client, RequestBuilder, Response, redirect};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::errors::Error;

/// The most redirects that are followed, all within one origin.
const MAX_REDIRECTS: usize = 5;
/// How much of an error's body is read: enough for any message a person would read.
const MAX_ERROR_BODY: usize = 64 * 1024;
/// How long an error's body may take: the head has said when to come back, and that time runs already.
const ERROR_BODY_TIME: Duration = Duration::from_secs(2);

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

/// An answer that says no: the server's own words, kept.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// What was asked: method and URL, as they may be shown.
    pub asked: String,
    /// The status.
    pub status: StatusCode,
    /// The server's name for this exchange.
    pub request_id: Option<String>,
    /// The server's own text, made safe for a terminal.
    pub text: String,
    /// The head, for those who want to read more.
    pub headers: HeaderMap,
}

impl Refusal {
    /// Takes an answer apart, its body within bounds.
    ///
    /// A body that cannot be read leaves the text empty: the head has said what matters.
    pub(crate) async fn read(method: &Method, mut response: Response) -> Self {
        let asked = format!("{method} {}", shown_url(response.url()));
        let status = response.status();
        let headers = response.headers().clone();
        let mut body = Vec::new();
        // Out of time is as good as at the end: what has come by then is kept.
        let _ = timeout(ERROR_BODY_TIME, async {
            while let Ok(Some(chunk)) = response.chunk().await {
                let room = MAX_ERROR_BODY - body.len();
                body.extend_from_slice(&chunk[..chunk.len().min(room)]);
                if body.len() == MAX_ERROR_BODY {
                    break;
                }
            }
        })
        .await;
        Self { asked, status, request_id: request_id(&headers), text: server_text(&body), headers }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} answered {}", self.asked, self.status.as_u16())?;
        match (self.text.is_empty(), self.status.canonical_reason()) {
            (false, _) => write!(formatter, ": {}", self.text)?,
            (true, Some(reason)) => write!(formatter, " {reason}")?,
            (true, None) => {}
        }
        match &self.request_id {
            Some(id) => write!(formatter, " (request {id})"),
            None => Ok(()),
        }
    }
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    headers.get("x-request-id").and_then(|value| value.to_str().ok()).map(|text| printable(text, 128))
}

/// What a person should read of an error's body: the member that carries the sentence, or the text itself.
fn server_text(body: &[u8]) -> String {
    const MEMBERS: [&str; 4] = ["detail", "error", "message", "title"];
    let text = String::from_utf8_lossy(body);
    let sentence = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|json| MEMBERS.iter().find_map(|member| json.get(member)?.as_str().map(str::to_owned)));
    printable(sentence.as_deref().unwrap_or(&text), 1_000)
}

/// A server's text on one line and without what a terminal would obey.
pub(crate) fn printable(text: &str, most_characters: usize) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control() || is_invisible(c)).collect();
    let line = words.iter().filter(|word| !word.is_empty()).copied().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(most_characters) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

/// Characters that show nothing and change how the rest is shown: a direction turned round, a tag.
fn is_invisible(character: char) -> bool {
    matches!(
        character,
        '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::printable;

    #[test]
    fn a_servers_text_neither_drives_a_terminal_nor_turns_it_round() {
        let hostile = "\u{1b}[31mred\r\nnext\u{9b}0m \u{202e}txt.exe\u{2066}a\u{200b}b\u{e0041}\0";
        assert_eq!(printable(hostile, 100), "[31mred next 0m txt.exe a b");
        assert_eq!(printable("größer – 大 …", 100), "größer – 大 …");
        assert_eq!(printable("four words are here", 9), "four word…");
    }
}
