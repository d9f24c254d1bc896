//! `get`: any request under any profile.

use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, Read as _, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE};
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use reqwest::{Body, Response};
use retry_core::{
    Attempt, Decision, LogicalRequest, Monotonic, Outcome, Policy, Reason, Replay, Verdict, profiles,
};
use retry_middleware::{
    AttemptTimedOut, Attempted, Clock, Driver, Event, Exchange, Fate, Finished, LARGEST_MARKED_BODY,
    MARKER_PATIENCE, SystemClock, ThreadRandom, hint, verdict,
};
use tempfile::NamedTempFile;
use tokio::time::timeout;
use tokio_util::io::ReaderStream;
use url::Url;

use super::arguments::Get;
use super::console::Console;
use super::exit;
use super::failure::Failure;
use super::run::{Program, settings};
use crate::budget::seconds;
use crate::transport::{Patience, Transport, TransportError, deepest_cause, shown_url};

/// How much of a refused body is read away so that its connection can be used again.
const MAX_DRAINED: usize = 64 * 1024;
/// How long that may take.
const DRAIN_TIME: Duration = Duration::from_millis(500);

/// The fields that say how the request is sent: whoever gave one by hand would contradict what is sent.
const OWN_FIELDS: [HeaderName; 8] =
    [CONNECTION, CONTENT_LENGTH, EXPECT, HOST, TE, TRAILER, TRANSFER_ENCODING, UPGRADE];

/// Sends the request, prints the last answer's body, and returns the exit code: 0 only after a success, 1 where
/// nothing was sent, 3 where it was in vain.
pub(super) async fn run(program: &Program, arguments: Get) -> u8 {
    let done = match Prepared::of(program, arguments).await {
        Ok(prepared) => send(program, &prepared).await,
        Err(text) => Err(Failure::user(text)),
    };
    done.map_or_else(|failure| failure.tell(&program.console), |()| exit::DONE)
}

