//! Directories for tests, and what is in them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use fetch_client::{Address, FetchOptions, PushRequest, Repository, Session, TransportSettings};
use hub_protocol::{BranchName, Id};
use tempfile::TempDir;

use crate::hub::TestHub;

pub(crate) fn main_branch() -> BranchName {
    BranchName::new("main").expect("a branch")
}

pub(crate) fn session() -> Session {
    Session::new(TransportSettings::default())
}

pub(crate) fn address(hub: &TestHub) -> Address {
    hub.url().parse().expect("an address")
}

pub(crate) fn origin() -> FetchOptions {
    FetchOptions { remote: "origin".to_owned(), branch: None }
}

/// A repository in a directory that goes with it.
pub(crate) struct Work {
    pub(crate) directory: TempDir,
    pub(crate) repository: Repository,
    commits: std::cell::Cell<u32>,
}

impl Work {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let repository = Repository::init(directory.path(), &main_branch()).expect("a repository");
        Self { directory, repository, commits: 0.into() }
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.directory.path().join(path)
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) -> &Self {
        write(self.directory.path(), path, content);
        self
    }

    pub(crate) fn remove(&self, path: &str) -> &Self {
        fs::remove_file(self.at(path)).expect("a file to remove");
        self
    }

    /// Records everything; each commit a second after the other.
    pub(crate) fn commit(&self, message: &str) -> Id {
        let number = self.commits.get();
        self.commits.set(number + 1);
        let at = format!("2026-11-30T12:{:02}:{:02}Z", number / 60, number % 60);
        self.repository.record(message, &at).expect("something to record").commit
    }

    pub(crate) async fn push(&self, hub: &TestHub) {
        let request = PushRequest { remote: hub.url(), branch: None, force: false, public: true };
        fetch_client::push(&session(), &self.repository, &request).await.expect("a push");
    }

    pub(crate) fn head(&self) -> Id {
        self.repository.head(&main_branch()).expect("a readable head").expect("a commit")
    }

    pub(crate) fn files(&self) -> BTreeMap<String, String> {
        files(self.directory.path())
    }
}

/// A repository with a few files of every kind, pushed.
pub(crate) async fn pushed(hub: &TestHub) -> Work {
    let work = Work::new();
    work.write("README.md", "# Work\n")
        .write("src/deep/er/lib.rs", "fn main() {}\n")
        .write(".hidden", "")
        .write("run.sh", "#!/bin/sh\n");
    fs::set_permissions(work.at("run.sh"), fs::Permissions::from_mode(0o755)).expect("a file of ours");
    work.commit("first");
    work.push(hub).await;
    work
}

pub(crate) fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
    fs::write(path, content).expect("a file");
}

/// Every file below `root` but those of `.muse`, with its content; executable ones are marked.
pub(crate) fn files(root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let entry = entry.expect("an entry");
            let name = entry.path().strip_prefix(root).expect("below the root").display().to_string();
            let kind = entry.file_type().expect("a kind");
            if name == ".muse" {
            } else if kind.is_dir() {
                pending.push(entry.path());
            } else if kind.is_symlink() {
                found.insert(name, "a symlink".to_owned());
            } else {
                let executable = entry.metadata().expect("metadata").permissions().mode() & 0o100 != 0;
                let content = String::from_utf8_lossy(&fs::read(entry.path()).expect("a file")).into_owned();
                found.insert(if executable { format!("{name}*") } else { name }, content);
            }
        }
    }
    found
}

/// The names of the entries of a directory.
pub(crate) fn names(directory: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .expect("a directory")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    names
}
