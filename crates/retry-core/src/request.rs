//! One logical request: the state machine that everything else drives.

use core::time::Duration;

use crate::decision::{Application, Applied, Decision, Reason, Step, Stop, Wait};
use crate::hint::Asked;
use crate::outcome::{Outcome, Replay, Verdict};
use crate::policy::{Combine, OverBudget, OverCeiling, Policy};
use crate::time::Monotonic;

/// Where jitter comes from (W3). The core has no random source of its own.
///
/// [`NoRandom`] makes everything deterministic.
pub trait Random {
    /// A number of milliseconds between 0 and `most`, both included.
    fn up_to(&mut self, most: u64) -> u64;
}

/// No jitter: every draw is 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoRandom;

impl Random for NoRandom {
    fn up_to(&mut self, _most: u64) -> u64 {
        0
    }
}

/// One thing that a caller wants, made of one or more attempts.
///
/// It owns its policy and its clock's origin, and travels with the request through every layer, so that
/// every wait, whoever asks for it, is charged to one budget (B4).
///
/// 1. [`poll`](Self::poll) before every attempt, and again after every waking: its answer changes with
///    `now`, with the window, and after each call of the methods below. Asking early or twice is a
///    harmless no-op.
/// 2. [`begin`](Self::begin) when it says [`Step::Attempt`]; send the request; give it up at
///    [`Attempt::abandon_at`].
/// 3. [`end`](Self::end) with what became of it. On [`Decision::Wait`] go back to 1.
///
/// ```
/// use retry_core::{Decision, Hint, LogicalRequest, Monotonic, NoRandom, Outcome, Reading, Replay};
/// use retry_core::{RetryAfter, Step, UnixTime, profiles};
///
/// let start = Monotonic::ORIGIN;
/// let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, start);
///
/// assert_eq!(request.poll(start, None), Step::Attempt); // 1
/// request.begin(start); // 2
///
/// let head = Monotonic::from_millis(200);
/// let field = RetryAfter::parse([b"30".as_slice()], &Reading::at(UnixTime::from_seconds(0)));
/// let refused = Outcome::answered(503, Hint::from(field));
/// let Decision::Wait(wait) = request.end(&refused, head, head, &mut NoRandom) else { panic!() }; // 3
/// assert_eq!(wait.until, Monotonic::from_millis(30_200));
///
/// assert_eq!(request.poll(head, None), Step::Wait(wait.until)); // 1 again: too early
/// assert_eq!(request.poll(wait.until, None), Step::Attempt);
/// ```
#[derive(Debug, Clone)]
pub struct LogicalRequest {
    policy: Policy,
    replay: Replay,
    spread_per_mille: u16,
    /// The instant at which the first attempt was wanted: where the budget begins.
    started: Monotonic,
    deadline: Option<Monotonic>,
    attempts: u32,
    /// When the time between attempts began that is running; none while an attempt is under way.
    idle_since: Option<Monotonic>,
    waited: Duration,
    /// What the last answer asked for.
    asked: Asked,
    planned: Option<Monotonic>,
    first_told: Option<Monotonic>,
    /// What the refusal that ended the request told, which holds it when it is resumed.
    told_at_stop: Option<Monotonic>,
    stopped: Option<Stop>,
}

/// One request on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// 1 for the first.
    pub number: u32,
    /// When it began.
    pub started: Monotonic,
    /// When it has to be given up (T6): after the policy's attempt timeout, and no later than a caller's
    /// deadline that still lies ahead.
    pub abandon_at: Monotonic,
}

impl Attempt {
    /// Until when the body of an answer whose head came at `received` may be looked into, for a marker or a
    /// text: `patience` at most, and no longer than just before the attempt has to be given up. A head that
    /// came is then decided upon, and keeps its hint, whatever becomes of its body (C6).
    #[must_use]
    pub fn look_until(&self, received: Monotonic, patience: Duration) -> Monotonic {
        /// Two grains of a timer of milliseconds, so that the earlier of two instants fires first.
        const JUST_BEFORE: u64 = 2_000;
        let latest = Monotonic::from_micros(self.abandon_at.as_micros().saturating_sub(JUST_BEFORE));
        received.after(patience).min(latest)
    }
}

impl LogicalRequest {
    /// A request whose first attempt is wanted at `now`: its budget begins here.
    ///
    /// Where a window holds the first attempt, that wait is charged to the budget like any other.
    #[must_use]
    pub const fn new(policy: &Policy, replay: Replay, now: Monotonic) -> Self {
        Self {
            policy: *policy,
            replay,
            spread_per_mille: 0,
            started: now,
            deadline: None,
            attempts: 0,
            idle_since: Some(now),
            waited: Duration::ZERO,
            asked: Asked::Nothing,
            planned: None,
            first_told: None,
            told_at_stop: None,
            stopped: None,
        }
    }