async fn send(program: &Program, prepared: &Prepared) -> Result<(), Failure> {
    let clock = SystemClock;
    let start = clock.monotonic();
    let mut request = LogicalRequest::new(&prepared.policy, prepared.replay, start).spread(&mut ThreadRandom);
    let deadline = prepared.deadline.map(|length| start.after(length));
    if let Some(deadline) = deadline {
        request = request.finish_by(deadline);
    }
    let console = Arc::clone(&program.console);
    let mut driver =
        Driver { clock, random: ThreadRandom, observer: move |event: Event<'_>| tell(&console, &event) };
    let mut exchange = Sending { transport: Transport::new(settings()), prepared };
    let Finished { stop, answer, error, .. } =
        driver.run(&mut request, &mut exchange, program.cancel.cancelled()).await;

    if stop.is_some_and(|stop| stop.reason == Reason::Cancelled) {
        return Err(Failure::interrupted());
    }
    let Some(answer) = answer else {
        let why = error.map_or_else(|| "no answer".to_owned(), |error| error.at(&prepared.url));
        return Err(Failure::internal(with_stop(why, stop)));
    };
    let status = answer.status;
    let writing = program.cancel.run_until_cancelled(write(answer, prepared.output.as_deref()));
    tokio::select! {
        biased;
        written = writing => written.ok_or_else(Failure::interrupted)?.map_err(Failure::internal)?,
        () = passes(deadline.filter(|deadline| *deadline > clock.monotonic())) => {
            let url = shown_url(&prepared.url);
            let text = format!("the deadline passed while the answer of {url} was still coming");
            return Err(Failure::internal(text));
        }
    }
    match (error, stop) {
        (Some(error), stop) => Err(Failure::internal(with_stop(error.at(&prepared.url), stop))),
        (None, Some(stop)) => {
            let answered = format!("{} {} answered {status}", prepared.method, shown_url(&prepared.url));
            Err(Failure::internal(with_stop(answered, Some(stop))))
        }
        (None, None) => Ok(()),
    }
}

/// Completes at a deadline that lies ahead. One that has passed means one whole attempt, its body included.
async fn passes(deadline: Option<Monotonic>) {
    match deadline {
        Some(deadline) => SystemClock.sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn with_stop(what: String, stop: Option<retry_core::Stop>) -> String {
    match stop {
        Some(stop) => format!("{what}; {stop}"),
        None => what,
    }
}

fn tell(console: &Console, event: &Event<'_>) {
    match event {
        Event::Decided { decision: Decision::Wait(wait), outcome } => {
            let what = match outcome {
                Outcome::Answered { status, .. } => format!("answered {status}"),
                Outcome::NotSent => "no connection".to_owned(),
                Outcome::Lost => "no answer".to_owned(),
            };
            console.line(&format!("⏳ {what}: {wait}"));
        }
        Event::Held { until } => {
            console.line(&format!("⏳ held until {:.3} s", until.as_micros() as f64 / 1e6))
        }
        _ => {}
    }
}

/// The request as it was asked for: everything that can be wrong with it is found before the first attempt.
struct Prepared {
    url: Url,
    method: Method,
    headers: HeaderMap,
    body: Option<RequestBody>,
    policy: Policy,
    replay: Replay,
    deadline: Option<Duration>,
    output: Option<PathBuf>,
}

/// The most that is read from a pipe or a device, in bytes.
const MOST_KEPT: u64 = 64 << 20;

enum RequestBody {
    /// A file, opened afresh for each attempt.
    File(PathBuf),
    /// What came out of a pipe: it can be read once, so it is kept.
    Bytes(Bytes),
}

impl Prepared {
    /// The request of these arguments, or what is wrong with them.
    async fn of(program: &Program, arguments: Get) -> Result<Self, String> {
        let url = Url::parse(&arguments.url)
            .map_err(|error| format!("expected a URL, got {:?}: {error}", arguments.url))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(format!(
                "expected a URL that starts with http:// or https://, got {:?}",
                arguments.url
            ));
        }
        let body = match arguments.body_file.map(|file| program.path(&file)) {
            Some(path) => {
                let reading = program.unless_interrupted(move || Ok(RequestBody::at(&path))).await;
                Some(reading.map_err(|error| error.to_string())??)
            }
            None => None,
        };
        let method = match (&arguments.method, &body) {
            (Some(method), _) => Method::from_bytes(method.as_bytes())
                .map_err(|_| format!("expected a method such as GET, got {method:?}"))?,
            (None, Some(_)) => Method::POST,
            (None, None) => Method::GET,
        };
        let names: Vec<&str> = profiles::NAMES.iter().map(|(name, _)| *name).collect();
        let policy = profiles::named(&arguments.profile).ok_or_else(|| {
            format!("expected one of the profiles {}, got {:?}", names.join(", "), arguments.profile)
        })?;
        // Whoever names the profile opts in.
        let policy = policy.to_builder().enabled(true).build().map_err(|error| error.to_string())?;
        let deadline = match &arguments.deadline {
            None => None,
            Some(given) => Some(seconds(given).ok_or_else(|| {
                format!("--deadline: expected a number of seconds such as 10, got {given:?}")
            })?),
        };
        Ok(Self {
            headers: headers(&arguments.header)?,
            replay: if arguments.vouch || method.is_idempotent() {
                Replay::Always
            } else {
                Replay::OnlyIfUnsent
            },
            output: arguments.output.map(|output| program.path(&output)),
            url,
            method,
            body,
            policy,
            deadline,
        })
    }
}

impl RequestBody {
    fn at(path: &Path) -> Result<Self, String> {
        let unreadable = |error| format!("the body {} cannot be read: {error}", path.display());
        let file = File::open(path).map_err(unreadable)?;
        if file.metadata().map_err(unreadable)?.is_file() {
            return Ok(Self::File(path.to_owned()));
        }
        let mut bytes = Vec::new();
        (&file).take(MOST_KEPT + 1).read_to_end(&mut bytes).map_err(unreadable)?;
        if bytes.len() as u64 > MOST_KEPT {
            return Err(format!(
                "expected at most {} MiB from {}, which is no regular file and has to be kept for a repeat",
                MOST_KEPT >> 20,
                path.display()
            ));
        }
        Ok(Self::Bytes(bytes.into()))
    }
}

fn headers(fields: &[String]) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for field in fields {
        let unusable = || format!("expected a header field such as `Accept: text/plain`, got {field:?}");
        let (name, value) = field.split_once(':').ok_or_else(unusable)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| unusable())?;
        let value = HeaderValue::try_from(value.trim()).map_err(|_| unusable())?;
        if OWN_FIELDS.contains(&name) {
            return Err(format!(
                "the field {name} says how the request is sent and cannot be given, got {field:?}"
            ));
        }
        headers.append(name, value);
    }
    Ok(headers)
}

struct Sending<'a> {
    transport: Transport,
    prepared: &'a Prepared,
}

/// A head, what was read of the body to find a marker in it, and the rest.
struct Answer {
    status: StatusCode,
    /// Dropped where reading it away takes too long: the connection is given up then.
    rest: Option<Response>,
    read: Vec<Bytes>,
    /// What ended the body early.
    cut: Option<String>,
}

impl Answer {
    /// Reads at most about `most` more bytes. A body that breaks off keeps what came of it (F24).
    async fn read_some(&mut self, most: usize) {
        let mut count = 0;
        while count < most
            && let Some(piece) = self.piece().await
        {
            count += piece.len();
            self.read.push(piece);
        }
    }

    async fn piece(&mut self) -> Option<Bytes> {
        match self.rest.as_mut()?.chunk().await {
            Ok(Some(piece)) => return Some(piece),
            Ok(None) => {}
            Err(error) => self.cut = Some(deepest_cause(&error)),
        }
        self.rest = None;
        None
    }
}

