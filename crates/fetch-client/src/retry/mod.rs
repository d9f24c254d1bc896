//! The one request of this program that is repeated: the hub is asked for a pack until it has one.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use http::Method;
use hub_protocol::{FetchAnswer, FetchRequest};
use reqwest::Response;
use retry_core::{Attempt, Decision, LogicalRequest, NoRandom, Policy, Reason, Replay, Verdict, profiles};
use retry_middleware::{
    AttemptTimedOut, Attempted, Clock, Driver, Event, Exchange, Fate, Finished, SystemClock, hint,
};
use url::Url;

use crate::errors::{Error, Spent, StillPreparing};
use crate::hub::Hub;
use crate::progress::{Observer, Waiting};
use crate::refusal::{BODY_TIME, Refusal};
use crate::session::Session;
use crate::transport::{TransportError, shown_url, unless_cancelled};

/// Asks for a pack, and waits out refusals as the server asks, within the session's budget.
pub(crate) async fn ask_for_pack(
    session: &Session,
    hub: &Hub<'_>,
    request: &FetchRequest,
    spent: &mut Spent,
) -> Result<FetchAnswer, Error> {
    let mut asking = Asking { hub, request, policy: policy(session.retry_budget()) };
    let observer = Arc::clone(session.observer());
    let cancelled = session.cancel().cancelled();
    let (url, budget) = (hub.fetch_url(), session.retry_budget());
    let response = drive(SystemClock, &mut asking, &url, budget, observer, cancelled, spent).await?;
    unless_cancelled(session.cancel(), hub.fetch_answer(response)).await?
}

fn policy(budget: Duration) -> Policy {
    profiles::MUSE.to_builder().budget(budget).build().expect("a budget contradicts nothing in the profile")
}

/// Drives `exchange`, whose requests go to `url`, under the profile `muse` and says how it ended in the words of this program.
pub(crate) async fn drive<C, X, A>(
    clock: C,
    exchange: &mut X,
    url: &Url,
    budget: Duration,
    observer: Arc<dyn Observer>,
    cancelled: impl Future<Output = ()> + Send,
    spent: &mut Spent,
) -> Result<A, Error>
where
    C: Clock,
    X: Exchange<Answer = Answer<A>, Error = Unanswered>,
{
    let policy = policy(budget);
    // A refused fetch has changed nothing on the server, so the POST may be sent again.
    let mut request = LogicalRequest::new(&policy, Replay::Always, clock.monotonic());
    let mut driver = Driver { clock, random: NoRandom, observer: Telling { observer, waiting: false } };
    let Finished { stop, answer, error, attempts, waited } =
        driver.run(&mut request, exchange, cancelled).await;
    driver.observer.resumed();
    spent.add(Spent { attempts, waited });
    match (stop, answer, error) {
        (Some(stop), _, _) if stop.reason == Reason::Cancelled => Err(Error::Interrupted),
        (_, _, Some(error)) => Err(error.at(url)),
        (_, Some(Answer::Good(answer)), None) => Ok(answer),
        (Some(stop), Some(Answer::Refused(refusal)), None) if is_still_preparing(&policy, &refusal) => {
            let retry_after = stop.asked.millis().map(|millis| millis / 1_000);
            Err(Error::StillPreparing(Box::new(StillPreparing { refusal: *refusal, budget, retry_after })))
        }
        (_, Some(Answer::Refused(refusal)), None) => Err(Error::Refused(refusal)),
        (_, None, None) => unreachable!("the driver ends with an answer, an error, or cancelled"),
    }
}

/// Why an attempt has no answer. The driver gives attempts up, and does not know where they went.
#[derive(Debug)]
pub(crate) enum Unanswered {
    Failed(Error),
    TimedOut(AttemptTimedOut),
}

impl Unanswered {
    /// In the words of this program, for a request to `url`.
    fn at(self, url: &Url) -> Error {
        match self {
            Self::Failed(error) => error,
            Self::TimedOut(error) => Error::AttemptTimedOut { url: shown_url(url), error },
        }
    }
}

impl From<Error> for Unanswered {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl From<AttemptTimedOut> for Unanswered {
    fn from(error: AttemptTimedOut) -> Self {
        Self::TimedOut(error)
    }
}

fn is_still_preparing(policy: &Policy, refusal: &Refusal) -> bool {
    policy.retry_on().needs(refusal.status.as_u16()).is_some()
}

/// What an attempt brought.
#[derive(Debug)]
pub(crate) enum Answer<A> {
    Good(A),
    Refused(Box<Refusal>),
}

struct Asking<'a> {
    hub: &'a Hub<'a>,
    request: &'a FetchRequest,
    policy: Policy,
}

impl Exchange for Asking<'_> {
    type Answer = Answer<Response>;
    type Error = Unanswered;

    async fn attempt(&mut self, attempt: Attempt) -> Attempted<Self::Answer, Self::Error> {
        // Made afresh each time: what is signed or dated in it expires.
        let request = match self.hub.fetch_request(self.request) {
            Ok(request) => request,
            Err(error) => return Attempted::Unanswered { fate: Fate::NotSent, error: error.into() },
        };
        let response = match request.send().await {
            Ok(response) => response,
            Err(error) => {
                let error = TransportError::of(&self.hub.fetch_url(), &error);
                let fate = if error.not_sent() { Fate::NotSent } else { Fate::Lost };
                return Attempted::Unanswered { fate, error: Error::from(error).into() };
            }
        };
        let received = SystemClock.monotonic();
        let status = response.status();
        let hint = hint(response.headers(), &self.policy, SystemClock.wall());
        let answer = if status.is_success() {
            Answer::Good(response)
        } else {
            let time = attempt.look_until(received, BODY_TIME).since(received);
            Answer::Refused(Box::new(Refusal::read_within(time, &Method::POST, response).await))
        };
        Attempted::Answered { status: status.as_u16(), hint, verdict: Verdict::Unmarked, received, answer }
    }
}

/// Tells the session's observer of waits.
struct Telling {
    observer: Arc<dyn Observer>,
    waiting: bool,
}

impl Telling {
    fn resumed(&mut self) {
        if std::mem::take(&mut self.waiting) {
            self.observer.resumed();
        }
    }
}

impl retry_middleware::Observer for Telling {
    fn observe(&mut self, event: Event<'_>) {
        self.resumed();
        if let Event::Decided { decision: Decision::Wait(wait), .. } = event {
            self.waiting = true;
            self.observer.waiting(&Waiting {
                attempt: wait.attempts,
                wait: wait.until.since(wait.decided),
                elapsed: wait.elapsed(),
                budget: wait.budget(),
            });
        }
    }
}

#[cfg(test)]
mod tests;
