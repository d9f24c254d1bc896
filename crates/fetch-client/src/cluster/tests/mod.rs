//! The client's table in virtual time: no socket, and no second is waited for.

mod flag;
mod sockets;

use std::collections::VecDeque;
use std::time::Duration;

use bytes::Bytes;
use http::header::RETRY_AFTER;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use retry_middleware::testing::VirtualClock;
use retry_middleware::{Clock, Silent};
use serde_json::json;

use super::errors::{ClusterError, ClusterRefusal};
use super::instance::Instance;
use super::settings::{ClusterSettings, Credentials, Strategy};
use super::talk::{Ask, Talk};
use super::wire::{Answer, Question, Wire};

const MARKED: &str = r#"{"error":"full","status":507,"stage":"capacity_guard","transient":true}"#;
const BODY: &[u8] = br#"{"name":"it","cpus":1,"memory":64}"#;

/// What the cluster does to one request; the last one is what it goes on doing.
#[derive(Clone)]
enum Does {
    /// Refuses a creation for want of capacity, with this `Retry-After` if any.
    Full(Option<&'static str>),
    /// Answers with this status and body.
    Says(u16, &'static str),
    /// Shows the instance in this state.
    Shows(&'static str),
    /// Takes so long for the next thing.
    Takes(Duration),
    /// Never answers.
    Hangs,
}

use Does::{Full, Hangs, Says, Shows, Takes};

/// A cluster that does as it is told, and notes what it was asked; `/auth` always works.
struct Script<'c> {
    clock: &'c VirtualClock,
    steps: VecDeque<Does>,
    /// What was asked, and with which body, besides `/auth`.
    asked: Vec<(Method, String, Option<Bytes>)>,
    authentications: u32,
}

impl Wire for &mut Script<'_> {
    async fn send(&mut self, question: Question) -> Result<Answer, ClusterError> {
        let asked = question.shown();
        let path = question.url.path().to_owned();
        let (status, body, hint) = if path == "/auth" {
            self.authentications += 1;
            (200, json!({ "access_token": format!("token-{}", self.authentications) }).to_string(), None)
        } else {
            let expected = format!("Bearer token-{}", self.authentications);
            assert_eq!(question.token.expect("a token").value(), expected.as_str());
            self.asked.push((question.method, path, question.body));
            if matches!(self.steps.front(), Some(Hangs)) {
                std::future::pending::<()>().await;
            }
            self.step()
        };
        let fields = hint.map(|hint| (RETRY_AFTER, HeaderValue::from_static(hint)));
        Ok(Answer {
            asked,
            status: StatusCode::from_u16(status).expect("a status"),
            headers: HeaderMap::from_iter(fields),
            body: body.into(),
            received: self.clock.monotonic(),
        })
    }
}

impl Script<'_> {
    fn step(&mut self) -> (u16, String, Option<&'static str>) {
        let step = if self.steps.len() > 1 { self.steps.pop_front() } else { self.steps.front().cloned() };
        match step.expect("a script has a step") {
            Full(hint) => (507, MARKED.to_owned(), hint),
            Says(status, body) => (status, body.to_owned(), None),
            Shows(state) => (200, json!({ "uuid": "u", "name": "it", "state": state }).to_string(), None),
            Hangs => unreachable!("it hangs before"),
            Takes(length) => {
                self.clock.advance(length);
                self.step()
            }
        }
    }
}

/// How a creation ended.
struct Played {
    outcome: Result<Instance, ClusterError>,
    /// Every sleep, in seconds.
    sleeps: Vec<f64>,
    asked: Vec<(Method, String, Option<Bytes>)>,
    authentications: u32,
}

impl Played {
    fn requests(&self) -> usize {
        self.asked.len()
    }

    #[track_caller]
    fn refusal(&self) -> &ClusterRefusal {
        self.outcome.as_ref().expect_err("a refusal").refusal().expect("an answer")
    }
}

fn settings(retry: bool, strategy: Strategy) -> ClusterSettings {
    let address = "http://host".parse().expect("an address");
    let settings = ClusterSettings::new(address, Credentials::new("me", "key"));
    ClusterSettings { retry_transient_capacity: retry, strategy, ..settings }
}

