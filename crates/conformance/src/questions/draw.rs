//! Random numbers from a seed, and the numbers worth asking about.

/// SplitMix64: short, and the same on every machine and in every release.
#[derive(Debug, Clone)]
pub(super) struct Draw {
    state: u64,
}

impl Draw {
    pub(super) const fn from_seed(seed: u64) -> Self {
        Self { state: seed }
    }

    fn word(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is above 0. The bias of the remainder is far below what matters.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.word() % bound
    }

    pub(super) fn index(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length as u64)).unwrap_or(0)
    }

    pub(super) fn one_in(&mut self, chances: u64) -> bool {
        self.below(chances) == 0
    }

    /// One of `choices`, which is not empty.
    pub(super) fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.index(choices.len())]
    }

    /// Milliseconds: around the profiles' numbers, the seconds between them, and the bounds.
    pub(super) fn millis(&mut self) -> u64 {
        const LANDMARKS: [u64; 14] =
            [0, 0, 1, 100, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 3_600_000];
        match self.below(12) {
            0 => self.below(2_500),
            1 => self.below(400) * 1_000,
            2 => self.below(400_000),
            3 => self.of(&LANDMARKS).saturating_sub(1),
            4 => self.of(&LANDMARKS) + 1,
            5 if self.one_in(4) => self.huge(),
            _ => self.of(&LANDMARKS),
        }
    }

    /// Around powers of two where clients have been seen to overflow, within a signed 64-bit integer.
    pub(super) fn huge(&mut self) -> u64 {
        let power = 1_u64 << self.of(&[31, 32, 40, 52, 53, 53, 53, 62, 63]);
        let near = power.saturating_sub(2).saturating_add(self.below(5));
        let scaled = if self.one_in(4) { near / 1_000 } else { near };
        scaled.min(i64::MAX as u64)
    }
}
