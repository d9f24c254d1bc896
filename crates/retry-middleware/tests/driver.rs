//! The one loop, in virtual time: what it sends, when it sleeps, what it hands back.

use std::collections::VecDeque;
use std::future::pending;
use std::time::Duration;

use retry_core::{
    Attempt, Decision, Hint, LogicalRequest, Monotonic, NoRandom, Policy, Reason, Replay, Verdict, profiles,
};
use retry_middleware::testing::VirtualClock;
use retry_middleware::{AttemptTimedOut, Attempted, Clock, Driver, Event, Exchange, Fate, Finished, Silent};

/// What the server does with one attempt.
#[derive(Clone)]
enum Reply {
    Status(u16, Option<u64>),
    NotSent,
    Lost,
    Silence,
}

#[derive(Debug, PartialEq, Eq)]
enum Failure {
    Connection,
    TimedOut,
}

impl From<AttemptTimedOut> for Failure {
    fn from(_: AttemptTimedOut) -> Self {
        Self::TimedOut
    }
}

/// Plays a script; an answer is its number and its status.
struct Scripted<'a> {
    clock: &'a VirtualClock,
    script: VecDeque<Reply>,
    began: Vec<Duration>,
    settled: Vec<u32>,
    window: Option<Monotonic>,
}

impl<'a> Scripted<'a> {
    fn new(clock: &'a VirtualClock, script: &[Reply]) -> Self {
        let script = script.iter().cloned().collect();
        Self { clock, script, began: Vec::new(), settled: Vec::new(), window: None }
    }
}

impl Exchange for Scripted<'_> {
    type Answer = (u32, u16);
    type Error = Failure;

    async fn attempt(&mut self, attempt: Attempt) -> Attempted<(u32, u16), Failure> {
        self.began.push(attempt.started.since(Monotonic::ORIGIN));
        let last = self.script.len() == 1;
        let reply = if last { self.script.front().cloned() } else { self.script.pop_front() };
        match reply.expect("a script has a last reply") {
            Reply::Status(status, seconds) => Attempted::Answered {
                status,
                hint: seconds.map_or(Hint::NONE, |seconds| Hint::after_millis(seconds * 1_000, b"")),
                verdict: Verdict::Unmarked,
                received: self.clock.monotonic(),
                answer: (attempt.number, status),
            },
            Reply::NotSent => Attempted::Unanswered { fate: Fate::NotSent, error: Failure::Connection },
            Reply::Lost => Attempted::Unanswered { fate: Fate::Lost, error: Failure::Connection },
            Reply::Silence => pending().await,
        }
    }

    fn window(&self, now: Monotonic) -> Option<Monotonic> {
        self.window.filter(|until| *until > now)
    }

    async fn settle(&mut self, answer: &mut (u32, u16)) {
        self.settled.push(answer.0);
    }
}

async fn run(
    policy: &Policy,
    clock: &VirtualClock,
    exchange: &mut Scripted<'_>,
) -> Finished<(u32, u16), Failure> {
    let mut request = LogicalRequest::new(policy, Replay::Always, clock.monotonic());
    let mut driver = Driver { clock, random: NoRandom, observer: Silent };
    driver.run(&mut request, exchange, pending()).await
}

fn seconds(numbers: &[u64]) -> Vec<Duration> {
    numbers.iter().copied().map(Duration::from_secs).collect()
}

/// MWP5_07, MWP5_08, MWP5_09: what was asked is what is slept.
#[tokio::test]
async fn each_refusal_is_slept_out_and_the_success_returned() {
    let clock = VirtualClock::new();
    let script = [Reply::Status(503, Some(30)), Reply::Status(503, None), Reply::Status(200, None)];
    let mut exchange = Scripted::new(&clock, &script);
    let finished = run(&profiles::MUSE, &clock, &mut exchange).await;
    assert_eq!(clock.sleeps(), seconds(&[30, 5]));
    assert_eq!((finished.answer, finished.stop, finished.attempts), (Some((3, 200)), None, 3));
    assert_eq!((finished.waited, exchange.settled), (Duration::from_secs(35), vec![1, 2]));
}