    /// Plans no attempt after `deadline` (B5), and no attempt runs past it (T6).
    ///
    /// A deadline that has already passed means one attempt without a wait.
    #[must_use]
    pub const fn finish_by(mut self, deadline: Monotonic) -> Self {
        self.deadline = Some(deadline);
        self
    }

    /// Draws this request's place in the crowd that a window releases (E8); without, it goes at once.
    #[must_use]
    pub fn spread(mut self, random: &mut (impl Random + ?Sized)) -> Self {
        self.spread_per_mille = u16::try_from(random.up_to(1_000).min(1_000)).unwrap_or(1_000);
        self
    }

    /// Says whether to attempt now. Pure: see the [type's documentation](Self) for when it changes.
    ///
    /// `window` is the not-before that others were told for this request's key, if there is one (E7).
    /// A window beyond the hard stop is [`Reason::WindowTooFar`] or, under
    /// [`OverBudget::TruncateThenTry`], one attempt at the hard stop.
    #[must_use]
    pub fn poll(&self, now: Monotonic, window: Option<Monotonic>) -> Step {
        if let Some(stop) = self.stopped {
            return Step::Stop(stop);
        }
        let planned = self.planned.unwrap_or(now).max(now);
        let until = match window.max(self.told_at_stop) {
            Some(closed_until) if closed_until > now => match self.released_at(closed_until, now) {
                Ok(released) => planned.max(released),
                Err(stop) => return Step::Stop(stop),
            },
            _ => planned,
        };
        if until > now { Step::Wait(until) } else { Step::Attempt }
    }

    /// Counts an attempt that starts now (B5).
    pub fn begin(&mut self, now: Monotonic) -> Attempt {
        self.attempts = self.attempts.saturating_add(1);
        self.waited = self.waited_until(now);
        self.idle_since = None;
        self.planned = None;
        self.told_at_stop = None;
        let timeout = now.after_millis(self.policy.attempt_timeout_millis);
        let abandon_at = match self.deadline {
            Some(deadline) if deadline > now => timeout.min(deadline),
            _ => timeout,
        };
        Attempt { number: self.attempts, started: now, abandon_at }
    }

    /// Decides what an outcome leads to (C1).
    ///
    /// `received` is when the head arrived: a delay counts from there (T4). `now` is when this is asked,
    /// which is later where the body had to be read first. One draw is taken for each wait.
    #[inline]
    pub fn end(
        &mut self,
        outcome: &Outcome,
        received: Monotonic,
        now: Monotonic,
        random: &mut (impl Random + ?Sized),
    ) -> Decision {
        self.idle_since = Some(now);
        if matches!(outcome, Outcome::Answered { status: 200..=399, .. }) {
            return Decision::Done;
        }
        let asked = match outcome {
            Outcome::Answered { hint, .. } => hint.asked(),
            Outcome::NotSent | Outcome::Lost => Asked::Nothing,
        };
        self.asked = asked;
        let planned = self
            .may_be_repeated(outcome, asked)
            .and_then(|()| self.planned_wait(asked, received, now, random));
        match planned {
            Ok(wait) => {
                self.planned = Some(wait.until);
                Decision::Wait(wait)
            }
            Err(refused) => {
                self.told_at_stop = self.told(asked, received, now);
                let possible_at = asked.millis().map(|millis| received.after_millis(millis));
                Decision::Stop(self.stop_because(refused, possible_at, now))
            }
        }
    }

    /// Ends the request from outside, at any time (B7).
    ///
    /// A request that has already stopped keeps its first reason.
    pub fn stop(&mut self, reason: Reason, now: Monotonic) -> Stop {
        if let Some(stop) = self.stopped {
            return stop;
        }
        self.waited = self.waited_until(now);
        self.idle_since = Some(now);
        let possible_at = self.planned;
        self.stop_because(Refused::because(reason), possible_at, now)
    }

    /// Takes up a request again that had ended: another layer around this one sends it once more.
    ///
    /// Clock, budget and attempts go on where they were (B4). Until the instant that the last refusal told,
    /// it is held as by a window; under [`Policy::first_deadline`] by the instant that was told first,
    /// while that is live (E2).
    pub fn resume(&mut self) {
        self.stopped = None;
    }

    /// Says anew what may be sent again (C4): a layer around this one may come back with another method or
    /// another body than before, after a redirect for instance.
    pub const fn set_replay(&mut self, replay: Replay) {
        self.replay = replay;
    }

