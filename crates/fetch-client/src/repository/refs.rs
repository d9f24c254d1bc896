//! Names for commits: HEAD, the branches, and what was last seen at the remotes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hub_protocol::{BranchName, Id};

use super::durable;
use super::layout::Layout;
use crate::errors::{Error, IoContext};

const HEAD_PREFIX: &str = "ref: refs/heads/";

/// The references of one repository. Each write is of one file, and leaves the old or the new content.
#[derive(Debug, Clone)]
pub(crate) struct References {
    layout: Layout,
}

impl References {
    pub(super) fn new(layout: Layout) -> Self {
        Self { layout }
    }

    /// The branch that the working tree is on; it may have no commit yet.
    pub(crate) fn current_branch(&self) -> Result<BranchName, Error> {
        let path = self.layout.head();
        let text = fs::read_to_string(&path).while_doing("reading", &path)?;
        text.strip_prefix(HEAD_PREFIX).and_then(|name| BranchName::new(name.trim_end()).ok()).ok_or_else(
            || Error::Damaged {
                path,
                reason: format!("expected {HEAD_PREFIX:?} and a branch, got {:?}", text.trim_end()),
            },
        )
    }

    pub(crate) fn set_current_branch(&self, branch: &BranchName) -> Result<(), Error> {
        self.write(&self.layout.head(), &format!("{HEAD_PREFIX}{branch}\n"))
    }

    /// The commit at the head of a branch.
    pub(crate) fn head(&self, branch: &BranchName) -> Result<Option<Id>, Error> {
        read_id(&self.layout.heads().join(branch.as_str()))
    }

    pub(crate) fn set_head(&self, branch: &BranchName, commit: Id) -> Result<(), Error> {
        self.write(&self.layout.heads().join(branch.as_str()), &format!("{commit}\n"))
    }

    pub(crate) fn heads(&self) -> Result<BTreeMap<BranchName, Id>, Error> {
        read_all(&self.layout.heads())
    }

    /// The head of a remote's branch when it was last looked at.
    pub(crate) fn remote_head(&self, remote: &str, branch: &BranchName) -> Result<Option<Id>, Error> {
        read_id(&self.layout.remotes().join(remote).join(branch.as_str()))
    }

    pub(crate) fn set_remote_head(&self, remote: &str, branch: &BranchName, commit: Id) -> Result<(), Error> {
        self.write(&self.layout.remotes().join(remote).join(branch.as_str()), &format!("{commit}\n"))
    }

    pub(crate) fn remote_heads(&self, remote: &str) -> Result<BTreeMap<BranchName, Id>, Error> {
        read_all(&self.layout.remotes().join(remote))
    }

    fn write(&self, path: &Path, text: &str) -> Result<(), Error> {
        durable::replace_file(&self.layout.incoming(), path, text.as_bytes()).while_doing("writing", path)
    }
}

fn read_id(path: &Path) -> Result<Option<Id>, Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory
            ) =>
        {
            return Ok(None);
        }
        Err(error) => return Err(error).while_doing("reading", path),
    };
    let id = text.trim_end().parse();
    id.map(Some).map_err(|error: hub_protocol::IdError| Error::Damaged {
        path: path.to_owned(),
        reason: error.to_string(),
    })
}

/// Every file below `directory` whose path is the name of a branch.
fn read_all(directory: &Path) -> Result<BTreeMap<BranchName, Id>, Error> {
    let mut found = BTreeMap::new();
    let mut pending: Vec<(PathBuf, String)> = vec![(directory.to_owned(), String::new())];
    while let Some((directory, prefix)) = pending.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error).while_doing("reading", &directory),
        };
        for entry in entries {
            let entry = entry.while_doing("reading", &directory)?;
            let Ok(name) = entry.file_name().into_string() else { continue };
            let name = format!("{prefix}{name}");
            if entry.file_type().while_doing("reading", &entry.path())?.is_dir() {
                pending.push((entry.path(), format!("{name}/")));
            } else if let Ok(branch) = BranchName::new(name)
                && let Some(id) = read_id(&entry.path())?
            {
                found.insert(branch, id);
            }
        }
    }
    Ok(found)
}
