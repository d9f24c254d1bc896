//! Which statuses are retried, and what each needs (C2).

use core::fmt;

const FIRST: u16 = 100;
const WORDS: usize = 8;

/// What a listed status needs before it is retried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Needs {
    /// The body is a JSON object whose `transient` is `true`.
    pub transient: bool,
    /// A usable hint.
    pub hint: bool,
}

impl Needs {
    /// The status alone is enough.
    pub const NOTHING: Self = Self { transient: false, hint: false };
    /// A body marked `transient`.
    pub const TRANSIENT: Self = Self { transient: true, hint: false };
    /// A usable hint.
    pub const HINT: Self = Self { transient: false, hint: true };
}

/// The set of statuses that a policy retries, each with what it needs.
///
/// 507 always needs [`Needs::TRANSIENT`] (C2), whatever it was listed with.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StatusSet {
    listed: [u64; WORDS],
    transient: [u64; WORDS],
    hint: [u64; WORDS],
}

impl StatusSet {
    /// The empty set.
    pub const EMPTY: Self = Self { listed: [0; WORDS], transient: [0; WORDS], hint: [0; WORDS] };

    /// This set with `status`; `None` outside 100 to 599.
    #[must_use]
    pub const fn with(mut self, status: u16, needs: Needs) -> Option<Self> {
        let Some((word, bit)) = Self::position(status) else { return None };
        let transient = needs.transient || status == 507;
        set(&mut self.listed, word, bit, true);
        set(&mut self.transient, word, bit, transient);
        set(&mut self.hint, word, bit, needs.hint);
        Some(self)
    }

    /// What `status` needs; `None` where it is not in the set.
    #[must_use]
    #[inline]
    pub const fn needs(&self, status: u16) -> Option<Needs> {
        let Some((word, bit)) = Self::position(status) else { return None };
        if !get(&self.listed, word, bit) {
            return None;
        }
        Some(Needs { transient: get(&self.transient, word, bit), hint: get(&self.hint, word, bit) })
    }

    /// The statuses of the set with what each needs, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (u16, Needs)> + '_ {
        (FIRST..600).filter_map(|status| Some((status, self.needs(status)?)))
    }

    /// Whether nothing is retried.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.listed == [0; WORDS]
    }

    const fn position(status: u16) -> Option<(usize, u32)> {
        match status {
            FIRST..=599 => {
                let index = status.wrapping_sub(FIRST);
                Some(((index >> 6) as usize, (index & 63) as u32))
            }
            _ => None,
        }
    }
}

impl fmt::Debug for StatusSet {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_map().entries(self.iter()).finish()
    }
}

#[expect(clippy::indexing_slicing, reason = "`word` comes from `position`, which is below WORDS")]
const fn get(words: &[u64; WORDS], word: usize, bit: u32) -> bool {
    words[word] & 1_u64.wrapping_shl(bit) != 0
}

#[expect(clippy::indexing_slicing, reason = "`word` comes from `position`, which is below WORDS")]
const fn set(words: &mut [u64; WORDS], word: usize, bit: u32, value: bool) {
    let mask = 1_u64.wrapping_shl(bit);
    if value {
        words[word] |= mask;
    } else {
        words[word] &= !mask;
    }
}
