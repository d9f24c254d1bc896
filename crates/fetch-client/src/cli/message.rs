//! What a person reads on standard error.

use std::time::Duration;

use super::Verb;
use crate::errors::{Error, ErrorClass, Failed, StillPreparing};
use crate::progress::Waiting;

/// One wait, as it begins.
pub(super) fn waiting(waiting: &Waiting) -> String {
    format!(
        "⏳ remote preparing fetch data (server busy, attempt {}); retrying in {}s … (waited {}s / {}s)",
        waiting.attempt,
        waiting.wait.as_secs(),
        waiting.elapsed.as_secs(),
        waiting.budget.as_secs()
    )
}

/// Why `clone`, `fetch` or `pull` failed.
pub(super) fn failure(verb: Verb, failed: &Failed) -> String {
    match &failed.error {
        Error::StillPreparing(terminal) => {
            let refusal = &terminal.refusal;
            let attempts = failed.spent.attempts;
            format!(
                "❌ {}\n   the server said: {} {} (request {}); waited {}s in {attempts} attempt{}",
                sentence(verb, terminal),
                refusal.status.as_u16(),
                refusal.text,
                refusal.request_id.as_deref().unwrap_or("without id"),
                seconds(failed.spent.waited),
                if attempts == 1 { "" } else { "s" },
            )
        }
        error if error.class() == ErrorClass::Internal => format!("❌ Fetch failed: {error}"),
        error => format!("❌ {error}"),
    }
}

/// The terminal 503 in one sentence. The number is the budget: what was waited is said beside it.
pub(super) fn sentence(verb: Verb, terminal: &StillPreparing) -> String {
    let what = if verb == Verb::Clone { "clone" } else { "fetch" };
    format!("Remote still preparing {what} data after {}s — try again shortly.", terminal.budget.as_secs())
}

/// Seconds, with what is left below them where there is something.
pub(super) fn seconds(length: Duration) -> String {
    let (whole, millis) = (length.as_secs(), length.subsec_millis());
    if millis == 0 { whole.to_string() } else { format!("{whole}.{millis:03}") }
}
