//! The wait, the budget and the checks before them, rule by rule (C1 to C6, W1 to W6, B1 to B8).

use std::time::Duration;

use retry_core::{
    Application, Applied, Asked, Body, Combine, Decision, Hint, Jitter, LogicalRequest, Monotonic, Needs,
    NoRandom, Outcome, OverBudget, OverCeiling, Policy, PolicyBuilder, Random, Reading, Reason, Replay,
    RetryAfter, Schedule, StatusSet, Step, Stop, UnixTime, Verdict, Wait, profiles,
};

pub(crate) fn at(millis: u64) -> Monotonic {
    Monotonic::from_millis(millis)
}

pub(crate) fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn hint(text: &str) -> Hint {
    RetryAfter::parse([text.as_bytes()], &Reading::at(UnixTime::from_seconds(0))).into()
}

pub(crate) fn refused(status: u16, text: &str) -> Outcome {
    Outcome::answered(status, hint(text))
}

pub(crate) fn built(builder: PolicyBuilder) -> Policy {
    builder.build().expect("the test's policy does not contradict itself")
}

/// A request whose attempts take no time and whose waits are slept exactly.
struct Call {
    request: LogicalRequest,
    now: Monotonic,
    began: Vec<u64>,
}

impl Call {
    fn new(policy: &Policy) -> Self {
        Self::replaying(policy, Replay::Always)
    }

    fn replaying(policy: &Policy, replay: Replay) -> Self {
        let now = Monotonic::ORIGIN;
        Self { request: LogicalRequest::new(policy, replay, now), now, began: Vec::new() }
    }

    fn attempt(&mut self, outcome: Outcome) -> Decision {
        self.attempt_taking(0, outcome)
    }

    fn attempt_taking(&mut self, millis: u64, outcome: Outcome) -> Decision {
        assert_eq!(self.request.poll(self.now, None), Step::Attempt);
        self.request.begin(self.now);
        self.began.push(self.now.as_millis());
        self.now = self.now.after_millis(millis);
        let decision = self.request.end(&outcome, self.now, self.now, &mut NoRandom);
        if let Decision::Wait(wait) = decision {
            assert_eq!(self.request.poll(self.now, None) == Step::Attempt, wait.until <= self.now);
            self.now = wait.until;
        }
        decision
    }

    #[track_caller]
    fn waits(&mut self, outcome: Outcome) -> Wait {
        match self.attempt(outcome) {
            Decision::Wait(wait) => wait,
            other => panic!("{other:?}"),
        }
    }

    #[track_caller]
    fn stops(&mut self, outcome: Outcome) -> Stop {
        match self.attempt(outcome) {
            Decision::Stop(stop) => stop,
            other => panic!("{other:?}"),
        }
    }
}

#[track_caller]
fn first_wait(policy: &Policy, outcome: Outcome) -> (u64, Vec<Application>) {
    let wait = Call::new(policy).waits(outcome);
    (u64::try_from(wait.length().as_millis()).unwrap(), wait.applied.iter().collect())
}

#[track_caller]
fn first_stop(policy: &Policy, replay: Replay, outcome: Outcome) -> Reason {
    Call::replaying(policy, replay).stops(outcome).reason
}

/// MWP5_05, W1, W2, W6.
#[test]
fn muse_keeps_each_wait_between_its_floor_and_its_ceiling() {
    assert_eq!(first_wait(&profiles::MUSE, refused(503, "0")), (1_000, vec![Application::Floor]));
    assert_eq!(first_wait(&profiles::MUSE, refused(503, "999")), (60_000, vec![Application::Ceiling]));
    assert_eq!(first_wait(&profiles::MUSE, refused(503, "60")), (60_000, vec![]));
    let none = Outcome::answered(503, Hint::NONE);
    assert_eq!(first_wait(&profiles::MUSE, none), (5_000, vec![Application::DefaultBackoff]));
    let malformed = refused(503, "soon");
    assert_eq!(first_wait(&profiles::MUSE, malformed), (5_000, vec![Application::DefaultBackoff]));
}

/// MWP5_08, section 7: each refusal is taken afresh.
#[test]
fn muse_waits_what_each_refusal_says() {
    let mut call = Call::new(&profiles::MUSE);
    assert_eq!(call.waits(refused(503, "30")).until, at(30_000));
    assert_eq!(call.waits(refused(503, "60")).until, at(90_000));
    assert_eq!(call.attempt(Outcome::answered(200, Hint::NONE)), Decision::Done);
    assert_eq!(call.request.waited(), seconds(90));
}

