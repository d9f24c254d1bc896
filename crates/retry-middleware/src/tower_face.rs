//! The face for tower (feature `tower`).

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::HOST;
use http::{Request, Response};
use http_body::Body;
use http_body_util::{Empty, Full};
use retry_core::{Attempt, Closed, Monotonic, Policy, Verdict};
use tower_layer::Layer;
use tower_service::Service;

use crate::clock::{Clock, SystemClock};
use crate::driver::{Driver, Silent};
use crate::exchange::{AttemptTimedOut, Attempted, Exchange, Fate};
use crate::fate::fate_of;
use crate::key::{Destination, Key};
use crate::random::ThreadRandom;
use crate::refusals::{Refusals, Unasked, conclude, read_marker, replay_of};
use crate::refused_body::RetryBody;
use crate::shared_request::{Loan, Recorded, SharedRequest};

/// Waits refusals out for a tower stack of HTTP clients.
///
/// ```
/// use tower_layer::Layer as _;
///
/// # fn wrap<S: Clone>(client: S) {
/// let patient = retry_middleware::RetryLayer::new(retry_core::profiles::RECOMMENDED).layer(client);
/// # }
/// ```
///
/// A refusal that is not waited out comes back as `Ok(response)`, with a [`Report`](crate::Report) in its
/// extensions. `Err` is only for what has no response.
///
/// The service below is made ready before each attempt and not held ready while this one waits: a permit
/// of [`ConcurrencyLimit`](https://docs.rs/tower/latest/tower/limit/concurrency/struct.ConcurrencyLimit.html)
/// below is free meanwhile.
#[derive(Clone)]
pub struct RetryLayer {
    refusals: Arc<Refusals>,
    fate: fn(&(dyn std::error::Error + 'static)) -> Fate,
}

/// The service that [`RetryLayer`] makes. Its clones share their windows.
#[derive(Clone)]
pub struct RetryService<S> {
    inner: S,
    layer: RetryLayer,
}

/// A request body that can perhaps be produced again, byte for byte.
pub trait ReplayBody: Sized {
    /// The same body once more; `None` where it can be read once only.
    fn replay(&self) -> Option<Self>;
}

impl<D: bytes::Buf + Clone> ReplayBody for Full<D> {
    fn replay(&self) -> Option<Self> {
        Some(self.clone())
    }
}

impl<D> ReplayBody for Empty<D> {
    fn replay(&self) -> Option<Self> {
        Some(Self::new())
    }
}

/// A body that is read once: its request is sent once, and a refusal comes back as it is.
#[derive(Debug, Clone, Copy)]
pub struct ReadOnce<B>(pub B);

impl<B> ReplayBody for ReadOnce<B> {
    fn replay(&self) -> Option<Self> {
        None
    }
}

impl<B: Body + Unpin> Body for ReadOnce<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.0).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> http_body::SizeHint {
        self.0.size_hint()
    }
}

/// What the service answers instead of a response.
#[derive(Debug)]
#[non_exhaustive]
pub enum RetryError<E> {
    /// The service below failed, in the last attempt.
    Service(E),
    /// The last attempt took too long (T6).
    TimedOut(AttemptTimedOut),
    /// Nothing was sent.
    Unasked(Unasked),
}

impl<E: fmt::Display> fmt::Display for RetryError<E> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Service(error) => error.fmt(formatter),
            Self::TimedOut(error) => error.fmt(formatter),
            Self::Unasked(error) => error.fmt(formatter),
        }
    }
}

impl<E: std::error::Error> std::error::Error for RetryError<E> {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Service(error) => error.source(),
            Self::TimedOut(_) | Self::Unasked(_) => None,
        }
    }
}

impl<E> From<AttemptTimedOut> for RetryError<E> {
    fn from(error: AttemptTimedOut) -> Self {
        Self::TimedOut(error)
    }
}

impl<E> From<Unasked> for RetryError<E> {
    fn from(error: Unasked) -> Self {
        Self::Unasked(error)
    }
}

