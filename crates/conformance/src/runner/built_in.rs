//! The five clients that every case is tested with: real sockets, inside this process.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::future::join_all;
use refusal_script::{Case, Start};
use retry_core::{
    Attempt, Body, LogicalRequest, Monotonic, Policy, Replay, Verdict, WindowPolicy, Windows, profiles,
};
use retry_middleware::{
    AttemptTimedOut, Attempted, Clock as _, Driver, Exchange, Fate, LARGEST_MARKED_BODY, Silent, SystemClock,
    ThreadRandom, hint, verdict,
};

use super::observe::body;
use super::wire::{Answer, Target, exchange};

const EAGER_PAUSE: Duration = Duration::from_millis(300);
const EAGER_ATTEMPTS: u32 = 6;
/// How long the body of a 507 is waited for: its mark decides whether to come back.
const MARK_TIMEOUT: Duration = Duration::from_secs(1);
/// What a client that ends after a refusal exits with.
const REFUSED: i32 = 1;

/// A client that the suite tests itself with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuiltIn {
    /// The profile `recommended`, through the driver, windows shared within the process.
    Perfect,
    /// Comes back after 300 ms whatever it is told, six attempts in all.
    Eager,
    /// Sends one request.
    NeverRetries,
    /// Sends again at once, for ever.
    TightLoop,
    /// Reads the head and does nothing more.
    Hangs,
}

impl BuiltIn {
    /// All five.
    pub const ALL: [Self; 5] = [Self::Perfect, Self::Eager, Self::NeverRetries, Self::TightLoop, Self::Hangs];

    /// As in the `self_test` of a case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Perfect => "perfect",
            Self::Eager => "eager",
            Self::NeverRetries => "never_retries",
            Self::TightLoop => "tight_loop",
            Self::Hangs => "hangs",
        }
    }

    /// What it does, for people.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Perfect => "the profile `recommended`",
            Self::Eager => "comes back after 0.3 s, whatever it is told",
            Self::NeverRetries => "sends one request",
            Self::TightLoop => "sends again at once, for ever",
            Self::Hangs => "reads the head and does nothing more",
        }
    }

    /// Runs every operation of a case; returns the exit code.
    pub(super) async fn run(self, case: Case, urls: Vec<String>) -> i32 {
        let shared = Shared::of(&case);
        let operations = urls.iter().map(|url| self.operation(&shared, Target::of(url)));
        let codes = match case.operations.map(|operations| operations.start) {
            Some(Start::Together) => join_all(operations).await,
            Some(Start::InTurn) | None => {
                let mut codes = Vec::new();
                for operation in operations {
                    codes.push(operation.await);
                }
                codes
            }
        };
        codes.into_iter().max().unwrap_or(0)
    }

    async fn operation(self, shared: &Shared, target: Target) -> i32 {
        match self {
            Self::Perfect => perfect(shared, target).await,
            Self::Eager => {
                for attempt in 1..=EAGER_ATTEMPTS {
                    if shared.refused(&target).await.is_none() {
                        return 0;
                    }
                    if attempt < EAGER_ATTEMPTS {
                        tokio::time::sleep(EAGER_PAUSE).await;
                    }
                }
                REFUSED
            }
            Self::NeverRetries => shared.refused(&target).await.map_or(0, |_| REFUSED),
            Self::TightLoop => {
                while shared.refused(&target).await.is_some() {
                    // A connection that is refused at once never waits, and so could not be ended.
                    tokio::task::yield_now().await;
                }
                0
            }
            Self::Hangs => {
                // Held, so that the connection stays open.
                let _answer = exchange(&target, &shared.method, shared.body.as_deref()).await;
                std::future::pending().await
            }
        }
    }
}

/// What all operations of one process have in common.
struct Shared {
    method: String,
    body: Option<Vec<u8>>,
    deadline: Option<Duration>,
    policy: Policy,
    windows: Option<Arc<Mutex<Windows<String>>>>,
}

