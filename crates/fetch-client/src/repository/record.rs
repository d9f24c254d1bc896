//! Turning the working tree into a snapshot, and a snapshot into a commit.

use std::collections::BTreeMap;
use std::io;

use hub_protocol::{BranchName, Commit, FileEntry, HashingReader, Id, RepositoryPath, Snapshot};

use super::durable;
use super::scan::{ScannedFile, Warning, scan};
use super::staging::Staging;
use super::{Repository, RepositoryLock};
use crate::errors::{Error, IoContext};

/// A commit that was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recorded {
    /// Its id.
    pub commit: Id,
    /// The branch that it was added to.
    pub branch: BranchName,
    /// How many files its snapshot holds.
    pub files: usize,
    /// What the working tree holds and the commit does not.
    pub warnings: Vec<Warning>,
}

impl Repository {
    /// Records the working tree as a commit on the current branch.
    ///
    /// `committed_at` is RFC 3339 in UTC.
    ///
    /// # Errors
    ///
    /// [`Error::NoMessage`]; [`Error::NothingToCommit`] where nothing has changed; [`Error::Commit`] where the message or the time
    /// cannot be part of a commit; [`Error::Busy`], or [`Error::Io`].
    pub fn record(&self, message: &str, committed_at: &str) -> Result<Recorded, Error> {
        if message.trim().is_empty() {
            return Err(Error::NoMessage);
        }
        let lock = self.lock()?;
        let branch = self.current_branch()?;
        let parent = self.head(&branch)?;
        let before = self.store.files_of(parent)?;
        let scanned = scan(self.root(), &before)?;

        let mut staging = self.stage()?;
        let mut files = BTreeMap::new();
        for file in &scanned.files {
            let entry = stage_file(&mut staging, file, before.files().get(&file.path))?;
            files.insert(file.path.clone(), entry);
        }
        let snapshot =
            Snapshot::new(files).expect("a path in a file system is a file or a directory, never both");
        if parent.is_some() && snapshot == before || parent.is_none() && snapshot.files().is_empty() {
            return Err(Error::NothingToCommit);
        }
        let id = staging.put_snapshot(&snapshot)?;
        let commit = Commit::new(parent.into_iter().collect(), id, message, committed_at)?;
        let commit = self.settle_commit(&lock, staging, &commit)?;
        self.references.set_head(&branch, commit)?;
        Ok(Recorded { commit, branch, files: snapshot.files().len(), warnings: scanned.warnings })
    }

    /// Puts `commit`, and what is staged for it, into the store.
    pub(crate) fn settle_commit(
        &self,
        _lock: &RepositoryLock,
        mut staging: Staging,
        commit: &Commit,
    ) -> Result<Id, Error> {
        let id = staging.put_commit(commit)?;
        staging.check_complete(&[id])?;
        staging.settle()?;
        Ok(id)
    }
}

/// The entry of a file, whose content is staged unless the last commit has it under the same path.
///
/// A path that is new is copied at once: it is read once, and not a second time for its hash.
fn stage_file(
    staging: &mut Staging,
    file: &ScannedFile,
    before: Option<&FileEntry>,
) -> Result<FileEntry, Error> {
    if let Some(before) = before {
        let object = hash_file(file)?;
        if object == before.object {
            return Ok(FileEntry { object, executable: file.executable });
        }
    }
    let mut source =
        durable::open_without_following(&file.location).while_doing("opening", &file.location)?;
    let object = staging.copy_object(&mut source).while_doing("recording", &file.location)?;
    Ok(FileEntry { object, executable: file.executable })
}

/// The id of a file's content as it is now.
pub(super) fn hash_file(file: &ScannedFile) -> Result<Id, Error> {
    let source = durable::open_without_following(&file.location).while_doing("opening", &file.location)?;
    let mut reader = HashingReader::new(source);
    io::copy(&mut reader, &mut io::sink()).while_doing("reading", &file.location)?;
    let (_, id, _) = reader.finish();
    Ok(id)
}

/// How the working tree differs from a commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Differences {
    /// Files that the commit lacks.
    pub added: Vec<RepositoryPath>,
    /// Files of another content, or executable where the commit's are not, or the reverse.
    pub modified: Vec<RepositoryPath>,
    /// Files that only the commit has.
    pub deleted: Vec<RepositoryPath>,
}

impl Repository {
    /// How the working tree differs from `commit`, and what does not take part.
    pub(crate) fn differences(&self, commit: Option<Id>) -> Result<(Differences, Vec<Warning>), Error> {
        let before = self.store.files_of(commit)?;
        let scanned = scan(self.root(), &before)?;
        let mut before = before.into_files();
        let mut found = Differences::default();
        for file in scanned.files {
            match before.remove(&file.path) {
                None => found.added.push(file.path),
                Some(entry) if self.is_unchanged(&file, &entry)? => {}
                Some(_) => found.modified.push(file.path),
            }
        }
        found.deleted = before.into_keys().collect();
        Ok((found, scanned.warnings))
    }

    fn is_unchanged(&self, file: &ScannedFile, entry: &FileEntry) -> Result<bool, Error> {
        let recorded = self.store.object_path(entry.object);
        let length = std::fs::metadata(&recorded).while_doing("looking at", &recorded)?.len();
        Ok(file.executable == entry.executable && file.length == length && hash_file(file)? == entry.object)
    }
}
