//! Shared not-befores, rule by rule (E3 to E9).

use std::hash::{Hash, Hasher};
use std::num::NonZeroU32;

use retry_core::testing::laws::{self, WindowOperation};
use retry_core::testing::{Reply, Seeded, Simulation};
use retry_core::{
    Closed, Hint, Join, LogicalRequest, Monotonic, Random, Replay, WindowPolicy, Windows, clears_window,
    profiles, records_window,
};

fn at(millis: u64) -> Monotonic {
    Monotonic::from_millis(millis)
}

fn policy(capacity: u32, join: Join) -> WindowPolicy {
    WindowPolicy { capacity: NonZeroU32::new(capacity).unwrap(), join, ceiling_millis: 100_000 }
}

fn windows(capacity: u32, join: Join) -> Windows<&'static str> {
    Windows::new(policy(capacity, join))
}

fn until(windows: &Windows<&'static str>, key: &'static str, now: u64) -> Option<u64> {
    windows.ask(&key, at(now)).map(|closed| closed.not_before.as_millis())
}

/// E4: denied just before the instant, free exactly at it.
#[test]
fn a_key_is_free_exactly_at_its_instant() {
    let mut windows = windows(4, Join::Latest);
    assert_eq!(windows.record("a", at(10), 503, at(5)), Some(at(10)));
    let closed = Closed { not_before: at(10), status: 503 };
    let just_before = Monotonic::from_micros(9_999);
    assert_eq!(windows.ask(&"a", just_before), Some(closed));
    assert_eq!(windows.ask(&"a", at(10)), None);
    assert_eq!(windows.ask(&"b", at(5)), None);
    assert_eq!((windows.len(), windows.live(at(9)), windows.live(at(10))), (1, 1, 0));
}

/// E4: a record that is past already is ignored, also by E6 and E9.
#[test]
fn a_record_that_is_already_past_is_ignored() {
    let mut windows = windows(4, Join::Latest);
    assert_eq!(windows.record("a", at(5), 429, at(5)), None);
    assert_eq!(windows.record("a", at(3), 429, at(5)), None);
    assert!(windows.is_empty());
    windows.record("a", at(50), 429, at(5));
    windows.record("a", at(20), 429, at(30));
    windows.success(&"a", at(6));
    assert_eq!(until(&windows, "a", 31), None);
}

/// E3, F20: a lower bound is a lower bound.
#[test]
fn latest_keeps_the_later_instant_and_its_status() {
    let mut windows = windows(4, Join::Latest);
    windows.record("a", at(60), 429, at(0));
    windows.record("a", at(6), 503, at(1));
    assert_eq!(windows.ask(&"a", at(2)), Some(Closed { not_before: at(60), status: 429 }));
    windows.record("a", at(70), 503, at(2));
    assert_eq!(windows.ask(&"a", at(2)), Some(Closed { not_before: at(70), status: 503 }));
}

/// E3.
#[test]
fn earliest_keeps_the_earlier_live_instant() {
    let mut windows = windows(4, Join::Earliest);
    windows.record("a", at(60), 429, at(0));
    windows.record("a", at(70), 503, at(1));
    assert_eq!(windows.ask(&"a", at(2)), Some(Closed { not_before: at(60), status: 429 }));
    windows.record("a", at(50), 503, at(2));
    assert_eq!(windows.ask(&"a", at(2)), Some(Closed { not_before: at(50), status: 503 }));
}

/// E4, F17: throttle, wait past it, throttle again.
#[test]
fn an_expired_window_never_takes_part_in_a_join() {
    for join in [Join::Earliest, Join::Latest] {
        let mut windows = windows(4, join);
        windows.record("a", at(10), 429, at(0));
        windows.record("a", at(30), 429, at(10));
        assert_eq!(until(&windows, "a", 11), Some(30), "{join:?}");
    }
}

/// E3, E5: the window's own ceiling, counted from the receipt, and nothing else caps it.
#[test]
fn a_record_is_capped_at_its_receipt_plus_the_ceiling() {
    let mut windows = windows(4, Join::Latest);
    assert_eq!(windows.record("a", at(u64::MAX), 503, at(7)), Some(at(100_007)));
    assert_eq!(until(&windows, "a", 100_006), Some(100_007));
    assert_eq!(windows.record("b", at(100_007), 503, at(7)), Some(at(100_007)));
}

