//! The buckets in virtual time, the answers on a real socket.

use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use governor::clock::FakeRelativeClock;
use serde_json::json;

use super::buckets::Buckets;
use super::config::{ThrottleConfig, ThrottleRate};
use super::key::Key;
use crate::testing::TestServer;

/// Buckets, and the clock that they are filled by.
struct Scene {
    clock: FakeRelativeClock,
    buckets: Buckets<FakeRelativeClock>,
}

impl Scene {
    fn new(per_second: f64, burst: u32, change: impl FnOnce(&mut ThrottleConfig)) -> Self {
        let clock = FakeRelativeClock::default();
        let mut config = ThrottleConfig {
            rate: ThrottleRate::per_second(per_second).unwrap(),
            burst: NonZeroU32::new(burst).unwrap(),
            ..ThrottleConfig::default()
        };
        change(&mut config);
        Self { buckets: Buckets::new(config, clock.clone()), clock }
    }

    /// The seconds that were told; `None` after an admission.
    fn ask(&mut self, key: &str) -> Option<u64> {
        self.buckets.take(&Key::new(key).unwrap()).err().map(|hint| u64::from(hint.as_seconds()))
    }

    /// Asks until the bucket is empty, and returns what is told then.
    fn empty(&mut self, key: &str) -> u64 {
        loop {
            if let Some(told) = self.ask(key) {
                return told;
            }
        }
    }
}

/// F39: whoever obeys is admitted, wherever between two tokens it was refused.
#[test]
fn whoever_waits_exactly_as_long_as_told_is_admitted() {
    for per_second in [0.3, 1.0, 1.9, 3.0, 100.0] {
        for burst in [1, 2, 7] {
            for phase in [0, 1, 250, 333, 500, 999, 1_000, 1_001, 2_700] {
                let mut scene = Scene::new(per_second, burst, |_| {});
                scene.empty("key");
                scene.clock.advance(Duration::from_millis(phase));
                let told = scene.empty("key");
                scene.clock.advance(Duration::from_secs(told));
                assert_eq!(scene.ask("key"), None, "{per_second}/s, {burst}, {phase} ms: told {told} s");
            }
        }
    }
}

/// F39: a wait of milliseconds is told as 1, and one that is over a second by little as 2.
#[test]
fn waits_are_rounded_up_and_never_0() {
    for (per_second, told) in [(1_000_000.0, 1), (10.0, 1), (1.0, 1), (0.99, 2), (0.4, 3), (0.001, 1_000)] {
        assert_eq!(Scene::new(per_second, 1, |_| {}).empty("key"), told, "{per_second}");
    }
}

/// A token is there at its instant and not before.
#[test]
fn a_bucket_fills_by_one_in_each_period() {
    let mut scene = Scene::new(0.5, 2, |_| {});
    assert_eq!([scene.ask("key"), scene.ask("key")], [None, None]);
    scene.clock.advance(Duration::from_millis(1_999));
    assert_eq!(scene.ask("key"), Some(1));
    scene.clock.advance(Duration::from_millis(1));
    assert_eq!(scene.ask("key"), None);
    assert_eq!(scene.ask("key"), Some(2));
}

#[test]
fn keys_do_not_empty_one_anothers_buckets() {
    let mut scene = Scene::new(1.0, 1, |_| {});
    scene.empty("one");
    assert_eq!(scene.ask("two"), None);
}

/// F43: the k-th who is refused is told the k-th token's instant, and without the spread all are told the first.
#[test]
fn refused_clients_are_told_instants_one_after_the_other() {
    for (per_second, burst, spread, told) in [
        (1.0, 1, true, [1, 2, 3, 4, 5, 6]),
        (0.5, 1, true, [2, 4, 6, 8, 10, 12]),
        (0.001, 1, true, [1_000, 2_000, 3_000, 4_000, 5_000, 6_000]),
        // Two seconds bring four tokens, but the bucket holds two.
        (2.0, 2, true, [1, 1, 2, 2, 3, 3]),
        (100.0, 3, true, [1, 1, 1, 2, 2, 2]),
        (1.0, 1, false, [1, 1, 1, 1, 1, 1]),
    ] {
        let mut scene = Scene::new(per_second, burst, |config| config.spread = spread);
        let mut got = vec![scene.empty("key")];
        got.extend((1..told.len()).map(|_| scene.ask("key").unwrap()));
        assert_eq!(got, told, "{per_second}/s, {burst}");
    }
}