impl RetryLayer {
    /// Waits under `policy`.
    ///
    /// An error of the service below counts as [`fate_of`] says: mostly as [`Fate::Lost`], which is repeated
    /// for idempotent requests only. [`with_fate`](Self::with_fate) can know better.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { refusals: Arc::new(Refusals::new(policy)), fate: fate_of }
    }

    /// Shares windows by the caller's own keys instead of [`Key::of`]. Begins with empty windows.
    #[must_use]
    pub fn with_key(self, key: impl Fn(&Destination<'_>) -> Key + Send + Sync + 'static) -> Self {
        Self { refusals: Arc::new(self.refusals.with_key(Arc::new(key))), ..self }
    }

    /// Says which errors of the service below mean that nothing was processed (C6). For hyper's client, all
    /// that happens before there is a connection:
    ///
    /// ```
    /// use hyper_util::client::legacy;
    /// use retry_middleware::{Fate, RetryLayer, fate_of};
    ///
    /// let layer = RetryLayer::new(retry_core::profiles::RECOMMENDED).with_fate(|error| {
    ///     match error.downcast_ref::<legacy::Error>() {
    ///         Some(error) if error.is_connect() => Fate::NotSent,
    ///         _ => fate_of(error),
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn with_fate(self, fate: fn(&(dyn std::error::Error + 'static)) -> Fate) -> Self {
        Self { fate, ..self }
    }
}

impl<S> Layer<S> for RetryLayer {
    type Service = RetryService<S>;

    fn layer(&self, inner: S) -> RetryService<S> {
        RetryService { inner, layer: self.clone() }
    }
}

impl<S, Q, B> Service<Request<Q>> for RetryService<S>
where
    S: Service<Request<Q>, Response = Response<B>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: std::error::Error + Send + 'static,
    Q: ReplayBody + Send + 'static,
    B: Body<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Send,
{
    type Response = Response<RetryBody<B>>;
    type Error = RetryError<S::Error>;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Self::Error>> + Send>>;

    /// Always ready: the service below is asked before each attempt, so that it is not held during a wait.
    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Q>) -> Self::Future {
        // All of this outside of the future, which would otherwise have room for it twice.
        let layer = self.layer.clone();
        let place = request.extensions().get::<SharedRequest>().cloned();
        let once = request.body().replay().is_none();
        let replay = replay_of(request.method(), once, request.extensions());
        let recorded = Recorded::of(place.clone());
        let mut loan = Loan::of(place, replay, || layer.refusals.begin(replay, request.extensions()));
        let (head, body) = request.into_parts();
        let mut call = Call { layer, inner: self.inner.clone(), head, body: Some(body), recorded };
        Box::pin(async move {
            let mut driver = Driver { clock: SystemClock, random: ThreadRandom, observer: Silent };
            let finished = driver.run(loan.request(), &mut call, std::future::pending()).await;
            conclude(finished, Response::extensions_mut, || call.closed(SystemClock.monotonic()))
        })
    }
}

/// One logical request on its way through the service.
struct Call<S, Q> {
    layer: RetryLayer,
    inner: S,
    head: http::request::Parts,
    body: Option<Q>,
    recorded: Recorded,
}

impl<S, Q> Call<S, Q> {
    fn closed(&self, now: Monotonic) -> Option<(Key, Closed)> {
        self.layer.refusals.window(|| self.destination(), now)
    }

    fn destination(&self) -> Destination<'_> {
        let uri = &self.head.uri;
        let field = self.head.headers.get(HOST).and_then(|host| host.to_str().ok());
        let (host, port) = match uri.host() {
            Some(host) => (host, uri.port_u16()),
            None => host_and_port(field.unwrap_or_default()),
        };
        let scheme = uri.scheme_str().unwrap_or("http");
        Destination {
            scheme,
            host,
            port: port.unwrap_or(if scheme.eq_ignore_ascii_case("https") { 443 } else { 80 }),
            path: uri.path(),
            headers: &self.head.headers,
        }
    }

    /// The request with what is left of its body: a copy, as long as there is one.
    fn request(&mut self) -> Request<Q>
    where
        Q: ReplayBody,
    {
        let body = match self.body.as_ref().and_then(ReplayBody::replay) {
            Some(copy) => copy,
            None => self.body.take().expect("a body that cannot be produced again is sent once"),
        };
        Request::from_parts(self.head.clone(), body)
    }
}

impl<S, Q, B> Exchange for Call<S, Q>
where
    S: Service<Request<Q>, Response = Response<B>> + Clone + Send,
    S::Future: Send,
    S::Error: std::error::Error + Send + 'static,
    Q: ReplayBody + Send,
    B: Body<Data = Bytes> + Send + Unpin,
    B::Error: Send,
{
    type Answer = Response<RetryBody<B>>;
    type Error = RetryError<S::Error>;

    async fn attempt(&mut self, attempt: Attempt) -> Attempted<Self::Answer, Self::Error> {
        let mut service = self.inner.clone();
        let ready = std::future::poll_fn(|context| service.poll_ready(context)).await;
        let answering = ready.map(|()| service.call(self.request()));
        drop(service);
        let answered = match answering {
            Ok(answering) => answering.await,
            Err(error) => Err(error),
        };
        let mut response = match answered {
            Ok(response) => response.map(RetryBody::new),
            Err(error) => {
                let fate = (self.layer.fate)(&error);
                return Attempted::Unanswered { fate, error: RetryError::Service(error) };
            }
        };
        let received = SystemClock.monotonic();
        let status = response.status().as_u16();
        let refusals = &self.layer.refusals;
        let (hint, recorded) =
            refusals.read_head(status, response.headers(), || self.destination(), attempt.started, received);
        self.recorded.note(recorded);
        let mut verdict = Verdict::Unmarked;
        if refusals.needs_marker(status) {
            // Boxed, because it is rare, and every request would carry the room for it.
            verdict = Box::pin(read_marker(&mut response, attempt, received)).await;
        }
        Attempted::Answered { status, hint, verdict, received, answer: response }
    }

    fn window(&self, now: Monotonic) -> Option<Monotonic> {
        let not_before = self.closed(now)?.1.not_before;
        (!self.recorded.is(not_before)).then_some(not_before)
    }

    async fn settle(&mut self, answer: &mut Self::Answer) {
        answer.body_mut().drain(&SystemClock).await;
    }
}

/// The two parts of a `Host` field (RFC 9110 section 7.2).
fn host_and_port(field: &str) -> (&str, Option<u16>) {
    match field.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
        _ => (field, None),
    }
}

#[cfg(test)]
mod tests {
    use super::host_and_port;

    #[test]
    fn a_host_field_is_taken_apart_at_its_port() {
        assert_eq!(host_and_port("example.com:8080"), ("example.com", Some(8080)));
        assert_eq!(host_and_port("example.com"), ("example.com", None));
        assert_eq!(host_and_port("example.com:"), ("example.com", None));
        assert_eq!(host_and_port("[::1]:8080"), ("[::1]", Some(8080)));
        assert_eq!(host_and_port("[::1]"), ("[::1]", None));
        assert_eq!(host_and_port(""), ("", None));
    }
}
