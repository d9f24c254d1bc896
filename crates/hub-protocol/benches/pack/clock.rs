//! The one place where the benchmark reads a clock.

use std::time::{Duration, Instant};

/// How long `work` takes, the best of three: the least disturbed by whatever else the machine does.
#[expect(clippy::disallowed_methods, reason = "this is the benchmark's clock.rs")]
pub(crate) fn best_of_three<T>(mut work: impl FnMut() -> T) -> (Duration, T) {
    let mut measure = || {
        let start = Instant::now();
        let result = work();
        (start.elapsed(), result)
    };
    let runs = [measure(), measure(), measure()];
    runs.into_iter().min_by_key(|(time, _)| *time).expect("there are three runs")
}