    /// Whether the request has ended without a success.
    #[must_use]
    pub const fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The policy that decides.
    #[must_use]
    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What may be sent again.
    #[must_use]
    pub const fn replay(&self) -> Replay {
        self.replay
    }

    /// The instant of the next attempt that the last decision planned; none while an attempt is under way.
    #[must_use]
    pub const fn planned(&self) -> Option<Monotonic> {
        self.planned
    }

    /// Attempts made so far.
    #[must_use]
    pub const fn attempts(&self) -> u32 {
        self.attempts
    }

    /// Time spent between attempts so far, until the last attempt or stop.
    #[must_use]
    pub const fn waited(&self) -> Duration {
        self.waited
    }

    /// The latest instant for which an attempt is still planned: the smaller of budget and deadline.
    #[must_use]
    pub fn hard_stop(&self) -> Monotonic {
        let budget_end = self.budget_end();
        self.deadline.map_or(budget_end, |deadline| deadline.min(budget_end))
    }

    fn waited_until(&self, now: Monotonic) -> Duration {
        let idle = self.idle_since.map_or(Duration::ZERO, |since| now.since(since));
        self.waited.saturating_add(idle)
    }

    fn budget_end(&self) -> Monotonic {
        self.started.after_millis(self.policy.budget_millis)
    }

    /// C1 up to the attempt cap; C2, C4, C6 and H1 on the way.
    #[inline]
    fn may_be_repeated(&self, outcome: &Outcome, asked: Asked) -> Result<(), Refused> {
        let policy = &self.policy;
        let replayable = match outcome {
            Outcome::Answered { status, verdict, .. } => {
                let Some(needs) = policy.retry_on.needs(*status).filter(|_| *status >= 200) else {
                    return Err(Refused::because(Reason::NotRetryable));
                };
                if !policy.enabled {
                    return Err(Refused::because(Reason::Disabled));
                }
                let marked = !needs.transient || *verdict == Verdict::Transient;
                let hinted = !needs.hint || asked.millis().is_some();
                if !(marked && hinted) {
                    return Err(Refused::because(Reason::Unmarked));
                }
                self.replay == Replay::Always
            }
            Outcome::NotSent | Outcome::Lost => {
                if !policy.repeat_unanswered {
                    return Err(Refused::because(Reason::NotRetryable));
                }
                if !policy.enabled {
                    return Err(Refused::because(Reason::Disabled));
                }
                match self.replay {
                    Replay::Always => true,
                    Replay::OnlyIfUnsent => *outcome == Outcome::NotSent,
                    Replay::Never => false,
                }
            }
        };
        if !replayable {
            return Err(Refused::because(Reason::NotReplayable));
        }
        if policy.max_attempts.is_some_and(|most| self.attempts >= most.get()) {
            return Err(Refused::because(Reason::AttemptsExhausted));
        }
        Ok(())
    }

    /// The wait of section 5 within the budget of section 6.
    #[inline]
    fn planned_wait(
        &mut self,
        asked: Asked,
        received: Monotonic,
        now: Monotonic,
        random: &mut (impl Random + ?Sized),
    ) -> Result<Wait, Refused> {
        let hint = asked.millis();
        if self.policy.over_ceiling == OverCeiling::GiveUp
            && hint.is_some_and(|hint| hint > self.policy.ceiling_millis)
        {
            return Err(Refused { reason: Reason::HintAboveCeiling, wait: hint });
        }
        let (mut millis, mut applied) = self.base_millis(asked);
        if millis < self.policy.floor_millis {
            millis = self.policy.floor_millis;
            applied = applied.with(Application::Floor);
        }
        if millis > self.policy.ceiling_millis {
            millis = self.policy.ceiling_millis;
            applied = applied.with(Application::Ceiling);
        }

        let hard_stop = self.hard_stop();
        let told = self.hold_first_deadline(received.after_millis(millis), now);
        let mut until = told.max(now);
        let too_late = match self.policy.over_budget {
            OverBudget::GiveUp => until > hard_stop,
            OverBudget::TruncateThenTry => now >= hard_stop,
        };
        if too_late || self.policy.budget_millis == 0 {
            return Err(Refused { reason: self.smaller_bound(), wait: Some(millis) });
        }
        if until > hard_stop {
            until = hard_stop;
            applied = applied.with(Application::Truncated);
        }

        let most_jitter = self.most_jitter(until.millis_since(received), hard_stop.millis_since(until));
        let jitter = random.up_to(most_jitter);
        if jitter > 0 {
            until = until.after_millis(jitter);
            applied = applied.with(Application::Jitter);
        }
        Ok(Wait {
            until,
            received,
            decided: now,
            started: self.started,
            asked,
            applied,
            attempts: self.attempts,
            budget_millis: self.policy.budget_millis,
        })
    }

