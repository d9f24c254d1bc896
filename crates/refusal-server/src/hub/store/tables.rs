//! The tables of the database, and how their rows are read.

use hub_protocol::{BranchName, Commit, Id};
use redb::{ReadableTable, TableDefinition, WriteTransaction};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::records::{Heads, Repository};
use super::{StoreError, snapshots};
use crate::hub::name::RepositoryName;
use crate::hub::walk::Graph;

/// A part of a snapshot of one repository, counted from 0.
pub(crate) type SnapshotPart = (u64, &'static [u8; 32], u32);
/// Something of one repository that has an id.
pub(crate) type OwnId = (u64, &'static [u8; 32]);

/// `owner/slug` to [`Repository`].
pub(crate) const REPOSITORIES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("repositories");
/// Repository and branch to the id of its head.
pub(crate) const HEADS: TableDefinition<'_, (u64, &str), &[u8; 32]> = TableDefinition::new("heads");
/// Canonical JSON of each commit that was pushed.
pub(crate) const COMMITS: TableDefinition<'_, OwnId, &[u8]> = TableDefinition::new("commits");
/// Canonical JSON of each snapshot that was pushed, in parts; see [`super::snapshots`].
pub(crate) const SNAPSHOTS: TableDefinition<'_, SnapshotPart, &[u8]> = TableDefinition::new("snapshots");
/// The index: each object whose file is at hand, and its length. By repository, although the files are
/// shared: an object of another's private repository must not be had by naming its id.
pub(crate) const OBJECTS: TableDefinition<'_, OwnId, u64> = TableDefinition::new("objects");
/// Objects that a snapshot names and that are still only in an uploaded pack.
pub(crate) const MISSING: TableDefinition<'_, OwnId, ()> = TableDefinition::new("missing");
/// Repository, generation and question to [`PackRecord`].
pub(crate) const PACKS: TableDefinition<'_, (u64, u64, &[u8; 32]), &[u8]> = TableDefinition::new("packs");
/// Job id to the job.
pub(crate) const JOBS: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("jobs");
/// The order of the jobs that have not ended, to their ids.
pub(crate) const PENDING: TableDefinition<'_, u64, &str> = TableDefinition::new("pending");
/// The next repository number and the next job's place.
pub(crate) const COUNTERS: TableDefinition<'_, &str, u64> = TableDefinition::new("counters");
/// The format of all this, and the key that signs URLs.
pub(crate) const META: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("meta");

/// Raised when an older server would misread what is written.
const FORMAT: &[u8] = b"2";

/// Makes every table, so that readers never meet one that is not there, and checks the format.
pub(super) fn create_all(transaction: &WriteTransaction) -> Result<(), StoreError> {
    transaction.open_table(REPOSITORIES)?;
    transaction.open_table(HEADS)?;
    transaction.open_table(COMMITS)?;
    transaction.open_table(SNAPSHOTS)?;
    transaction.open_table(OBJECTS)?;
    transaction.open_table(MISSING)?;
    transaction.open_table(PACKS)?;
    transaction.open_table(JOBS)?;
    transaction.open_table(PENDING)?;
    transaction.open_table(COUNTERS)?;
    let mut meta = transaction.open_table(META)?;
    let found = meta.get("format")?.map(|format| format.value().to_vec());
    match found.as_deref() {
        None => {
            meta.insert("format", FORMAT)?;
            Ok(())
        }
        Some(FORMAT) => Ok(()),
        Some(other) => Err(StoreError::Damaged(format!(
            "expected format {}, found {}",
            FORMAT.escape_ascii(),
            other.escape_ascii()
        ))),
    }
}

pub(crate) fn encode(record: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(record).expect("records are structures of text and numbers, which JSON can hold")
}

pub(crate) fn decode<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, StoreError> {
    serde_json::from_slice(bytes).map_err(|error| StoreError::Damaged(format!("{what}: {error}")))
}

/// The repository of that name.
pub(crate) fn repository(
    table: &impl ReadableTable<&'static str, &'static [u8]>,
    name: &RepositoryName,
) -> Result<Option<Repository>, StoreError> {
    let name = name.to_string();
    table.get(name.as_str())?.map(|bytes| decode(&name, bytes.value())).transpose()
}

/// The heads of a repository.
pub(crate) fn heads(
    table: &impl ReadableTable<(u64, &'static str), &'static [u8; 32]>,
    repository: u64,
) -> Result<Heads, StoreError> {
    let mut heads = Heads::new();
    for entry in table.range((repository, "")..(repository + 1, ""))? {
        let (key, head) = entry?;
        let branch =
            BranchName::new(key.value().1).map_err(|error| StoreError::Damaged(error.to_string()))?;
        heads.insert(branch, Id::from_digest(*head.value()));
    }
    Ok(heads)
}

/// A repository's commits and snapshots, in either kind of transaction.
pub(crate) struct History<'a, C, S> {
    pub(crate) repository: u64,
    pub(crate) commits: &'a C,
    pub(crate) snapshots: &'a S,
}

impl<C, S> Graph for History<'_, C, S>
where
    C: ReadableTable<OwnId, &'static [u8]>,
    S: ReadableTable<SnapshotPart, &'static [u8]>,
{
    type Error = StoreError;

    fn commit(&self, id: &Id) -> Result<Commit, StoreError> {
        match self.commits.get((self.repository, id.as_bytes()))? {
            Some(bytes) => decode("a commit", bytes.value()),
            None => Err(StoreError::Damaged(format!("the commit {id} is not there"))),
        }
    }

    fn objects(&self, id: &Id, visit: &mut dyn FnMut(Id)) -> Result<(), StoreError> {
        snapshots::objects(self.snapshots, self.repository, id, visit)
    }
}

/// Whether a repository has anything in `table`.
pub(crate) fn any_of<V: redb::Value + 'static>(
    table: &impl ReadableTable<OwnId, V>,
    repository: u64,
) -> Result<bool, StoreError> {
    Ok(table.range((repository, &[0; 32])..=(repository, &[0xff; 32]))?.next().transpose()?.is_some())
}
