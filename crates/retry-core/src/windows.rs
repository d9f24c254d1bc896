//! Not-befores that are shared by all requests with the same key (section 7).

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::borrow::Borrow;
use core::cmp::Reverse;
use core::hash::{BuildHasher, Hash};
use core::num::NonZeroU64;

use crate::key_hash::KeyHash;
use crate::policy::{Join, WindowPolicy};
use crate::time::Monotonic;

/// What refusals have told about each key: a bounded map from keys to not-befores.
///
/// It holds what servers asked, capped by the window ceiling, not what one request's budget allows (E5).
/// A look-up touches one entry and allocates nothing.
///
/// ```
/// use retry_core::{Monotonic, Windows, profiles};
///
/// let mut windows = Windows::new(profiles::RECOMMENDED.windows().unwrap());
/// let at = Monotonic::from_millis;
///
/// windows.record("http://example.com/a", at(30_000), 429, at(0));
/// assert_eq!(windows.ask("http://example.com/a", at(29_999)).map(|closed| closed.not_before), Some(at(30_000)));
/// assert_eq!(windows.ask("http://example.com/a", at(30_000)), None);
/// ```
#[derive(Debug, Clone)]
pub struct Windows<K> {
    policy: WindowPolicy,
    hash: KeyHash,
    /// Open addressing with linear probing; no entry is further from its place than a run of neighbours.
    table: Vec<Option<Entry<K>>>,
    length: usize,
    recorded: u64,
    /// Candidates for eviction, soonest first. Empty until the store was full once; then every entry has one that
    /// comes no later than the entry itself, which is put back where it stands now when that one is met.
    candidates: BinaryHeap<Reverse<Candidate>>,
}

/// A key's live window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Closed {
    /// No request of this key goes before this instant.
    pub not_before: Monotonic,
    /// The status that set it.
    pub status: u16,
}

#[derive(Debug, Clone)]
struct Entry<K> {
    key: K,
    /// Microseconds; never 0, since it lies after the instant that it was recorded at.
    not_before: NonZeroU64,
    last_refusal: Monotonic,
    /// The number of this key's last record, for the tie of E9.
    recorded: u64,
    /// Half of the key's hash, so that a look-up does not fetch the keys of its neighbours.
    fingerprint: u32,
    status: u16,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    not_before: NonZeroU64,
    recorded: u64,
    hash: u64,
}

/// Whether a refusal with this status is recorded: 429 and 503 speak of the resource, for whoever asks (E11).
#[must_use]
pub const fn records_window(status: u16) -> bool {
    matches!(status, 429 | 503)
}

/// Whether an answer with this status clears the window of its key (E6): a 2xx.
///
/// A redirect ends its request as well, and says nothing of whether the resource is able again.
#[must_use]
pub const fn clears_window(status: u16) -> bool {
    matches!(status, 200..=299)
}

impl<K: Hash + Eq> Windows<K> {
    /// An empty store. Keys that an attacker may choose want [`Windows::seeded`].
    #[must_use]
    pub fn new(policy: WindowPolicy) -> Self {
        Self::seeded(policy, 0)
    }

    /// An empty store whose layout depends on `seed`, so that nobody can choose keys that collide.
    #[must_use]
    pub fn seeded(policy: WindowPolicy, seed: u64) -> Self {
        Self {
            policy,
            hash: KeyHash::seeded(seed),
            table: Vec::new(),
            length: 0,
            recorded: 0,
            candidates: BinaryHeap::new(),
        }
    }

