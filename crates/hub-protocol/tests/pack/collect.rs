//! What a pack holds, gathered.

use std::collections::BTreeMap;
use std::io;

use hub_protocol::{Commit, Id, Limits, PackError, PackSink, Snapshot, Summary, read_pack};

/// A sink that keeps everything, and insists on being called as promised.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Collected {
    pub(crate) commits: Vec<(Id, Commit)>,
    pub(crate) snapshots: Vec<(Id, Snapshot)>,
    pub(crate) objects: BTreeMap<Id, Vec<u8>>,
    pub(crate) unfinished: Option<(Id, u64, Vec<u8>)>,
    pub(crate) largest_chunk: usize,
}

impl PackSink for Collected {
    fn commit(&mut self, id: Id, commit: Commit) -> io::Result<()> {
        self.commits.push((id, commit));
        Ok(())
    }

    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> io::Result<()> {
        self.snapshots.push((id, snapshot));
        Ok(())
    }

    fn object_begin(&mut self, id: Id, len: u64) -> io::Result<()> {
        assert_eq!(self.unfinished, None, "an object begins inside another");
        self.unfinished = Some((id, len, Vec::new()));
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        assert!(!chunk.is_empty(), "a piece is empty");
        self.largest_chunk = self.largest_chunk.max(chunk.len());
        let (_, len, bytes) = self.unfinished.as_mut().expect("an object has begun");
        bytes.extend_from_slice(chunk);
        assert!(bytes.len() as u64 <= *len, "more comes than was announced");
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        let (begun, len, bytes) = self.unfinished.take().expect("an object has begun");
        assert_eq!((begun, len), (id, bytes.len() as u64), "another object ends than has begun");
        assert_eq!(Id::of(&bytes), id, "an object is done that lies about its id");
        self.objects.insert(id, bytes);
        Ok(())
    }
}

pub(crate) fn read(pack: &[u8]) -> Result<(Summary, Collected), PackError> {
    read_within(pack, &Limits::default())
}

pub(crate) fn read_within(pack: &[u8], limits: &Limits) -> Result<(Summary, Collected), PackError> {
    let mut collected = Collected::default();
    let summary = read_pack(pack, limits, &mut collected)?;
    assert_eq!(collected.unfinished, None, "a pack is read whose last object is not whole");
    Ok((summary, collected))
}

pub(crate) fn refusal(pack: &[u8]) -> PackError {
    read(pack).expect_err("the pack is not to be read")
}
