//! What the hub keeps: the database (who has which heads, generations, jobs) and the files it points to.

mod database;
mod error;
pub(super) mod files;
mod objects;
mod records;
pub(super) mod snapshots;
mod tables;

pub(super) use database::Database;
pub use error::StoreError;
pub(super) use files::Files;
pub(super) use objects::ObjectWriter;
pub(super) use records::{Heads, PackKey, PackRecord, Repository};
pub(crate) use tables::{
    COMMITS, COUNTERS, HEADS, History, JOBS, META, MISSING, OBJECTS, OwnId, PACKS, PENDING, REPOSITORIES,
    SNAPSHOTS, SnapshotPart, any_of, decode, encode, heads, repository,
};
