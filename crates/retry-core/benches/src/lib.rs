//! What is measured, once for the stopwatch and for the instruction counter: each case beside its peers.

use std::collections::HashMap;
use std::hint::black_box;
use std::num::NonZeroU32;
use std::sync::{Mutex, RwLock};
use std::time::{Duration, SystemTime};

use backon::{BackoffBuilder, ExponentialBuilder};
use headers::Header;
use retry_core::{
    Decision, Hint, Join, LogicalRequest, Monotonic, NoRandom, Outcome, Policy, Random, Reading, Replay,
    RetryAfter, UnixTime, WindowPolicy, Windows, profiles,
};
use retry_policies::RetryPolicy;
use retry_policies::policies::ExponentialBackoff;
use url::Url;

pub const SECONDS: &str = "120";
pub const IMF_DATE: &str = "Mon, 30 Nov 2026 00:02:00 GMT";
const NOW: UnixTime = UnixTime::from_seconds(1_795_996_800);

/// Reads a field line; the date is measured against a wall clock that stands still.
#[inline(never)]
pub fn parse(line: &str) -> Option<u64> {
    RetryAfter::parse([line.as_bytes()], &Reading::at(NOW)).delay()
}

#[inline(never)]
pub fn parse_with_httpdate(line: &str) -> Option<SystemTime> {
    httpdate::parse_http_date(line).ok()
}

#[inline(never)]
pub fn parse_with_headers(value: &http::HeaderValue) -> Option<headers::RetryAfter> {
    headers::RetryAfter::decode(&mut std::iter::once(value)).ok()
}

/// A request that has been refused once, ready to be refused again.
pub struct Deciding {
    request: LogicalRequest,
    refused: Outcome,
    random: Cheap,
}

/// As cheap as randomness gets, so that the decision is what is counted; the peers have their own.
struct Cheap(u64);

impl Random for Cheap {
    fn up_to(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        let wide = u128::from(self.0) * u128::from(most.wrapping_add(1));
        (wide >> 64) as u64
    }
}

impl Deciding {
    pub fn new() -> Self {
        let policy: Policy = profiles::RECOMMENDED
            .to_builder()
            .budget(Duration::from_secs(3_000_000_000))
            .max_attempts(None)
            .build()
            .expect("no contradiction");
        let mut request = LogicalRequest::new(&policy, Replay::Always, Monotonic::ORIGIN);
        request.begin(Monotonic::ORIGIN);
        let refused = Outcome::answered(503, Hint::after_millis(2_000, b"2"));
        Self { request, refused, random: Cheap(1) }
    }

    /// One refusal with a hint, decided with jitter.
    #[inline(never)]
    pub fn step(&mut self) -> Decision {
        let now = Monotonic::from_millis(5);
        self.request.end(&self.refused, now, now, &mut self.random)
    }

    /// The same without jitter.
    #[inline(never)]
    pub fn step_without_jitter(&mut self) -> Decision {
        let now = Monotonic::from_millis(5);
        self.request.end(&self.refused, now, now, &mut NoRandom)
    }
}

impl Default for Deciding {
    fn default() -> Self {
        Self::new()
    }
}

pub fn retry_policies() -> impl RetryPolicy {
    ExponentialBackoff::builder().build_with_max_retries(u32::MAX)
}

#[inline(never)]
pub fn decide_with_retry_policies(policy: &impl RetryPolicy) -> retry_policies::RetryDecision {
    policy.should_retry(SystemTime::UNIX_EPOCH, black_box(3))
}

pub fn backon() -> impl Iterator<Item = Duration> {
    ExponentialBuilder::default()
        .with_jitter()
        .with_max_delay(Duration::from_secs(30))
        .without_max_times()
        .build()
}

#[inline(never)]
pub fn decide_with_backon(backoff: &mut impl Iterator<Item = Duration>) -> Option<Duration> {
    backoff.next()
}

/// Which key, and whether it is written: nine in ten are read.
pub struct Accesses {
    state: u64,
    keys: u64,
}

impl Accesses {
    pub fn over(keys: usize) -> Self {
        Self { state: 1, keys: keys as u64 }
    }

    fn next(&mut self) -> (usize, bool) {
        self.state = self.state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        let wide = u128::from(self.state) * u128::from(self.keys);
        ((wide >> 64) as usize, (self.state >> 20).is_multiple_of(10))
    }

    /// What both stores need before they begin: the URL, in the processor's cache as a request has it.
    #[inline(never)]
    pub fn url(&mut self, urls: &[Url]) -> u8 {
        let (index, write) = self.next();
        urls[index].as_str().bytes().fold(u8::from(write), |sum, byte| sum ^ byte)
    }
}

pub fn urls(count: usize) -> Vec<Url> {
    let url = |number| format!("https://service-{}.example.com/items/{number}", number % 97);
    (0..count).map(|number| url(number).parse().expect("a URL")).collect()
}

/// Our store behind a lock, with keys as the faces make them.
pub struct Ours(Mutex<Windows<Box<str>>>);

/// The store of the published layers: a map of URLs to wall-clock instants behind a lock.
pub struct Theirs(RwLock<HashMap<Url, SystemTime>>);

impl Ours {
    pub fn filled(urls: &[Url]) -> Self {
        let capacity = NonZeroU32::new(urls.len() as u32).expect("at least one");
        let policy = WindowPolicy { capacity, join: Join::Latest, ceiling_millis: 3_600_000 };
        let mut windows = Windows::seeded(policy, 7);
        for url in urls {
            windows.record(url.as_str().into(), Monotonic::from_millis(60_000), 429, Monotonic::ORIGIN);
        }
        Self(Mutex::new(windows))
    }

    #[inline(never)]
    pub fn access(&self, urls: &[Url], accesses: &mut Accesses) -> bool {
        let (index, write) = accesses.next();
        let key = urls[index].as_str();
        let mut windows = self.0.lock().expect("no panics");
        let now = Monotonic::from_millis(1);
        if write {
            windows.record(key.into(), Monotonic::from_millis(61_000), 429, now).is_some()
        } else {
            windows.ask(key, now).is_some()
        }
    }
}

impl Theirs {
    pub fn filled(urls: &[Url]) -> Self {
        let until = SystemTime::UNIX_EPOCH + Duration::from_secs(60);
        Self(RwLock::new(urls.iter().map(|url| (url.clone(), until)).collect()))
    }

    #[inline(never)]
    pub fn access(&self, urls: &[Url], accesses: &mut Accesses) -> bool {
        let (index, write) = accesses.next();
        let url = &urls[index];
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1);
        if write {
            self.0.write().expect("no panics").insert(url.clone(), now + Duration::from_secs(60)).is_some()
        } else {
            self.0.read().expect("no panics").get(url).is_some_and(|until| *until > now)
        }
    }
}
