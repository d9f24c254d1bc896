//! Changing the working tree from one commit to another, so that being killed at any point loses nothing.
//!
//! Objects are in the store before anything here begins. Then: the journal is written; files are removed and put
//! in place, each by one rename; the branch head moves; the journal is removed. Who takes the lock and finds a
//! journal carries on: a file that is as in the old or the new commit is fine, and any other is the user's.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hub_protocol::{BranchName, FileEntry, Id, RepositoryPath, Snapshot};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::durable;
use super::layout::Layout;
use super::lock::RepositoryLock;
use super::refs::References;
use super::store::Store;
use super::worktree::{Found, WorkTree};
use crate::errors::{Error, IoContext};

/// A move of the current branch, and of the working tree with it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Move {
    pub(crate) branch: BranchName,
    pub(crate) from: Option<Id>,
    pub(crate) to: Id,
}

/// One file that differs between two commits.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: RepositoryPath,
    from: Option<FileEntry>,
    to: Option<FileEntry>,
}

/// What changes the working tree, and where everything is.
pub(super) struct Checkout<'a> {
    pub(super) layout: &'a Layout,
    pub(super) store: &'a Store,
    pub(super) references: &'a References,
}

impl Checkout<'_> {
    /// Makes the move, or refuses it with everything as it was.
    ///
    /// An interruption leaves the journal in place: the next command carries on.
    pub(super) fn perform(
        &self,
        lock: &RepositoryLock,
        wanted: &Move,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        let changes = self.changes(wanted)?;
        let mut tree = WorkTree::open(self.layout.root())?;
        let steps = steps(&mut tree, &changes)?;
        let path = self.layout.journal();
        let journal = serde_json::to_vec(wanted)
            .map_err(|error| Error::Damaged { path: path.clone(), reason: error.to_string() })?;
        durable::replace_file(&self.layout.incoming(), &path, &journal).while_doing("writing", &path)?;
        self.carry_out(lock, wanted, &mut tree, &steps, cancel)
    }

    /// Carries on where an earlier process was stopped.
    pub(super) fn recover(&self, lock: &RepositoryLock) -> Result<(), Error> {
        let path = self.layout.journal();
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).while_doing("reading", &path),
        };
        let wanted: Move = serde_json::from_slice(&text)
            .map_err(|error| Error::Damaged { path, reason: error.to_string() })?;
        let changes = self.changes(&wanted)?;
        let mut tree = WorkTree::open(self.layout.root())?;
        let steps = steps(&mut tree, &changes)?;
        self.carry_out(lock, &wanted, &mut tree, &steps, &CancellationToken::new())
    }

    fn changes(&self, wanted: &Move) -> Result<Vec<Change>, Error> {
        Ok(changes(self.store.files_of(wanted.from)?, self.store.files_of(Some(wanted.to))?))
    }

    fn carry_out(
        &self,
        _lock: &RepositoryLock,
        wanted: &Move,
        tree: &mut WorkTree,
        steps: &[Step],
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        // A clone is a repository from here on: the journal says how it is completed.
        if !self.references.current_branch().is_ok_and(|branch| branch == wanted.branch) {
            self.references.set_current_branch(&wanted.branch)?;
        }
        let scratch = tempfile::Builder::new()
            .prefix("checkout-")
            .tempdir_in(self.layout.incoming())
            .while_doing("creating a directory below", &self.layout.incoming())?;
        let unplaced = scratch.path().join("file");
        for step in steps {
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            match step {
                Step::Remove(path) => tree.remove(path)?,
                Step::RemoveEmptyDirectories(path) => tree.remove_empty_directories(path)?,
                Step::Write { path, entry, replace } => {
                    self.write_object(*entry, &unplaced)?;
                    tree.place(&unplaced, path, *replace)?;
                }
            }
        }
        self.references.set_head(&wanted.branch, wanted.to)?;
        let cloning = self.layout.cloning();
        durable::remove_file(&cloning).while_doing("removing", &cloning)?;
        let journal = self.layout.journal();
        durable::remove_file(&journal).while_doing("removing", &journal)
    }

    /// Copies within the file system where it can: the kernel shares or moves the blocks.
    fn write_object(&self, entry: FileEntry, path: &Path) -> Result<(), Error> {
        let mut object = self.store.open_object(entry.object)?;
        let mode = if entry.executable { 0o777 } else { 0o666 };
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(path)
            .while_doing("creating", path)?;
        io::copy(&mut object, &mut file).while_doing("writing", path)?;
        Ok(())
    }
}

