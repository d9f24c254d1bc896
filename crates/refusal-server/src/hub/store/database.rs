//! The database file: made, opened, and opened anew after a disk was full.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{PoisonError, RwLock};

use redb::{DatabaseError, ReadTransaction, ReadableDatabase, TransactionError, WriteTransaction};

use super::{StoreError, tables};

/// The cache is what bounds the server's memory; the rest of the file is the page cache's business.
const CACHE_BYTES: usize = 8 << 20;

/// The embedded database, and its way back from a disk that was full.
///
/// redb refuses everything after a failed write until it is opened anew, since it cannot know what reached
/// the disk. A full disk must fail one request and not the server, so this opens it anew.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    open: RwLock<Option<redb::Database>>,
    broken: AtomicBool,
    revision: AtomicU64,
}

impl Database {
    pub(crate) fn open(path: &Path) -> Result<Self, StoreError> {
        let database = open(path)?;
        let this = Self {
            path: path.to_owned(),
            open: RwLock::new(Some(database)),
            broken: AtomicBool::new(false),
            revision: AtomicU64::new(0),
        };
        this.write(tables::create_all)?;
        Ok(this)
    }

    /// A number that has changed by the time a write is reported: what was read since it was looked at last
    /// still holds while it is the same.
    pub(crate) fn revision(&self) -> u64 {
        self.revision.load(Ordering::Acquire)
    }

    /// Reads one consistent state. Blocks.
    pub(crate) fn read<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        self.with(|database| {
            let transaction = database.begin_read().map_err(StoreError::from)?;
            work(&transaction)
        })
    }

    /// Runs `work` in one transaction: all of it happens, durably, or none of it. Blocks.
    pub(crate) fn write<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        self.with(|database| {
            let transaction = database.begin_write().map_err(StoreError::from)?;
            let result = work(&transaction)?;
            let committed = transaction.commit();
            // Also where that failed: what reached the disk is not known then.
            self.revision.fetch_add(1, Ordering::Release);
            committed.map_err(StoreError::from)?;
            Ok(result)
        })
    }

    fn with<T, E: From<StoreError>>(
        &self,
        work: impl FnOnce(&redb::Database) -> Result<T, E>,
    ) -> Result<T, E> {
        if self.broken.load(Ordering::Acquire) {
            self.open_anew()?;
        }
        let open = self.open.read().unwrap_or_else(PoisonError::into_inner);
        let database =
            open.as_ref().ok_or_else(|| StoreError::Damaged("it could not be opened anew".into()))?;
        let result = work(database);
        if result.is_err() && !is_usable(database) {
            self.broken.store(true, Ordering::Release);
        }
        result
    }

    fn open_anew(&self) -> Result<(), StoreError> {
        let mut open = self.open.write().unwrap_or_else(PoisonError::into_inner);
        if self.broken.load(Ordering::Acquire) {
            tracing::warn!("a write to the database had failed: it is opened anew");
            // The old one holds the lock on the file until it is gone.
            *open = None;
            *open = Some(self::open(&self.path)?);
            self.broken.store(false, Ordering::Release);
        }
        Ok(())
    }
}

fn open(path: &Path) -> Result<redb::Database, StoreError> {
    if !path.exists() {
        make(path)?;
    }
    open_or_create(path)
}

/// Makes an empty database under another name, so that a first start that is killed, or meets a full disk,
/// leaves nothing that a later one takes for a database.
fn make(path: &Path) -> Result<(), StoreError> {
    let unfinished = path.with_extension("redb.new");
    match open_or_create(&unfinished) {
        Ok(_) => {}
        Err(StoreError::InUse) => return Err(StoreError::InUse),
        // What an earlier start has left.
        Err(_) => {
            let doing = format!("cannot remove {}", unfinished.display());
            fs::remove_file(&unfinished).map_err(StoreError::file(doing))?;
            open_or_create(&unfinished)?;
        }
    }
    fs::rename(&unfinished, path).map_err(StoreError::file(format!("cannot make {}", path.display())))
}

fn open_or_create(path: &Path) -> Result<redb::Database, StoreError> {
    redb::Database::builder().set_cache_size(CACHE_BYTES).create(path).map_err(|error| match error {
        DatabaseError::DatabaseAlreadyOpen => StoreError::InUse,
        error => error.into(),
    })
}

/// Whether writes are still taken; a transaction that is under way elsewhere says that they are.
fn is_usable(database: &redb::Database) -> bool {
    matches!(database.try_begin_write(), Ok(_) | Err(TransactionError::WouldBlock))
}

#[cfg(test)]
mod tests {
    use super::{Database, fs};

    /// A first start that was killed while it made the database leaves its beginning under another name.
    #[test]
    fn an_unfinished_database_of_an_earlier_start_is_made_anew() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hub.redb");
        fs::write(folder.path().join("hub.redb.new"), [0; 4096]).expect("a file");
        drop(Database::open(&path).expect("a database"));
        assert!(!folder.path().join("hub.redb.new").exists());
        drop(Database::open(&path).expect("the same database"));
    }

    /// What stands under the database's own name is never replaced.
    #[test]
    fn something_else_under_its_name_is_refused_and_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hub.redb");
        fs::write(&path, b"not a database").expect("a file");
        assert!(Database::open(&path).is_err());
        assert_eq!(fs::read(&path).expect("the file"), b"not a database");
    }
}
