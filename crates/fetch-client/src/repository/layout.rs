//! Where everything in a repository lies.

use std::path::{Path, PathBuf};

/// The name of the directory that makes a directory a repository.
pub(crate) const DIRECTORY: &str = ".muse";

/// The paths of one repository.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    root: PathBuf,
    muse: PathBuf,
}

impl Layout {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), muse: root.join(DIRECTORY) }
    }

    /// The working tree.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `.muse`.
    pub(crate) fn muse(&self) -> &Path {
        &self.muse
    }

    /// Names the current branch. It is written last: where it is missing there is no repository (yet).
    pub(crate) fn head(&self) -> PathBuf {
        self.muse.join("HEAD")
    }

    /// What this repository is: its format and the identity the hub gave it.
    pub(crate) fn identity(&self) -> PathBuf {
        self.muse.join("repo.json")
    }

    /// The remotes.
    pub(crate) fn config(&self) -> PathBuf {
        self.muse.join("config.toml")
    }

    /// Branch heads, one file each, in directories where the name has slashes.
    pub(crate) fn heads(&self) -> PathBuf {
        self.muse.join("refs").join("heads")
    }

    /// The heads last seen at each remote.
    pub(crate) fn remotes(&self) -> PathBuf {
        self.muse.join("remotes")
    }

    /// Contents of files, named by their SHA-256.
    pub(crate) fn objects(&self) -> PathBuf {
        self.muse.join("objects")
    }

    pub(crate) fn commits(&self) -> PathBuf {
        self.muse.join("commits")
    }

    pub(crate) fn snapshots(&self) -> PathBuf {
        self.muse.join("snapshots")
    }

    /// Files on their way in: nothing here has been checked as a whole, and none of it is ever read as the store.
    pub(crate) fn incoming(&self) -> PathBuf {
        self.muse.join("incoming")
    }

    /// Held by the one process that changes refs or the working tree.
    pub(crate) fn lock(&self) -> PathBuf {
        self.muse.join("lock")
    }

    /// The change of the working tree that is under way; see [`super::checkout`].
    pub(crate) fn journal(&self) -> PathBuf {
        self.muse.join("checkout.json")
    }

    /// There while the first clone into this directory has not fetched everything.
    pub(crate) fn cloning(&self) -> PathBuf {
        self.muse.join("cloning")
    }
}
