//! The hash of window keys: fast on short strings, seeded against chosen collisions.

use core::hash::{BuildHasher, Hasher};

/// Builds the hasher of one store.
#[derive(Debug, Clone)]
pub(crate) struct KeyHash {
    seed: u64,
}

impl KeyHash {
    pub(crate) const fn seeded(seed: u64) -> Self {
        Self { seed: fold(seed ^ FIRST, SECOND) }
    }
}

impl BuildHasher for KeyHash {
    type Hasher = FoldHasher;

    fn build_hasher(&self) -> FoldHasher {
        FoldHasher { state: self.seed }
    }
}

/// Folds eight bytes at a time into the state by a 128-bit multiplication.
pub(crate) struct FoldHasher {
    state: u64,
}

/// Two odd numbers without structure: the fractional parts of the square roots of 2 and 3, made odd.
const FIRST: u64 = 0x6a09_e667_f3bc_c909;
const SECOND: u64 = 0xbb67_ae85_84ca_a73b;

impl Hasher for FoldHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (chunks, rest) = bytes.as_chunks::<8>();
        for chunk in chunks {
            self.write_u64(u64::from_le_bytes(*chunk));
        }
        let mut last = [0; 8];
        for (kept, byte) in last.iter_mut().zip(rest) {
            *kept = *byte;
        }
        // The length tells `a` from `a\0`.
        self.write_u64(
            u64::from_le_bytes(last) ^ u64::try_from(bytes.len()).unwrap_or(u64::MAX).rotate_left(56),
        );
    }

    fn write_u64(&mut self, word: u64) {
        self.state = fold(self.state ^ word, SECOND);
    }

    fn finish(&self) -> u64 {
        fold(self.state, FIRST)
    }
}

const fn fold(left: u64, right: u64) -> u64 {
    let product = (left as u128).wrapping_mul(right as u128);
    (product as u64) ^ (product.wrapping_shr(64) as u64)
}