/// MWP5_10, B2: equality still waits; the ideal clock makes three attempts.
#[test]
fn a_wait_that_ends_exactly_at_the_hard_stop_fits() {
    let mut call = Call::new(&profiles::MUSE);
    call.waits(refused(503, "60"));
    call.waits(refused(503, "60"));
    let stop = call.stops(refused(503, "60"));
    assert_eq!(call.began, [0, 60_000, 120_000]);
    assert_eq!((stop.reason, stop.attempts, stop.waited), (Reason::BudgetExhausted, 3, seconds(120)));
    assert_eq!(stop.asked, Asked::Delay { millis: 60_000 });
    assert_eq!(stop.possible_at, Some(at(180_000)));
    assert_eq!(stop.refused_wait, Some(seconds(60)));
}

/// B2: any real request time, and the second wait no longer fits.
#[test]
fn request_time_is_part_of_the_budget() {
    let mut call = Call::new(&profiles::MUSE);
    call.attempt_taking(1, refused(503, "60"));
    let Decision::Stop(stop) = call.attempt_taking(1, refused(503, "60")) else { panic!() };
    assert_eq!((stop.attempts, stop.elapsed), (2, Duration::from_millis(60_002)));
}

/// MWP5_12, B1.
#[test]
fn budget_zero_is_one_attempt_in_every_mode() {
    for over in [OverBudget::GiveUp, OverBudget::TruncateThenTry] {
        for floor in [0, 1] {
            let builder = profiles::ALKHTTP.to_builder().budget(Duration::ZERO).over_budget(over);
            let schedule = Some(Schedule::Constant { millis: 0 });
            let policy = built(builder.floor(seconds(floor)).schedule(schedule));
            assert_eq!(first_stop(&policy, Replay::Always, refused(503, "0")), Reason::BudgetExhausted);
        }
    }
}

/// B3: below the floor if need be, once, and named.
#[test]
fn truncation_waits_what_remains_and_tries_once_more() {
    let policy = built(profiles::SHAKENFIST.to_builder().enabled(true).budget(Duration::from_millis(15_400)));
    let marked = |text| Outcome::Answered { status: 507, hint: hint(text), verdict: Verdict::Transient };
    let mut call = Call::new(&policy);
    assert_eq!(call.waits(marked("15")).length(), seconds(15));
    let cut = call.waits(marked("15"));
    assert_eq!((cut.length(), cut.until), (Duration::from_millis(400), at(15_400)));
    assert_eq!(cut.applied.iter().collect::<Vec<_>>(), [Application::Truncated]);
    assert_eq!(call.stops(marked("15")).reason, Reason::BudgetExhausted);
    assert_eq!(call.began, [0, 15_000, 15_400]);
}

/// B3: a wait that ends with the budget is not cut, and does not say so.
#[test]
fn a_wait_that_ends_with_the_budget_is_not_called_truncated() {
    let policy = built(profiles::SHAKENFIST.to_builder().enabled(true).budget(seconds(15)));
    let marked = Outcome::Answered { status: 507, hint: hint("15"), verdict: Verdict::Transient };
    let whole = Call::new(&policy).waits(marked);
    assert_eq!((whole.length(), whole.applied), (seconds(15), Applied::NONE));
}

/// B5, and the table of the capacity client: five attempts, four waits.
#[test]
fn attempts_are_capped_and_every_send_counts() {
    let policy = built(profiles::SHAKENFIST.to_builder().enabled(true).budget(seconds(3_600)));
    let marked = Outcome::Answered { status: 507, hint: hint("15"), verdict: Verdict::Transient };
    let mut call = Call::new(&policy);
    for _ in 0..4 {
        assert_eq!(call.waits(marked).length(), seconds(15));
    }
    let stop = call.stops(marked);
    assert_eq!((stop.reason, stop.attempts, stop.waited), (Reason::AttemptsExhausted, 5, seconds(60)));
}

