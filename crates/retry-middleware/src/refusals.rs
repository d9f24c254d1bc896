//! What the faces share: one policy, its windows, and how an answer is read.

use std::error::Error;
use std::fmt;

use bytes::Bytes;
use http::{Extensions, HeaderMap, Response};
use http_body::Body;
use retry_core::{
    Attempt, Body as Producible, Closed, Hint, LogicalRequest, Monotonic, Policy, Reason, Replay, Stop,
    Verdict, clears_window, records_window,
};

use crate::carriers::{MARKER_PATIENCE, hint, verdict};
use crate::clock::{Clock, SystemClock};
use crate::driver::Finished;
use crate::key::{Destination, Key, KeyFunction};
use crate::random::ThreadRandom;
use crate::refused_body::RetryBody;
use crate::report::Report;
use crate::shared_windows::SharedWindows;

/// One client's policy, its windows and how their keys are made.
pub(crate) struct Refusals {
    policy: Policy,
    windows: Option<SharedWindows>,
    key: KeyFunction,
}

/// Says of a request whether its refusals commit nothing, so that it may be sent again although its method
/// is not idempotent (C4). Put into the extensions of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Vouched;

/// Caps the whole call at an instant of [`SystemClock`] (B5). Put into the extensions of a request.
///
/// ```
/// use std::time::Duration;
/// use retry_middleware::{Clock, FinishBy, SystemClock};
///
/// let within_five_seconds = FinishBy(SystemClock.monotonic().after(Duration::from_secs(5)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FinishBy(pub Monotonic);

/// A request ended before it had any answer (C5).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unasked {
    /// Why.
    pub stop: Stop,
    /// The key whose window lies too far away, and the status that set it.
    pub window: Option<(Key, u16)>,
}

impl fmt::Display for Unasked {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.stop)?;
        match &self.window {
            Some((key, status)) => write!(formatter, "; {key} answered {status} to another request"),
            None => Ok(()),
        }
    }
}

impl Error for Unasked {}

impl Refusals {
    pub(crate) fn new(policy: Policy) -> Self {
        let windows = SharedWindows::of(&policy, rand::random());
        Self { policy, windows, key: std::sync::Arc::new(Key::of) }
    }

    /// The same policy with other keys. The windows are new ones: a store has keys of one kind.
    pub(crate) fn with_key(&self, key: KeyFunction) -> Self {
        Self { key, ..Self::new(self.policy) }
    }

    /// A request that is met for the first time.
    pub(crate) fn begin(&self, replay: Replay, marks: &Extensions) -> LogicalRequest {
        let request = LogicalRequest::new(&self.policy, replay, SystemClock.monotonic());
        let request = match marks.get::<FinishBy>() {
            Some(FinishBy(deadline)) => request.finish_by(*deadline),
            None => request,
        };
        if self.windows.is_some() { request.spread(&mut ThreadRandom) } else { request }
    }

    /// The live window of a destination, its key and the status that set it.
    pub(crate) fn window<'a>(
        &self,
        destination: impl FnOnce() -> Destination<'a>,
        now: Monotonic,
    ) -> Option<(Key, Closed)> {
        self.windows.as_ref()?.ask(|| (self.key)(&destination()), now)
    }

    /// What an answer's head asks for; its window is recorded or cleared. Returns the instant recorded, too.
    ///
    /// The destination is asked for only where a window is looked up by it.
    pub(crate) fn read_head<'a>(
        &self,
        status: u16,
        headers: &HeaderMap,
        destination: impl FnOnce() -> Destination<'a>,
        started: Monotonic,
        received: Monotonic,
    ) -> (Hint, Option<Monotonic>) {
        if (200..400).contains(&status) {
            if let Some(windows) = &self.windows
                && clears_window(status)
            {
                windows.success(|| (self.key)(&destination()), started);
            }
            return (Hint::NONE, None);
        }
        let hint = hint(headers, &self.policy, SystemClock.wall());
        let recorded = match (&self.windows, hint.asked().millis()) {
            (Some(windows), Some(millis)) if records_window(status) => {
                windows.record((self.key)(&destination()), received.after_millis(millis), status, received)
            }
            _ => None,
        };
        (hint, recorded)
    }

    /// Whether an answer with this status is looked into for a marker (C2): a refusal that would not be waited
    /// out in any case is not (C3).
    pub(crate) fn needs_marker(&self, status: u16) -> bool {
        let needed = || self.policy.retry_on().needs(status).is_some_and(|needs| needs.transient);
        status >= 400 && self.policy.enabled() && needed()
    }
}

/// What may be sent again of a request with these extensions (C4).
pub(crate) fn replay_of(method: &http::Method, once: bool, marks: &Extensions) -> Replay {
    let body = if once { Producible::Once } else { Producible::Replayable };
    Replay::of(method.as_str(), body, marks.get::<Vouched>().is_some())
}

/// What the body of a refusal whose head came at `received` says about it, as far as that is read in time.
pub(crate) async fn read_marker<B>(
    response: &mut Response<RetryBody<B>>,
    attempt: Attempt,
    received: Monotonic,
) -> Verdict
where
    B: Body<Data = Bytes> + Unpin,
{
    let until = attempt.look_until(received, MARKER_PATIENCE);
    match response.body_mut().marker(until, &SystemClock).await {
        Some(body) => verdict(&body),
        None => Verdict::Unmarked,
    }
}

/// What a face returns: the last answer with its report, or why there is none (C5).
///
/// `window` looks up what holds the request, for an error that names it.
pub(crate) fn conclude<A, E: From<Unasked>>(
    finished: Finished<A, E>,
    report_into: impl FnOnce(&mut A) -> &mut Extensions,
    window: impl FnOnce() -> Option<(Key, Closed)>,
) -> Result<A, E> {
    let Finished { stop, answer, error, attempts, waited } = finished;
    match (answer, error, stop) {
        (Some(mut answer), _, _) => {
            report_into(&mut answer).insert(Report { attempts, waited, stop });
            Ok(answer)
        }
        (None, Some(error), _) => Err(error),
        (None, None, Some(stop)) => {
            let window = if stop.reason == Reason::WindowTooFar { window() } else { None };
            Err(Unasked { stop, window: window.map(|(key, closed)| (key, closed.status)) }.into())
        }
        (None, None, None) => unreachable!("a request is done by an answer, and ends without one by a stop"),
    }
}
