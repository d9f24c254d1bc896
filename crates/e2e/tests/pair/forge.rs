//! Packs made by hand from the description of the format: good ones, and ones that lie.

use std::fmt::Write as _;

use hub_protocol::{Commit, Id, IdHasher};

const HEADER: &[u8] = b"\x89mpack\n\x01";

/// When every commit here was made.
const COMMITTED_AT: &str = "2026-11-30T00:00:00Z";

/// A repository of one commit, as a pack holds it.
#[derive(Debug, Clone)]
pub(crate) struct Forged {
    pub(crate) head: Id,
    pub(crate) pack: Vec<u8>,
}

/// A pack of one commit whose snapshot holds these files, whatever their names.
pub(crate) fn forged(files: &[(&str, &str)]) -> Forged {
    forged_with(files, Lie::default())
}

/// Where a pack says something else than it holds.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Lie {
    /// The first object comes under the id of other bytes.
    pub(crate) object_id: bool,
    /// The snapshot comes under the id of another one.
    pub(crate) snapshot_id: bool,
    /// The pack declares an exbibyte of objects.
    pub(crate) bytes: bool,
    /// The last object is left out, and not declared either.
    pub(crate) last_object: bool,
}

/// As [`forged`], but not the whole truth.
pub(crate) fn forged_with(files: &[(&str, &str)], lie: Lie) -> Forged {
    let (snapshot_id, snapshot) = snapshot(files);
    let commit = Commit::new(Vec::new(), snapshot_id, "forged", COMMITTED_AT).unwrap();
    let held = &files[..files.len() - usize::from(lie.last_object)];
    let bytes = if lie.bytes { 1 << 60 } else { held.iter().map(|(_, content)| content.len() as u64).sum() };

    let mut records = vec![b'T'];
    for field in [1, 1, held.len() as u64, bytes] {
        records.extend(u64::to_le_bytes(field));
    }
    entry(&mut records, b'C', commit.id(), &serde_json::to_vec(&commit).unwrap());
    let told = if lie.snapshot_id { Id::of("another snapshot") } else { snapshot_id };
    entry(&mut records, b'S', told, snapshot.as_bytes());
    for (number, (_, content)) in held.iter().enumerate() {
        let told = if lie.object_id && number == 0 { Id::of("other bytes") } else { Id::of(content) };
        entry(&mut records, b'O', told, content.as_bytes());
    }
    records.push(b'E');

    let body = [HEADER, &zstd::encode_all(&records[..], 1).unwrap()].concat();
    let pack = [&body[..], Id::of(&body).as_bytes()].concat();
    Forged { head: commit.id(), pack }
}

fn entry(records: &mut Vec<u8>, kind: u8, id: Id, content: &[u8]) {
    records.push(kind);
    records.extend(id.as_bytes());
    records.extend((content.len() as u64).to_le_bytes());
    records.extend(content);
}

/// The canonical JSON of a snapshot and its id, unchecked.
fn snapshot(files: &[(&str, &str)]) -> (Id, String) {
    let mut hasher = IdHasher::new();
    let mut json = String::from("{\"files\":{");
    for (number, (path, content)) in files.iter().enumerate() {
        let object = Id::of(content).to_string();
        if number > 0 {
            hasher.update("\0");
            json.push(',');
        }
        hasher.update(format!("{path}\0{object}"));
        let path = serde_json::to_string(path).unwrap();
        write!(json, "{path}:{{\"object\":\"{object}\"}}").unwrap();
    }
    json.push_str("}}");
    (hasher.finish(), json)
}