    /// The number before floor and ceiling, and where it came from where that is not the hint.
    #[inline]
    fn base_millis(&self, asked: Asked) -> (u64, Applied) {
        let policy = &self.policy;
        let hint = asked.millis();
        if let (Some(hint), Combine::HintOnly) = (hint, policy.combine) {
            return (hint, Applied::NONE);
        }
        let scheduled = policy.backoff_millis(self.attempts);
        let source = match policy.schedule {
            Some(_) => Application::Backoff,
            None => Application::DefaultBackoff,
        };
        match (hint, asked) {
            (Some(hint), _) if hint >= scheduled => (hint, Applied::NONE),
            (None, Asked::Unreadable(_)) if policy.default_backoff_millis > scheduled => {
                (policy.default_backoff_millis, Applied::NONE.with(Application::DefaultBackoff))
            }
            _ => (scheduled, Applied::NONE.with(source)),
        }
    }

    /// The instant that a refusal told, for a request that ends with it: after floor and, where hints are
    /// clamped, ceiling.
    fn told(&mut self, asked: Asked, received: Monotonic, now: Monotonic) -> Option<Monotonic> {
        let hint = asked.millis()?.max(self.policy.floor_millis);
        let millis = match self.policy.over_ceiling {
            OverCeiling::GiveUp => hint,
            OverCeiling::Clamp => hint.min(self.policy.ceiling_millis),
        };
        Some(self.hold_first_deadline(received.after_millis(millis), now))
    }

    /// E2: while the instant first told is live, a further refusal cannot move it out.
    fn hold_first_deadline(&mut self, told: Monotonic, now: Monotonic) -> Monotonic {
        if !self.policy.first_deadline {
            return told;
        }
        match self.first_told {
            Some(first) if now < first => told.min(first),
            _ => {
                self.first_told = Some(told.min(self.hard_stop()));
                told
            }
        }
    }

    /// `J` of section 5 for a wait of `millis` and a budget that leaves `rest` milliseconds beside it.
    #[inline]
    fn most_jitter(&self, millis: u64, rest: u64) -> u64 {
        let share = millis.saturating_mul(u64::from(self.policy.jitter.per_mille)).wrapping_div(1_000);
        let cap = self.policy.jitter.cap_millis.unwrap_or(u64::MAX);
        share.min(cap).min(rest)
    }

    /// E7, E8: when a request that a live window holds may go.
    fn released_at(&self, closed_until: Monotonic, now: Monotonic) -> Result<Monotonic, Stop> {
        let hard_stop = self.hard_stop();
        if closed_until > hard_stop {
            return match self.policy.over_budget {
                OverBudget::TruncateThenTry => Ok(hard_stop),
                OverBudget::GiveUp => Err(Stop {
                    reason: Reason::WindowTooFar,
                    attempts: self.attempts,
                    elapsed: now.since(self.started),
                    waited: self.waited_until(now),
                    asked: Asked::Nothing,
                    refused_wait: Some(closed_until.since(now)),
                    possible_at: Some(closed_until),
                    budget: self.policy.budget(),
                }),
            };
        }
        let most = self.most_jitter(closed_until.millis_since(now), hard_stop.millis_since(closed_until));
        let jitter = most.saturating_mul(u64::from(self.spread_per_mille)).wrapping_div(1_000);
        Ok(closed_until.after_millis(jitter))
    }

    /// Which of the two upper bounds is the smaller one, by its name (C1).
    fn smaller_bound(&self) -> Reason {
        match self.deadline {
            Some(deadline) if deadline < self.budget_end() => Reason::DeadlinePassed,
            _ => Reason::BudgetExhausted,
        }
    }

    #[cold]
    #[inline(never)]
    fn stop_because(&mut self, refused: Refused, possible_at: Option<Monotonic>, now: Monotonic) -> Stop {
        let stop = Stop {
            reason: refused.reason,
            attempts: self.attempts,
            elapsed: now.since(self.started),
            waited: self.waited,
            asked: self.asked,
            refused_wait: refused.wait.map(Duration::from_millis),
            possible_at,
            budget: self.policy.budget(),
        };
        self.stopped = Some(stop);
        self.planned = None;
        stop
    }
}

/// Why no wait is planned, and the wait that was not begun, in milliseconds.
struct Refused {
    reason: Reason,
    wait: Option<u64>,
}

impl Refused {
    const fn because(reason: Reason) -> Self {
        Self { reason, wait: None }
    }
}
