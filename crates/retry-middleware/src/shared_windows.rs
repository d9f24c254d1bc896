//! The windows of one client, shared by all its requests (section 7).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use retry_core::{Closed, Monotonic, Policy, Windows};

use crate::key::Key;

/// The windows that all requests of one client share; one lock, which is not even taken while no key is
/// remembered.
#[derive(Debug)]
pub(crate) struct SharedWindows {
    occupied: AtomicBool,
    windows: Mutex<Windows<Key>>,
}

impl SharedWindows {
    /// The store that `policy` asks for, laid out by `seed`; none where it shares nothing.
    pub(crate) fn of(policy: &Policy, seed: u64) -> Option<Self> {
        let windows = Windows::seeded(policy.windows()?, seed);
        Some(Self { occupied: AtomicBool::new(false), windows: Mutex::new(windows) })
    }

    /// The live window of the key that `key` makes, and that key.
    pub(crate) fn ask(&self, key: impl FnOnce() -> Key, now: Monotonic) -> Option<(Key, Closed)> {
        if !self.occupied.load(Ordering::Acquire) {
            return None;
        }
        let key = key();
        let closed = self.lock().ask(&key, now)?;
        Some((key, closed))
    }

    /// Notes a refusal (E3, E5) and returns the instant as it was recorded.
    pub(crate) fn record(
        &self,
        key: Key,
        not_before: Monotonic,
        status: u16,
        now: Monotonic,
    ) -> Option<Monotonic> {
        let mut windows = self.lock();
        let recorded = windows.record(key, not_before, status, now);
        self.occupied.store(!windows.is_empty(), Ordering::Release);
        recorded
    }

    /// Notes a success of an attempt that had started at `started` (E6).
    pub(crate) fn success(&self, key: impl FnOnce() -> Key, started: Monotonic) {
        if self.occupied.load(Ordering::Acquire) {
            let mut windows = self.lock();
            windows.success(&key(), started);
            self.occupied.store(!windows.is_empty(), Ordering::Release);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Windows<Key>> {
        // Nothing in the store can be half done: a panic in a key's hash or comparison changes nothing.
        self.windows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
