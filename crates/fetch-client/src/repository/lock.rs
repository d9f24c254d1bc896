//! One process at a time changes a repository.

use std::fs::{File, OpenOptions, TryLockError};

use super::layout::Layout;
use crate::errors::{Error, IoContext};

/// Proof that this process is the only one that changes refs and the working tree.
///
/// The kernel holds the lock for as long as the process lives, so a killed process leaves none behind.
#[derive(Debug)]
pub(crate) struct RepositoryLock {
    _file: File,
}

impl RepositoryLock {
    /// Takes the lock, without waiting for it.
    ///
    /// # Errors
    ///
    /// [`Error::Busy`] when another process holds it.
    pub(crate) fn take(layout: &Layout) -> Result<Self, Error> {
        let path = layout.lock();
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .while_doing("opening the lock", &path)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { lock: path }),
            Err(TryLockError::Error(source)) => Err(source).while_doing("taking the lock", &path),
        }
    }
}
