//! What a person reads on standard error.

use std::time::Duration;

use super::Verb;
use crate::errors::{Error, ErrorClass, Failed, StillPreparing};
use crate::progress::Waiting;

/// One wait, as it begins. A wait of which a moment is over already is told as it was decided, in whole seconds.
pub(super) fn waiting(waiting: &Waiting) -> String {
    format!(
        "⏳ remote preparing fetch data (server busy, attempt {}); retrying in {}s … (waited {}s / {}s)",
        waiting.attempt,
        waiting.wait.as_millis().div_ceil(1_000),
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
            let words = if refusal.text.is_empty() { "without a word" } else { &refusal.text };
            format!(
                "❌ {}\n   the server said: {} {words} (request {}); waited {}s in {attempts} attempt{}",
                sentence(verb, terminal),
                refusal.status.as_u16(),
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

#[cfg(test)]
mod tests {
    use super::super::samples::{interrupted, not_found, still_preparing, waits};
    use super::*;

    #[test]
    fn a_waiting_line_names_the_refused_attempt_the_wait_and_the_budget() {
        let lines: Vec<String> = waits().iter().map(waiting).collect();
        insta::assert_snapshot!(lines.join("\n"), @"
        ⏳ remote preparing fetch data (server busy, attempt 1); retrying in 30s … (waited 0s / 120s)
        ⏳ remote preparing fetch data (server busy, attempt 2); retrying in 30s … (waited 30s / 120s)
        ");
    }

    /// T4: reading the refusal takes a moment, and a slow body takes more.
    #[test]
    fn a_wait_is_told_in_whole_seconds_of_what_is_left() {
        let told = |millis| waiting(&Waiting { wait: Duration::from_millis(millis), ..waits()[0] });
        assert!(told(4_998).contains("retrying in 5s"), "{}", told(4_998));
        assert!(told(5_000).contains("retrying in 5s"), "{}", told(5_000));
        assert!(told(1_500).contains("retrying in 2s"), "{}", told(1_500));
    }

    /// The number is the budget, not what was waited.
    #[test]
    fn the_terminal_503_names_the_budget_and_then_what_the_server_said() {
        let patient = still_preparing(120, 3, 90_500);
        insta::assert_snapshot!(failure(Verb::Clone, &patient), @"
        ❌ Remote still preparing clone data after 120s — try again shortly.
           the server said: 503 mpack not ready — prebuild in progress. Retry shortly. (request r-1); waited 90.500s in 3 attempts
        ");
        let impatient = still_preparing(0, 1, 0);
        insta::assert_snapshot!(failure(Verb::Pull, &impatient), @"
        ❌ Remote still preparing fetch data after 0s — try again shortly.
           the server said: 503 mpack not ready — prebuild in progress. Retry shortly. (request r-1); waited 0s in 1 attempt
        ");
    }

    #[test]
    fn a_terminal_503_without_a_text_says_so() {
        let mut silent = still_preparing(0, 1, 0);
        let Error::StillPreparing(terminal) = &mut silent.error else { panic!("it is still preparing") };
        terminal.refusal.text.clear();
        insta::assert_snapshot!(failure(Verb::Clone, &silent), @"
        ❌ Remote still preparing clone data after 0s — try again shortly.
           the server said: 503 without a word (request r-1); waited 0s in 1 attempt
        ");
    }

    #[test]
    fn other_failures_of_the_remote_begin_with_fetch_failed() {
        insta::assert_snapshot!(
            failure(Verb::Fetch, &not_found()),
            @"❌ Fetch failed: GET http://hub/me/work/refs answered 404: no such repository (request r-2)"
        );
    }

    #[test]
    fn an_interruption_is_no_failure_of_the_remote() {
        insta::assert_snapshot!(failure(Verb::Clone, &interrupted()), @"❌ interrupted");
    }
}