/// Removes those of `files` that stand in the working tree as they are recorded.
pub(super) fn remove_unchanged(root: &Path, files: &Snapshot) -> Result<(), Error> {
    let mut tree = WorkTree::open(root)?;
    for (path, entry) in files.files() {
        if matches!(tree.look(path)?, Found::File(here) if here == *entry) {
            tree.remove(path)?;
        }
    }
    Ok(())
}

#[derive(Debug, PartialEq, Eq)]
enum Step {
    Remove(RepositoryPath),
    RemoveEmptyDirectories(RepositoryPath),
    Write { path: RepositoryPath, entry: FileEntry, replace: bool },
}

fn changes(from: Snapshot, to: Snapshot) -> Vec<Change> {
    let mut pairs: BTreeMap<RepositoryPath, (Option<FileEntry>, Option<FileEntry>)> = BTreeMap::new();
    for (path, entry) in from.into_files() {
        pairs.entry(path).or_default().0 = Some(entry);
    }
    for (path, entry) in to.into_files() {
        pairs.entry(path).or_default().1 = Some(entry);
    }
    pairs
        .into_iter()
        .filter(|(_, (from, to))| from != to)
        .map(|(path, (from, to))| Change { path, from, to })
        .collect()
}

/// What is to be done for `changes`, removals first.
///
/// # Errors
///
/// [`Error::WouldOverwrite`] names every file that is neither as in the old commit nor as in the new one.
fn steps(tree: &mut WorkTree, changes: &[Change]) -> Result<Vec<Step>, Error> {
    let mut removals = Vec::new();
    let mut clearings = Vec::new();
    let mut writes = Vec::new();
    let mut in_the_way = Vec::new();
    // Paths that the old commit has as files and the new one does not: they make room for what lies below.
    let leaving = |path: &str| {
        changes
            .binary_search_by(|change| change.path.as_str().cmp(path))
            .is_ok_and(|at| changes[at].from.is_some() && changes[at].to.is_none())
    };
    for Change { path, from, to } in changes {
        let found = tree.look(path)?;
        match (&found, to) {
            (Found::File(here), Some(entry)) if here == entry => {}
            (Found::Nothing, None) => {}
            (Found::Nothing, Some(entry)) => {
                writes.push(Step::Write { path: path.clone(), entry: *entry, replace: false });
            }
            (Found::File(here), Some(entry)) if Some(*here) == *from => {
                writes.push(Step::Write { path: path.clone(), entry: *entry, replace: true });
            }
            (Found::File(here), None) if Some(*here) == *from => removals.push(Step::Remove(path.clone())),
            (Found::Directory, Some(entry)) if tree.holds_only(path, &leaving)? => {
                clearings.push(Step::RemoveEmptyDirectories(path.clone()));
                writes.push(Step::Write { path: path.clone(), entry: *entry, replace: false });
            }
            // The file was removed before, and what lies below its path has come instead.
            (Found::Directory, None) => {}
            (Found::Blocked(_), None) => {}
            (Found::Blocked(at), Some(entry)) if leaving(at) => {
                writes.push(Step::Write { path: path.clone(), entry: *entry, replace: false });
            }
            (Found::Blocked(at), Some(_)) => {
                in_the_way.push(RepositoryPath::new(at.clone()).unwrap_or_else(|_| path.clone()));
            }
            (Found::File(_) | Found::Directory | Found::Special, _) => in_the_way.push(path.clone()),
        }
    }
    in_the_way.dedup();
    if !in_the_way.is_empty() {
        return Err(Error::WouldOverwrite { paths: in_the_way });
    }
    removals.append(&mut clearings);
    removals.append(&mut writes);
    Ok(removals)
}