    /// Notes that a refusal with this status asked at `now` to stay away until `not_before`, and returns
    /// the instant as it was recorded: capped at `now` plus the window ceiling (E3).
    ///
    /// Returns `None`, and notes nothing, where that instant is not after `now` (E4). A new key always gets
    /// in; where the store is full, the key that expires soonest goes (E9).
    pub fn record(
        &mut self,
        key: K,
        not_before: Monotonic,
        status: u16,
        now: Monotonic,
    ) -> Option<Monotonic> {
        let capped = not_before.min(now.after_millis(self.policy.ceiling_millis));
        let asked = NonZeroU64::new(capped.as_micros()).filter(|_| capped > now)?;
        self.recorded = self.recorded.wrapping_add(1);
        let recorded = self.recorded;
        let hash = self.hash.hash_one(&key);
        let join = self.policy.join;

        if let Some(entry) = self.position(hash, &key).and_then(|place| self.entry_mut(place)) {
            let live = entry.not_before.get() > now.as_micros();
            let wins = match join {
                _ if !live => true,
                Join::Latest => asked > entry.not_before,
                Join::Earliest => asked < entry.not_before,
            };
            let sooner = asked < entry.not_before;
            if wins {
                entry.not_before = asked;
                entry.status = status;
            }
            entry.last_refusal = now;
            entry.recorded = recorded;
            let candidate = Candidate { not_before: entry.not_before, recorded, hash };
            if wins && sooner {
                self.remember_candidate(candidate);
            }
            return Some(capped);
        }

        if self.length >= self.capacity() {
            self.evict();
        }
        let fingerprint = fingerprint(hash);
        self.insert(hash, Entry { key, not_before: asked, last_refusal: now, recorded, fingerprint, status });
        self.remember_candidate(Candidate { not_before: asked, recorded, hash });
        Some(capped)
    }

