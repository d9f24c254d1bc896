//! The working tree as it is: which files take part in commits, and what does not and why.

use std::fmt;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use hub_protocol::{PathError, RepositoryPath, Snapshot};

use super::exclusions::{Exclusion, Exclusions};
use super::layout::DIRECTORY;
use super::worktree::is_executable;
use crate::errors::{Error, IoContext};

/// The files of a working tree that take part in commits, and what does not.
#[derive(Debug, Default)]
pub(crate) struct Scan {
    /// In the byte order of their paths.
    pub(crate) files: Vec<ScannedFile>,
    pub(crate) warnings: Vec<Warning>,
}

#[derive(Debug)]
pub(crate) struct ScannedFile {
    pub(crate) path: RepositoryPath,
    pub(crate) location: PathBuf,
    pub(crate) executable: bool,
    pub(crate) length: u64,
}

/// Something in the working tree that is not recorded, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Warning {
    /// A symlink: what it points to may lie outside, and may not exist elsewhere.
    Symlink(PathBuf),
    /// A device, a socket or a pipe.
    Special(PathBuf),
    /// A secret or a build folder, left out by the built-in list.
    Default(PathBuf),
    /// A name that the protocol refuses.
    Name(PathError),
    /// A name that is no UTF-8.
    NotUnicode(PathBuf),
    /// A line of a `.museignore` that is no pattern; its other lines hold.
    Pattern(String),
}

impl Warning {
    fn is_about(&self, path: &RepositoryPath) -> bool {
        matches!(self, Self::Default(left_out) if left_out == Path::new(path.as_str()))
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symlink(path) => write!(formatter, "left out {}: it is a symlink", path.display()),
            Self::Special(path) => {
                write!(formatter, "left out {}: it is neither a file nor a directory", path.display())
            }
            Self::Default(path) => write!(
                formatter,
                "left out {}: secrets and build folders are, unless .museignore has a line such as !{}",
                path.display(),
                path.display()
            ),
            Self::Name(error) => write!(formatter, "left out: {error}"),
            Self::NotUnicode(path) => write!(formatter, "left out {}: its name is not UTF-8", path.display()),
            Self::Pattern(reason) => write!(formatter, "a line of .museignore has no effect: {reason}"),
        }
    }
}

/// Finds every file that takes part in commits.
///
/// A file that is `recorded` takes part even where a rule leaves its name out: rules say what is not added, and
/// adding one must not make the next commit drop files.
pub(crate) fn scan(root: &Path, recorded: &Snapshot) -> Result<Scan, Error> {
    let mut found = scan_by_rules(root)?;
    let mut left_out = Vec::new();
    for path in recorded.files().keys() {
        let location = root.join(path.as_str());
        if found.files.binary_search_by(|file| file.path.cmp(path)).is_err()
            && let Ok(metadata) = location.symlink_metadata()
            && metadata.is_file()
        {
            found.warnings.retain(|warning| !warning.is_about(path));
            let executable = is_executable(metadata.permissions().mode());
            left_out.push(ScannedFile { path: path.clone(), location, executable, length: metadata.len() });
        }
    }
    found.files.append(&mut left_out);
    found.files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    Ok(found)
}

fn scan_by_rules(root: &Path) -> Result<Scan, Error> {
    let mut exclusions = Exclusions::new(root);
    let mut found = Scan::default();
    let mut pending = vec![root.to_owned()];
    while let Some(directory) = pending.pop() {
        found.warnings.extend(exclusions.enter(&directory).map(|error| Warning::Pattern(error.to_string())));
        for entry in fs::read_dir(&directory).while_doing("reading", &directory)? {
            let entry = entry.while_doing("reading", &directory)?;
            let location = entry.path();
            let kind = entry.file_type().while_doing("looking at", &location)?;
            let relative = location.strip_prefix(root).expect("an entry lies below the root").to_owned();
            if is_own_folder(&entry.file_name()) {
                continue;
            }
            match exclusions.excludes(&location, kind.is_dir()) {
                Some(Exclusion::Asked) => continue,
                Some(Exclusion::Default) => {
                    found.warnings.push(Warning::Default(relative));
                    continue;
                }
                None => {}
            }
            if kind.is_dir() {
                pending.push(location);
            } else if kind.is_symlink() {
                found.warnings.push(Warning::Symlink(relative));
            } else if !kind.is_file() {
                found.warnings.push(Warning::Special(relative));
            } else {
                match relative.to_str().map(RepositoryPath::new) {
                    Some(Ok(path)) => {
                        let metadata = entry.metadata().while_doing("looking at", &location)?;
                        let executable = is_executable(metadata.permissions().mode());
                        found.files.push(ScannedFile { path, location, executable, length: metadata.len() });
                    }
                    Some(Err(error)) => found.warnings.push(Warning::Name(error)),
                    None => found.warnings.push(Warning::NotUnicode(relative)),
                }
            }
        }
    }
    found.files.sort_unstable_by(|left, right| left.path.cmp(&right.path));
    found.warnings.sort_unstable_by_key(ToString::to_string);
    Ok(found)
}

/// What version control keeps for itself is never recorded, whatever a `.museignore` says.
fn is_own_folder(name: &std::ffi::OsStr) -> bool {
    name.eq_ignore_ascii_case(DIRECTORY) || name.eq_ignore_ascii_case(".git")
}