/// C1: each check in turn, with everything after it failing too.
#[test]
fn the_first_check_that_fails_names_the_stop() {
    let needy =
        StatusSet::EMPTY.with(429, Needs::HINT).and_then(|set| set.with(507, Needs::NOTHING)).unwrap();
    let one = |builder: PolicyBuilder| built(builder.max_attempts(Some(1)).budget(Duration::ZERO));
    let policy = one(profiles::RECOMMENDED.to_builder().retry_on(needy));
    let disabled = one(policy.to_builder().enabled(false));
    let unhinted = Outcome::answered(429, Hint::NONE);

    assert_eq!(first_stop(&disabled, Replay::Never, refused(500, "9999")), Reason::NotRetryable);
    assert_eq!(first_stop(&disabled, Replay::Never, unhinted), Reason::Disabled);
    assert_eq!(first_stop(&policy, Replay::Never, unhinted), Reason::Unmarked);
    assert_eq!(first_stop(&policy, Replay::Never, refused(507, "1")), Reason::Unmarked);
    assert_eq!(first_stop(&policy, Replay::Never, refused(429, "9999")), Reason::NotReplayable);
    assert_eq!(first_stop(&policy, Replay::Always, refused(429, "9999")), Reason::AttemptsExhausted);
    let more = built(policy.to_builder().max_attempts(Some(2)));
    assert_eq!(first_stop(&more, Replay::Always, refused(429, "9999")), Reason::HintAboveCeiling);
    assert_eq!(first_stop(&more, Replay::Always, refused(429, "1")), Reason::BudgetExhausted);
}

/// C1: the smaller of the two upper bounds is named, the budget on a tie.
#[test]
fn the_smaller_upper_bound_is_named() {
    let stop = |deadline| {
        let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, at(0)).finish_by(at(deadline));
        request.begin(at(0));
        match request.end(&refused(503, "60"), at(100_000), at(100_000), &mut NoRandom) {
            Decision::Stop(stop) => stop.reason,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(stop(119_999), Reason::DeadlinePassed);
    assert_eq!(stop(120_000), Reason::BudgetExhausted);
    assert_eq!(stop(500_000), Reason::BudgetExhausted);
}

/// C2: a status alone is not a promise.
#[test]
fn needs_are_met_by_what_they_name_only() {
    let recommended = &profiles::RECOMMENDED;
    let marked = |text| Outcome::Answered { status: 507, hint: hint(text), verdict: Verdict::Transient };
    assert_eq!(first_wait(recommended, marked("3")).0, 3_000);
    assert_eq!(first_stop(recommended, Replay::Always, refused(507, "3")), Reason::Unmarked);
    assert_eq!(first_wait(recommended, refused(413, "3")).0, 3_000);
    assert_eq!(first_wait(recommended, refused(413, "0")).0, 1_000);
    assert_eq!(first_stop(recommended, Replay::Always, refused(413, "soon")), Reason::Unmarked);
    assert_eq!(first_stop(recommended, Replay::Always, Outcome::answered(413, Hint::NONE)), Reason::Unmarked);
}

/// C2: however it was listed.
#[test]
fn status_507_always_needs_the_marker() {
    for needs in [Needs::NOTHING, Needs::HINT] {
        let set = StatusSet::EMPTY.with(507, needs).unwrap();
        assert_eq!(set.needs(507), Some(Needs { transient: true, hint: needs.hint }));
    }
    assert_eq!(StatusSet::EMPTY.with(99, Needs::NOTHING), None);
    assert_eq!(StatusSet::EMPTY.with(600, Needs::NOTHING), None);
    for status in [100, 163, 164, 599] {
        let set = StatusSet::EMPTY.with(status, Needs::HINT).unwrap();
        assert_eq!(set.iter().collect::<Vec<_>>(), [(status, Needs::HINT)]);
        let again = set.with(status, Needs::NOTHING).unwrap();
        assert_eq!(again.needs(status), Some(Needs::NOTHING));
    }
    assert!(StatusSet::EMPTY.is_empty());
    assert!(!profiles::MUSE.retry_on().is_empty());
}

/// C3, H1, F30, MWP5_04, MWP5_11.
#[test]
fn a_hint_on_another_status_changes_nothing() {
    for status in [400, 403, 404, 409, 500, 501] {
        let stop = Call::new(&profiles::RECOMMENDED).stops(refused(status, "5"));
        assert_eq!((stop.reason, stop.asked), (Reason::NotRetryable, Asked::Delay { millis: 5_000 }));
    }
    for status in [200, 201, 204, 301, 302, 399] {
        assert_eq!(Call::new(&profiles::RECOMMENDED).attempt(refused(status, "5")), Decision::Done);
    }
    let continues = StatusSet::EMPTY.with(100, Needs::NOTHING).unwrap();
    let policy = built(profiles::RECOMMENDED.to_builder().retry_on(continues));
    assert_eq!(first_stop(&policy, Replay::Always, refused(100, "5")), Reason::NotRetryable);
}

/// C4, F28.
#[test]
fn replay_follows_method_body_and_the_callers_word() {
    for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"] {
        assert_eq!(Replay::of(method, Body::Replayable, false), Replay::Always);
    }
    for method in ["POST", "PATCH", "CONNECT", "get", "QUERY"] {
        assert_eq!(Replay::of(method, Body::Replayable, false), Replay::OnlyIfUnsent);
        assert_eq!(Replay::of(method, Body::Replayable, true), Replay::Always);
        assert_eq!(Replay::of(method, Body::Once, true), Replay::Never);
    }
    let once = first_stop(&profiles::RECOMMENDED, Replay::OnlyIfUnsent, refused(503, "1"));
    assert_eq!(once, Reason::NotReplayable);
}

