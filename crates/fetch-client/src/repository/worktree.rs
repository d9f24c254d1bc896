//! The files of the working tree, reached without following a symlink that somebody left in the way.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use hub_protocol::{FileEntry, HashingReader, RepositoryPath};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::durable;
use super::staging::{COPIED_AT_ONCE, fill};
use crate::errors::{Error, IoContext};

/// One working tree. Every path is walked component by component, each opened below its parent.
#[derive(Debug)]
pub(super) struct WorkTree {
    root: PathBuf,
    root_directory: OwnedFd,
    /// The directory walked to last: neighbours come one after the other.
    last: Option<(String, OwnedFd)>,
}

/// What stands at a path.
#[derive(Debug)]
pub(super) enum Found {
    Nothing,
    File(FileEntry),
    Directory,
    /// A symlink, a device, a socket or a pipe.
    Special,
    /// Something that is no directory stands at this parent of the path.
    Blocked(String),
}

const DIRECTORY: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

impl WorkTree {
    pub(super) fn open(root: &Path) -> Result<Self, Error> {
        let directory = File::open(root).while_doing("opening the working tree", root)?;
        Ok(Self { root: root.to_owned(), root_directory: directory.into(), last: None })
    }

    /// What stands at `path`; a file is read and hashed.
    pub(super) fn look(&mut self, path: &RepositoryPath) -> Result<Found, Error> {
        let shown = self.shown(path);
        let (directory, name) = match self.parent(path, false)? {
            Parent::Directory(directory, name) => (directory, name),
            Parent::Missing => return Ok(Found::Nothing),
            Parent::Blocked(at) => return Ok(Found::Blocked(at)),
        };
        let status = match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(status) => status,
            Err(Errno::NOENT) => return Ok(Found::Nothing),
            Err(error) => return Err(io::Error::from(error)).while_doing("looking at", &shown),
        };
        match FileType::from_raw_mode(status.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Ok(Found::Directory),
            _ => return Ok(Found::Special),
        }
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory, name, flags, Mode::empty())
            .map_err(io::Error::from)
            .while_doing("opening", &shown)?;
        let mut reader = HashingReader::new(File::from(file));
        io::copy(&mut reader, &mut io::sink()).while_doing("reading", &shown)?;
        let (_, object, _) = reader.finish();
        Ok(Found::File(FileEntry { object, executable: is_executable(status.st_mode) }))
    }

    /// Creates the file at `path`. What has come to stand there since it was looked at is left alone.
    pub(super) fn create(&mut self, path: &RepositoryPath, executable: bool) -> Result<File, Error> {
        let shown = self.shown(path);
        let Parent::Directory(directory, name) = self.parent(path, true)? else {
            return Err(Error::NotFollowed { path: shown });
        };
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        match rustix::fs::openat(directory, name, flags, Mode::from_raw_mode(mode(executable))) {
            Ok(file) => Ok(file.into()),
            Err(Errno::EXIST) => Err(Error::WouldOverwrite { paths: vec![path.clone()] }),
            Err(error) => Err(io::Error::from(error)).while_doing("creating", &shown),
        }
    }

    /// Renames `file`, which lies on the same file system, to `path`, where another stands.
    pub(super) fn replace(&mut self, file: &Path, path: &RepositoryPath) -> Result<(), Error> {
        let shown = self.shown(path);
        let Parent::Directory(directory, name) = self.parent(path, true)? else {
            return Err(Error::NotFollowed { path: shown });
        };
        rustix::fs::renameat(CWD, file, directory, name)
            .map_err(io::Error::from)
            .while_doing("writing", &shown)
    }

    /// Whether the file at `path`, which [`look`](Self::look) has seen, holds the beginning of `whole`.
    pub(super) fn begins(&mut self, path: &RepositoryPath, mut whole: impl Read) -> Result<bool, Error> {
        let shown = self.shown(path);
        let mut here = durable::open_without_following(&shown).while_doing("opening", &shown)?;
        let [mut left, mut right] = [(); 2].map(|()| vec![0; COPIED_AT_ONCE]);
        loop {
            let count = fill(&mut here, &mut left).while_doing("reading", &shown)?;
            let there = fill(&mut whole, &mut right[..count]).while_doing("reading", &shown)?;
            if left[..count] != right[..there] {
                return Ok(false);
            }
            if count < left.len() {
                return Ok(true);
            }
        }
    }

    /// Removes the file at `path`, and the directories above it that are empty then.
    pub(super) fn remove(&mut self, path: &RepositoryPath) -> Result<(), Error> {
        let shown = self.shown(path);
        if let Parent::Directory(directory, name) = self.parent(path, false)? {
            match rustix::fs::unlinkat(directory, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(error) => return Err(io::Error::from(error)).while_doing("removing", &shown),
            }
        }
        for above in path.ancestors().rev() {
            if !self.remove_directory_if_empty(above)? {
                break;
            }
        }
        Ok(())
    }

    /// Removes the directory at `path` where it holds nothing but empty directories.
    pub(super) fn remove_empty_directories(&mut self, path: &RepositoryPath) -> Result<(), Error> {
        // Reached only for a directory that `look` has seen, so its parents are directories.
        self.last = None;
        match remove_empty_tree(&self.shown(path)) {
            // It went with the last file that was removed from it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.while_doing("removing", &self.shown(path)),
        }
    }

    /// Whether the directory at `path` holds, at any depth, no files but those that `leaving` names.
    pub(super) fn holds_only(
        &self,
        path: &RepositoryPath,
        leaving: &dyn Fn(&str) -> bool,
    ) -> Result<bool, Error> {
        let mut pending = vec![path.as_str().to_owned()];
        while let Some(directory) = pending.pop() {
            let location = self.root.join(&directory);
            for entry in std::fs::read_dir(&location).while_doing("reading", &location)? {
                let entry = entry.while_doing("reading", &location)?;
                let Ok(name) = entry.file_name().into_string() else { return Ok(false) };
                let below = format!("{directory}/{name}");
                if entry.file_type().while_doing("looking at", &entry.path())?.is_dir() {
                    pending.push(below);
                } else if !leaving(&below) {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    fn remove_directory_if_empty(&mut self, directory: &str) -> Result<bool, Error> {
        self.last = None;
        let (above, name) = match directory.rsplit_once('/') {
            Some((above, name)) => (Some(above), name),
            None => (None, directory),
        };
        let removed = match above {
            None => rustix::fs::unlinkat(&self.root_directory, name, AtFlags::REMOVEDIR),
            Some(above) => match self.walk(above, false)? {
                Parent::Directory(above, _) => rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR),
                Parent::Missing | Parent::Blocked(_) => return Ok(false),
            },
        };
        self.last = None;
        match removed {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            // A directory that is in use, or not ours to remove, harms nobody.
            Err(_) => Ok(false),
        }
    }

    fn shown(&self, path: &RepositoryPath) -> PathBuf {
        self.root.join(path.as_str())
    }

    /// The directory that holds `path`, and the last component.
    fn parent<'a>(&'a mut self, path: &'a RepositoryPath, create: bool) -> Result<Parent<'a>, Error> {
        match path.as_str().rsplit_once('/') {
            None => Ok(Parent::Directory(&self.root_directory, path.as_str())),
            Some((above, name)) => Ok(match self.walk(above, create)? {
                Parent::Directory(directory, _) => Parent::Directory(directory, name),
                other => other,
            }),
        }
    }

    fn walk(&mut self, directory: &str, create: bool) -> Result<Parent<'_>, Error> {
        if self.last.as_ref().is_none_or(|(last, _)| last != directory) {
            let mut reached: Option<OwnedFd> = None;
            let mut end = 0;
            for component in directory.split('/') {
                end += component.len();
                let at = reached.as_ref().unwrap_or(&self.root_directory);
                let mut opened = rustix::fs::openat(at, component, DIRECTORY, Mode::empty());
                if create && matches!(opened, Err(Errno::NOENT)) {
                    opened = match rustix::fs::mkdirat(at, component, Mode::from_raw_mode(0o777)) {
                        Ok(()) | Err(Errno::EXIST) => {
                            rustix::fs::openat(at, component, DIRECTORY, Mode::empty())
                        }
                        Err(error) => Err(error),
                    };
                }
                match opened {
                    Ok(opened) => reached = Some(opened),
                    Err(Errno::NOENT) => return Ok(Parent::Missing),
                    // What `O_NOFOLLOW` says of a symlink, and `O_DIRECTORY` of a file.
                    Err(Errno::LOOP | Errno::NOTDIR) => {
                        return Ok(Parent::Blocked(directory[..end].to_owned()));
                    }
                    Err(error) => {
                        let shown = self.root.join(&directory[..end]);
                        return Err(io::Error::from(error)).while_doing("opening", &shown);
                    }
                }
                end += 1;
            }
            let reached = reached.expect("a directory has at least one component");
            self.last = Some((directory.to_owned(), reached));
        }
        let (_, reached) = self.last.as_ref().expect("it was set above or matched");
        Ok(Parent::Directory(reached, ""))
    }
}

enum Parent<'a> {
    Directory(&'a OwnedFd, &'a str),
    Missing,
    Blocked(String),
}

/// Whether the owner may execute a file of this mode.
pub(super) fn is_executable(mode: u32) -> bool {
    mode & 0o100 != 0
}

/// The mode that a file is created with, before the user's mask.
pub(super) fn mode(executable: bool) -> u32 {
    if executable { 0o777 } else { 0o666 }
}

fn remove_empty_tree(directory: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            remove_empty_tree(&entry.path())?;
        }
    }
    std::fs::remove_dir(directory)
}
