//! The laws of windows: the store against a model so plain that it can be read.

use alloc::format;
use alloc::vec::Vec;

use super::laws::Broken;
use crate::policy::{Join, WindowPolicy};
use crate::time::Monotonic;
use crate::windows::Windows;

/// One thing that is done to a store of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WindowOperation {
    /// A refusal asks to stay away for a while.
    Record {
        /// The key.
        key: u8,
        /// Until when.
        not_before: Monotonic,
    },
    /// A request asks its window.
    Ask {
        /// The key.
        key: u8,
    },
    /// An attempt succeeded.
    Success {
        /// The key.
        key: u8,
        /// When it had started.
        started: Monotonic,
    },
}

/// The store answers like a list that is searched from end to end (E3 to E6, E9): so it never holds more
/// than its capacity, and drops a live window only by success or by eviction of the soonest.
///
/// `operations` are given with their instants, which must not go back.
///
/// # Errors
///
/// The first answer that differs.
pub fn windows_match_the_plain_model(
    policy: WindowPolicy,
    operations: &[(Monotonic, WindowOperation)],
) -> Result<(), Broken> {
    const LAW: &str = "windows match the plain model";
    let mut store = Windows::new(policy);
    let mut model = Model { policy, entries: Vec::new() };
    for (index, (now, operation)) in operations.iter().enumerate() {
        match *operation {
            WindowOperation::Record { key, not_before } => {
                store.record(key, not_before, 429, *now);
                model.record(key, not_before, *now);
            }
            WindowOperation::Success { key, started } => {
                store.success(&key, started);
                model.entries.retain(|entry| entry.key != key || started <= entry.last_refusal);
            }
            WindowOperation::Ask { .. } => {}
        }
        if store.len() > usize::try_from(policy.capacity.get()).unwrap_or(usize::MAX) {
            return Broken::law(LAW, format!("operation {index} leaves {} keys", store.len()));
        }
        for key in 0..=u8::MAX {
            let told = store.ask(&key, *now).map(|closed| closed.not_before);
            let expected = model.ask(key, *now);
            if told != expected {
                let detail = format!("after operation {index}, key {key}: {told:?}, expected {expected:?}");
                return Broken::law(LAW, detail);
            }
        }
    }
    Ok(())
}

/// The order and the number of equal refusals make no difference under [`Join::Latest`] (E10).
///
/// # Errors
///
/// The two instants that differ.
pub fn latest_join_is_a_semilattice(
    capped_by: WindowPolicy,
    first: Monotonic,
    second: Monotonic,
    third: Monotonic,
) -> Result<(), Broken> {
    let policy = WindowPolicy { join: Join::Latest, ..capped_by };
    let joined = |refusals: &[Monotonic]| {
        let mut store = Windows::new(policy);
        for not_before in refusals {
            store.record((), *not_before, 503, Monotonic::ORIGIN);
        }
        store.ask(&(), Monotonic::ORIGIN).map(|closed| closed.not_before)
    };
    let orders = [
        joined(&[first, second, third]),
        joined(&[third, second, first]),
        joined(&[second, first, third, first, second]),
    ];
    let [one, two, three] = orders;
    if one == two && two == three {
        return Ok(());
    }
    Broken::law("latest-join is a semilattice", format!("{orders:?}"))
}

/// Every window in a list, with nothing clever about it.
struct Model {
    policy: WindowPolicy,
    /// The least recently recorded first.
    entries: Vec<ModelEntry>,
}

struct ModelEntry {
    key: u8,
    not_before: Monotonic,
    last_refusal: Monotonic,
}

impl Model {
    fn ask(&self, key: u8, now: Monotonic) -> Option<Monotonic> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        (entry.not_before > now).then_some(entry.not_before)
    }

    fn record(&mut self, key: u8, not_before: Monotonic, now: Monotonic) {
        let asked = not_before.min(now.after_millis(self.policy.ceiling_millis));
        if asked <= now {
            return;
        }
        let joined = match (self.ask(key, now), self.policy.join) {
            (None, _) => asked,
            (Some(live), Join::Latest) => live.max(asked),
            (Some(live), Join::Earliest) => live.min(asked),
        };
        let known = self.entries.iter().position(|entry| entry.key == key);
        let leaving = known.or_else(|| {
            let full =
                self.entries.len() >= usize::try_from(self.policy.capacity.get()).unwrap_or(usize::MAX);
            let soonest = self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.not_before);
            soonest.filter(|_| full).map(|(index, _)| index)
        });
        if let Some(index) = leaving {
            self.entries.remove(index);
        }
        self.entries.push(ModelEntry { key, not_before: joined, last_refusal: now });
    }
}
