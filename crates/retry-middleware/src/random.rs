//! The random source for jitter.

use rand::RngExt as _;
use retry_core::Random;

/// Draws from this thread's generator.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadRandom;

impl Random for ThreadRandom {
    fn up_to(&mut self, most: u64) -> u64 {
        if most == 0 { 0 } else { rand::rng().random_range(0..=most) }
    }
}
