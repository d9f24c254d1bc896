//! Schedules: how long to wait where the server does not say (W5).

/// How the wait grows with the attempts made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Schedule {
    /// Always the same.
    Constant {
        /// The wait, in milliseconds.
        millis: u64,
    },
    /// `min(base * factor^(n-1), cap)` after `n` attempts.
    Exponential {
        /// The first wait, in milliseconds.
        base_millis: u64,
        /// What each further wait is multiplied with; at least 1.
        factor: u32,
        /// The largest wait, in milliseconds.
        cap_millis: u64,
    },
}

impl Schedule {
    /// The wait after `attempts` attempts, in milliseconds; saturating, never an overflow.
    #[must_use]
    #[inline]
    pub const fn millis_after(self, attempts: u32) -> u64 {
        match self {
            Self::Constant { millis } => millis,
            Self::Exponential { base_millis, factor, cap_millis } => {
                let mut millis = base_millis;
                let mut steps = attempts.saturating_sub(1);
                // Stops at the cap, at zero and at factor 1, so that no number of attempts makes it slow.
                while steps > 0 && millis < cap_millis && millis > 0 && factor > 1 {
                    millis = millis.saturating_mul(factor as u64);
                    steps = steps.wrapping_sub(1);
                }
                if millis < cap_millis { millis } else { cap_millis }
            }
        }
    }
}
