//! The one request to a cluster that may be repeated: a creation that was refused for want of capacity, and
//! only where the refusal says that it passes.

use bytes::Bytes;
use http::Method;
use retry_core::{Attempt, LogicalRequest, Monotonic, NoRandom, Policy, Reason, Replay, profiles};
use retry_middleware::{Attempted, Clock, Driver, Exchange, Fate, Finished, Observer, hint, verdict};
use tokio::select;

use super::errors::{ClusterError, Unanswered};
use super::instance::Instance;
use super::settings::ClusterSettings;
use super::talk::{Ask, Talk, read, refused, sleep_through};
use super::wire::{Answer, Wire};
use crate::errors::Spent;

/// The profile `shakenfist` as these settings want it.
fn policy(settings: &ClusterSettings) -> Policy {
    let length = settings.strategy.length();
    profiles::SHAKENFIST
        .to_builder()
        .enabled(settings.retry_transient_capacity)
        .budget(length)
        // One attempt holds the waiting for dependencies too, which only the deadline bounds; each of its
        // requests has the profile's time for itself.
        .attempt_timeout(length.saturating_add(profiles::SHAKENFIST.attempt_timeout()))
        .build()
        .expect("a budget, a timeout and a switch contradict nothing in the profile")
}

impl<W: Wire, C: Clock> Talk<'_, W, C> {
    /// Creates an instance and, until the deadline, waits for it to leave `creating`.
    pub(super) async fn create(
        &mut self,
        body: Bytes,
        observer: impl Observer,
        cancelled: impl Future<Output = ()> + Send,
    ) -> Result<Instance, ClusterError> {
        let policy = policy(self.settings);
        let start = self.clock.monotonic();
        let deadline = self.settings.strategy.deadline(start);
        // A marked refusal has committed nothing, so the POST may be sent again.
        let mut request = LogicalRequest::new(&policy, Replay::Always, start).finish_by(deadline);
        let ask = Ask { body: Some(body), ..Ask::new(Method::POST, "/instances") };
        let (clock, asked) = (self.clock, self.question(&ask, None).shown());
        let mut creating = Creating { talk: &mut *self, ask, deadline, policy };
        let mut driver = Driver { clock, random: NoRandom, observer };
        let Finished { stop, answer, error, attempts, waited } =
            driver.run(&mut request, &mut creating, cancelled).await;
        let spent = Spent { attempts, waited };
        let instance = match (stop, answer, error) {
            (Some(stop), ..) if stop.reason == Reason::Cancelled => return Err(ClusterError::Interrupted),
            (_, Some(answer), None) if answer.status.is_success() => read(answer)?,
            // The server's last answer, also where a later attempt had none (C5).
            (stop, Some(answer), _) => return Err(refused(answer, spent, stop)),
            (_, None, Some(error)) => return Err(error.of(asked)),
            (_, None, None) => unreachable!("the driver ends with an answer, an error, or cancelled"),
        };
        self.watch(instance, deadline).await
    }

    /// Waits for an instance to leave `creating`; when the deadline comes before, it is returned as it is.
    async fn watch(&mut self, mut instance: Instance, deadline: Monotonic) -> Result<Instance, ClusterError> {
        let ask = Ask::new(Method::GET, format!("/instances/{}", instance.uuid));
        while instance.is_creating() && self.wait_a_little(deadline).await.is_some() {
            let clock = self.clock;
            let looked = select! {
                biased;
                looked = self.read(&ask, deadline) => looked,
                () = sleep_through(clock, deadline) => break,
            };
            match looked {
                Ok(seen) => instance = seen,
                Err(error) => {
                    let (instance, error) = (Box::new(instance), Box::new(error));
                    return Err(ClusterError::Unwatched { instance, error });
                }
            }
        }
        Ok(instance)
    }
}

struct Creating<'t, 's, W, C> {
    talk: &'t mut Talk<'s, W, C>,
    /// The same bytes in each attempt.
    ask: Ask,
    deadline: Monotonic,
    policy: Policy,
}

impl<W: Wire, C: Clock> Exchange for Creating<'_, '_, W, C> {
    type Answer = Answer;
    type Error = Unanswered;

    async fn attempt(&mut self, _: Attempt) -> Attempted<Answer, Unanswered> {
        match self.talk.ask(&self.ask, self.deadline).await {
            Ok(answer) => Attempted::Answered {
                status: answer.status.as_u16(),
                hint: hint(&answer.headers, &self.policy, self.talk.clock.wall()),
                verdict: verdict(&answer.body),
                received: answer.received,
                answer,
            },
            Err(error) => {
                let not_sent = matches!(&error, ClusterError::Transport(error) if error.not_sent());
                let fate = if not_sent { Fate::NotSent } else { Fate::Lost };
                Attempted::Unanswered { fate, error: Unanswered::Failed(error) }
            }
        }
    }
}
