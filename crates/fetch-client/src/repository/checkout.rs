//! Changing the working tree from one commit to another, so that being killed at any point loses nothing.
//!
//! Objects are in the store before anything here begins. Then: the journal is written; files are removed, replaced
//! by one rename each, and created; the branch head moves; the journal is removed. Who takes the lock and finds a
//! journal carries on. A file that is as in the old or the new commit is fine then. One that holds the beginning of
//! what it is to hold is written again: it was being created, and even if it is the user's, all of it is kept. Any
//! other is the user's.

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use hub_protocol::{BranchName, FileEntry, Id, RepositoryPath, Snapshot};
use serde::{Deserialize, Serialize};
use tempfile::TempPath;
use tokio_util::sync::CancellationToken;

use super::durable;
use super::layout::Layout;
use super::lock::RepositoryLock;
use super::refs::References;
use super::staging::{COPIED_AT_ONCE, fill};
use super::store::Store;
use super::worktree::{Found, WorkTree, mode};
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
        let steps = steps(&mut tree, &changes, None)?;
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
        let steps = steps(&mut tree, &changes, Some(self.store))?;
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
        steps: &Steps<'_>,
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
    fn write_all(&self, writes: &[Write<'_>], cancel: &CancellationToken) -> Result<(), Error> {
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

    fn write_some(&self, writes: &[Write<'_>], cancel: &CancellationToken) -> Result<(), Error> {
        let mut tree = WorkTree::open(self.layout.root())?;
        let mut buffer = vec![0; COPIED_AT_ONCE];
        for Write { path, entry, replace } in writes {
            if cancel.is_cancelled() {
                return Err(Error::Interrupted);
            }
            if *replace {
                let unplaced = self.write_aside(*entry, &mut buffer)?;
                tree.replace(&unplaced, path)?;
                // It has left its place: there is nothing to be removed there.
                let _ = unplaced.keep();
                continue;
            }
            let object = self.store.open_object(entry.object)?;
            let file = tree.create(path, entry.executable)?;
            if let Err(error) = copy(object, file, &mut buffer) {
                // It was created here, and nobody has an interest in half of it.
                tree.remove(path)?;
                return Err(error).while_doing("writing", &self.layout.root().join(path.as_str()));
            }
        }
        Ok(())
    }

    /// A file that is removed again unless it is renamed.
    fn write_aside(&self, entry: FileEntry, buffer: &mut [u8]) -> Result<TempPath, Error> {
        let object = self.store.open_object(entry.object)?;
        let incoming = self.layout.incoming();
        let (file, path) = tempfile::Builder::new()
            .prefix("checkout-")
            .permissions(Permissions::from_mode(mode(entry.executable)))
            .tempfile_in(&incoming)
            .while_doing("creating a file below", &incoming)?
            .into_parts();
        copy(object, file, buffer).while_doing("writing", &path)?;
        Ok(path)
    }
}

fn copy(mut object: File, mut file: File, buffer: &mut [u8]) -> io::Result<()> {
    let first = fill(&mut object, buffer)?;
    file.write_all(&buffer[..first])?;
    if first == buffer.len() {
        // What is large the kernel copies by itself: by sharing its blocks where the file system can.
        io::copy(&mut object, &mut file)?;
    }
    Ok(())
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
struct Steps<'a> {
    removals: Vec<Removal<'a>>,
    writes: Vec<Write<'a>>,
}

#[derive(Debug)]
enum Removal<'a> {
    File(&'a RepositoryPath),
    EmptyDirectories(&'a RepositoryPath),
}

#[derive(Debug)]
struct Write<'a> {
    path: &'a RepositoryPath,
    entry: FileEntry,
    /// Whether a file is known to stand there that goes.
    replace: bool,
}

/// In the order of the paths.
fn changes(from: Snapshot, to: Snapshot) -> Vec<Change> {
    let mut from = from.into_files();
    let mut changes: Vec<Change> = to
        .into_files()
        .into_iter()
        .map(|(path, entry)| Change { from: from.remove(&path), path, to: Some(entry) })
        .filter(|change| change.from != change.to)
        .collect();
    if !from.is_empty() {
        changes.extend(from.into_iter().map(|(path, entry)| Change { path, from: Some(entry), to: None }));
        changes.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    }
    changes
}

/// What is to be done for `changes`. With a store, whose objects an earlier process may have been writing.
///
/// # Errors
///
/// [`Error::WouldOverwrite`] names every file that is neither as in the old commit nor as in the new one.
fn steps<'a>(tree: &mut WorkTree, changes: &'a [Change], begun: Option<&Store>) -> Result<Steps<'a>, Error> {
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
            steps.writes.push(Write { path, entry: *entry, replace });
        };
        match (tree.look(path)?, to) {
            (Found::File(here), Some(entry)) if here == *entry => {}
            (Found::File(here), Some(entry)) if Some(here) == *from => write(entry, true),
            (Found::File(_), Some(entry))
                if let Some(store) = begun
                    && tree.begins(path, store.open_object(entry.object)?)? =>
            {
                write(entry, true);
            }
            (Found::File(here), None) if Some(here) == *from => {
                steps.removals.push(Removal::File(path));
            }
            (Found::Nothing, Some(entry)) => write(entry, false),
            // It is gone; a directory, or a file in place of one, has come instead.
            (Found::Nothing | Found::Directory | Found::Blocked(_), None) => {}
            (Found::Directory, Some(entry)) if tree.holds_only(path, &leaving)? => {
                cleared.push(Removal::EmptyDirectories(path));
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
