//! Content for packs.

use std::collections::BTreeMap;

use hub_protocol::{Commit, FileEntry, Id, PackWriter, RepositoryPath, Snapshot, Summary, Totals};

pub(crate) const HELLO: &[u8] = b"hello\n";
pub(crate) const SCRIPT: &[u8] = b"#!/bin/sh\necho later\n";

pub(crate) fn snapshot(files: &[(&str, &[u8], bool)]) -> Snapshot {
    let entry = |(path, content, executable): &(&str, &[u8], bool)| {
        let path = RepositoryPath::new(*path).unwrap();
        (path, FileEntry { object: Id::of(content), executable: *executable })
    };
    Snapshot::new(files.iter().map(entry).collect()).unwrap()
}

pub(crate) fn commit(parents: &[Id], snapshot: &Snapshot, message: &str) -> Commit {
    Commit::new(parents.to_vec(), snapshot.id(), message, "2026-11-30T15:59:07Z").unwrap()
}

/// What a pack is made of.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub(crate) commits: Vec<Commit>,
    pub(crate) snapshots: Vec<Snapshot>,
    pub(crate) objects: Vec<Vec<u8>>,
}

impl Content {
    /// Two commits, two snapshots, two objects: one of every kind of record, and small.
    pub(crate) fn small() -> Self {
        let first = snapshot(&[("README.md", HELLO, false)]);
        let second = snapshot(&[("README.md", HELLO, false), ("bin/run", SCRIPT, true)]);
        let root = commit(&[], &first, "first");
        let child = commit(&[root.id()], &second, "add a script");
        Self {
            commits: vec![root, child],
            snapshots: vec![first, second],
            objects: vec![HELLO.to_vec(), SCRIPT.to_vec()],
        }
    }

    pub(crate) fn totals(&self) -> Totals {
        Totals {
            commits: self.commits.len() as u64,
            snapshots: self.snapshots.len() as u64,
            objects: self.objects.len() as u64,
            bytes: self.objects.iter().map(|object| object.len() as u64).sum(),
        }
    }

    pub(crate) fn objects_by_id(&self) -> BTreeMap<Id, Vec<u8>> {
        self.objects.iter().map(|object| (Id::of(object), object.clone())).collect()
    }

    pub(crate) fn pack(&self) -> (Vec<u8>, Summary) {
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
