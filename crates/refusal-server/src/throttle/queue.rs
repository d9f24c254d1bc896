//! What refused clients are told, so that each has an instant of its own.

use std::time::Duration;

/// How far beyond the bucket's own instant the spread may reach, in seconds, and in tokens where they take longer.
/// Whoever only asks and never comes back must not push the instants of others out for ever: beyond this they
/// begin anew at the bucket's own.
const MOST_SECONDS: u64 = 60;
const MOST_TOKENS: u32 = 16;

/// Who was told to come when: a bucket's state as it will be once all who were refused have come back.
///
/// As many are told one instant as the bucket will then admit, and the next are told a later one. This is the
/// bucket's own rule (the generic cell rate algorithm) played forward over the instants that were told, so if
/// each comes at the instant that it was told, and nobody else comes, each is admitted. Nothing is reserved: who
/// comes first is admitted, and who finds the bucket empty is told anew.
///
/// Instants are durations since a fixed one.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Queue(Option<Told>);

#[derive(Debug, Clone, Copy)]
struct Told {
    /// The latest instant that somebody was told.
    instant: Duration,
    /// When the bucket will be full again if everybody comes.
    full: Duration,
}

impl Queue {
    /// Whole seconds from `now`, at least 1, for somebody who is refused by a bucket that has a token again at
    /// `free` and fills by one in `period`; `slack` is the time to fill all but one of its tokens.
    pub(super) fn tell(&mut self, now: Duration, free: Duration, period: Duration, slack: Duration) -> u64 {
        let full = free + slack;
        let own = whole_seconds(free.saturating_sub(now));
        let (earliest, full) = match self.0 {
            Some(told) if told.instant > now => {
                let full = full.max(told.full);
                (told.instant.max(full.saturating_sub(slack)), full)
            }
            _ => (free, full),
        };
        let spread = whole_seconds(earliest.saturating_sub(now));
        let most = MOST_SECONDS.max(whole_seconds(period * MOST_TOKENS));
        let (seconds, full) = if spread > own + most { (own, free + slack) } else { (spread, full) };
        let instant = now + Duration::from_secs(seconds);
        self.0 = Some(Told { instant, full: full.max(instant) + period });
        seconds
    }
}

/// Rounded up, so that nobody comes early, and at least 1, so that nobody spins.
pub(super) fn whole_seconds(wait: Duration) -> u64 {
    (wait.as_secs() + u64::from(wait.subsec_nanos() > 0)).max(1)
}