async fn play(settings: ClusterSettings, steps: impl IntoIterator<Item = Does>) -> Played {
    let clock = VirtualClock::new();
    let steps = steps.into_iter().collect();
    let mut script = Script { clock: &clock, steps, asked: Vec::new(), authentications: 0 };
    let mut talk = Talk { wire: &mut script, clock: &clock, settings: &settings, token: None };
    let outcome = talk.create(Bytes::from_static(BODY), Silent, std::future::pending()).await;
    let sleeps = clock.sleeps().iter().map(Duration::as_secs_f64).collect();
    Played { outcome, sleeps, asked: script.asked, authentications: script.authentications }
}

async fn play_retrying(strategy: Strategy, steps: impl IntoIterator<Item = Does>) -> Played {
    play(settings(true, strategy), steps).await
}

fn seconds(seconds: u64) -> Strategy {
    Strategy::Within(Duration::from_secs(seconds))
}

#[tokio::test]
async fn with_the_flag_off_a_marked_refusal_is_one_request() {
    for strategy in [Strategy::Continue, Strategy::Pause, Strategy::Block, seconds(10)] {
        let played = play(settings(false, strategy), [Full(Some("15"))]).await;
        assert_eq!((played.requests(), played.sleeps.len()), (1, 0));
        assert_eq!(played.refusal().headers[RETRY_AFTER], "15");
    }
}

#[tokio::test]
async fn what_is_not_marked_is_one_request() {
    for body in [
        r#"{"error":"no free address","status":507}"#,
        r#"{"error":"x","status":507,"stage":"cpu_max_per_instance","transient":false}"#,
        r#"{"transient":"true"}"#,
        "<html>507</html>",
        r#"[{"transient":true}]"#,
        "",
    ] {
        let played = play_retrying(Strategy::Block, [Says(507, body)]).await;
        assert_eq!((played.requests(), played.sleeps.len()), (1, 0), "{body}");
        assert_eq!(played.refusal().body, body);
    }
}

#[tokio::test]
async fn continue_is_one_request_and_never_waits() {
    let played = play_retrying(Strategy::Continue, [Full(Some("1"))]).await;
    assert_eq!((played.requests(), played.sleeps.len()), (1, 0));
    let played = play_retrying(Strategy::Continue, [Shows("creating")]).await;
    assert_eq!((played.requests(), played.sleeps.len()), (1, 0));
    assert_eq!(played.outcome.expect("an instance").state, "creating");
    let played = play_retrying(Strategy::Continue, [Says(406, "{}")]).await;
    assert_eq!((played.requests(), played.sleeps.len()), (1, 0));
}

#[tokio::test]
async fn pause_with_header_7_waits_7_each_time_and_not_the_default() {
    let played = play_retrying(Strategy::Pause, [Full(Some("7"))]).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (5, [7.0, 7.0, 7.0, 7.0].as_slice()));
}

#[tokio::test]
async fn pause_with_header_15_is_five_requests_and_the_last_wait_is_cut_to_what_remains() {
    let played = play_retrying(Strategy::Pause, [Full(Some("15"))]).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (5, [15.0, 15.0, 15.0, 15.0].as_slice()));
    // Any real request takes time, and the last wait is shorter by that.
    let slow = [Takes(Duration::from_secs(2)), Full(Some("15"))];
    let played = play_retrying(Strategy::Pause, slow).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (5, [15.0, 15.0, 15.0, 13.0].as_slice()));
}

#[tokio::test]
async fn block_that_never_ends_is_five_requests_and_four_waits() {
    let played = play_retrying(Strategy::Block, [Full(Some("15"))]).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (5, [15.0, 15.0, 15.0, 15.0].as_slice()));
    let refusal = played.refusal();
    assert_eq!((refusal.spent.attempts, refusal.spent.waited), (5, Duration::from_secs(60)));
    assert_eq!(refusal.stop.expect("a decision").reason.name(), "attempts_exhausted");
}

#[tokio::test]
async fn a_deadline_45_s_away_without_a_header_is_four_requests_and_three_waits() {
    let played = play_retrying(seconds(45), [Full(None)]).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (4, [15.0, 15.0, 15.0].as_slice()));
}