/// MWP5_10, C5: the server's own last refusal comes back.
#[tokio::test]
async fn a_refusal_without_end_stops_within_the_budget_and_hands_on_the_last_answer() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Status(503, Some(60))]);
    let finished = run(&profiles::MUSE, &clock, &mut exchange).await;
    let stop = finished.stop.unwrap();
    assert_eq!((stop.reason, finished.answer), (Reason::BudgetExhausted, Some((3, 503))));
    assert_eq!(clock.sleeps(), seconds(&[60, 60]));
    assert_eq!(exchange.began, seconds(&[0, 60, 120]));
}

/// MWP5_11, C3: no sleep, nothing settled.
#[tokio::test]
async fn another_status_stops_at_once() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Status(404, Some(9))]);
    let finished = run(&profiles::MUSE, &clock, &mut exchange).await;
    assert_eq!((finished.attempts, finished.answer), (1, Some((1, 404))));
    assert_eq!(finished.stop.unwrap().reason, Reason::NotRetryable);
    assert!(clock.sleeps().is_empty() && exchange.settled.is_empty());
}

/// C5, C6: an answer that once came is not lost to a later failure, and the failure is told too.
#[tokio::test]
async fn a_failed_attempt_keeps_the_answer_before_it() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Status(503, Some(1)), Reply::Lost]);
    let finished = run(&profiles::MUSE, &clock, &mut exchange).await;
    assert_eq!((finished.answer, finished.error), (Some((1, 503)), Some(Failure::Connection)));

    let mut never = Scripted::new(&clock, &[Reply::NotSent]);
    let finished = run(&profiles::MUSE, &clock, &mut never).await;
    assert_eq!((finished.answer, finished.error), (None, Some(Failure::Connection)));
}

/// A later answer replaces the failure before it.
#[tokio::test]
async fn an_answer_after_a_failure_is_the_end_of_it() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::NotSent, Reply::Lost, Reply::Status(200, None)]);
    let finished = run(&profiles::RECOMMENDED, &clock, &mut exchange).await;
    assert_eq!((finished.answer, finished.error, finished.attempts), (Some((3, 200)), None, 3));
    assert_eq!(clock.sleeps(), seconds(&[1, 2]));
}

/// T6: an attempt that says nothing is given up at its timeout.
#[tokio::test]
async fn a_silent_attempt_is_lost_at_its_timeout() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Silence]);
    let finished = run(&profiles::MUSE, &clock, &mut exchange).await;
    assert_eq!((finished.answer, finished.error), (None, Some(Failure::TimedOut)));
    assert_eq!(clock.monotonic(), Monotonic::from_millis(60_000));
}

/// A clock whose timer fires early, as timers do.
struct Hasty<'a>(&'a VirtualClock);

impl Clock for Hasty<'_> {
    fn monotonic(&self) -> Monotonic {
        self.0.monotonic()
    }

    fn wall(&self) -> retry_core::UnixTime {
        self.0.wall()
    }

    async fn sleep_until(&self, instant: Monotonic) {
        let left = instant.since(self.0.monotonic());
        let early = if left > Duration::from_millis(11) { left - Duration::from_millis(11) } else { left };
        self.0.sleep_until(self.0.monotonic().after(early)).await;
    }
}

/// T5, F13: an early wake-up sleeps on.
#[tokio::test]
async fn an_early_timer_sends_nothing_early() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Status(503, Some(2)), Reply::Status(200, None)]);
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, clock.monotonic());
    let mut driver = Driver { clock: Hasty(&clock), random: NoRandom, observer: Silent };
    let finished = driver.run(&mut request, &mut exchange, pending()).await;
    assert_eq!((finished.attempts, exchange.began), (2, seconds(&[0, 2])));
    assert_eq!(clock.sleeps().len(), 2);
}