/// E6, F19: strictly later than the last refusal, also one that lost the join.
#[test]
fn only_a_success_that_started_later_opens_a_window() {
    let mut windows = windows(4, Join::Latest);
    windows.record("a", at(90), 429, at(5));
    windows.record("a", at(80), 429, at(10));
    for started in [0, 5, 9, 10] {
        windows.success(&"a", at(started));
        assert_eq!(until(&windows, "a", 20), Some(90), "started at {started}");
    }
    windows.success(&"b", at(50));
    windows.success(&"a", at(11));
    assert_eq!(until(&windows, "a", 20), None);
    windows.success(&"a", at(11));
    assert!(windows.is_empty());
}

/// E9, F22: a newcomer always gets in, and the soonest goes.
#[test]
fn the_entry_that_expires_soonest_makes_room() {
    let mut windows = windows(3, Join::Latest);
    windows.record("late", at(90), 429, at(0));
    windows.record("soon", at(40), 429, at(1));
    windows.record("later", at(95), 429, at(2));
    windows.record("new", at(50), 429, at(3));
    assert_eq!(until(&windows, "soon", 4), None);
    windows.record("newer", at(60), 429, at(4));
    assert_eq!(until(&windows, "new", 5), None);
    assert_eq!(["late", "later", "newer"].map(|key| until(&windows, key, 5)), [Some(90), Some(95), Some(60)]);
    assert_eq!(windows.len(), 3);
}

/// E9: an expired one first, the least recently recorded on a tie.
#[test]
fn expired_entries_go_first_and_ties_go_by_recency() {
    let mut windows = windows(2, Join::Latest);
    windows.record("expired", at(10), 429, at(0));
    windows.record("live", at(20), 429, at(0));
    windows.record("new", at(90), 429, at(15));
    assert_eq!((until(&windows, "live", 16), until(&windows, "new", 16)), (Some(20), Some(90)));

    let mut tied = Windows::new(policy(2, Join::Latest));
    tied.record("a", at(50), 429, at(1));
    tied.record("b", at(50), 429, at(1));
    tied.record("a", at(30), 429, at(1));
    tied.record("c", at(50), 429, at(1));
    assert_eq!(["a", "b", "c"].map(|key| tied.ask(&key, at(2)).is_some()), [true, false, true]);
}

/// E9: a key that was told the same again after others had made room is not the oldest any more.
#[test]
fn a_tie_goes_by_the_last_record_in_a_full_store_too() {
    let mut windows = windows(3, Join::Latest);
    for key in ["a", "b", "c"] {
        windows.record(key, at(50), 429, at(1));
    }
    windows.record("d", at(60), 429, at(1));
    windows.record("b", at(50), 429, at(2));
    windows.record("e", at(60), 429, at(2));
    assert_eq!(["a", "b", "c"].map(|key| until(&windows, key, 3)), [None, Some(50), None]);
}

/// Keys whose hashes are equal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Colliding(u8);

impl Hash for Colliding {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(0);
    }
}

/// E9: keys are told apart by what they are, and evicted in their order, also where all hashes are equal.
#[test]
fn keys_with_equal_hashes_are_told_apart() {
    let mut windows = Windows::new(policy(3, Join::Latest));
    for (key, instant) in [(1, 50), (2, 50), (3, 60)] {
        windows.record(Colliding(key), at(instant), 429, at(0));
    }
    let live = |windows: &Windows<Colliding>| {
        (1..=5).filter(|key| windows.ask(&Colliding(*key), at(2)).is_some()).collect::<Vec<u8>>()
    };
    assert_eq!(live(&windows), [1, 2, 3]);
    windows.record(Colliding(4), at(70), 429, at(1));
    windows.record(Colliding(2), at(80), 429, at(1));
    assert_eq!(live(&windows), [2, 3, 4]);
    windows.record(Colliding(5), at(90), 429, at(1));
    assert_eq!(live(&windows), [2, 4, 5]);
    windows.success(&Colliding(2), at(2));
    assert_eq!(live(&windows), [4, 5]);
}

/// E3: who tells the same instant again changes nothing, the status of the first included.
#[test]
fn of_two_equal_instants_the_first_status_is_told() {
    for join in [Join::Latest, Join::Earliest] {
        let mut windows = windows(4, join);
        windows.record("a", at(50), 503, at(1));
        windows.record("a", at(50), 429, at(2));
        assert_eq!(windows.ask(&"a", at(3)), Some(Closed { not_before: at(50), status: 503 }));
        assert!(!windows.is_empty());
    }
}

