//! Reading what has been recorded.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use hub_protocol::{Commit, Id, Snapshot};
use serde::de::DeserializeOwned;

use super::layout::Layout;
use crate::errors::{Error, IoContext};

/// Commits fit; snapshots come in pieces of this.
const READ_AT_ONCE: usize = 16 * 1024;

/// The objects, snapshots and commits of one repository.
///
/// Two things hold at every moment, a power cut included: a file under its final name is whole, and whatever it
/// leads to is there too. [`super::staging`] keeps them by the order in which it puts files in place.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    layout: Layout,
}

impl Store {
    pub(super) fn new(layout: Layout) -> Self {
        Self { layout }
    }

    pub(crate) fn object_path(&self, id: Id) -> PathBuf {
        object_path(self.layout.objects(), id)
    }

    pub(crate) fn commit_path(&self, id: Id) -> PathBuf {
        json_path(self.layout.commits(), id)
    }

    pub(crate) fn snapshot_path(&self, id: Id) -> PathBuf {
        json_path(self.layout.snapshots(), id)
    }

    pub(crate) fn has_object(&self, id: Id) -> bool {
        self.object_path(id).exists()
    }

    pub(crate) fn has_snapshot(&self, id: Id) -> bool {
        self.snapshot_path(id).exists()
    }

    pub(crate) fn has_commit(&self, id: Id) -> bool {
        self.commit_path(id).exists()
    }

    pub(crate) fn open_object(&self, id: Id) -> Result<File, Error> {
        let path = self.object_path(id);
        match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(Error::Incomplete { holder: "this repository".into(), kind: "object", id })
            }
            opened => opened.while_doing("reading the object", &path),
        }
    }

    pub(crate) fn commit(&self, id: Id) -> Result<Commit, Error> {
        let path = self.commit_path(id);
        let commit: Commit = read_json(&path, "commit", id)?;
        same_id(&path, id, commit.id())?;
        Ok(commit)
    }

    pub(crate) fn snapshot(&self, id: Id) -> Result<Snapshot, Error> {
        let path = self.snapshot_path(id);
        let snapshot: Snapshot = read_json(&path, "snapshot", id)?;
        same_id(&path, id, snapshot.id())?;
        Ok(snapshot)
    }

    /// The files of a commit; of none, no files.
    pub(crate) fn files_of(&self, commit: Option<Id>) -> Result<Snapshot, Error> {
        match commit {
            Some(id) => self.snapshot(self.commit(id)?.snapshot()),
            None => Ok(Snapshot::default()),
        }
    }
}

/// Where an object lies below a directory of objects, in the store and on its way there.
pub(super) fn object_path(mut directory: PathBuf, id: Id) -> PathBuf {
    let hex = id.hex();
    directory.push(&hex[..2]);
    directory.push(&hex[2..]);
    directory
}

/// Without the `sha256:` of an id: a colon is no part of a file name everywhere.
pub(super) fn json_path(directory: PathBuf, id: Id) -> PathBuf {
    directory.join(format!("{}.json", id.hex()))
}

fn read_json<T: DeserializeOwned>(path: &Path, kind: &'static str, id: Id) -> Result<T, Error> {
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(Error::Incomplete { holder: "this repository".into(), kind, id });
        }
        opened => opened.while_doing("reading", path)?,
    };
    // Not as a whole: a snapshot of many files is long.
    serde_json::from_reader(BufReader::with_capacity(READ_AT_ONCE, file)).map_err(|error| {
        if error.is_io() {
            return Error::Io { doing: "reading", path: path.to_owned(), source: error.into() };
        }
        Error::Damaged { path: path.to_owned(), reason: error.to_string() }
    })
}

fn same_id(path: &Path, named: Id, actual: Id) -> Result<(), Error> {
    if named == actual {
        return Ok(());
    }
    Err(Error::Damaged { path: path.to_owned(), reason: format!("its content is that of {actual}") })
}