/// B7, F27: cancelled during a wait: at once, the cause and the last answer kept, nothing sent.
#[tokio::test]
async fn cancelling_a_wait_returns_at_once_with_the_last_answer() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Status(503, Some(30))]);
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, clock.monotonic());
    let cancelled = tokio::sync::Notify::new();
    let observe = |event: Event<'_>| {
        if matches!(event, Event::Decided { decision: Decision::Wait(_), .. }) {
            cancelled.notify_one();
        }
    };
    let mut driver = Driver { clock: &clock, random: NoRandom, observer: observe };
    let finished = driver.run(&mut request, &mut exchange, cancelled.notified()).await;
    assert_eq!((finished.answer, finished.attempts), (Some((1, 503)), 1));
    assert_eq!(finished.stop.unwrap().reason, Reason::Cancelled);
    assert!(clock.sleeps().is_empty());
}

/// B7: cancelled before any answer: none is invented.
#[tokio::test]
async fn cancelling_an_attempt_ends_it() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Silence]);
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, clock.monotonic());
    let mut driver = Driver { clock: &clock, random: NoRandom, observer: Silent };
    let finished = driver.run(&mut request, &mut exchange, std::future::ready(())).await;
    assert_eq!((finished.answer, finished.error), (None, None));
    assert_eq!(finished.stop.unwrap().reason, Reason::Cancelled);
    assert!(exchange.began.len() <= 1);
}

/// E7: a window holds the first attempt; the observer is told; too far is an end without an answer.
#[tokio::test]
async fn a_window_of_others_holds_the_first_attempt() {
    let clock = VirtualClock::new();
    let mut exchange = Scripted::new(&clock, &[Reply::Status(200, None)]);
    exchange.window = Some(Monotonic::from_millis(7_000));
    let mut held = Vec::new();
    let mut request = LogicalRequest::new(&profiles::RECOMMENDED, Replay::Always, clock.monotonic());
    let observe = |event: Event<'_>| {
        if let Event::Held { until } = event {
            held.push(until);
        }
    };
    let mut driver = Driver { clock: &clock, random: NoRandom, observer: observe };
    let finished = driver.run(&mut request, &mut exchange, pending()).await;
    assert_eq!((finished.attempts, exchange.began.clone()), (1, seconds(&[7])));
    assert_eq!(held, [Monotonic::from_millis(7_000)]);

    exchange.window = Some(Monotonic::from_millis(10_000_000));
    let finished = run(&profiles::RECOMMENDED, &clock, &mut exchange).await;
    assert_eq!((finished.answer, finished.attempts), (None, 0));
    assert_eq!(finished.stop.unwrap().reason, Reason::WindowTooFar);
}

/// C5, E7: the time spent inside a window counts as waited, also where the window then moves out of reach.
#[tokio::test]
async fn a_wait_in_a_window_is_counted_though_the_window_moves_out_of_reach() {
    let clock = VirtualClock::new();
    let mut exchange = Moving(&clock);
    let mut request = LogicalRequest::new(&profiles::RECOMMENDED, Replay::Always, clock.monotonic());
    let mut driver = Driver { clock: &clock, random: NoRandom, observer: Silent };
    let finished = driver.run(&mut request, &mut exchange, pending()).await;
    let stop = finished.stop.unwrap();
    assert_eq!((stop.reason, stop.waited), (Reason::WindowTooFar, Duration::from_secs(7)));
    assert_eq!(finished.waited, stop.waited);
}

/// A window of seven seconds, which somebody has put off for a day by then.
struct Moving<'a>(&'a VirtualClock);

impl Exchange for Moving<'_> {
    type Answer = ();
    type Error = Failure;

    async fn attempt(&mut self, _attempt: Attempt) -> Attempted<(), Failure> {
        panic!("the window is closed")
    }

    fn window(&self, now: Monotonic) -> Option<Monotonic> {
        let seconds = if now == Monotonic::ORIGIN { 7 } else { 86_400 };
        assert_eq!(now, self.0.monotonic());
        Some(Monotonic::from_millis(seconds * 1_000))
    }
}
