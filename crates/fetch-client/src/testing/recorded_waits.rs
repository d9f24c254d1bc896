//! Creations whose waits are all on record.

use std::time::Duration;

use retry_core::{Attempt, Decision, LogicalRequest, NoRandom, Policy, Replay, Verdict, profiles};
use retry_middleware::{Attempted, Clock, Driver, Event, Exchange, Fate, SystemClock, hint};

use crate::cluster::{ClusterError, ClusterRefusal, Unanswered};

/// Creates under a fresh name each time, waits out what is transient, and records every wait.
///
/// The informed wrapper for suites: the refused name may still be in use, so each attempt gets its own; and
/// what a suite waits for is a number that somebody reads later, so none of it hides inside another loop.
/// `transient` alone decides: no status, no stage, no text.
#[derive(Debug)]
pub struct RecordedWaits<C = SystemClock> {
    clock: C,
    patience: Duration,
    waits: Vec<RecordedWait>,
    attempts: u32,
}

/// One wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedWait {
    /// The name under which the creation was refused.
    pub name: String,
    /// How long was waited then.
    pub length: Duration,
    /// The stage that the refusal names; empty where it names none.
    pub stage: String,
    /// The refusal as a sentence.
    pub reason: String,
}

impl RecordedWaits {
    /// Waits for at most `patience` in each creation.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self::with_clock(patience, SystemClock)
    }
}

impl<C: Clock> RecordedWaits<C> {
    /// The same by another clock.
    #[must_use]
    pub fn with_clock(patience: Duration, clock: C) -> Self {
        Self { clock, patience, waits: Vec::new(), attempts: 0 }
    }

    /// All waits so far, in order.
    #[must_use]
    pub fn waits(&self) -> &[RecordedWait] {
        &self.waits
    }

    /// How often a creation was asked for so far.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.attempts
    }

    /// The time waited so far, in all.
    #[must_use]
    pub fn waited(&self) -> Duration {
        self.waits.iter().map(|wait| wait.length).sum()
    }

    /// Creates, as `base-1`, `base-2` and so on (the numbers go on from one creation to the next), until it is
    /// not refused any more, is refused for good, or patience ends.
    ///
    /// # Errors
    ///
    /// The last refusal, or what else went wrong.
    ///
    /// # Panics
    ///
    /// As a failed assertion, when a refusal comes from a client whose own retry is on: its waits would be in no
    /// record.
    pub async fn create<T: Send, F>(
        &mut self,
        base: &str,
        create: impl FnMut(String) -> F + Send,
    ) -> Result<T, ClusterError>
    where
        F: Future<Output = Result<T, ClusterError>> + Send,
    {
        let policy = policy(self.patience);
        let mut request = LogicalRequest::new(&policy, Replay::Always, self.clock.monotonic());
        let mut waits = Vec::new();
        let observer = |event: Event<'_>| {
            if let Event::Decided { decision: Decision::Wait(wait), .. } = event {
                waits.push(wait.length());
            }
        };
        let mut driver = Driver { clock: &self.clock, random: NoRandom, observer };
        let refused = Vec::new();
        let mut creating =
            Creating { base, create, policy, clock: &self.clock, number: self.attempts, refused };
        let finished = driver.run(&mut request, &mut creating, std::future::pending()).await;
        let (number, refused) = (creating.number, creating.refused);
        self.attempts = number;
        let recorded = waits.into_iter().zip(refused);
        self.waits.extend(recorded.map(|(length, refused)| RecordedWait { length, ..refused }));
        match (finished.answer, finished.error) {
            (Some(outcome), None) => outcome,
            (_, Some(error)) => Err(error.of(format!("the creation of {base}-{number}"))),
            (None, None) => unreachable!("every attempt has an outcome, and nothing cancels"),
        }
    }
}

/// The profile `shakenfist`, switched on, with this much patience and no other limit.
fn policy(patience: Duration) -> Policy {
    let builder = profiles::SHAKENFIST.to_builder().enabled(true).budget(patience).max_attempts(None);
    builder.build().expect("a switch, a budget and no cap contradict nothing in the profile")
}

struct Creating<'a, C, F> {
    base: &'a str,
    create: F,
    policy: Policy,
    clock: &'a C,
    number: u32,
    /// The refusals, in order; each becomes a record if a wait follows.
    refused: Vec<RecordedWait>,
}

impl<C: Clock, T: Send, F, M> Exchange for Creating<'_, C, M>
where
    M: FnMut(String) -> F + Send,
    F: Future<Output = Result<T, ClusterError>> + Send,
{
    type Answer = Result<T, ClusterError>;
    type Error = Unanswered;

    async fn attempt(&mut self, _: Attempt) -> Attempted<Self::Answer, Unanswered> {
        self.number += 1;
        let name = format!("{}-{}", self.base, self.number);
        let outcome = (self.create)(name.clone()).await;
        let received = self.clock.monotonic();
        let (status, headers, verdict) = match &outcome {
            Ok(_) => (200, http::HeaderMap::new(), Verdict::Unmarked),
            Err(error) => match error.refusal() {
                None => {
                    return Attempted::Unanswered {
                        fate: Fate::Lost,
                        error: Unanswered::Failed(outcome.err().expect("it is one")),
                    };
                }
                Some(refusal) => {
                    assert!(
                        refusal.spent.attempts <= 1,
                        "assertion failed: the client's own retry is on, and its waits are in no record:\n{}",
                        refusal.whole()
                    );
                    self.refused.push(record(name, refusal));
                    let marked = refusal.is_transient();
                    let verdict = if marked { Verdict::Transient } else { Verdict::Unmarked };
                    // The policy knows the mark with 507 alone; here the mark decides alone.
                    let status = if marked { 507 } else { refusal.status.as_u16() };
                    (status, refusal.headers.clone(), verdict)
                }
            },
        };
        let hint = hint(&headers, &self.policy, self.clock.wall());
        Attempted::Answered { status, hint, verdict, received, answer: outcome }
    }
}

