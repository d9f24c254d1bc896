//! What can go wrong with the data, and what a client is told of it.

use std::io;

use hub_protocol::PackError;

use crate::refusal::{Failure, Refused};

/// What kept the hub from reading or writing its data.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The database.
    #[error("the database cannot be used: {0}")]
    Database(#[from] redb::Error),
    /// A file.
    #[error("{doing}: {source}")]
    File {
        /// What was being done.
        doing: String,
        /// What the system said.
        source: io::Error,
    },
    /// A pack.
    #[error("{doing}: {}", .source.with_causes())]
    Pack {
        /// What was being done.
        doing: String,
        /// What is wrong with the pack, or with the disk it is on.
        source: PackError,
    },
    /// A second server would be writing to the same files.
    #[error("the database is in use by another server")]
    InUse,
    /// The data contradicts itself.
    #[error("the data is damaged: {0}")]
    Damaged(String),
    /// The server is on its way out.
    #[error("the server is shutting down")]
    Stopping,
}

impl StoreError {
    /// Names what was being done when `source` came up.
    pub(crate) fn file(doing: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let doing = doing.into();
        move |source| Self::File { doing, source }
    }

    pub(crate) fn pack(doing: impl Into<String>) -> impl FnOnce(PackError) -> Self {
        let doing = doing.into();
        move |source| Self::Pack { doing, source }
    }
}

macro_rules! from_redb {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for StoreError {
            fn from(error: redb::$error) -> Self {
                Self::Database(error.into())
            }
        }

        impl From<redb::$error> for Refused {
            fn from(error: redb::$error) -> Self {
                StoreError::from(error).into()
            }
        }
    )*};
}

from_redb!(CommitError, DatabaseError, StorageError, TableError, TransactionError);

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Failure::Internal(error.to_string())
    }
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Failure::from(error).into()
    }
}
