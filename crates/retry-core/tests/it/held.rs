//! What holds a request beside its own wait: the instant first told, windows, a caller that gives up (E2, E7, E8, B7).

use std::time::Duration;

use retry_core::{Asked, Decision, Jitter, LogicalRequest, NoRandom, Random, Reason, Replay, Step, profiles};

use crate::decisions::{Most, at, built, refused, seconds};

/// E2, B4: a second refusal cannot move the first instant out while it is live; later ones start afresh.
#[test]
fn the_first_deadline_is_kept_while_it_is_live() {
    let policy = built(profiles::ALKHTTP.to_builder().budget(seconds(100)).jitter(Jitter::NONE));
    let mut request = LogicalRequest::new(&policy, Replay::Always, at(0));
    let mut end = |now, text: &str| {
        request.begin(at(now));
        match request.end(&refused(429, text), at(now), at(now), &mut NoRandom) {
            Decision::Wait(wait) => wait.until.as_millis(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(end(0, "10"), 10_000);
    // Another layer came back early.
    assert_eq!(end(4_000, "10"), 10_000);
    assert_eq!(end(10_000, "10"), 20_000);
}

/// E2: what was told is cut to the hard stop.
#[test]
fn the_first_deadline_is_cut_to_the_hard_stop() {
    let policy = built(profiles::ALKHTTP.to_builder().jitter(Jitter::NONE));
    let mut request = LogicalRequest::new(&policy, Replay::Always, at(0));
    request.begin(at(0));
    let Decision::Wait(wait) = request.end(&refused(429, "300"), at(0), at(0), &mut NoRandom) else {
        panic!()
    };
    assert_eq!(wait.until, at(10_000));
    request.begin(at(9_000));
    let Decision::Wait(wait) = request.end(&refused(429, "300"), at(9_000), at(9_000), &mut NoRandom) else {
        panic!()
    };
    assert_eq!(wait.until, at(10_000));
}

/// E2, F16, F37: another layer sends it again; clock and first instant stay, a spent budget skips the wait.
#[test]
fn a_resumed_request_keeps_its_clock_and_its_first_instant() {
    let policy = built(profiles::ALKHTTP.to_builder().max_attempts(Some(1)).jitter(Jitter::NONE));
    let mut request = LogicalRequest::new(&policy, Replay::Always, at(0));
    request.begin(at(0));
    let Decision::Stop(stop) = request.end(&refused(429, "4"), at(0), at(0), &mut NoRandom) else { panic!() };
    assert_eq!(stop.reason, Reason::AttemptsExhausted);
    assert!(request.is_stopped());

    request.resume();
    assert!(!request.is_stopped());
    assert_eq!(request.poll(at(100), None), Step::Wait(at(4_000)));
    request.begin(at(3_000));
    request.end(&refused(429, "300"), at(3_000), at(3_000), &mut NoRandom);
    request.resume();
    assert_eq!(request.attempts(), 2);
    assert_eq!(request.poll(at(3_100), None), Step::Wait(at(4_000)));
    request.begin(at(4_000));
    request.end(&refused(429, "300"), at(4_000), at(4_000), &mut NoRandom);
    request.resume();
    assert_eq!(request.poll(at(4_100), None), Step::Wait(at(10_000)));
    assert_eq!(request.poll(at(10_000), None), Step::Attempt);
    request.begin(at(10_000));
    request.end(&refused(429, "300"), at(10_000), at(10_000), &mut NoRandom);
    request.resume();
    assert_eq!(request.poll(at(10_001), None), Step::Attempt);
}

/// The law of the two bounds: a policy that gives up does not go early for another layer either.
#[test]
fn a_resumed_request_that_gives_up_is_never_early() {
    let mut request = LogicalRequest::new(&profiles::RECOMMENDED, Replay::Always, at(0));
    request.begin(at(0));
    request.end(&refused(429, "200"), at(0), at(0), &mut NoRandom);
    request.resume();
    assert_eq!(request.poll(at(100), None), Step::Wait(at(200_000)));
    request.begin(at(200_000));
    request.end(&refused(429, "200"), at(200_000), at(200_000), &mut NoRandom);
    request.resume();
    let Step::Stop(stop) = request.poll(at(200_001), None) else { panic!() };
    assert_eq!((stop.reason, stop.attempts), (Reason::WindowTooFar, 2));
}

/// E7: a live window of others holds even the first attempt; a free one does not.
#[test]
fn a_live_window_holds_every_attempt() {
    let request = LogicalRequest::new(&profiles::RECOMMENDED, Replay::Always, at(0));
    assert_eq!(request.poll(at(0), Some(at(2_000))), Step::Wait(at(2_000)));
    assert_eq!(request.poll(at(1_999), Some(at(2_000))), Step::Wait(at(2_000)));
    assert_eq!(request.poll(at(2_000), Some(at(2_000))), Step::Attempt);
    assert_eq!(request.poll(at(300_000), Some(at(300_000))), Step::Attempt);
}

/// E7: whichever ends later, the own wait or the window.
#[test]
fn the_own_wait_and_the_window_join_by_max() {
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, at(0));
    request.begin(at(0));
    request.end(&refused(503, "10"), at(0), at(0), &mut NoRandom);
    assert_eq!(request.poll(at(1), Some(at(5_000))), Step::Wait(at(10_000)));
    assert_eq!(request.poll(at(1), Some(at(15_000))), Step::Wait(at(15_000)));
    assert_eq!(request.poll(at(12_000), Some(at(15_000))), Step::Wait(at(15_000)));
}

/// E7, F15, F18: beyond the hard stop the mode decides.
#[test]
fn a_window_beyond_the_hard_stop_stops_or_is_tried_at_the_hard_stop() {
    let gives_up = LogicalRequest::new(&profiles::RECOMMENDED, Replay::Always, at(1_000));
    assert_eq!(gives_up.poll(at(1_000), Some(at(301_000))), Step::Wait(at(301_000)));
    let Step::Stop(stop) = gives_up.poll(at(2_000), Some(at(301_001))) else { panic!() };
    assert_eq!((stop.reason, stop.attempts, stop.possible_at), (Reason::WindowTooFar, 0, Some(at(301_001))));
    assert_eq!((stop.elapsed, stop.waited), (seconds(1), seconds(1)));
    assert_eq!(stop.refused_wait, Some(Duration::from_millis(299_001)));

    let tries = LogicalRequest::new(&profiles::ALKHTTP, Replay::Always, at(0));
    assert_eq!(tries.poll(at(0), Some(at(300_000))), Step::Wait(at(10_000)));
    assert_eq!(tries.poll(at(10_000), Some(at(300_000))), Step::Attempt);
}

/// E8: above the window, within the policy's jitter, and nothing without a draw.
#[test]
fn requests_that_a_window_releases_spread_out() {
    let policy = &profiles::RECOMMENDED;
    let spread = LogicalRequest::new(policy, Replay::Always, at(0)).spread(&mut Most(Vec::new()));
    assert_eq!(spread.poll(at(0), Some(at(2_000))), Step::Wait(at(3_000)));
    assert_eq!(spread.poll(at(1_000), Some(at(2_000))), Step::Wait(at(2_500)));
    assert_eq!(spread.poll(at(2_000), Some(at(2_000))), Step::Attempt);
    let half = LogicalRequest::new(policy, Replay::Always, at(0)).spread(&mut Half);
    assert_eq!(half.poll(at(0), Some(at(2_000))), Step::Wait(at(2_500)));
}

struct Half;

impl Random for Half {
    fn up_to(&mut self, most: u64) -> u64 {
        most / 2
    }
}

/// B7.
#[test]
fn a_cancelled_wait_tells_what_it_was_waiting_for() {
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, at(0));
    request.begin(at(0));
    request.end(&refused(503, "30"), at(0), at(0), &mut NoRandom);
    let stop = request.stop(Reason::Cancelled, at(10_000));
    assert_eq!((stop.reason, stop.attempts, stop.waited), (Reason::Cancelled, 1, seconds(10)));
    assert_eq!((stop.asked, stop.possible_at), (Asked::Delay { millis: 30_000 }, Some(at(30_000))));
    assert_eq!(request.poll(at(30_000), None), Step::Stop(stop));
    assert_eq!(request.stop(Reason::WindowTooFar, at(40_000)), stop);
}

/// B7: the time of an attempt is no wait, however the attempt ends.
#[test]
fn a_cancelled_attempt_was_not_waited_for() {
    let mut request = LogicalRequest::new(&profiles::MUSE, Replay::Always, at(0));
    request.begin(at(500));
    request.end(&refused(503, "30"), at(1_000), at(1_000), &mut NoRandom);
    request.begin(at(31_000));
    let stop = request.stop(Reason::Cancelled, at(40_000));
    assert_eq!((stop.attempts, stop.elapsed), (2, seconds(40)));
    assert_eq!((stop.waited, request.waited()), (Duration::from_millis(30_500), stop.waited));
}

/// E4, E7: a window that has ended holds nobody, wherever the hard stop lies.
#[test]
fn an_ended_window_beyond_the_hard_stop_holds_nobody() {
    let policy = built(profiles::RECOMMENDED.to_builder().budget(seconds(10)));
    let late = LogicalRequest::new(&policy, Replay::Always, at(0));
    assert_eq!(late.poll(at(20_000), Some(at(15_000))), Step::Attempt);
    assert_eq!(late.poll(at(15_000), Some(at(15_000))), Step::Attempt);
}