/// F22, E9: a million refused keys, and memory for the capacity only.
#[test]
fn a_million_keys_stay_within_the_capacity() {
    let mut windows = Windows::new(policy(256, Join::Latest));
    let keys = thorough(1_000_000);
    for key in 0..keys {
        windows.record(key, at(key + 1_000), 429, at(key));
        assert!(windows.len() <= 256);
    }
    assert_eq!(windows.live(at(keys)), 256);
}

/// E9: whatever the order of records, joins, successes and evictions, no key is lost or kept by mistake, in a
/// store that is full nearly all the time.
#[test]
fn a_large_store_answers_like_the_plain_model() {
    let mut random = Seeded::new(7);
    for join in [Join::Latest, Join::Earliest] {
        let operations: Vec<_> =
            (0..thorough(3_000)).map(|now| (at(now), any_operation(&mut random, now, 200))).collect();
        laws::windows_match_the_plain_model(policy(64, join), &operations).unwrap();
    }
}

/// E9: where all hashes are equal, the same keys go in the same order.
#[test]
fn a_store_of_equal_hashes_answers_like_any_other() {
    let mut random = Seeded::new(7);
    for join in [Join::Latest, Join::Earliest] {
        let (mut plain, mut colliding) = (Windows::new(policy(5, join)), Windows::new(policy(5, join)));
        for now in 0..thorough(20_000) {
            match any_operation(&mut random, now, 9) {
                WindowOperation::Record { key, not_before } => {
                    plain.record(key, not_before, 429, at(now));
                    colliding.record(Colliding(key), not_before, 429, at(now));
                }
                WindowOperation::Success { key, started } => {
                    plain.success(&key, started);
                    colliding.success(&Colliding(key), started);
                }
                WindowOperation::Ask { .. } => {}
            }
            for key in 0..9 {
                let told = colliding.ask(&Colliding(key), at(now));
                assert_eq!(told, plain.ask(&key, at(now)), "{join:?}, key {key} at {now} ms");
            }
            assert!(colliding.len() <= 5);
        }
    }
}

/// Mostly a record, sometimes a success that may be too old to count.
fn any_operation(random: &mut Seeded, now: u64, keys: u64) -> WindowOperation {
    let key = u8::try_from(random.up_to(keys - 1)).unwrap();
    if random.up_to(7) == 0 {
        WindowOperation::Success { key, started: at(now.saturating_sub(random.up_to(60))) }
    } else {
        WindowOperation::Record { key, not_before: at(now + random.up_to(3_000)) }
    }
}

/// E7, E8, F21: nobody goes inside the window, and the crowd does not return at once.
#[test]
fn a_released_crowd_spreads_out() {
    let policy = profiles::RECOMMENDED;
    let mut random = Seeded::new(11);
    let mut simulation = Simulation::seeded(3).windows(policy.windows().unwrap());
    for client in 0..50 {
        // The first is refused at once, the others come while its answer is under way or later.
        let from = at(client * 20);
        let request = LogicalRequest::new(&policy, Replay::Always, from).spread(&mut random);
        simulation = simulation.client_from(from, request);
    }
    let refused = Reply::answer(429, Hint::after_millis(2_000, b"2"));
    let good = Reply::answer(200, Hint::NONE);
    let trace = simulation.run(|arrival| if arrival.earlier == 0 { refused } else { good });

    let released: Vec<_> = (1..50).flat_map(|client| trace.attempts(client)).collect();
    assert_eq!(released.len(), 49);
    assert!(released.iter().all(|began| *began >= at(2_000)), "{released:?}");
    let largest = trace.crowds(10).into_values().max().unwrap();
    assert!(largest < 10, "{largest} came back within 10 ms");
}

/// The same seed is the same run.
#[test]
fn a_simulation_replays_from_its_seed() {
    let run = |seed| {
        let policy = profiles::RECOMMENDED;
        let client = LogicalRequest::new(&policy, Replay::Always, at(0));
        let refused = Reply::answer(503, Hint::after_millis(5_000, b"5"));
        format!("{:?}", Simulation::seeded(seed).client(client).run(|_| refused))
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

/// This many, or a thousandth of it where Miri looks at every instruction.
fn thorough(count: u64) -> u64 {
    if cfg!(miri) { (count / 1_000).max(600) } else { count }
}

/// E6, E11: a 2xx clears, a redirect does not; of the refusals only two speak of the resource for everybody.
#[test]
fn a_status_says_whether_it_touches_a_window() {
    let which =
        |touches: fn(u16) -> bool| (0..=u16::MAX).filter(|status| touches(*status)).collect::<Vec<_>>();
    assert_eq!(which(records_window), [429, 503]);
    assert_eq!(which(clears_window), (200..=299).collect::<Vec<_>>());
}