/// F43: a crowd whose members were refused one after the other and obey is admitted whole.
#[test]
fn a_crowd_that_obeys_is_admitted_whole() {
    for (per_second, burst, gap) in
        [(1.0, 1, 0), (1.0, 1, 7), (3.0, 1, 16), (3.0, 4, 13), (50.0, 5, 0), (500.0, 7, 0), (0.7, 2, 60)]
    {
        let mut scene = Scene::new(per_second, burst, |_| {});
        while scene.ask("key").is_none() {}
        let mut now = Duration::ZERO;
        let mut due = Vec::new();
        for _ in 0..20 {
            due.push(now + Duration::from_secs(scene.ask("key").unwrap()));
            now += Duration::from_millis(gap);
            scene.clock.advance(Duration::from_millis(gap));
        }
        due.sort();
        for due in due {
            scene.clock.advance(due - now);
            now = due;
            assert_eq!(scene.ask("key"), None, "{per_second}/s, {burst}, {gap} ms: at {now:?}");
        }
    }
}

/// Whoever asks again and again without waiting does not push the instants of others out for ever.
#[test]
fn a_hot_loop_is_told_at_most_a_minute_beyond_the_next_token() {
    let mut scene = Scene::new(1.0, 1, |_| {});
    scene.empty("key");
    let told: Vec<_> = (0..1_000).map(|_| scene.ask("key").unwrap()).collect();
    assert_eq!(told.iter().max(), Some(&61));
    assert_eq!(told.iter().min(), Some(&1));
}

/// F22: a flood of keys does not take more memory, and each new one is served.
#[test]
fn the_number_of_buckets_is_bounded_and_a_newcomer_gets_in() {
    let mut scene = Scene::new(0.001, 1, |config| config.most_keys = NonZeroUsize::new(16).unwrap());
    for number in 0..1_000 {
        assert_eq!(scene.ask(&number.to_string()), None);
    }
    assert_eq!(scene.buckets.len(), 16);
}

/// The bucket that is full the soonest makes room: the emptiest is the last that is forgotten.
#[test]
fn the_bucket_that_is_full_soonest_makes_room() {
    let mut scene = Scene::new(0.001, 3, |config| config.most_keys = NonZeroUsize::new(2).unwrap());
    scene.empty("busy");
    for number in 0..10 {
        assert_eq!(scene.ask(&number.to_string()), None);
    }
    assert!(scene.ask("busy").is_some(), "it was forgotten");
}

#[test]
fn a_rate_is_a_number_of_requests_a_second() {
    for text in ["1", "0.5", "3", "1000000", "0.001"] {
        assert_eq!(text.parse::<ThrottleRate>().unwrap().to_string(), text);
    }
    for text in ["0", "-1", "nan", "inf", "1e9", "0.0001", "", "one"] {
        let error = text.parse::<ThrottleRate>().unwrap_err().to_string();
        let expected = "expected a number of requests a second from 0.001 to 1000000, got ";
        assert!(error.starts_with(expected), "{error}");
    }
}

/// F39, F40, F41, F42: one hint, and the answer is for no cache and for every page.
#[tokio::test]
async fn the_refusal_has_one_hint_is_not_stored_and_is_exposed() {
    let server = TestServer::start(|config| config.throttle.burst = NonZeroU32::MIN).await;
    assert_eq!(server.get("/throttle/key").await.json(), json!({ "key": "key" }));
    let reply = server.get("/throttle/key").await;
    reply.assert(429, "Too many requests for key. Retry in 1 s.");
    assert_eq!(reply.all("retry-after"), ["1"]);
    assert_eq!(reply.all("cache-control"), ["no-store"]);
    assert_eq!(reply.all("access-control-expose-headers"), ["Retry-After"]);
    // A POST takes from the same bucket, and its instant is the next one.
    let reply = server.post("/throttle/key", &json!({ "any": "thing" })).await;
    assert_eq!((reply.status.as_u16(), reply.all("retry-after")), (429, vec!["2"]));
}

#[tokio::test]
async fn a_key_that_is_too_long_or_of_other_characters_is_named_and_takes_no_bucket() {
    let server = TestServer::start(|_| {}).await;
    let long = "x".repeat(65);
    for (key, shown) in [(long.as_str(), &long[..64]), ("a%20b", "a b"), ("%C3%A9", "é"), ("%0A", "\\n")] {
        let expected = "expected as key 1 to 64 letters, digits, dots, dashes and underscores, got";
        server.get(&format!("/throttle/{key}")).await.assert(422, &format!("{expected} `{shown}`"));
    }
    server.get(&format!("/throttle/{}", "x".repeat(64))).await.assert_status(200);
}
