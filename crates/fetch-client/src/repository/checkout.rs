//! Changing the working tree from one commit to another, so that being killed at any point loses nothing.
//!
//! Objects are in the store before anything here begins. Then: the journal is written; files are removed and put
//! in place, each by one rename; the branch head moves; the journal is removed. Who takes the lock and finds a
//! journal carries on: a file that is as in the old or the new commit is fine, and any other is the user's.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use hub_protocol::{BranchName, FileEntry, Id, RepositoryPath, Snapshot};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::durable;
use super::layout::Layout;
use super::lock::RepositoryLock;
use super::refs::References;
use super::staging::{COPIED_AT_ONCE, fill};
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
        self.carry_on(lock, &wanted).map_err(|error| Error::Unfinished {
            branch: wanted.branch,
            to: wanted.to,
            error: Box::new(error),
        })
    }

    fn carry_on(&self, lock: &RepositoryLock, wanted: &Move) -> Result<(), Error> {
        let changes = self.changes(wanted)?;
        let mut tree = WorkTree::open(self.layout.root())?;
        let steps = steps(&mut tree, &changes)?;
        self.carry_out(lock, wanted, &mut tree, &steps, &CancellationToken::new())
    }

    fn changes(&self, wanted: &Move) -> Result<Vec<Change>, Error> {
        Ok(changes(self.store.files_of(wanted.from)?, self.store.files_of(Some(wanted.to))?))
    }

    fn carry_out(
        &self,
        _lock: &RepositoryLock,
        wanted: &Move,
        tree: &mut WorkTree,
        steps: &Steps,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        // A clone is a repository from here on: the journal says how it is completed.
        if !self.references.current_branch().is_ok_and(|branch| branch == wanted.branch) {
            self.references.set_current_branch(&wanted.branch)?;
        }
        for removal in &steps.removals {
            match removal {
                Removal::File(path) => tree.remove(path)?,
                Removal::EmptyDirectories(path) => tree.remove_empty_directories(path)?,
            }
        }
        self.write_all(&steps.writes, cancel)?;
        self.references.set_head(&wanted.branch, wanted.to)?;
        let cloning = self.layout.cloning();
        durable::remove_file(&cloning).while_doing("removing", &cloning)?;
        let journal = self.layout.journal();
        durable::remove_file(&journal).while_doing("removing", &journal)
    }

    /// Creating files keeps one processor busy: two halves of the tree are written side by side.
    fn write_all(&self, writes: &[Write], cancel: &CancellationToken) -> Result<(), Error> {
        const WORTH_A_THREAD: usize = 64;
        if writes.len() < WORTH_A_THREAD {
            return self.write_some(writes, cancel);
        }
        let (first, second) = writes.split_at(writes.len() / 2);
        std::thread::scope(|scope| {
            let second = scope.spawn(|| self.write_some(second, cancel));
            let first = self.write_some(first, cancel);
            first.and(second.join().expect("writing does not panic"))
        })
    }

    fn write_some(&self, writes: &[Write], cancel: &CancellationToken) -> Result<(), Error> {
        let mut tree = WorkTree::open(self.layout.root())?;
        let scratch = tempfile::Builder::new()
            .prefix("checkout-")
            .tempdir_in(self.layout.incoming())
            .while_doing("creating a directory below", &self.layout.incoming())?;
        let unplaced = scratch.path().join("file");
        let mut buffer = vec![0; COPIED_AT_ONCE];
        for Write { path, entry, replace } in writes {
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            self.write_object(*entry, &unplaced, &mut buffer)?;
            tree.place(&unplaced, path, *replace)?;
        }
        Ok(())
    }

    fn write_object(&self, entry: FileEntry, path: &Path, buffer: &mut [u8]) -> Result<(), Error> {
        let mut object = self.store.open_object(entry.object)?;
        let mode = if entry.executable { 0o777 } else { 0o666 };
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(true)
            .mode(mode)
            .open(path)
            .while_doing("creating", path)?;
        let mut copy = || {
            let first = fill(&mut object, buffer)?;
            file.write_all(&buffer[..first])?;
            if first == buffer.len() {
                // What is large the kernel copies by itself: by sharing its blocks where the file system can.
                io::copy(&mut object, &mut file)?;
            }
            Ok(())
        };
        copy().while_doing("writing", path)
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

/// What is to be done to the working tree: first this, then that.
#[derive(Debug, Default)]
struct Steps {
    removals: Vec<Removal>,
    writes: Vec<Write>,
}

#[derive(Debug)]
enum Removal {
    File(RepositoryPath),
    EmptyDirectories(RepositoryPath),
}

#[derive(Debug)]
struct Write {
    path: RepositoryPath,
    entry: FileEntry,
    /// Whether a file is known to stand there that goes.
    replace: bool,
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

/// What is to be done for `changes`.
///
/// # Errors
///
/// [`Error::WouldOverwrite`] names every file that is neither as in the old commit nor as in the new one.
fn steps(tree: &mut WorkTree, changes: &[Change]) -> Result<Steps, Error> {
    let mut steps = Steps::default();
    let mut cleared = Vec::new();
    let mut in_the_way = Vec::new();
    // Paths that the old commit has as files and the new one does not: they make room for what lies below.
    let leaving = |path: &str| {
        changes
            .binary_search_by(|change| change.path.as_str().cmp(path))
            .is_ok_and(|at| changes[at].from.is_some() && changes[at].to.is_none())
    };
    for Change { path, from, to } in changes {
        let mut write = |entry: &FileEntry, replace| {
            steps.writes.push(Write { path: path.clone(), entry: *entry, replace });
        };
        match (tree.look(path)?, to) {
            (Found::File(here), Some(entry)) if here == *entry => {}
            (Found::File(here), Some(entry)) if Some(here) == *from => write(entry, true),
            (Found::File(here), None) if Some(here) == *from => {
                steps.removals.push(Removal::File(path.clone()));
            }
            (Found::Nothing, Some(entry)) => write(entry, false),
            // It is gone; a directory, or a file in place of one, has come instead.
            (Found::Nothing | Found::Directory | Found::Blocked(_), None) => {}
            (Found::Directory, Some(entry)) if tree.holds_only(path, &leaving)? => {
                cleared.push(Removal::EmptyDirectories(path.clone()));
                write(entry, false);
            }
            (Found::Blocked(at), Some(entry)) if leaving(&at) => write(entry, false),
            (Found::Blocked(at), Some(_)) => {
                in_the_way.push(RepositoryPath::new(at).unwrap_or_else(|_| path.clone()));
            }
            (Found::File(_) | Found::Directory | Found::Special, _) => in_the_way.push(path.clone()),
        }
    }
    in_the_way.dedup();
    if !in_the_way.is_empty() {
        return Err(Error::WouldOverwrite { paths: in_the_way });
    }
    steps.removals.append(&mut cleared);
    Ok(steps)
}
