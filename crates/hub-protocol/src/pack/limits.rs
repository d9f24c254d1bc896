//! What a pack may ask of whoever reads it.

use super::{Kind, LimitExceeded, Place, Totals};

/// What a pack may ask of its reader; the writer refuses to create what exceeds it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The most commits. A million is the history of the Linux kernel.
    pub commits: u64,
    /// The most snapshots: one for each commit.
    pub snapshots: u64,
    /// The most objects. Their ids are remembered while the pack is read, which takes about 70 MiB a million.
    pub objects: u64,
    /// The longest record of a commit, in bytes. A message of 64 KiB grows to at most 384 KiB when every
    /// character of it is escaped.
    pub commit_bytes: u64,
    /// The longest record of a snapshot, in bytes: it is held in memory. A file takes about 150 bytes, so that
    /// 64 MiB are some 400,000 files.
    pub snapshot_bytes: u64,
    /// The longest uncompressed stream, in bytes. A terabyte is more than a hub of this kind should be sent, and
    /// little enough to be noticed on a disk.
    pub bytes: u64,
    /// How many times longer than its compressed form the stream may be, at every point of it. Text seldom
    /// exceeds 20 and logs 100; zstd can reach 30,000.
    pub ratio: u64,
    /// Up to this many uncompressed bytes the ratio is not looked at: a small pack of zeros harms nobody.
    pub ratio_exempt_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            commits: 1_000_000,
            snapshots: 1_000_000,
            objects: 4_000_000,
            commit_bytes: 1 << 20,
            snapshot_bytes: 64 << 20,
            bytes: 1 << 40,
            ratio: 1_000,
            ratio_exempt_bytes: 1 << 30,
        }
    }
}

impl Limits {
    pub(super) fn check_totals(&self, totals: &Totals) -> Result<(), LimitExceeded> {
        for kind in Kind::ALL {
            let (declared, limit) = (totals.of(kind), self.count(kind));
            if declared > limit {
                return Err(LimitExceeded::Count { kind, declared, limit });
            }
        }
        self.check_bytes(totals.bytes, Place::Totals)
    }

    /// Whether a stream of `plain` bytes may come of `packed` bytes.
    pub(super) fn check_growth(&self, plain: u64, packed: u64, at: Place) -> Result<(), LimitExceeded> {
        self.check_bytes(plain, at)?;
        if plain > self.ratio_exempt_bytes.max(packed.saturating_mul(self.ratio)) {
            return Err(LimitExceeded::Ratio { at, packed, plain, ratio: self.ratio });
        }
        Ok(())
    }

    /// The longest record of this kind that is held in memory; objects stream.
    pub(super) fn record_bytes(&self, kind: Kind) -> Option<u64> {
        match kind {
            Kind::Commit => Some(self.commit_bytes),
            Kind::Snapshot => Some(self.snapshot_bytes),
            Kind::Object => None,
        }
    }

    fn count(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Commit => self.commits,
            Kind::Snapshot => self.snapshots,
            Kind::Object => self.objects,
        }
    }

    fn check_bytes(&self, bytes: u64, at: Place) -> Result<(), LimitExceeded> {
        if bytes > self.bytes {
            return Err(LimitExceeded::Bytes { at, bytes, limit: self.bytes });
        }
        Ok(())
    }
}
