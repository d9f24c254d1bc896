//! The history in a pack, on its way into the database.

use std::collections::HashSet;
use std::io;

use hub_protocol::{Commit, Id, PackSink, Snapshot};
use redb::{ReadableTable, Table, WriteTransaction};

use crate::hub::store::{
    COMMITS, MISSING, OBJECTS, OwnId, SNAPSHOTS, SnapshotPart, StoreError, encode, snapshots,
};
use crate::refusal::{Failure, Refused};

/// Takes the start of a pack into the database, and stops before its objects.
pub(super) struct Recorder<'a> {
    number: u64,
    commits: Table<'a, OwnId, &'static [u8]>,
    snapshots: Table<'a, SnapshotPart, &'static [u8]>,
    objects: Table<'a, OwnId, u64>,
    missing: Table<'a, OwnId, ()>,
    /// Sorted.
    in_pack: Vec<Id>,
    /// Objects that a snapshot of this pack names and that were found somewhere.
    found: HashSet<Id>,
    /// Which commits and snapshots the commits of this pack name, each with the one that does.
    references: Vec<(Id, Reference)>,
    /// Why the reading was ended early, unless the objects ended it.
    pub(super) refusal: Option<Refused>,
    pub(super) at_objects: bool,
}

#[derive(Clone, Copy)]
enum Reference {
    Parent(Id),
    Snapshot(Id),
}

impl<'a> Recorder<'a> {
    pub(super) fn open(
        transaction: &'a WriteTransaction,
        number: u64,
        in_pack: Vec<Id>,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            number,
            commits: transaction.open_table(COMMITS)?,
            snapshots: transaction.open_table(SNAPSHOTS)?,
            objects: transaction.open_table(OBJECTS)?,
            missing: transaction.open_table(MISSING)?,
            in_pack,
            found: HashSet::new(),
            references: Vec::new(),
            refusal: None,
            at_objects: false,
        })
    }

    /// Whatever a commit names has to be in the pack or in the repository: a history with holes is refused.
    pub(super) fn check_references(&self) -> Result<(), Refused> {
        for (commit, reference) in &self.references {
            let (what, id, is_there) = match reference {
                Reference::Parent(id) => {
                    ("parent", id, self.commits.get((self.number, id.as_bytes()))?.is_some())
                }
                Reference::Snapshot(id) => {
                    ("snapshot", id, snapshots::contains(&self.snapshots, self.number, id)?)
                }
            };
            if !is_there {
                return Err(Failure::Unprocessable(format!(
                    "the {what} {id} of the commit {commit} is neither in the pack nor in the repository"
                ))
                .into());
            }
        }
        Ok(())
    }

    fn take_snapshot(&mut self, id: Id, snapshot: &Snapshot) -> Result<(), Refused> {
        snapshots::put(&mut self.snapshots, self.number, &id, snapshot)?;
        for (path, entry) in snapshot.files() {
            if !self.found.insert(entry.object) {
                continue;
            }
            let key = (self.number, entry.object.as_bytes());
            if self.objects.get(key)?.is_some() {
                continue;
            }
            if self.in_pack.binary_search(&entry.object).is_ok() {
                self.missing.insert(key, ())?;
            } else if self.missing.get(key)?.is_none() {
                return Err(Failure::Unprocessable(format!(
                    "the object {} of `{}` in the snapshot {id} is neither in the pack nor in the repository",
                    entry.object,
                    path.as_str().escape_debug()
                ))
                .into());
            }
        }
        Ok(())
    }

    fn stop(&mut self, refusal: Refused) -> io::Error {
        self.refusal = Some(refusal);
        io::ErrorKind::Other.into()
    }
}

impl PackSink for Recorder<'_> {
    fn commit(&mut self, id: Id, commit: Commit) -> io::Result<()> {
        self.references.extend(commit.parents().iter().map(|parent| (id, Reference::Parent(*parent))));
        self.references.push((id, Reference::Snapshot(commit.snapshot())));
        let inserted =
            self.commits.insert((self.number, id.as_bytes()), encode(&commit).as_slice()).map(drop);
        inserted.map_err(|error| self.stop(StoreError::from(error).into()))
    }

    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> io::Result<()> {
        self.take_snapshot(id, &snapshot).map_err(|refusal| self.stop(refusal))
    }

    fn object_begin(&mut self, _id: Id, _len: u64) -> io::Result<()> {
        self.at_objects = true;
        Err(io::ErrorKind::Other.into())
    }

    fn object_chunk(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn object_done(&mut self, _id: Id) -> io::Result<()> {
        Ok(())
    }
}