    /// The key's window, where it is live: a key is free at `now >= not_before` (E4).
    #[inline]
    pub fn ask<Q>(&self, key: &Q, now: Monotonic) -> Option<Closed>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if self.length == 0 {
            return None;
        }
        let entry = self.entry(self.position(self.hash.hash_one(key), key)?)?;
        let not_before = Monotonic::from_micros(entry.not_before.get());
        (not_before > now).then_some(Closed { not_before, status: entry.status })
    }

    /// Opens the key's window after a success, if that attempt started strictly after the last refusal
    /// recorded on the key (E6).
    pub fn success<Q>(&mut self, key: &Q, started: Monotonic)
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ?Sized,
    {
        if self.length == 0 {
            return;
        }
        let Some(place) = self.position(self.hash.hash_one(key), key) else { return };
        if self.entry(place).is_some_and(|entry| started > entry.last_refusal) {
            self.remove(place);
        }
    }

    /// How many windows are live at `now`. Looks at every entry.
    #[must_use]
    pub fn live(&self, now: Monotonic) -> usize {
        let is_live = |entry: &&Entry<K>| entry.not_before.get() > now.as_micros();
        self.table.iter().flatten().filter(is_live).count()
    }

    /// How many keys are remembered, live or not; never more than the capacity.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.length
    }

    /// Whether no key is remembered.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.length == 0
    }

    fn capacity(&self) -> usize {
        usize::try_from(self.policy.capacity.get()).unwrap_or(usize::MAX)
    }

    /// Removes the entry that expires soonest, the least recently recorded on a tie; those that have
    /// expired already are the soonest of all.
    fn evict(&mut self) {
        if self.candidates.is_empty() {
            let hash = &self.hash;
            let all = self.table.iter().flatten().map(|entry| {
                Reverse(Candidate {
                    not_before: entry.not_before,
                    recorded: entry.recorded,
                    hash: hash.hash_one(&entry.key),
                })
            });
            self.candidates = all.collect();
        }
        while let Some(Reverse(candidate)) = self.candidates.pop() {
            let Some(place) = self.place_of(&candidate) else { continue };
            let Some(entry) = self.entry(place) else { continue };
            let current = Candidate { not_before: entry.not_before, recorded: entry.recorded, ..candidate };
            if current == candidate {
                self.remove(place);
                return;
            }
            self.candidates.push(Reverse(current));
        }
    }

    /// Where a candidate's entry stands now. Two keys may share a hash, so an exact match goes first, and of
    /// those that have moved on the soonest: so no entry is ever without a candidate that comes before it.
    fn place_of(&self, candidate: &Candidate) -> Option<usize> {
        let fingerprint = fingerprint(candidate.hash);
        let same_hash = |place: &usize| {
            self.entry(*place).is_some_and(|entry| {
                entry.fingerprint == fingerprint && self.hash.hash_one(&entry.key) == candidate.hash
            })
        };
        let order = |place: &usize| self.entry(*place).map(|entry| (entry.not_before, entry.recorded));
        let wanted = Some((candidate.not_before, candidate.recorded));
        let run = || self.run(candidate.hash).filter(same_hash);
        run()
            .find(|place| order(place) == wanted)
            .or_else(|| run().filter(|place| order(place) > wanted).min_by_key(order))
    }

    fn remember_candidate(&mut self, candidate: Candidate) {
        if self.candidates.is_empty() {
            return;
        }
        self.candidates.push(Reverse(candidate));
        if self.candidates.len() > self.capacity().saturating_mul(2).saturating_add(16) {
            self.candidates.clear();
        }
    }

    fn position<Q>(&self, hash: u64, key: &Q) -> Option<usize>
    where
        K: Borrow<Q>,
        Q: Eq + ?Sized,
    {
        let fingerprint = fingerprint(hash);
        self.run(hash).find(|place| {
            self.entry(*place)
                .is_some_and(|entry| entry.fingerprint == fingerprint && entry.key.borrow() == key)
        })
    }

    /// The occupied places from a hash's own place on, to the first free one.
    fn run(&self, hash: u64) -> impl Iterator<Item = usize> {
        let own = self.own_place(hash);
        let places = (own..self.table.len()).chain(0..own);
        places.take_while(|place| self.entry(*place).is_some())
    }

    /// The lower bits of the hash; the upper ones are the fingerprint.
    fn own_place(&self, hash: u64) -> usize {
        hash as usize & self.table.len().wrapping_sub(1)
    }

    fn entry(&self, place: usize) -> Option<&Entry<K>> {
        self.table.get(place)?.as_ref()
    }

    fn entry_mut(&mut self, place: usize) -> Option<&mut Entry<K>> {
        self.table.get_mut(place)?.as_mut()
    }

    fn insert(&mut self, hash: u64, entry: Entry<K>) {
        if self.length.saturating_add(1).saturating_mul(8) > self.table.len().saturating_mul(7) {
            self.grow();
        }
        let free = self.run(hash).last().map_or(self.own_place(hash), |last| self.next(last));
        if let Some(place) = self.table.get_mut(free) {
            *place = Some(entry);
            self.length = self.length.saturating_add(1);
        }
    }

    /// Takes an entry out and moves those behind it up, so that no run has a hole.
    fn remove(&mut self, place: usize) {
        let Some(slot) = self.table.get_mut(place) else { return };
        if slot.take().is_none() {
            return;
        }
        self.length = self.length.saturating_sub(1);
        let mut hole = place;
        let mut next = self.next(place);
        while let Some(entry) = self.entry(next) {
            let own = self.own_place(self.hash.hash_one(&entry.key));
            if self.distance(own, next) >= self.distance(hole, next) {
                self.table.swap(hole, next);
                hole = next;
            }
            next = self.next(next);
        }
    }

    fn grow(&mut self) {
        let size = self.table.len().saturating_mul(2).max(16);
        let mut larger = Vec::new();
        larger.resize_with(size, || None);
        let entries = core::mem::replace(&mut self.table, larger);
        self.length = 0;
        for entry in entries.into_iter().flatten() {
            self.insert(self.hash.hash_one(&entry.key), entry);
        }
    }

    fn next(&self, place: usize) -> usize {
        place.wrapping_add(1) & self.table.len().wrapping_sub(1)
    }

    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & self.table.len().wrapping_sub(1)
    }
}

/// The upper half: the lower one says where an entry stands.
fn fingerprint(hash: u64) -> u32 {
    u32::try_from(hash.wrapping_shr(32)).unwrap_or(u32::MAX)
}