fn record(name: String, refusal: &ClusterRefusal) -> RecordedWait {
    let stage = refusal.stage().unwrap_or_default();
    RecordedWait { name, length: Duration::ZERO, stage, reason: refusal.to_string() }
}

#[cfg(test)]
mod tests {
    use http::header::RETRY_AFTER;
    use http::{HeaderMap, HeaderValue, StatusCode};
    use retry_middleware::testing::VirtualClock;

    use super::*;

    fn refused(status: u16, transient: &str, hint: &'static str) -> ClusterError {
        let body =
            format!(r#"{{"error":"full","status":507,"stage":"queue_state","transient":{transient}}}"#);
        let headers = HeaderMap::from_iter([(RETRY_AFTER, HeaderValue::from_static(hint))]);
        let status = StatusCode::from_u16(status).expect("a status");
        let refusal = ClusterRefusal::new("POST http://host/instances", status, body).with_headers(headers);
        ClusterError::Refused(Box::new(refusal))
    }

    /// Refuses so often, and says under which names it was asked.
    async fn play(
        waits: &mut RecordedWaits<&VirtualClock>,
        mut answers: Vec<Result<u8, ClusterError>>,
    ) -> (Result<u8, ClusterError>, Vec<String>) {
        let mut names = Vec::new();
        answers.reverse();
        let outcome = waits
            .create("it", |name| {
                names.push(name);
                std::future::ready(answers.pop().expect("as many answers as attempts"))
            })
            .await;
        (outcome, names)
    }

    #[tokio::test]
    async fn each_attempt_has_a_fresh_name_and_each_wait_a_record() {
        let clock = VirtualClock::new();
        let mut waits = RecordedWaits::with_clock(Duration::from_secs(60), &clock);
        let answers = vec![Err(refused(507, "true", "7")), Err(refused(507, "true", "x")), Ok(1)];
        let (outcome, names) = play(&mut waits, answers).await;
        assert_eq!(
            (outcome.expect("created"), names),
            (1, vec!["it-1".into(), "it-2".into(), "it-3".into()])
        );
        let record = |name: &str, seconds| RecordedWait {
            name: name.into(),
            length: Duration::from_secs(seconds),
            stage: "queue_state".into(),
            reason: "POST http://host/instances answered 507: full".into(),
        };
        assert_eq!(waits.waits(), [record("it-1", 7), record("it-2", 15)]);
        assert_eq!((waits.attempts(), waits.waited()), (3, Duration::from_secs(22)));
        assert_eq!(clock.sleeps(), [Duration::from_secs(7), Duration::from_secs(15)]);

        let (_, names) = play(&mut waits, vec![Ok(2)]).await;
        assert_eq!(names, ["it-4"], "a name is never used twice");
    }

    #[tokio::test]
    async fn the_mark_alone_decides() {
        let clock = VirtualClock::new();
        let mut waits = RecordedWaits::with_clock(Duration::from_secs(60), &clock);
        for transient in ["false", "null", "\"true\"", "1"] {
            let (outcome, names) = play(&mut waits, vec![Err(refused(507, transient, "7"))]).await;
            assert!(outcome.is_err() && names.len() == 1, "{transient}");
        }
        assert_eq!(waits.waits(), []);
        let (outcome, _) = play(&mut waits, vec![Err(refused(429, "true", "7")), Ok(1)]).await;
        assert_eq!((outcome.expect("created"), waits.waits().len()), (1, 1));
    }

    #[tokio::test]
    async fn patience_ends_and_the_last_refusal_is_raised() {
        let clock = VirtualClock::new();
        let mut waits = RecordedWaits::with_clock(Duration::from_secs(20), &clock);
        let answers = (0..3).map(|_| Err(refused(507, "true", "15"))).collect();
        let (outcome, names) = play(&mut waits, answers).await;
        assert!(outcome.is_err());
        assert_eq!((names.len(), waits.waited()), (3, Duration::from_secs(20)));
        assert_eq!(waits.waits().len(), 2, "the last refusal was not waited out");
    }

    #[tokio::test]
    async fn what_is_no_answer_is_raised_at_once() {
        let clock = VirtualClock::new();
        let mut waits = RecordedWaits::with_clock(Duration::from_secs(20), &clock);
        let (outcome, names) = play(&mut waits, vec![Err(ClusterError::Interrupted)]).await;
        assert!(matches!(outcome, Err(ClusterError::Interrupted)));
        assert_eq!((names.len(), waits.attempts(), waits.waits().len()), (1, 1, 0));
    }

    #[tokio::test]
    #[should_panic(expected = "the client's own retry is on, and its waits are in no record")]
    async fn a_client_that_waits_by_itself_is_no_part_of_a_record() {
        let clock = VirtualClock::new();
        let mut waits = RecordedWaits::with_clock(Duration::from_secs(20), &clock);
        let Err(ClusterError::Refused(mut refusal)) = Err::<(), _>(refused(507, "true", "1")) else {
            unreachable!("it is one");
        };
        refusal.spent.attempts = 2;
        let _ = play(&mut waits, vec![Err(ClusterError::Refused(refusal))]).await;
    }
}
