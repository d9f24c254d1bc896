//! Repositories to push, and what packs hold.

use std::collections::BTreeMap;

use bytes::Bytes;
use hub_protocol::{
    Commit, FileEntry, Id, Limits, PackSink, PackWriter, RepositoryPath, Snapshot, Totals, read_pack,
};

/// A pack and what to push of it.
#[derive(Debug, Clone)]
pub(crate) struct Pushed {
    pub(crate) branch: &'static str,
    pub(crate) head: Id,
    pub(crate) mpack_id: Id,
    pub(crate) pack: Bytes,
}

/// What a repository holds, gathered by hand or read from a pack.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct History {
    pub(crate) commits: BTreeMap<Id, Commit>,
    pub(crate) snapshots: BTreeMap<Id, Snapshot>,
    pub(crate) objects: BTreeMap<Id, Vec<u8>>,
    partial: Vec<u8>,
}

impl History {
    /// Adds a commit of these files.
    pub(crate) fn commit(&mut self, parents: &[Id], message: &str, files: &[(&str, &[u8])]) -> Id {
        let mut entries = BTreeMap::new();
        for (path, content) in files {
            let object = Id::of(content);
            self.objects.insert(object, content.to_vec());
            entries.insert(RepositoryPath::new(*path).unwrap(), FileEntry { object, executable: false });
        }
        let snapshot = Snapshot::new(entries).unwrap();
        let commit = Commit::new(parents.to_vec(), snapshot.id(), message, "2026-11-30T12:00:00Z").unwrap();
        self.snapshots.insert(snapshot.id(), snapshot);
        let id = commit.id();
        self.commits.insert(id, commit);
        id
    }

    /// One commit with one file, and the pack to push it.
    pub(crate) fn of_one_commit(content: &str) -> (Self, Pushed) {
        let mut history = Self::default();
        let head = history.commit(&[], "first", &[("file", content.as_bytes())]);
        let pushed = history.pack(head);
        (history, pushed)
    }

    /// All of it as a pack, to push `head` to `main`.
    pub(crate) fn pack(&self, head: Id) -> Pushed {
        let totals = Totals {
            commits: self.commits.len() as u64,
            snapshots: self.snapshots.len() as u64,
            objects: self.objects.len() as u64,
            bytes: self.objects.values().map(|object| object.len() as u64).sum(),
        };
        let mut writer = PackWriter::new(Vec::new(), totals).unwrap();
        self.commits.values().for_each(|commit| writer.commit(commit).unwrap());
        self.snapshots.values().for_each(|snapshot| writer.snapshot(snapshot).unwrap());
        for (id, bytes) in &self.objects {
            writer.object(*id, bytes.len() as u64, bytes.as_slice()).unwrap();
        }
        let (pack, summary) = writer.finish().unwrap();
        Pushed { branch: "main", head, mpack_id: summary.mpack_id, pack: pack.into() }
    }

    /// What a pack holds, each entry checked against its id on the way.
    pub(crate) fn read(pack: &[u8]) -> Self {
        let mut history = Self::default();
        read_pack(pack, &Limits::default(), &mut history).unwrap();
        history
    }

    /// What is here and not in `other`.
    pub(crate) fn without(&self, other: &Self) -> Self {
        let mut rest = self.clone();
        rest.commits.retain(|id, _| !other.commits.contains_key(id));
        rest.snapshots.retain(|id, _| !other.snapshots.contains_key(id));
        rest.objects.retain(|id, _| !other.objects.contains_key(id));
        rest
    }
}

impl PackSink for History {
    fn commit(&mut self, id: Id, commit: Commit) -> std::io::Result<()> {
        self.commits.insert(id, commit);
        Ok(())
    }

    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> std::io::Result<()> {
        self.snapshots.insert(id, snapshot);
        Ok(())
    }

    fn object_begin(&mut self, _id: Id, _len: u64) -> std::io::Result<()> {
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> std::io::Result<()> {
        self.partial.extend_from_slice(chunk);
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> std::io::Result<()> {
        self.objects.insert(id, std::mem::take(&mut self.partial));
        Ok(())
    }
}
