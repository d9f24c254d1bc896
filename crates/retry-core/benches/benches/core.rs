//! Nanoseconds, each case beside its peers in the same run.

use std::hint::black_box;

use cases::{Deciding, IMF_DATE, SECONDS};
use criterion::{Criterion, criterion_group, criterion_main};

fn parsing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    group.bench_function("seconds/retry-core", |bench| bench.iter(|| cases::parse(black_box(SECONDS))));
    let seconds = http::HeaderValue::from_static(SECONDS);
    group.bench_function("seconds/headers", |bench| {
        bench.iter(|| cases::parse_with_headers(black_box(&seconds)))
    });
    group.bench_function("date/retry-core", |bench| bench.iter(|| cases::parse(black_box(IMF_DATE))));
    group.bench_function("date/httpdate", |bench| {
        bench.iter(|| cases::parse_with_httpdate(black_box(IMF_DATE)))
    });
    let date = http::HeaderValue::from_static(IMF_DATE);
    group.bench_function("date/headers", |bench| bench.iter(|| cases::parse_with_headers(black_box(&date))));
    group.finish();
}

fn deciding(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("decide");
    let mut deciding = Deciding::new();
    group.bench_function("retry-core", |bench| bench.iter(|| deciding.step()));
    let policy = cases::retry_policies();
    group.bench_function("retry-policies", |bench| {
        bench.iter(|| cases::decide_with_retry_policies(black_box(&policy)))
    });
    let mut backoff = cases::backon();
    group.bench_function("backon", |bench| bench.iter(|| cases::decide_with_backon(&mut backoff)));
    group.finish();
}

criterion_group!(core, parsing, deciding);
criterion_main!(core);