#[derive(Debug, thiserror::Error)]
enum NoAnswer {
    #[error(transparent)]
    Transport(#[from] TransportError),
    #[error("{0}")]
    TimedOut(AttemptTimedOut),
    #[error("the body {} cannot be read: {source}", .path.display())]
    Body { path: PathBuf, source: io::Error },
}

impl NoAnswer {
    /// What to tell of a request to `url`, which the driver that gave it up does not know.
    fn at(&self, url: &Url) -> String {
        match self {
            Self::TimedOut(error) => format!("{}: {error}", shown_url(url)),
            other => other.to_string(),
        }
    }
}

impl From<AttemptTimedOut> for NoAnswer {
    fn from(error: AttemptTimedOut) -> Self {
        Self::TimedOut(error)
    }
}

impl Sending<'_> {
    fn request(&self) -> Result<reqwest::RequestBuilder, NoAnswer> {
        let Prepared { url, method, headers, body, .. } = self.prepared;
        let request =
            self.transport.request(method.clone(), url, Patience::Silence)?.headers(headers.clone());
        match body {
            None => Ok(request),
            Some(RequestBody::Bytes(bytes)) => Ok(request.body(bytes.clone())),
            Some(RequestBody::File(path)) => {
                let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
                let (length, file) =
                    opened.map_err(|source| NoAnswer::Body { path: path.clone(), source })?;
                let pieces = ReaderStream::new(tokio::fs::File::from_std(file));
                Ok(request.header(CONTENT_LENGTH, length).body(Body::wrap_stream(pieces)))
            }
        }
    }
}

impl Exchange for Sending<'_> {
    type Answer = Answer;
    type Error = NoAnswer;

    async fn attempt(&mut self, attempt: Attempt) -> Attempted<Answer, NoAnswer> {
        let request = match self.request() {
            Ok(request) => request,
            Err(error) => return Attempted::Unanswered { fate: Fate::NotSent, error },
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let error = TransportError::of(&self.prepared.url, &error);
                let fate = if error.not_sent() { Fate::NotSent } else { Fate::Lost };
                return Attempted::Unanswered { fate, error: error.into() };
            }
        };
        let received = SystemClock.monotonic();
        let policy = &self.prepared.policy;
        let status = response.status().as_u16();
        let hint = hint(response.headers(), policy, SystemClock.wall());
        let mut answer =
            Answer { status: response.status(), rest: Some(response), read: Vec::new(), cut: None };
        let mut marker = Verdict::Unmarked;
        if policy.retry_on().needs(status).is_some_and(|needs| needs.transient) {
            let patience = attempt.look_until(received, MARKER_PATIENCE).since(received);
            let _ = timeout(patience, answer.read_some(LARGEST_MARKED_BODY)).await;
            // What has not come to its end says nothing yet.
            if answer.rest.is_none() && answer.cut.is_none() {
                marker = verdict(&answer.read.concat());
            }
        }
        Attempted::Answered { status, hint, verdict: marker, received, answer }
    }

    async fn settle(&mut self, answer: &mut Answer) {
        // The wait has begun with the head (T4): a body that trickles must not hold up its end.
        let _ = timeout(DRAIN_TIME, answer.read_some(MAX_DRAINED)).await;
        answer.rest = None;
    }
}

/// Hands the body on, to standard output as it comes, or to a file once it is whole.
async fn write(mut answer: Answer, output: Option<&Path>) -> Result<(), String> {
    let unwritten = |error: io::Error| match output {
        Some(path) => format!("{} cannot be written: {error}", path.display()),
        None => format!("standard output cannot be written: {error}"),
    };
    let mut destination = match output {
        None => Destination::Standard(std::io::stdout()),
        Some(path) => Destination::at(path).map_err(unwritten)?,
    };
    for piece in std::mem::take(&mut answer.read) {
        destination.write(&piece).map_err(unwritten)?;
    }
    while let Some(piece) = answer.piece().await {
        destination.write(&piece).map_err(unwritten)?;
    }
    if let Some(cause) = answer.cut {
        return Err(format!("the answer was cut off: {cause}"));
    }
    destination.finish(output).map_err(unwritten)
}

enum Destination {
    Standard(io::Stdout),
    /// A device or a pipe: it takes what comes, and is not to be replaced by a file.
    Open(File),
    File(NamedTempFile),
}

impl Destination {
    fn at(path: &Path) -> io::Result<Self> {
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Ok(Self::Open(OpenOptions::new().write(true).open(path)?));
        }
        let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let file = tempfile::Builder::new()
            .permissions(Permissions::from_mode(0o666))
            .tempfile_in(directory.unwrap_or(Path::new(".")))?;
        Ok(Self::File(file))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.write_all(bytes),
            Self::Open(file) => file.write_all(bytes),
            Self::File(file) => file.write_all(bytes),
        }
    }

    fn finish(self, output: Option<&Path>) -> io::Result<()> {
        match (self, output) {
            (Self::Standard(mut out), _) => out.flush(),
            (Self::File(file), Some(path)) => file.persist(path).map(drop).map_err(|error| error.error),
            (Self::Open(_) | Self::File(_), _) => Ok(()),
        }
    }
}
