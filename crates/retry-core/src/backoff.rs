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
        factor: u64,
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
                // 64 doublings saturate any number: no number of attempts makes this slow.
                let mut steps = if attempts < 65 { attempts.saturating_sub(1) } else { 64 };
                while steps > 0 {
                    millis = millis.saturating_mul(factor);
                    steps = steps.wrapping_sub(1);
                }
                if millis < cap_millis { millis } else { cap_millis }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Schedule;
    use crate::time::LARGEST;

    /// W5, T3: a factor is a number like any other and is not cut to fewer bits than the rest.
    #[test]
    fn a_factor_beyond_32_bits_is_multiplied_in_full() {
        let factor = 1 << 40;
        let schedule = Schedule::Exponential { base_millis: 3, factor, cap_millis: LARGEST };
        assert_eq!(schedule.millis_after(1), 3);
        assert_eq!(schedule.millis_after(2), 3 * factor);
        assert_eq!(schedule.millis_after(3), LARGEST);
    }
}
