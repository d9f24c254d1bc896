//! The face for `reqwest-middleware` (feature `reqwest`).

use std::sync::Arc;

use async_trait::async_trait;
use http::Extensions;
use reqwest::{Body, Request, Response, ResponseBuilderExt as _, Url};
use reqwest_middleware::{Error, Middleware, Next};
use retry_core::{Attempt, Closed, Monotonic, Policy, Verdict};

use crate::clock::{Clock, SystemClock};
use crate::driver::{Driver, Silent};
use crate::exchange::{AttemptTimedOut, Attempted, Exchange, Fate};
use crate::fate::fate_of;
use crate::key::{Destination, Key};
use crate::random::ThreadRandom;
use crate::refusals::{Refusals, Unasked, conclude, read_marker, replay_of};
use crate::refused_body::RetryBody;
use crate::shared_request::{Loan, Recorded, SharedRequest};

/// Waits refusals out for a reqwest client.
///
/// ```no_run
/// use retry_middleware::{RetryMiddleware, client_builder};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = reqwest_middleware::ClientBuilder::new(client_builder().build()?)
///     .with(RetryMiddleware::new(retry_core::profiles::RECOMMENDED))
///     .build();
/// let response = client.get("http://example.com/").send().await?;
/// # Ok(()) }
/// ```
///
/// A refusal that is not waited out comes back as `Ok(response)`, with a [`Report`](crate::Report) in its
/// extensions. `Err` is only for what has no response: [`Unasked`], and transport errors.
///
/// A client that follows redirects itself enters this middleware once: where A redirects to B, what B asked
/// is recorded under B and never holds A, but the hop to B cannot be held. Build the client with
/// [`redirect::Policy::none`](reqwest::redirect::Policy::none) and follow redirects above this middleware
/// where that matters.
pub struct RetryMiddleware {
    refusals: Refusals,
}

/// A builder of clients that leave all retrying to this crate: reqwest repeats nothing by itself.
pub fn client_builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder().retry(reqwest::retry::never())
}

impl RetryMiddleware {
    /// Waits under `policy`.
    #[must_use]
    pub fn new(policy: Policy) -> Self {
        Self { refusals: Refusals::new(policy) }
    }

    /// Shares windows by the caller's own keys instead of [`Key::of`]. Begins with empty windows.
    #[must_use]
    pub fn with_key(self, key: impl Fn(&Destination<'_>) -> Key + Send + Sync + 'static) -> Self {
        Self { refusals: self.refusals.with_key(Arc::new(key)) }
    }
}

#[async_trait]
impl Middleware for RetryMiddleware {
    async fn handle(
        &self,
        request: Request,
        extensions: &mut Extensions,
        next: Next<'_>,
    ) -> reqwest_middleware::Result<Response> {
        if !matches!(request.url().scheme(), "http" | "https") {
            // The client refuses it unsent, and would again after any wait.
            return next.run(request, extensions).await;
        }
        let place = extensions.get_or_insert_default::<SharedRequest>().clone();
        let recorded = Recorded::of(Some(place.clone()));
        let mut call = Call::new(&self.refusals, request, extensions, next, recorded);
        let replay = replay_of(call.template.method(), call.only.is_some(), call.extensions);
        let mut loan = Loan::of(Some(place), replay, || self.refusals.begin(replay, call.extensions));
        let mut driver = Driver { clock: SystemClock, random: ThreadRandom, observer: Silent };
        let finished = driver.run(loan.request(), &mut call, std::future::pending()).await;
        conclude(finished, Response::extensions_mut, || call.closed(SystemClock.monotonic()))
    }
}

/// One logical request on its way through the middleware.
struct Call<'a> {
    refusals: &'a Refusals,
    /// The request as it came; without its body where that is in `only`.
    template: Request,
    /// The only request that can be sent, because its body cannot be produced again.
    only: Option<Box<Request>>,
    extensions: &'a mut Extensions,
    next: Next<'a>,
    recorded: Recorded,
}

