//! Whether a client came back when it was told to.

use std::time::Duration;

use anyhow::{Context, ensure};
use e2e::Exchange;

/// What the server said in seconds, and when the client was back.
#[derive(Debug)]
pub(crate) struct HonouredWait {
    pub(crate) said: u64,
    pub(crate) wait: Duration,
}

/// The waits between the exchanges of one client, of which all but the last were refused. Fails where a refusal has
/// not exactly one hint, or the client came back before its end.
pub(crate) fn honoured(exchanges: &[Exchange]) -> anyhow::Result<Vec<HonouredWait>> {
    let waits = exchanges.windows(2).map(|pair| {
        let [refusal, next] = pair else { unreachable!("windows of two are two") };
        let head = refusal.answer.as_ref().context("expected a refusal")?;
        ensure!(head.fields("retry-after").count() == 1, "expected one Retry-After:\n{}", head.text());
        let said = head.field("retry-after").and_then(|seconds| seconds.parse().ok());
        let said: u64 = said.context("expected a Retry-After in seconds")?;
        let wait = next.arrived.saturating_sub(refusal.answered.context("expected a whole refusal")?);
        ensure!(wait >= Duration::from_secs(said), "told {said} s, the client came back after {wait:?}");
        Ok(HonouredWait { said, wait })
    });
    waits.collect()
}

/// A few waits one by one, more of them by the shortest.
pub(crate) fn told(waits: &[HonouredWait]) -> String {
    let each = waits.iter().map(|HonouredWait { said, wait }| {
        format!("told {said} s, it was back after {:.3} s", wait.as_secs_f64())
    });
    if waits.len() <= 4 {
        return each.collect::<Vec<_>>().join("; ");
    }
    let early =
        waits.iter().map(|HonouredWait { said, wait }| wait.saturating_sub(Duration::from_secs(*said)));
    let least = early.min().unwrap_or_default();
    format!(
        "it waited {} times, each time longer than told, by {} ms at the least",
        waits.len(),
        least.as_millis()
    )
}