/// P1, F03, F04: 0 is raised to the floor, a day cut to the ceiling, and what is no number counts as 15.
#[tokio::test]
async fn headers_are_clamped_and_what_is_no_integer_counts_as_15() {
    for (header, wait) in [
        ("0", 1.0),
        ("86400", 60.0),
        ("99999999999999999999999999", 60.0),
        ("-60", 15.0),
        ("12.5", 15.0),
        ("", 15.0),
        ("soon", 15.0),
        ("Mon, 30 Nov 2026 00:00:00 GMT", 15.0),
    ] {
        let played = play_retrying(Strategy::Block, [Full(Some(header)), Shows("created")]).await;
        assert_eq!((played.requests(), played.sleeps.as_slice()), (2, [wait].as_slice()), "{header:?}");
        assert!(played.outcome.is_ok());
    }
}

#[tokio::test]
async fn header_30_with_5_s_left_is_one_wait_of_what_remains_and_one_more_request() {
    let played = play_retrying(seconds(5), [Full(Some("30"))]).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (2, [5.0].as_slice()));
    let slow = [Takes(Duration::from_millis(400)), Full(Some("30"))];
    let played = play_retrying(seconds(5), slow).await;
    assert_eq!(played.requests(), 2);
    assert!(matches!(played.sleeps.as_slice(), [wait] if 4.0 < *wait && *wait <= 5.0), "{:?}", played.sleeps);
    assert_eq!(played.refusal().headers[RETRY_AFTER], "30", "the server's last answer, with its fields");
}

#[tokio::test]
async fn the_same_bytes_are_sent_again() {
    let played = play_retrying(Strategy::Pause, [Full(Some("1")), Full(Some("1")), Shows("created")]).await;
    let creation = (Method::POST, "/instances".to_owned(), Some(Bytes::from_static(BODY)));
    assert_eq!(played.asked, [creation.clone(), creation.clone(), creation]);
}

/// Not an attempt of its own, and bounded by the one deadline: 3 s of it are gone when capacity is asked for.
#[tokio::test]
async fn dependencies_are_waited_for_a_second_at_a_time_within_the_same_attempt() {
    let not_ready = || Says(406, r#"{"error":"not ready","status":406}"#);
    let steps = [not_ready(), not_ready(), not_ready(), Full(Some("15")), Full(Some("15"))];
    let played = play_retrying(seconds(10), steps).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (5, [1.0, 1.0, 1.0, 7.0].as_slice()));
    assert_eq!(played.refusal().spent.attempts, 2);
}

#[tokio::test]
async fn dependencies_that_never_are_ready_end_with_the_last_406_at_the_deadline() {
    let played =
        play(settings(false, Strategy::Within(Duration::from_millis(2_500))), [Says(406, "{}")]).await;
    assert_eq!((played.requests(), played.sleeps.as_slice()), (3, [1.0, 1.0].as_slice()));
    assert_eq!((played.refusal().status, played.refusal().spent.attempts), (StatusCode::NOT_ACCEPTABLE, 1));
    // Longer than one attempt of the profile may take.
    let played = play(settings(false, Strategy::Block), [Says(406, "{}")]).await;
    assert_eq!((played.requests(), played.refusal().status), (3_600, StatusCode::NOT_ACCEPTABLE));
}

#[tokio::test]
async fn an_instance_is_watched_until_it_leaves_creating() {
    let steps = [Shows("creating"), Shows("creating"), Shows("created")];
    let played = play(settings(false, Strategy::Pause), steps).await;
    assert_eq!(played.outcome.as_ref().expect("an instance").state, "created");
    assert_eq!(played.sleeps, [1.0, 1.0]);
    assert_eq!(played.asked[2].1, "/instances/u");
}

/// ONE deadline: what the retries have used up is not there for the watching.
#[tokio::test]
async fn an_instance_that_stays_creating_is_returned_as_it_is_at_the_one_deadline() {
    let played = play_retrying(seconds(10), [Full(Some("8")), Shows("creating")]).await;
    assert_eq!(played.outcome.as_ref().expect("an instance").state, "creating");
    assert_eq!((played.requests(), played.sleeps.as_slice()), (3, [8.0, 1.0].as_slice()));
}