impl Shared {
    fn of(case: &Case) -> Self {
        let mut policy = profiles::RECOMMENDED;
        if let Some(cap_s) = case.request.cap_s
            && let Ok(capped) = policy.to_builder().ceiling(Duration::from_secs(cap_s)).build()
        {
            policy = capped;
        }
        let windows = policy.windows().map(|policy: WindowPolicy| Arc::new(Mutex::new(Windows::new(policy))));
        Self {
            method: case.request.method.clone(),
            body: case.request.body_bytes.map(body),
            deadline: case.request.deadline_s.map(Duration::from_secs),
            policy,
            windows,
        }
    }

    /// One request; `None` where it was answered with less than 400.
    async fn refused(&self, target: &Target) -> Option<()> {
        match exchange(target, &self.method, self.body.as_deref()).await {
            Ok(answer) if answer.status < 400 => None,
            _ => Some(()),
        }
    }
}

async fn perfect(shared: &Shared, target: Target) -> i32 {
    let clock = SystemClock;
    let now = clock.monotonic();
    let replay = Replay::of(&shared.method, Body::Replayable, false);
    let mut request = LogicalRequest::new(&shared.policy, replay, now);
    if let Some(deadline) = shared.deadline {
        request = request.finish_by(now.after(deadline));
    }
    let mut driver = Driver { clock, random: ThreadRandom, observer: Silent };
    let mut wire = Wire { shared, target, told: None };
    let finished = driver.run(&mut request, &mut wire, std::future::pending()).await;
    let Some(redirect) = finished.answer.and_then(|answer| answer.redirect) else {
        return if finished.stop.is_some() { REFUSED } else { 0 };
    };
    // "The minimum time that the user agent is asked to wait before issuing the redirected request."
    tokio::time::sleep(redirect.after).await;
    let target = Target { authority: wire.target.authority, path: redirect.path };
    shared.refused(&target).await.map_or(0, |()| REFUSED)
}

/// The driver's exchange over a raw socket.
struct Wire<'a> {
    shared: &'a Shared,
    target: Target,
    /// What this request's own refusal recorded, which does not hold it (E7).
    told: Option<Monotonic>,
}

struct Head {
    redirect: Option<Redirect>,
}

struct Redirect {
    path: String,
    after: Duration,
}

struct Failed;

impl From<AttemptTimedOut> for Failed {
    fn from(_: AttemptTimedOut) -> Self {
        Self
    }
}

impl Exchange for Wire<'_> {
    type Answer = Head;
    type Error = Failed;

    async fn attempt(&mut self, _attempt: Attempt) -> Attempted<Head, Failed> {
        let shared = self.shared;
        let Ok(answer) = exchange(&self.target, &shared.method, shared.body.as_deref()).await else {
            return Attempted::Unanswered { fate: Fate::Lost, error: Failed };
        };
        let (received, now) = (SystemClock.monotonic(), SystemClock.wall());
        let status = answer.status;
        let hint = hint(&answer.headers, &shared.policy, now);
        let asked_ms = hint.asked().millis().unwrap_or(0);
        if status >= 400
            && asked_ms > 0
            && let Some(windows) = &shared.windows
        {
            let mut windows = windows.lock().unwrap_or_else(PoisonError::into_inner);
            self.told = windows.record(
                self.target.authority.clone(),
                received.after_millis(asked_ms),
                status,
                received,
            );
        }
        let redirect = redirect(&answer, asked_ms);
        let verdict = if status == 507 {
            let body = tokio::time::timeout(MARK_TIMEOUT, answer.body(LARGEST_MARKED_BODY)).await;
            verdict(&body.unwrap_or_default())
        } else {
            Verdict::Unmarked
        };
        Attempted::Answered { status, hint, verdict, received, answer: Head { redirect } }
    }

    fn window(&self, now: Monotonic) -> Option<Monotonic> {
        let windows = self.shared.windows.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = windows.ask(&self.target.authority, now)?;
        Some(closed.not_before).filter(|not_before| self.told != Some(*not_before))
    }
}

fn redirect(answer: &Answer, asked_ms: u64) -> Option<Redirect> {
    let location = answer.headers.get(http::header::LOCATION)?.to_str().ok()?;
    let path = location.starts_with('/').then(|| location.to_owned())?;
    matches!(answer.status, 301..=303 | 307 | 308)
        .then(|| Redirect { path, after: Duration::from_millis(asked_ms) })
}