/// C6: what was certainly not processed, and what may have been.
#[test]
fn unanswered_attempts_are_repeated_by_their_replay_class() {
    let policy = &profiles::RECOMMENDED;
    let goes_on = |replay, outcome| matches!(Call::replaying(policy, replay).attempt(outcome), Decision::Wait(wait) if wait.length() == seconds(1));
    for (replay, not_sent, lost) in
        [(Replay::Always, true, true), (Replay::OnlyIfUnsent, true, false), (Replay::Never, false, false)]
    {
        assert_eq!(goes_on(replay, Outcome::NotSent), not_sent, "{replay:?}");
        assert_eq!(goes_on(replay, Outcome::Lost), lost, "{replay:?}");
    }
    assert_eq!(first_stop(&profiles::MUSE, Replay::Always, Outcome::NotSent), Reason::NotRetryable);
    let disabled = built(policy.to_builder().enabled(false));
    assert_eq!(first_stop(&disabled, Replay::Always, Outcome::Lost), Reason::Disabled);
}

/// W4, F10, F11: constant small hints still back off.
#[test]
fn a_hint_never_resets_the_backoff() {
    for (text, expected) in [("1", [1, 2, 4, 8, 16, 30, 30]), ("0", [1, 2, 4, 8, 16, 30, 30])] {
        let mut call = Call::new(&built(profiles::RECOMMENDED.to_builder().budget(seconds(3_600))));
        for length in expected {
            assert_eq!(call.waits(refused(503, text)).length(), seconds(length));
        }
    }
}

/// Section 5: which of the two sources is taken, and how it is told.
#[test]
fn the_larger_of_hint_and_backoff_is_taken() {
    let policy = &profiles::RECOMMENDED;
    assert_eq!(first_wait(policy, refused(503, "2")), (2_000, vec![]));
    assert_eq!(first_wait(policy, refused(503, "1")), (1_000, vec![]));
    assert_eq!(first_wait(policy, refused(503, "0")), (1_000, vec![Application::Backoff]));
    assert_eq!(first_wait(policy, refused(503, "x")), (1_000, vec![Application::Backoff]));

    let patient = built(policy.to_builder().default_backoff(seconds(3)));
    assert_eq!(first_wait(&patient, refused(503, "x")), (3_000, vec![Application::DefaultBackoff]));
    let none = Outcome::answered(503, Hint::NONE);
    assert_eq!(first_wait(&patient, none), (1_000, vec![Application::Backoff]));
    let level = built(policy.to_builder().default_backoff(seconds(1)));
    assert_eq!(first_wait(&level, refused(503, "x")), (1_000, vec![Application::Backoff]));

    let constant = built(patient.to_builder().schedule(None));
    assert_eq!(first_wait(&constant, refused(503, "2")), (3_000, vec![Application::DefaultBackoff]));
    assert_eq!(first_wait(&constant, refused(503, "3")), (3_000, vec![]));
    let obeys = built(constant.to_builder().combine(Combine::HintOnly));
    assert_eq!(first_wait(&obeys, refused(503, "2")), (2_000, vec![]));
}

/// F02, F14, W2: the ceiling is inclusive, and above it the caller's choice counts.
#[test]
fn a_hint_above_the_ceiling_stops_or_is_clamped_by_choice() {
    let gives_up = &profiles::RECOMMENDED;
    assert_eq!(first_wait(gives_up, refused(429, "120")).0, 120_000);
    let stop = Call::new(gives_up).stops(refused(429, "121"));
    assert_eq!((stop.reason, stop.refused_wait), (Reason::HintAboveCeiling, Some(seconds(121))));
    let clamps = built(gives_up.to_builder().over_ceiling(OverCeiling::Clamp));
    assert_eq!(first_wait(&clamps, refused(429, "121")), (120_000, vec![Application::Ceiling]));
}