#[tokio::test]
async fn an_instance_whose_state_cannot_be_seen_is_not_lost() {
    let played = play(settings(false, Strategy::Pause), [Shows("creating"), Says(500, "{}")]).await;
    let Err(ClusterError::Unwatched { instance, .. }) = played.outcome else {
        panic!("{:?}", played.outcome)
    };
    assert_eq!(instance.uuid, "u");
}

#[tokio::test]
async fn a_401_authenticates_once_within_the_same_attempt() {
    let played = play(settings(false, Strategy::Pause), [Says(401, "{}"), Shows("created")]).await;
    assert_eq!((played.requests(), played.authentications, played.sleeps.len()), (2, 2, 0));
    let played = play_retrying(Strategy::Pause, [Says(401, "{}")]).await;
    assert_eq!((played.requests(), played.authentications, played.sleeps.len()), (2, 2, 0));
    assert_eq!((played.refusal().status, played.refusal().spent.attempts), (StatusCode::UNAUTHORIZED, 1));
}

/// Once in each attempt: a token may expire while capacity is waited for.
#[tokio::test]
async fn a_token_that_expires_between_attempts_is_replaced_in_the_next() {
    let steps = [Says(401, "{}"), Full(Some("2")), Says(401, "{}"), Shows("created")];
    let played = play_retrying(Strategy::Pause, steps).await;
    assert!(played.outcome.is_ok());
    assert_eq!(
        (played.requests(), played.authentications, played.sleeps.as_slice()),
        (4, 3, [2.0].as_slice())
    );
}

#[tokio::test]
async fn a_503_and_every_other_status_is_not_retried() {
    for status in [400, 403, 404, 409, 429, 500, 502, 503, 504] {
        let played = play_retrying(Strategy::Block, [Says(status, MARKED)]).await;
        assert_eq!((played.requests(), played.sleeps.len()), (1, 0), "{status}");
        assert_eq!(played.refusal().status, status);
    }
}

/// T6, C5: a request ends at its own timeout or at the deadline, and an earlier answer is not lost with it.
#[tokio::test]
async fn a_cluster_that_does_not_answer_is_given_up() {
    let played = play_retrying(Strategy::Block, [Hangs]).await;
    assert!(matches!(played.outcome, Err(ClusterError::Silent { .. })), "{:?}", played.outcome);
    assert_eq!(played.sleeps, [300.0]);
    let played = play_retrying(seconds(20), [Hangs]).await;
    let error = played.outcome.expect_err("there is no answer");
    assert!(matches!(error, ClusterError::TimedOut { .. }), "{error:?}");
    assert!(error.to_string().contains("/instances: attempt 1 got no answer within "), "{error}");
    let played = play_retrying(seconds(20), [Full(Some("7")), Hangs]).await;
    assert_eq!((played.requests(), played.refusal().headers[RETRY_AFTER].as_bytes()), (2, b"7".as_slice()));
    let played = play_retrying(seconds(20), [Shows("creating"), Hangs]).await;
    assert_eq!(played.outcome.expect("an instance").state, "creating");
}

/// The other requests have the same manners: 401 once, 406 within the deadline, and nothing else again.
#[tokio::test]
async fn reading_authenticates_and_waits_for_what_is_not_ready() {
    let clock = VirtualClock::new();
    let steps = VecDeque::from([Says(401, "{}"), Says(406, "{}"), Shows("created")]);
    let mut script = Script { clock: &clock, steps, asked: Vec::new(), authentications: 0 };
    let settings = settings(false, Strategy::Pause);
    let mut talk = Talk { wire: &mut script, clock: &clock, settings: &settings, token: None };
    let deadline = settings.strategy.deadline(clock.monotonic());
    let instance: Instance = talk.read(&Ask::new(Method::GET, "/instances/u"), deadline).await.expect("it");
    assert_eq!((instance.state.as_str(), clock.sleeps().len(), script.asked.len()), ("created", 1, 3));
}
