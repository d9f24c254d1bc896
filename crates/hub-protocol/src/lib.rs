//! What the hub and its client say to each other: the object model, the JSON bodies, the mpack.
//!
//! This crate opens no socket and no file: it reads and writes what it is handed, through blocking
//! [`std::io`], in bounded memory. Everything that arrives is taken to be hostile: a type that exists has been
//! checked, and each refusal is an error that names what was refused.
//!
//! * [`Id`]: the SHA-256 that names an object, a snapshot, a commit or a pack.
//! * [`RepositoryPath`], [`BranchName`]: names that are safe to make files of.
//! * [`Snapshot`], [`Commit`]: the object model, and how ids are made of it.
//! * [`PackWriter`], [`read_pack`]: many objects in one file that streams in both directions.
//! * [`Refs`], [`FetchRequest`] and the rest: the JSON bodies of the hub's endpoints.
//!
//! The format of the pack is described in `docs/mpack.md`, well enough for a second implementation.

mod branch;
mod commit;
mod id;
mod name;
mod pack;
mod path;
mod quoted;
#[cfg(feature = "openapi")]
mod schema;
mod snapshot;
mod timestamp;
mod wire;

pub use branch::{BranchName, BranchNameError};
pub use commit::{Commit, CommitError, MAX_MESSAGE_BYTES, MAX_PARENTS};
pub use id::{HashingReader, Id, IdError, IdHasher};
pub use pack::{
    Entry, Kind, LimitExceeded, Limits, PackError, PackSink, PackWriter, Place, Summary, Totals, read_pack,
};
pub use path::{PathError, RepositoryPath};
pub use snapshot::{FileEntry, Snapshot, SnapshotError, objects_in};
pub use timestamp::utc_timestamp;
pub use wire::{
    DEFAULT_TTL_SECONDS, FetchAnswer, FetchRequest, MAX_HAVES, MAX_TTL_SECONDS, MAX_WANTS, MIN_TTL_SECONDS,
    PresignAnswer, PresignRequest, Refs, UnpackAnswer, UnpackRequest,
};