/// F03, T3: compared exactly, before anything is cut.
#[test]
fn the_largest_hint_is_above_every_ceiling() {
    let widest = built(profiles::RECOMMENDED.to_builder().ceiling(Duration::MAX).budget(Duration::MAX));
    let largest = retry_core::LARGEST.to_string();
    assert_eq!(first_stop(&widest, Replay::Always, refused(503, &largest)), Reason::HintAboveCeiling);
    let clamps = built(widest.to_builder().over_ceiling(OverCeiling::Clamp));
    let wait = Call::new(&clamps).waits(refused(503, &largest));
    assert_eq!(wait.length(), Duration::from_millis(retry_core::LARGEST));
}

/// W2: a larger backoff is cut, never a stop.
#[test]
fn the_ceiling_cuts_backoff() {
    let schedule = Some(Schedule::Constant { millis: 500_000 });
    let policy = built(profiles::RECOMMENDED.to_builder().schedule(schedule));
    let none = Outcome::answered(503, Hint::NONE);
    assert_eq!(first_wait(&policy, none), (120_000, vec![Application::Backoff, Application::Ceiling]));
}

/// W5.
#[test]
fn schedules_grow_from_their_base_and_saturate() {
    let constant = Schedule::Constant { millis: 7 };
    assert_eq!([0, 1, 9].map(|attempts| constant.millis_after(attempts)), [7, 7, 7]);
    let doubling = Schedule::Exponential { base_millis: 100, factor: 2, cap_millis: 2_000 };
    assert_eq!(
        [0, 1, 2, 3, 5, 6, 7].map(|n| doubling.millis_after(n)),
        [100, 100, 200, 400, 1_600, 2_000, 2_000]
    );
    let steady = Schedule::Exponential { base_millis: 5, factor: 1, cap_millis: 9 };
    assert_eq!(steady.millis_after(u32::MAX), 5);
    let steep = Schedule::Exponential { base_millis: u64::MAX / 2, factor: u64::MAX, cap_millis: u64::MAX };
    assert_eq!(steep.millis_after(u32::MAX), u64::MAX);
    let nothing = Schedule::Exponential { base_millis: 0, factor: 9, cap_millis: 9 };
    assert_eq!(nothing.millis_after(u32::MAX), 0);
    let capped = Schedule::Exponential { base_millis: 50, factor: 2, cap_millis: 9 };
    assert_eq!(capped.millis_after(1), 9);
}

/// Draws the most, and remembers what it was asked for.
pub(crate) struct Most(pub(crate) Vec<u64>);

impl Random for Most {
    fn up_to(&mut self, most: u64) -> u64 {
        self.0.push(most);
        most
    }
}

/// W3, F12, and the three limits of J.
#[test]
fn jitter_is_added_within_its_three_limits() {
    let drawn = |policy: &Policy, text: &str| {
        let mut request = LogicalRequest::new(policy, Replay::Always, at(0));
        request.begin(at(0));
        let mut most = Most(Vec::new());
        match request.end(&refused(503, text), at(0), at(0), &mut most) {
            Decision::Wait(wait) => {
                assert_eq!(wait.applied.contains(Application::Jitter), most.0[0] > 0);
                (most.0, wait.until.as_millis())
            }
            other => panic!("{other:?}"),
        }
    };
    let share = built(profiles::RECOMMENDED.to_builder().jitter(Jitter { per_mille: 500, cap_millis: None }));
    assert_eq!(drawn(&share, "10"), (vec![5_000], 15_000));
    // The ceiling does not bound it.
    assert_eq!(drawn(&share, "120"), (vec![60_000], 180_000));
    let capped = built(share.to_builder().jitter(Jitter { per_mille: 500, cap_millis: Some(700) }));
    assert_eq!(drawn(&capped, "10"), (vec![700], 10_700));
    let tight = built(share.to_builder().budget(Duration::from_millis(10_300)));
    assert_eq!(drawn(&tight, "10"), (vec![300], 10_300));
    let odd = built(share.to_builder().jitter(Jitter { per_mille: 1, cap_millis: None }));
    assert_eq!(drawn(&odd, "1").0, [1]);
    assert_eq!(drawn(&built(odd.to_builder().jitter(Jitter::NONE)), "1"), (vec![0], 1_000));
}

