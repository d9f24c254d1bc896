//! A repository on disk: the layout, and what keeps it whole.

mod checkout;
mod config;
mod durable;
mod exclusions;
mod history;
mod identity;
mod layout;
mod lock;
mod receive;
mod record;
mod refs;
mod scan;
mod staging;
mod store;
mod worktree;

use std::fs;
use std::path::{Path, PathBuf};

use hub_protocol::{BranchName, Id, Snapshot};
use tokio_util::sync::CancellationToken;

pub use config::{Config, DEFAULT_REMOTE, Remote};
pub use identity::Identity;
pub use record::{Differences, Recorded};
pub use scan::Warning;

pub(crate) use checkout::Move;
pub(crate) use history::{ancestors, ancestors_beyond, leads_to, merge_base};
pub(crate) use layout::Layout;
pub(crate) use lock::RepositoryLock;
pub(crate) use receive::receive_pack;
pub(crate) use staging::{Staged, Staging};
pub(crate) use store::Store;

use crate::errors::{Error, IoContext};
use checkout::Checkout;
use refs::References;

/// A repository: a working tree and its `.muse`.
#[derive(Debug, Clone)]
pub struct Repository {
    layout: Layout,
    store: Store,
    references: References,
}

impl Repository {
    /// Makes `root`, which may hold files already, a repository without commits.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyARepository`], [`Error::CloneInterrupted`], or [`Error::Io`].
    pub fn init(root: &Path, branch: &BranchName) -> Result<Self, Error> {
        let repository = Self::at(root);
        if repository.layout.head().exists() {
            return Err(Error::AlreadyARepository { root: root.to_owned() });
        }
        if repository.layout.cloning().exists() {
            return Err(Error::CloneInterrupted { root: root.to_owned() });
        }
        repository.create_directories()?;
        let _lock = RepositoryLock::take(&repository.layout)?;
        repository.set_identity(&Identity::default())?;
        Config::default().write(&repository.layout)?;
        repository.references.set_current_branch(branch)?;
        Ok(repository)
    }

    /// The repository that `from` lies in: there, or in the nearest directory above.
    ///
    /// # Errors
    ///
    /// [`Error::NoDirectory`], [`Error::NoRepository`], or [`Error::CloneInterrupted`] where the nearest `.muse` is
    /// half a clone.
    pub fn discover(from: &Path) -> Result<Self, Error> {
        let absolute = std::path::absolute(from).while_doing("looking for", from)?;
        if !absolute.is_dir() {
            return Err(Error::NoDirectory { from: absolute });
        }
        for root in absolute.ancestors() {
            let repository = Self::at(root);
            if repository.layout.head().exists() {
                return Ok(repository);
            }
            if repository.layout.cloning().exists() {
                return Err(Error::CloneInterrupted { root: root.to_owned() });
            }
        }
        Err(Error::NoRepository { from: absolute })
    }

    /// The paths of a repository at `root`, which may not be one yet.
    pub(crate) fn at(root: &Path) -> Self {
        let layout = Layout::new(root);
        Self { store: Store::new(layout.clone()), references: References::new(layout.clone()), layout }
    }

    pub(crate) fn create_directories(&self) -> Result<(), Error> {
        let layout = &self.layout;
        let all = [
            layout.incoming(),
            layout.heads(),
            layout.remotes(),
            layout.objects(),
            layout.commits(),
            layout.snapshots(),
        ];
        for directory in all {
            durable::create_directories(&directory).while_doing("creating", &directory)?;
        }
        Ok(())
    }

    /// The working tree.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.layout.root()
    }

    /// The working tree as it is shown to a person: in full, and without symlinks, where the system tells.
    #[must_use]
    pub fn shown_root(&self) -> PathBuf {
        fs::canonicalize(self.root()).unwrap_or_else(|_| self.root().to_owned())
    }

    /// The branch that the working tree is on; it may have no commit yet.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where HEAD names no branch.
    pub fn current_branch(&self) -> Result<BranchName, Error> {
        self.references.current_branch()
    }

    /// The commit at the head of `branch`.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where the file holds something else.
    pub fn head(&self, branch: &BranchName) -> Result<Option<Id>, Error> {
        self.references.head(branch)
    }

    /// The head of the remote's branch when it was last looked at.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] where the file holds something else.
    pub fn remote_head(&self, remote: &str, branch: &BranchName) -> Result<Option<Id>, Error> {
        self.references.remote_head(remote, branch)
    }

    /// The configuration.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] says what is wrong with it.
    pub fn config(&self) -> Result<Config, Error> {
        Config::read(&self.layout)
    }

    /// Replaces the configuration.
    ///
    /// # Errors
    ///
    /// [`Error::Io`].
    pub fn set_config(&self, config: &Config) -> Result<(), Error> {
        config.write(&self.layout)
    }

    /// What the hub calls this repository, as far as it is known.
    ///
    /// # Errors
    ///
    /// [`Error::Configuration`] says what is wrong with the file.
    pub fn identity(&self) -> Result<Identity, Error> {
        Identity::read(&self.layout)
    }

    pub(crate) fn set_identity(&self, identity: &Identity) -> Result<(), Error> {
        identity.write(&self.layout)
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.layout
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn references(&self) -> &References {
        &self.references
    }

    pub(crate) fn stage(&self) -> Result<Staging, Error> {
        Staging::open(&self.layout, &self.store)
    }

    /// Takes the lock, and first puts in order what a killed process left behind.
    pub(crate) fn lock(&self) -> Result<RepositoryLock, Error> {
        let lock = RepositoryLock::take(&self.layout)?;
        staging::remove_abandoned(&self.layout)?;
        self.checkout().recover(&lock)?;
        Ok(lock)
    }

    /// Moves the current branch and the working tree.
    pub(crate) fn move_to(
        &self,
        lock: &RepositoryLock,
        wanted: &Move,
        cancel: &CancellationToken,
    ) -> Result<(), Error> {
        self.checkout().perform(lock, wanted, cancel)
    }

    /// Removes those of `files` that are in the working tree as they are in the store.
    pub(crate) fn remove_unchanged(&self, files: &Snapshot) -> Result<(), Error> {
        checkout::remove_unchanged(self.root(), files)
    }

    fn checkout(&self) -> Checkout<'_> {
        Checkout { layout: &self.layout, store: &self.store, references: &self.references }
    }
}
