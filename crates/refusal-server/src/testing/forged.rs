//! Packs that lie.

use bytes::Bytes;
use hub_protocol::Id;

use super::Pushed;

/// A pack that no honest writer would write: these records, behind totals that fit them and under a digest
/// that is right, so that nothing but the records is wrong.
pub(crate) fn forged(records: &[(u8, Id, &[u8])]) -> Pushed {
    let count = |kind: u8| records.iter().filter(|(of, ..)| *of == kind).count() as u64;
    let bytes: usize =
        records.iter().filter(|(kind, ..)| *kind == b'O').map(|(_, _, content)| content.len()).sum();
    let mut plain = vec![b'T'];
    for total in [count(b'C'), count(b'S'), count(b'O'), bytes as u64] {
        plain.extend(total.to_le_bytes());
    }
    for (kind, id, content) in records {
        plain.push(*kind);
        plain.extend(id.as_bytes());
        plain.extend((content.len() as u64).to_le_bytes());
        plain.extend(*content);
    }
    plain.push(b'E');
    let mut pack = b"\x89mpack\n\x01".to_vec();
    pack.extend(zstd::bulk::compress(&plain, 0).unwrap());
    let digest = Id::of(&pack);
    pack.extend(digest.as_bytes());
    sealed(pack)
}

/// These bytes as a pack, under the id that they have.
pub(crate) fn sealed(pack: Vec<u8>) -> Pushed {
    Pushed { branch: "main", head: Id::of("no head"), mpack_id: Id::of(&pack), pack: Bytes::from(pack) }
}