/// T4, F25: the wait counts from the head, however long the body took.
#[test]
fn a_delay_counts_from_the_arrival_of_the_head() {
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, at(0));
    request.begin(at(0));
    let Decision::Wait(wait) = request.end(&refused(503, "30"), at(1_000), at(9_000), &mut NoRandom) else {
        panic!()
    };
    assert_eq!((wait.until, wait.length()), (at(31_000), seconds(30)));
    assert_eq!(request.poll(at(30_999), None), Step::Wait(at(31_000)));
    assert_eq!(request.poll(at(31_000), None), Step::Attempt);
    assert_eq!(request.planned(), Some(at(31_000)));
}

/// T4: a body that took longer than the wait leaves nothing to wait.
#[test]
fn a_wait_that_is_over_already_is_no_wait() {
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, at(0));
    request.begin(at(0));
    let decision = request.end(&refused(503, "1"), at(0), at(9_000), &mut NoRandom);
    assert!(matches!(decision, Decision::Wait(wait) if wait.until == at(9_000)), "{decision:?}");
    assert_eq!(request.poll(at(9_000), None), Step::Attempt);
}

/// T6.
#[test]
fn an_attempt_ends_at_its_timeout_or_at_a_deadline_ahead() {
    let policy = &profiles::RECOMMENDED;
    let request = || LogicalRequest::new(policy, Replay::Always, at(0));
    let attempt = request().begin(at(10));
    assert_eq!(attempt.abandon_at, at(30_010));
    let patience = Duration::from_secs(2);
    assert_eq!(attempt.look_until(at(1_000), patience), at(3_000));
    assert_eq!(attempt.look_until(at(29_000), patience), at(30_008), "C6: just before it is abandoned");
    assert_eq!(request().finish_by(at(5_000)).begin(at(10)).abandon_at, at(5_000));
    assert_eq!(request().finish_by(at(90_000)).begin(at(10)).abandon_at, at(30_010));
    // A deadline that has passed still means one whole attempt.
    assert_eq!(request().finish_by(at(10)).begin(at(10)).abandon_at, at(30_010));
    let mut counted = request();
    assert_eq!([counted.begin(at(0)).number, counted.begin(at(1)).number], [1, 2]);
}

/// The law of the two bounds: the first attempt is never held by the hard stop.
#[test]
fn a_deadline_in_the_past_means_one_attempt() {
    let policy = built(profiles::SHAKENFIST.to_builder().enabled(true));
    let mut request = LogicalRequest::new(&policy, Replay::Always, at(50)).finish_by(at(0));
    assert_eq!(request.poll(at(50), None), Step::Attempt);
    request.begin(at(50));
    let marked = Outcome::Answered { status: 507, hint: hint("1"), verdict: Verdict::Transient };
    let Decision::Stop(stop) = request.end(&marked, at(60), at(60), &mut NoRandom) else { panic!() };
    assert_eq!((stop.reason, stop.attempts), (Reason::DeadlinePassed, 1));
}

/// The sentence that a person reads.
#[test]
fn waits_and_stops_explain_themselves() {
    let wait = Call::new(&profiles::MUSE).waits(refused(503, "999"));
    insta::assert_snapshot!(wait, @"the server asked for 999 s; waiting 60 s (ceiling) before attempt 2; 0 s of 120 s used");
    let wait = Call::new(&profiles::MUSE).waits(refused(503, "30"));
    insta::assert_snapshot!(wait, @"the server asked for 30 s; waiting 30 s before attempt 2; 0 s of 120 s used");
    let slow = Schedule::Constant { millis: 500_500 };
    let wait =
        Call::new(&built(profiles::RECOMMENDED.to_builder().schedule(Some(slow)))).waits(refused(503, "x"));
    insta::assert_snapshot!(wait, @"the server's hint is neither a number of seconds nor a date; waiting 120 s (backoff, ceiling) before attempt 2; 0 s of 300 s used");

    let stop = Call::new(&profiles::RECOMMENDED).stops(refused(429, "3600"));
    insta::assert_snapshot!(stop, @"stopped after 1 attempt and 0 s: the server asked for more than the ceiling (the next wait is 3600 s, the budget 300 s); the server asked for 3600 s");
    let mut call = Call::new(&profiles::MUSE);
    call.attempt_taking(250, refused(503, "60"));
    let stop = call.stops(Outcome::answered(404, Hint::NONE));
    insta::assert_snapshot!(stop, @"stopped after 2 attempts and 60.250 s: this outcome is not retried");
}
