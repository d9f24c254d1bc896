//! The cases of the retry in virtual time: no socket, and no second is waited for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::{HeaderMap, HeaderValue, StatusCode};
use retry_core::{Asked, Attempt, Verdict, profiles};
use retry_middleware::testing::VirtualClock;
use retry_middleware::{Attempted, Clock, Exchange, Fate, SystemClock, hint};

use super::{Answer, Unanswered, drive};
use crate::errors::{Error, Spent};
use crate::progress::{Observer, Waiting};
use crate::refusal::Refusal;

/// What the server does to one attempt.
#[derive(Debug, Clone)]
enum Does {
    /// Answers 503, with this `Retry-After` if any.
    Refuse(Option<&'static str>),
    /// Answers with another status.
    Answer(u16),
    /// Takes so long to refuse.
    RefuseLate(Duration, &'static str),
    /// Sends the head of a refusal at once, and takes so long for its body.
    Trickle(Duration, &'static str),
    /// Takes the request, and never answers.
    NeverAnswer,
    /// Refuses the connection.
    NotConnect,
}

use Does::{NotConnect, RefuseLate};

struct Script<'a> {
    clock: &'a VirtualClock,
    steps: VecDeque<Does>,
    attempts: u32,
}

impl Exchange for Script<'_> {
    type Answer = Answer<&'static str>;
    type Error = Unanswered;

    async fn attempt(&mut self, _: Attempt) -> Attempted<Self::Answer, Unanswered> {
        self.attempts += 1;
        // The last step is what the server goes on doing.
        let step = if self.steps.len() > 1 { self.steps.pop_front() } else { self.steps.front().cloned() };
        let mut body_takes = Duration::ZERO;
        let (status, retry_after) = match step.expect("a script has a step") {
            Does::Refuse(retry_after) => (503, retry_after),
            Does::Answer(status) => (status, None),
            RefuseLate(length, retry_after) => {
                self.clock.advance(length);
                (503, Some(retry_after))
            }
            Does::Trickle(length, retry_after) => {
                body_takes = length;
                (503, Some(retry_after))
            }
            NotConnect => {
                return Attempted::Unanswered { fate: Fate::NotSent, error: Error::Token.into() };
            }
            Does::NeverAnswer => std::future::pending().await,
        };
        let headers = fields(retry_after);
        let answer = if status == 200 {
            Answer::Good("a pack")
        } else {
            Answer::Refused(Box::new(Refusal {
                asked: "POST http://hub/a/b/fetch/mpack".to_owned(),
                status: StatusCode::from_u16(status).expect("a status"),
                request_id: Some(format!("attempt-{}", self.attempts)),
                text: "mpack not ready — prebuild in progress. Retry shortly.".to_owned(),
                headers: headers.clone(),
            }))
        };
        let (received, hint) = (self.clock.monotonic(), hint(&headers, &profiles::MUSE, self.clock.wall()));
        self.clock.advance(body_takes);
        Attempted::Answered { status, hint, verdict: Verdict::Unmarked, received, answer }
    }
}

fn fields(retry_after: Option<&'static str>) -> HeaderMap {
    retry_after.map(|text| (http::header::RETRY_AFTER, HeaderValue::from_static(text))).into_iter().collect()
}

fn asked(retry_after: Option<&'static str>) -> Asked {
    hint(&fields(retry_after), &profiles::MUSE, SystemClock.wall()).asked()
}

#[derive(Default)]
struct Recorder(Mutex<Vec<Waiting>>);

impl Observer for Recorder {
    fn waiting(&self, waiting: &Waiting) {
        self.0.lock().expect("nobody panics here").push(*waiting);
    }
}

struct Ran {
    result: Result<&'static str, Error>,
    spent: Spent,
    attempts: u32,
    /// Whole seconds of each wait.
    waits: Vec<u64>,
    told: Vec<Waiting>,
}

async fn run(budget_seconds: u64, steps: impl Into<VecDeque<Does>>) -> Ran {
    let clock = VirtualClock::new();
    let mut script = Script { clock: &clock, steps: steps.into(), attempts: 0 };
    let recorder = Arc::new(Recorder::default());
    let mut spent = Spent::default();
    let budget = Duration::from_secs(budget_seconds);
    let forever = std::future::pending();
    let result = drive(&clock, &mut script, &url(), budget, recorder.clone(), forever, &mut spent).await;
    let told = recorder.0.lock().expect("nobody panics here").clone();
    let attempts = script.attempts;
    Ran { result, spent, attempts, waits: told.iter().map(|waiting| waiting.wait.as_secs()).collect(), told }
}

fn url() -> url::Url {
    "http://name:secret@hub/a/b/fetch/mpack".parse().expect("a URL")
}

const SUCCEED: Does = Does::Answer(200);

fn refuse(retry_after: &'static str) -> Does {
    Does::Refuse(Some(retry_after))
}

#[tokio::test]
async fn mwp5_00_one_503_then_success_returns_the_result() {
    let ran = run(120, [refuse("30"), SUCCEED]).await;
    assert_eq!(ran.result.expect("the pack"), "a pack");
}

#[test]
fn mwp5_01_sixty_is_sixty_seconds() {
    assert_eq!(asked(Some("60")), Asked::Delay { millis: 60_000 });
}

/// P9: under this profile a date counts as if it were not there.
#[test]
fn mwp5_02_absent_words_and_dates_give_no_seconds() {
    assert_eq!(asked(None), Asked::Nothing);
    assert_eq!(asked(Some("Wed, 21 Oct")).millis(), None);
    assert_eq!(asked(Some("Wed, 21 Oct 2099 07:28:00 GMT")).millis(), None);
}

#[tokio::test]
async fn mwp5_04_a_404_is_not_retried_and_costs_no_wait() {
    let ran = run(120, [Does::Answer(404), SUCCEED]).await;
    let Err(Error::Refused(refusal)) = ran.result else { panic!("expected a refusal") };
    assert_eq!(refusal.status, 404);
    assert_eq!((ran.attempts, ran.waits), (1, vec![]));
}

/// W1, W2, W6
#[tokio::test]
async fn mwp5_05_waits_are_at_least_one_second_at_most_sixty_and_five_without_a_hint() {
    assert_eq!(run(120, [refuse("0"), SUCCEED]).await.waits, [1]);
    assert_eq!(run(120, [refuse("999"), SUCCEED]).await.waits, [60]);
    assert_eq!(run(120, [Does::Refuse(None), SUCCEED]).await.waits, [5]);
}

#[tokio::test]
async fn mwp5_07_a_hint_of_thirty_is_one_wait_of_thirty() {
    let ran = run(120, [refuse("30"), SUCCEED]).await;
    assert!(ran.result.is_ok());
    assert_eq!(ran.waits, [30]);
    assert_eq!(ran.spent, Spent { attempts: 2, waited: Duration::from_secs(30) });
}

#[tokio::test]
async fn mwp5_08_each_refusal_is_taken_at_its_own_word() {
    let ran = run(120, [refuse("30"), refuse("60"), SUCCEED]).await;
    assert!(ran.result.is_ok());
    assert_eq!(ran.waits, [30, 60]);
}

#[tokio::test]
async fn mwp5_09_without_a_hint_the_wait_is_five_seconds() {
    let ran = run(120, [Does::Refuse(None), SUCCEED]).await;
    assert!(ran.result.is_ok());
    assert_eq!(ran.waits, [5]);
}

/// B2, C5
#[tokio::test]
async fn mwp5_10_a_503_for_ever_ends_with_the_servers_own_within_the_budget() {
    for hint in [Does::Refuse(None), refuse("0"), refuse("1"), refuse("30"), refuse("60"), refuse("86400")] {
        let ran = run(120, [hint.clone()]).await;
        let Err(Error::StillPreparing(terminal)) = ran.result else {
            panic!("expected the terminal 503: {hint:?}")
        };
        assert_eq!(terminal.refusal.status, 503);
        assert_eq!(terminal.refusal.request_id, Some(format!("attempt-{}", ran.attempts)), "the last one");
        assert!(ran.waits.iter().sum::<u64>() <= 120, "{hint:?} waited {:?}", ran.waits);
        assert!(ran.attempts <= 121, "{hint:?}: {} attempts", ran.attempts);
    }
}

/// B2: equality still waits; with any time spent in requests the second wait of 60 s no longer fits.
#[tokio::test]
async fn mwp5_10_two_hints_of_sixty_fit_the_budget_of_120_exactly() {
    assert_eq!(run(120, [refuse("60")]).await.waits, [60, 60]);
    let late = RefuseLate(Duration::from_millis(100), "60");
    assert_eq!(run(120, [late]).await.waits, [60]);
}

#[tokio::test]
async fn mwp5_11_a_404_after_a_503_ends_at_once() {
    let ran = run(120, [refuse("30"), Does::Answer(404), SUCCEED]).await;
    let Err(Error::Refused(refusal)) = ran.result else { panic!("expected a refusal") };
    assert_eq!(refusal.status, 404);
    assert_eq!((ran.attempts, ran.waits), (2, vec![30]));
}

/// B1
#[tokio::test]
async fn mwp5_12_a_budget_of_zero_is_one_attempt_and_no_wait() {
    for step in [Does::Refuse(None), refuse("0"), refuse("60")] {
        let ran = run(0, [step, SUCCEED]).await;
        assert!(matches!(ran.result, Err(Error::StillPreparing(_))));
        assert_eq!((ran.attempts, ran.waits), (1, vec![]));
    }
}

/// C6: this profile repeats no attempt that had no answer.
#[tokio::test]
async fn a_refused_connection_is_not_retried() {
    let ran = run(120, [NotConnect, SUCCEED]).await;
    assert!(matches!(ran.result, Err(Error::Token)));
    assert_eq!(ran.attempts, 1);
}

#[tokio::test]
async fn the_observer_is_told_the_refused_attempt_and_the_time_the_call_has_taken() {
    let ran = run(120, [RefuseLate(Duration::from_secs(2), "30"), refuse("60"), SUCCEED]).await;
    let told: Vec<(u32, u64, u64, u64)> = ran
        .told
        .iter()
        .map(|told| (told.attempt, told.wait.as_secs(), told.elapsed.as_secs(), told.budget.as_secs()))
        .collect();
    assert_eq!(told, [(1, 30, 2, 120), (2, 60, 32, 120)]);
}

/// T4: the wait counts from the head. What is told is what is left of it.
#[tokio::test]
async fn the_observer_is_told_what_a_slow_body_has_left_of_the_wait() {
    let ran = run(120, [Does::Trickle(Duration::from_millis(3_500), "5"), SUCCEED]).await;
    assert_eq!(ran.told[0].wait, Duration::from_millis(1_500));
    assert_eq!(ran.spent.waited, Duration::from_millis(1_500));
}

/// B7
#[tokio::test]
async fn cancelling_ends_a_wait_at_once_as_an_interruption() {
    let clock = VirtualClock::new();
    let mut script = Script { clock: &clock, steps: [refuse("30"), SUCCEED].into(), attempts: 0 };
    let mut spent = Spent::default();
    let cancelled = async {
        // Not before the attempt: the driver looks at this first.
        tokio::task::yield_now().await;
    };
    let observer = Arc::new(Recorder::default());
    let budget = Duration::from_secs(120);
    let result = drive(&clock, &mut script, &url(), budget, observer, cancelled, &mut spent).await;
    assert!(matches!(result, Err(Error::Interrupted)), "{result:?}");
    assert_eq!(script.attempts, 1);
}

/// T6: the attempt that got no answer is told with the address that it went to, without its credentials.
#[tokio::test]
async fn an_attempt_that_timed_out_names_its_url() {
    let ran = run(120, [Does::NeverAnswer]).await;
    let error = ran.result.expect_err("there is no answer").to_string();
    assert_eq!(error, "http://hub/a/b/fetch/mpack: attempt 1 got no answer within 60 s");
}