impl<'a> Call<'a> {
    fn new(
        refusals: &'a Refusals,
        request: Request,
        extensions: &'a mut Extensions,
        next: Next<'a>,
        recorded: Recorded,
    ) -> Self {
        let once = request.body().is_some_and(|body| body.as_bytes().is_none());
        let (template, only) = if once {
            let mut head = Request::new(request.method().clone(), request.url().clone());
            head.headers_mut().clone_from(request.headers());
            (head, Some(Box::new(request)))
        } else {
            (request, None)
        };
        Self { refusals, template, only, extensions, next, recorded }
    }

    fn closed(&self, now: Monotonic) -> Option<(Key, Closed)> {
        self.refusals.window(|| self.destination(self.template.url()), now)
    }

    fn destination<'u>(&'u self, url: &'u Url) -> Destination<'u> {
        Destination {
            scheme: url.scheme(),
            host: url.host_str().unwrap_or_default(),
            port: url.port_or_known_default().unwrap_or_default(),
            path: url.path(),
            headers: self.template.headers(),
        }
    }

    fn request(&mut self) -> Request {
        let only = self.only.take().map(|only| *only);
        only.or_else(|| self.template.try_clone())
            .expect("a body that cannot be cloned is in `only`, and such a request is sent once")
    }
}

impl Exchange for Call<'_> {
    type Answer = Response;
    type Error = Error;

    async fn attempt(&mut self, attempt: Attempt) -> Attempted<Response, Error> {
        let request = self.request();
        let mut response = match self.next.clone().run(request, self.extensions).await {
            Ok(response) => response,
            Err(error) => return Attempted::Unanswered { fate: fate(&error), error },
        };
        let received = SystemClock.monotonic();
        let status = response.status().as_u16();
        let destination = || self.destination(response.url());
        let (hint, recorded) =
            self.refusals.read_head(status, response.headers(), destination, attempt.started, received);
        self.recorded.note(recorded);
        let mut verdict = Verdict::Unmarked;
        if self.refusals.needs_marker(status) {
            // Boxed, because it is rare, and every request would carry the room for it.
            (response, verdict) = Box::pin(look_into(response, attempt, received)).await;
        }
        Attempted::Answered { status, hint, verdict, received, answer: response }
    }

    fn window(&self, now: Monotonic) -> Option<Monotonic> {
        let not_before = self.closed(now)?.1.not_before;
        (!self.recorded.is(not_before)).then_some(not_before)
    }

    async fn settle(&mut self, answer: &mut Response) {
        let emptied = Response::from(http::Response::new(Body::default()));
        let (url, mut refusal) = take_apart(std::mem::replace(answer, emptied));
        refusal.body_mut().drain(&SystemClock).await;
        *answer = put_together(url, refusal);
    }
}

async fn look_into(response: Response, attempt: Attempt, received: Monotonic) -> (Response, Verdict) {
    let (url, mut looked_into) = take_apart(response);
    let verdict = read_marker(&mut looked_into, attempt, received).await;
    (put_together(url, looked_into), verdict)
}

fn take_apart(response: Response) -> (Url, http::Response<RetryBody<Body>>) {
    let url = response.url().clone();
    (url, http::Response::<Body>::from(response).map(RetryBody::new))
}

fn put_together(url: Url, response: http::Response<RetryBody<Body>>) -> Response {
    let (parts, body) = response.into_parts();
    let mut whole = http::Response::builder()
        .url(url)
        .body(Body::wrap(body))
        .expect("a builder that was given a URL only does not fail");
    *whole.status_mut() = parts.status;
    *whole.version_mut() = parts.version;
    *whole.headers_mut() = parts.headers;
    whole.extensions_mut().extend(parts.extensions);
    whole.into()
}

/// What reqwest knows of an attempt beside what HTTP/2 said.
fn fate(error: &Error) -> Fate {
    match error {
        Error::Reqwest(error) if error.is_connect() => Fate::NotSent,
        Error::Reqwest(error) => fate_of(error),
        Error::Middleware(_) => Fate::Lost,
    }
}

impl From<AttemptTimedOut> for Error {
    fn from(error: AttemptTimedOut) -> Self {
        Self::middleware(error)
    }
}

impl From<Unasked> for Error {
    fn from(error: Unasked) -> Self {
        Self::middleware(error)
    }
}
