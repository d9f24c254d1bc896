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

#[cfg(test)]
mod tests {
    use alloc::string::ToString;
    use alloc::vec::Vec;
    use core::hash::BuildHasher;

    use super::KeyHash;

    /// Every bit of a hash is one for about half of all keys: places and fingerprints are spread, whatever
    /// the seed.
    #[test]
    #[cfg_attr(miri, ignore = "counts for minutes, and touches no memory of its own")]
    fn hashes_are_spread_over_all_bits() {
        let keys = ["", "/a", "http://a:80/", "https://example.com:443/items/"];
        for seed in [0, 1, u64::MAX] {
            let build = KeyHash::seeded(seed);
            let mut ones = [0_u32; 64];
            for key in (0..1_024_u64).flat_map(|number| keys.map(|key| (key, number))) {
                let hash = build.hash_one(key);
                for (bit, count) in ones.iter_mut().enumerate() {
                    *count += u32::from(hash >> bit & 1 == 1);
                }
            }
            assert!(ones.iter().all(|count| (1_848..2_248).contains(count)), "{ones:?}");
        }
    }

    /// E9: who does not know the seed does not know which keys meet.
    #[test]
    fn another_seed_is_another_layout() {
        let hash = |seed, key: &str| KeyHash::seeded(seed).hash_one(key) & 0xff;
        let together =
            |seed| (0..200_u32).filter(|key| hash(seed, &key.to_string()) == 7).collect::<Vec<_>>();
        assert_ne!(together(1), together(2));
    }
}
