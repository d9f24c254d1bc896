//! Where files lie, how each gets its name, and until when it is kept.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use hub_protocol::Id;
use tempfile::{NamedTempFile, TempPath};

use super::StoreError;
use crate::clock::{seconds_of, system_time};

/// The files of the hub: objects and packs, each named by its id.
///
/// A file is written under `temporary` and renamed once it is whole and on the disk, so what has its name is
/// whole. Until when a pack must be kept is its file's modification time, which lies in the future: raising it
/// costs no transaction, and it outlives a restart.
#[derive(Debug)]
pub(crate) struct Files {
    folder: PathBuf,
}

impl Files {
    /// Makes the folders, and throws away what an earlier run left unfinished.
    pub(crate) fn open(folder: &Path) -> Result<Self, StoreError> {
        let this = Self { folder: folder.to_owned() };
        let temporary = this.temporary();
        if temporary.exists() {
            fs::remove_dir_all(&temporary).map_err(StoreError::file("could not clear unfinished files"))?;
        }
        for folder in [temporary, this.objects(), this.uploads(), this.packs()] {
            fs::create_dir_all(&folder)
                .map_err(StoreError::file(format!("could not make {}", folder.display())))?;
        }
        Ok(this)
    }

    /// A file to be written through [`NamedTempFile::as_file`]: what goes wrong is told to clients, and its own
    /// errors would tell them where it lies.
    pub(crate) fn new_temporary(&self) -> io::Result<NamedTempFile> {
        NamedTempFile::new_in(self.temporary()).map_err(|error| error.kind().into())
    }

    pub(crate) fn object(&self, id: &Id) -> PathBuf {
        let hex = id.hex();
        self.objects().join(&hex[..2]).join(&hex[2..])
    }

    /// An uploaded pack. By repository: whoever knows the id of another's pack has not uploaded it.
    pub(crate) fn upload(&self, repository: u64, id: &Id) -> PathBuf {
        self.uploads().join(format!("{repository}-{}", id.hex()))
    }

    pub(crate) fn pack(&self, id: &Id) -> PathBuf {
        self.packs().join(id.hex())
    }

    pub(crate) fn packs(&self) -> PathBuf {
        self.folder.join("packs")
    }

    pub(crate) fn uploads(&self) -> PathBuf {
        self.folder.join("uploads")
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.folder.join("objects")
    }

    fn temporary(&self) -> PathBuf {
        self.folder.join("temporary")
    }
}

/// Gives a finished file its name, durably: its bytes, then its name, are on the disk when this returns. It is
/// kept at least until `until`, in seconds since the Unix epoch.
pub(crate) fn land(file: NamedTempFile, path: &Path, until: u64) -> io::Result<()> {
    // Before the rename: once it has its name, it may be used and removed at any time.
    file.as_file().set_modified(system_time(until))?;
    file.as_file().sync_all()?;
    rename(file.into_temp_path(), path)?;
    sync_folder_of(path)
}

/// Gives a file its name; a crash may undo it.
pub(crate) fn rename(file: TempPath, path: &Path) -> io::Result<()> {
    file.persist(path).map_err(|error| error.error)
}

/// Makes the names in a file's folder durable.
pub(crate) fn sync_folder_of(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

/// Keeps the file at least until `until`, in seconds since the Unix epoch.
pub(crate) fn keep_until(path: &Path, until: u64) -> io::Result<()> {
    let file = File::options().write(true).open(path)?;
    if seconds_of(file.metadata()?.modified()?) < until {
        file.set_modified(system_time(until))?;
    }
    Ok(())
}

/// Whether a file is there and is to be kept at `now`.
pub(crate) fn is_kept(path: &Path, now: u64) -> bool {
    path.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|until| seconds_of(until) >= now)
}

/// Removes the files of a folder whose time has passed, except those that `keep` names. Says how many.
pub(crate) fn sweep(folder: &Path, now: u64, keep: impl Fn(&str) -> bool) -> io::Result<u64> {
    let mut removed = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if is_kept(&entry.path(), now) || entry.file_name().to_str().is_some_and(&keep) {
            continue;
        }
        match fs::remove_file(entry.path()) {
            Ok(()) => removed += 1,
            // Whoever had done with it was quicker.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

/// The list of the objects in an uploaded pack, beside the pack.
pub(crate) fn contents_of(upload: &Path) -> PathBuf {
    upload.with_extension("objects")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_temporary_file_does_not_tell_where_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let files = Files::open(folder.path()).unwrap();
        fs::remove_dir(files.temporary()).unwrap();
        assert_eq!(files.new_temporary().unwrap_err().to_string(), "entity not found");
    }
}
