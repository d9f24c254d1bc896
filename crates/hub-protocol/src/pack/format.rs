//! The numbers of the format, and what a pack declares and comes to.

use crate::Id;

use super::Kind;

/// The first seven bytes of a pack. The high bit and the line feed show what a transfer that takes the file
/// for text has done to it.
pub(super) const MAGIC: [u8; 7] = *b"\x89mpack\n";
/// The eighth byte. A change that an older reader would misread raises it.
pub(super) const VERSION: u8 = 1;

pub(super) const TOTALS: u8 = b'T';
pub(super) const END: u8 = b'E';

/// Four little-endian `u64`: commits, snapshots, objects, bytes.
pub(super) const TOTALS_LEN: usize = 32;
/// The id of an entry, and its length as a little-endian `u64`.
pub(super) const ENTRY_HEADER_LEN: usize = 40;
/// The SHA-256 of everything before it.
pub(super) const DIGEST_LEN: usize = 32;

impl Kind {
    pub(super) const ALL: [Self; 3] = [Self::Commit, Self::Snapshot, Self::Object];

    pub(super) fn from_record_type(record_type: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.record_type() == record_type)
    }

    pub(super) fn record_type(self) -> u8 {
        match self {
            Self::Commit => b'C',
            Self::Snapshot => b'S',
            Self::Object => b'O',
        }
    }
}

/// What a pack says at its start that it holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Totals {
    /// How many commits.
    pub commits: u64,
    /// How many snapshots.
    pub snapshots: u64,
    /// How many objects.
    pub objects: u64,
    /// The length of all objects together, in bytes, uncompressed.
    pub bytes: u64,
}

impl Totals {
    pub(super) fn of(&self, kind: Kind) -> u64 {
        match kind {
            Kind::Commit => self.commits,
            Kind::Snapshot => self.snapshots,
            Kind::Object => self.objects,
        }
    }

    pub(super) fn count_mut(&mut self, kind: Kind) -> &mut u64 {
        match kind {
            Kind::Commit => &mut self.commits,
            Kind::Snapshot => &mut self.snapshots,
            Kind::Object => &mut self.objects,
        }
    }

    pub(super) fn to_bytes(self) -> [u8; TOTALS_LEN] {
        let mut bytes = [0; TOTALS_LEN];
        let fields = [self.commits, self.snapshots, self.objects, self.bytes];
        for (place, field) in bytes.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        bytes
    }

    pub(super) fn from_bytes(bytes: &[u8; TOTALS_LEN]) -> Self {
        let (fields, _) = bytes.as_chunks::<8>();
        let [commits, snapshots, objects, bytes] = [0, 1, 2, 3].map(|at| u64::from_le_bytes(fields[at]));
        Self { commits, snapshots, objects, bytes }
    }
}

pub(super) fn entry_header(id: Id, len: u64) -> [u8; ENTRY_HEADER_LEN] {
    let mut bytes = [0; ENTRY_HEADER_LEN];
    bytes[..32].copy_from_slice(id.as_bytes());
    bytes[32..].copy_from_slice(&len.to_le_bytes());
    bytes
}

pub(super) fn parse_entry_header(bytes: &[u8; ENTRY_HEADER_LEN]) -> (Id, u64) {
    let (mut digest, mut len) = ([0; 32], [0; 8]);
    digest.copy_from_slice(&bytes[..32]);
    len.copy_from_slice(&bytes[32..]);
    (Id::from_digest(digest), u64::from_le_bytes(len))
}

/// What a pack was found to hold, and what the pack itself is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// How many commits.
    pub commits: u64,
    /// How many snapshots.
    pub snapshots: u64,
    /// How many objects.
    pub objects: u64,
    /// The length of all objects together, in bytes, uncompressed.
    pub bytes: u64,
    /// The SHA-256 of the whole pack as it was read or written. A reader that expects a certain pack compares
    /// this: [`read_pack`](super::read_pack) does not know which one was asked for.
    pub mpack_id: Id,
    /// The length of the whole pack, in bytes.
    pub size: u64,
}

impl Summary {
    pub(super) fn new(totals: Totals, mpack_id: Id, size: u64) -> Self {
        let Totals { commits, snapshots, objects, bytes } = totals;
        Self { commits, snapshots, objects, bytes, mpack_id, size }
    }
}
