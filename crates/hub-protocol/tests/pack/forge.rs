//! Packs that the writer would not write, made from the description of the format alone.

use hub_protocol::{Commit, Id, Snapshot};

pub(crate) const HEADER: &[u8] = b"\x89mpack\n\x01";

/// The records of a pack, in whatever order and with whatever lies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Records(pub(crate) Vec<u8>);

impl Records {
    pub(crate) fn totals(commits: u64, snapshots: u64, objects: u64, bytes: u64) -> Self {
        let mut records = vec![b'T'];
        for field in [commits, snapshots, objects, bytes] {
            records.extend(field.to_le_bytes());
        }
        Self(records)
    }

    pub(crate) fn head(mut self, record_type: u8, id: Id, len: u64) -> Self {
        self.0.push(record_type);
        self.0.extend(id.as_bytes());
        self.0.extend(len.to_le_bytes());
        self
    }

    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.extend(bytes);
        self
    }

    pub(crate) fn entry(self, record_type: u8, id: Id, content: &[u8]) -> Self {
        self.head(record_type, id, content.len() as u64).bytes(content)
    }

    pub(crate) fn commit(self, commit: &Commit) -> Self {
        self.entry(b'C', commit.id(), &serde_json::to_vec(commit).unwrap())
    }

    pub(crate) fn snapshot(self, snapshot: &Snapshot) -> Self {
        self.entry(b'S', snapshot.id(), &serde_json::to_vec(snapshot).unwrap())
    }

    pub(crate) fn object(self, content: &[u8]) -> Self {
        self.entry(b'O', Id::of(content), content)
    }

    pub(crate) fn end(self) -> Self {
        self.bytes(b"E")
    }

    /// The pack that holds these records.
    pub(crate) fn pack(&self) -> Vec<u8> {
        around(&zstd::encode_all(&self.0[..], 1).unwrap())
    }
}

/// The pack with this compressed stream.
pub(crate) fn around(stream: &[u8]) -> Vec<u8> {
    let pack = [HEADER, stream].concat();
    let digest = Id::of(&pack);
    [&pack[..], digest.as_bytes()].concat()
}

/// The compressed stream of a pack.
pub(crate) fn stream_of(pack: &[u8]) -> &[u8] {
    &pack[HEADER.len()..pack.len() - 32]
}

/// The pack with another digest, one that fits what precedes it.
pub(crate) fn mended(pack: &[u8]) -> Vec<u8> {
    let body = &pack[..pack.len() - 32];
    [body, Id::of(body).as_bytes()].concat()
}

/// The records of a pack, uncompressed.
pub(crate) fn records_of(pack: &[u8]) -> Vec<u8> {
    zstd::decode_all(stream_of(pack)).unwrap()
}
