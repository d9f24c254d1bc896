//! What the fuzzer does with its bytes. The committed corpus is replayed through the same functions by a
//! test of `hub-protocol`, on a stable toolchain.
#![allow(dead_code, reason = "each target uses one of these")]

use std::io;

use hub_protocol::{
    Commit, Id, Limits, PackError, PackSink, PackWriter, Snapshot, Summary, Totals, read_pack,
};

/// The most that a sink may be handed at once.
const LONGEST_CHUNK: usize = 128 * 1024;
/// Small enough for the fuzzer to find every edge of them.
const LIMITS: Limits = Limits {
    commits: 8,
    snapshots: 8,
    objects: 16,
    commit_bytes: 1 << 10,
    snapshot_bytes: 4 << 10,
    bytes: 256 << 10,
    ratio: 100,
    ratio_exempt_bytes: 8 << 10,
};

/// Any bytes at all.
pub(crate) fn pack(data: &[u8]) {
    read_as_pack(data);
}

/// The records of a pack, wrapped so that neither compression nor digest stands before them.
///
/// No fuzzer finds a SHA-256: the first byte says whether the totals (1) and the ids (2) are put right first.
pub(crate) fn pack_records(data: &[u8]) {
    let Some((flags, records)) = data.split_first() else { return };
    let mut records = records.to_vec();
    mend(&mut records, flags & 1 != 0, flags & 2 != 0);
    let mut pack = b"\x89mpack\n\x01".to_vec();
    pack.extend(zstd::bulk::compress(&records, 1).unwrap());
    let digest = Id::of(&pack);
    pack.extend(digest.as_bytes());
    read_as_pack(&pack);
}

/// Reading ends, within the limits; and whatever reads as a pack reads the same when it is written again.
fn read_as_pack(data: &[u8]) {
    let mut content = Content::default();
    let summary = match read_pack(data, &LIMITS, &mut content) {
        Ok(summary) => summary,
        Err(error) => {
            assert!(!matches!(error, PackError::Store { .. }), "the sink takes everything: {error}");
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert_eq!((summary.mpack_id, summary.size), (Id::of(data), data.len() as u64));
    content.check_against(&summary);

    let (again, written) = content.write();
    let mut content_again = Content::default();
    let read = read_pack(&again[..], &Limits::default(), &mut content_again).unwrap();
    assert_eq!(read, written);
    assert_eq!(content_again, content);
    assert_eq!(content_again.write().0, again, "the same content makes the same pack");
}

/// Keeps and counts what comes, and insists on being called as promised.
#[derive(Debug, Default, PartialEq)]
struct Content {
    commits: Vec<Commit>,
    snapshots: Vec<Snapshot>,
    objects: Vec<Vec<u8>>,
    bytes: u64,
    open: Option<(Id, u64, Vec<u8>)>,
}

impl Content {
    fn totals(&self) -> Totals {
        Totals {
            commits: self.commits.len() as u64,
            snapshots: self.snapshots.len() as u64,
            objects: self.objects.len() as u64,
            bytes: self.bytes,
        }
    }

    fn check_against(&self, summary: &Summary) {
        assert_eq!(self.open, None, "the last object is whole");
        let Summary { commits, snapshots, objects, bytes, .. } = *summary;
        assert_eq!(Totals { commits, snapshots, objects, bytes }, self.totals());
    }

    fn write(&self) -> (Vec<u8>, Summary) {
        let mut writer = PackWriter::new(Vec::new(), self.totals()).unwrap();
        for commit in &self.commits {
            writer.commit(commit).unwrap();
        }
        for snapshot in &self.snapshots {
            writer.snapshot(snapshot).unwrap();
        }
        for object in &self.objects {
            writer.object(Id::of(object), object.len() as u64, &object[..]).unwrap();
        }
        writer.finish().unwrap()
    }
}

impl PackSink for Content {
    fn commit(&mut self, id: Id, commit: Commit) -> io::Result<()> {
        assert_eq!(commit.id(), id);
        assert!(self.snapshots.is_empty() && self.objects.is_empty() && self.open.is_none());
        self.commits.push(commit);
        assert!(self.commits.len() as u64 <= LIMITS.commits);
        Ok(())
    }

    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> io::Result<()> {
        assert_eq!(snapshot.id(), id);
        assert!(self.objects.is_empty() && self.open.is_none());
        self.snapshots.push(snapshot);
        assert!(self.snapshots.len() as u64 <= LIMITS.snapshots);
        Ok(())
    }

    fn object_begin(&mut self, id: Id, len: u64) -> io::Result<()> {
        assert_eq!(self.open, None, "an object begins inside another");
        assert!(self.bytes + len <= LIMITS.bytes);
        self.open = Some((id, len, Vec::new()));
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        assert!((1..=LONGEST_CHUNK).contains(&chunk.len()));
        let (_, len, bytes) = self.open.as_mut().expect("an object has begun");
        bytes.extend_from_slice(chunk);
        assert!(bytes.len() as u64 <= *len, "more comes than was announced");
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        let (begun, len, bytes) = self.open.take().expect("an object has begun");
        assert_eq!((begun, len), (id, bytes.len() as u64), "another object ends than has begun");
        assert_eq!(Id::of(&bytes), id, "an object is done that lies about its id");
        self.bytes += len;
        self.objects.push(bytes);
        assert!(self.objects.len() as u64 <= LIMITS.objects);
        Ok(())
    }
}

/// Puts right what can be of the totals and the ids, as far as the records can be walked.
fn mend(records: &mut [u8], totals: bool, ids: bool) {
    let Some((head, entries)) = records.split_at_mut_checked(33) else { return };
    let mut found = [0_u64; 4];
    let mut rest = entries;
    while let Some((entry, after)) = rest.split_at_mut_checked(41) {
        let len = u64::from_le_bytes(entry[33..].try_into().expect("an entry's head ends with eight bytes"));
        let Some((content, after)) =
            usize::try_from(len).ok().and_then(|len| after.split_at_mut_checked(len))
        else {
            break;
        };
        let (kind, id) = match entry[0] {
            b'C' => (0, serde_json::from_slice(content).ok().map(|commit: Commit| commit.id())),
            b'S' => (1, serde_json::from_slice(content).ok().map(|snapshot: Snapshot| snapshot.id())),
            b'O' => (2, Some(Id::of(&*content))),
            _ => break,
        };
        found[kind] += 1;
        if kind == 2 {
            found[3] += len;
        }
        if let Some(id) = id.filter(|_| ids) {
            entry[1..33].copy_from_slice(id.as_bytes());
        }
        rest = after;
    }
    if totals {
        for (place, count) in head[1..].chunks_exact_mut(8).zip(found) {
            place.copy_from_slice(&count.to_le_bytes());
        }
    }
}
