//! Does one case a number of times, under an instruction counter or a stopwatch: `repeat CASE TIMES [KEYS]`.

use std::hint::black_box;

use cases::{Accesses, Deciding, IMF_DATE, Ours, SECONDS, Theirs};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let case = arguments.next().expect("a case");
    let times: u64 = arguments.next().and_then(|times| times.parse().ok()).expect("a number of times");
    let keys: usize = arguments.next().map_or(1_000, |keys| keys.parse().expect("a number of keys"));
    match case.as_str() {
        "parse-seconds" => repeat(times, || cases::parse(black_box(SECONDS))),
        "parse-date" => repeat(times, || cases::parse(black_box(IMF_DATE))),
        "parse-date-httpdate" => repeat(times, || cases::parse_with_httpdate(black_box(IMF_DATE))),
        "parse-seconds-headers" => {
            let value = http::HeaderValue::from_static(SECONDS);
            repeat(times, || cases::parse_with_headers(black_box(&value)));
        }
        "parse-date-headers" => {
            let value = http::HeaderValue::from_static(IMF_DATE);
            repeat(times, || cases::parse_with_headers(black_box(&value)));
        }
        "decide" => {
            let mut deciding = Deciding::new();
            repeat(times, || deciding.step());
        }
        "decide-without-jitter" => {
            let mut deciding = Deciding::new();
            repeat(times, || deciding.step_without_jitter());
        }
        "decide-retry-policies" => {
            let policy = cases::retry_policies();
            repeat(times, || cases::decide_with_retry_policies(black_box(&policy)));
        }
        "decide-backon" => {
            let mut backoff = cases::backon();
            repeat(times, || cases::decide_with_backon(&mut backoff));
        }
        "windows" => {
            let urls = cases::urls(keys);
            let (store, mut accesses) = (Ours::filled(&urls), Accesses::over(urls.len()));
            repeat(times, || store.access(&urls, &mut accesses));
        }
        "windows-map" => {
            let urls = cases::urls(keys);
            let (store, mut accesses) = (Theirs::filled(&urls), Accesses::over(urls.len()));
            repeat(times, || store.access(&urls, &mut accesses));
        }
        "windows-nothing" => {
            let urls = cases::urls(keys);
            let mut accesses = Accesses::over(urls.len());
            repeat(times, || accesses.url(&urls));
        }
        "nothing" => repeat(times, || 0),
        other => panic!("expected a case, got {other}"),
    }
}

fn repeat<T>(times: u64, mut once: impl FnMut() -> T) {
    for _ in 0..times {
        black_box(once());
    }
}
