//! Files on their way into the store.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use hub_protocol::{Commit, Id, IdHasher, Snapshot};
use tempfile::TempDir;

use super::durable;
use super::layout::Layout;
use super::store::{Store, json_path, object_path};
use crate::errors::{Error, IoContext};

/// Up to this many files each is flushed by itself; of more, the whole file system at once.
///
/// One flush of the file system writes out what every other program has pending, which is a bad trade for a few
/// files; for 100,000 it is by far the cheaper one.
const FLUSHED_ONE_BY_ONE: usize = 5_000;

/// How much of a file is in memory at once: most files fit, and the processor's cache holds it.
pub(super) const COPIED_AT_ONCE: usize = 128 * 1024;

/// A directory of files that are not part of the store until [`Staging::settle`].
///
/// Dropping it removes them. A process that is killed leaves its directory behind; the next one that takes the
/// lock removes it, and knows by a lock on the directory that its owner is gone.
#[derive(Debug)]
pub(crate) struct Staging {
    layout: Layout,
    store: Store,
    directory: TempDir,
    _owned: File,
    objects: HashSet<Id>,
    snapshots: HashSet<Id>,
    commits: HashMap<Id, Links>,
    /// What the snapshots here lead to, each with one of those that do.
    needed: HashMap<Id, Id>,
    buffer: Vec<u8>,
}

/// What a commit leads to.
#[derive(Debug)]
struct Links {
    parents: Vec<Id>,
    snapshot: Id,
}

/// How many of each kind came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Staged {
    pub(crate) objects: u64,
    pub(crate) snapshots: u64,
    pub(crate) commits: u64,
}

impl Staged {
    pub(crate) fn add(&mut self, more: Self) {
        self.objects += more.objects;
        self.snapshots += more.snapshots;
        self.commits += more.commits;
    }
}

impl Staging {
    pub(crate) fn open(layout: &Layout, store: &Store) -> Result<Self, Error> {
        let incoming = layout.incoming();
        let (directory, owned) =
            create_owned_directory(&incoming).while_doing("creating a directory below", &incoming)?;
        Ok(Self {
            layout: layout.clone(),
            store: store.clone(),
            directory,
            _owned: owned,
            objects: HashSet::new(),
            snapshots: HashSet::new(),
            commits: HashMap::new(),
            needed: HashMap::new(),
            buffer: Vec::new(),
        })
    }

    pub(crate) fn staged(&self) -> Staged {
        Staged {
            objects: self.objects.len() as u64,
            snapshots: self.snapshots.len() as u64,
            commits: self.commits.len() as u64,
        }
    }

    /// How many bytes the disk has room for.
    pub(crate) fn free_space(&self) -> Result<u64, Error> {
        let path = self.directory.path();
        let found = rustix::fs::statvfs(path)
            .map_err(io::Error::from)
            .while_doing("asking for the free space of", path)?;
        Ok(found.f_bavail.saturating_mul(found.f_frsize))
    }

    /// Refuses a pack that cannot fit: what is in it takes hardly ever less room than the pack itself.
    pub(crate) fn check_fits(&self, needed: u64) -> Result<(), Error> {
        let free = self.free_space()?;
        if needed > free {
            return Err(Error::DiskFull { path: self.layout.muse().to_owned(), needed, free });
        }
        Ok(())
    }

    /// A file in the staging directory for a purpose of the caller's.
    pub(crate) fn scratch(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Where objects are written to, each at its [`object_path`].
    pub(super) fn objects_directory(&self) -> PathBuf {
        self.directory.path().join("objects")
    }

    fn object_path(&self, id: Id) -> PathBuf {
        object_path(self.objects_directory(), id)
    }

    fn snapshot_path(&self, id: Id) -> PathBuf {
        json_path(self.directory.path().join("snapshots"), id)
    }

    fn commit_path(&self, id: Id) -> PathBuf {
        json_path(self.directory.path().join("commits"), id)
    }

    /// A new file for the bytes of `id`, which the caller has checked by the time of [`Staging::keep_object`].
    pub(crate) fn create_object(&self, id: Id) -> io::Result<File> {
        create_object(&self.object_path(id))
    }

    pub(crate) fn keep_object(&mut self, id: Id) {
        self.objects.insert(id);
    }

    /// Copies a file in, and says what its id is. Where the store has it already, nothing is kept.
    pub(crate) fn copy_object(&mut self, source: &mut impl Read) -> io::Result<Id> {
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(COPIED_AT_ONCE, 0);
        let id = self.copy_object_through(&mut buffer, source);
        self.buffer = buffer;
        id
    }

    fn copy_object_through(&mut self, buffer: &mut [u8], source: &mut impl Read) -> io::Result<Id> {
        let first = fill(source, buffer)?;
        if first < buffer.len() {
            // The whole file: its name is known before it is written, or it need not be written.
            let id = Id::of(&buffer[..first]);
            if !self.has_object(id) {
                create_object(&self.object_path(id))?.write_all(&buffer[..first])?;
                self.objects.insert(id);
            }
            return Ok(id);
        }
        let unnamed = self.directory.path().join("unnamed");
        let mut file = File::create(&unnamed)?;
        let mut hasher = IdHasher::new();
        let mut filled = first;
        while filled > 0 {
            hasher.update(&buffer[..filled]);
            file.write_all(&buffer[..filled])?;
            filled = fill(source, buffer)?;
        }
        let id = hasher.finish();
        if !self.has_object(id) {
            let path = self.object_path(id);
            create_directory_of(&path)?;
            fs::rename(&unnamed, path)?;
            self.objects.insert(id);
        }
        Ok(id)
    }

    fn has_object(&self, id: Id) -> bool {
        self.objects.contains(&id) || self.store.has_object(id)
    }

    pub(crate) fn put_snapshot(&mut self, snapshot: &Snapshot) -> Result<Id, Error> {
        let id = snapshot.id();
        let path = self.snapshot_path(id);
        write_json(&path, snapshot)?;
        self.snapshots.insert(id);
        for object in snapshot.objects() {
            self.needed.entry(object).or_insert(id);
        }
        Ok(id)
    }

    pub(crate) fn put_commit(&mut self, commit: &Commit) -> Result<Id, Error> {
        let id = commit.id();
        let path = self.commit_path(id);
        write_json(&path, commit)?;
        self.commits.insert(id, Links { parents: commit.parents().to_vec(), snapshot: commit.snapshot() });
        Ok(id)
    }

    /// Checks that everything here, and each of `wanted`, leads only to what is here or in the store.
    ///
    /// The store itself is closed, so nothing in it has to be walked.
    pub(crate) fn check_complete(&self, wanted: &[Id]) -> Result<(), Error> {
        let incomplete = |holder: String, kind, id| Err(Error::Incomplete { holder, kind, id });
        for id in wanted {
            if !self.commits.contains_key(id) && !self.store.has_commit(*id) {
                return incomplete("the fetch".into(), "commit", *id);
            }
        }
        for (id, links) in &self.commits {
            for parent in &links.parents {
                if !self.commits.contains_key(parent) && !self.store.has_commit(*parent) {
                    return incomplete(format!("the commit {id}"), "commit", *parent);
                }
            }
            if !self.snapshots.contains(&links.snapshot) && !self.store.has_snapshot(links.snapshot) {
                return incomplete(format!("the commit {id}"), "snapshot", links.snapshot);
            }
        }
        for (object, snapshot) in &self.needed {
            if !self.objects.contains(object) && !self.store.has_object(*object) {
                return incomplete(format!("the snapshot {snapshot}"), "object", *object);
            }
        }
        Ok(())
    }

    /// Makes everything here part of the store, for good.
    ///
    /// The contents are flushed before any of them gets its final name, and names are given in the order in
    /// which one leads to the other: objects, snapshots, commits from the oldest on. So wherever this ends, what
    /// has a name is whole and leads to nothing that is missing.
    pub(crate) fn settle(self) -> Result<(), Error> {
        let one_by_one = self.objects.len() + self.snapshots.len() + self.commits.len() <= FLUSHED_ONE_BY_ONE;
        let commits = self.commits_oldest_first();
        let contents = self
            .objects
            .iter()
            .map(|id| self.object_path(*id))
            .chain(self.snapshots.iter().map(|id| self.snapshot_path(*id)))
            .chain(commits.iter().map(|id| self.commit_path(*id)));
        self.flush(one_by_one, contents)?;

        let mut directories = self.settle_objects()?;
        directories.push(self.layout.objects());
        self.flush(one_by_one, directories.into_iter())?;
        for id in &self.snapshots {
            rename(&self.snapshot_path(*id), &self.store.snapshot_path(*id))?;
        }
        self.flush(one_by_one, [self.layout.snapshots()].into_iter())?;
        for id in &commits {
            rename(&self.commit_path(*id), &self.store.commit_path(*id))?;
        }
        self.flush(one_by_one, [self.layout.commits()].into_iter())
    }

    /// Moves the objects into the store, and says which of its directories have changed.
    ///
    /// A directory that the store lacks is moved with all that it holds: a first clone has 256 names to give, and
    /// not one a file.
    fn settle_objects(&self) -> Result<Vec<PathBuf>, Error> {
        let mut changed = Vec::new();
        for (directory, name) in entries(&self.objects_directory())? {
            let place = self.layout.objects().join(name);
            match fs::rename(&directory, &place) {
                Err(error)
                    if matches!(
                        error.kind(),
                        io::ErrorKind::DirectoryNotEmpty | io::ErrorKind::AlreadyExists
                    ) =>
                {
                    for (file, name) in entries(&directory)? {
                        rename(&file, &place.join(name))?;
                    }
                }
                moved => moved.while_doing("storing", &place)?,
            }
            changed.push(place);
        }
        Ok(changed)
    }

    fn flush(&self, one_by_one: bool, paths: impl Iterator<Item = PathBuf>) -> Result<(), Error> {
        if one_by_one {
            return durable::sync_each(&paths.collect::<Vec<_>>()).map_err(|(path, source)| Error::Io {
                doing: "flushing",
                path,
                source,
            });
        }
        let path = self.layout.muse();
        durable::sync_file_system(path).while_doing("flushing", path)
    }

    /// The commits here, parents before children.
    fn commits_oldest_first(&self) -> Vec<Id> {
        let mut ordered = Vec::with_capacity(self.commits.len());
        let mut entered = HashSet::new();
        for start in self.commits.keys() {
            let mut pending = vec![(*start, false)];
            while let Some((id, parents_done)) = pending.pop() {
                let Some(links) = self.commits.get(&id) else { continue };
                if parents_done {
                    ordered.push(id);
                } else if entered.insert(id) {
                    pending.push((id, true));
                    pending.extend(links.parents.iter().map(|parent| (*parent, false)));
                }
            }
        }
        ordered
    }
}

/// Reads until `buffer` is full or the source ends.
pub(super) fn fill(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match source.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// A new file for an object, in a directory that may be missing as yet.
pub(super) fn create_object(path: &Path) -> io::Result<File> {
    match File::create(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_directory_of(path)?;
            File::create(path)
        }
        created => created,
    }
}

fn create_directory_of(path: &Path) -> io::Result<()> {
    match fs::create_dir(path.parent().expect("an object lies in a directory")) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn rename(from: &Path, to: &Path) -> Result<(), Error> {
    fs::rename(from, to).while_doing("storing", to)
}

/// What is in a directory: paths, and names.
fn entries(directory: &Path) -> Result<Vec<(PathBuf, OsString)>, Error> {
    let read = || {
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| (entry.path(), entry.file_name()))).collect()
    };
    let entries: io::Result<_> = read();
    entries.while_doing("reading", directory)
}

/// A new directory, locked for as long as the returned file is open.
fn create_owned_directory(incoming: &Path) -> io::Result<(TempDir, File)> {
    durable::create_directories(incoming)?;
    loop {
        let directory = TempDir::with_prefix_in("pack-", incoming)?;
        let owned = File::open(directory.path()).and_then(|owned| owned.lock().map(|()| owned));
        let filled = owned.and_then(|owned| {
            for kind in ["objects", "snapshots", "commits"] {
                fs::create_dir(directory.path().join(kind))?;
            }
            Ok(owned)
        });
        match filled {
            // Taken for abandoned, and removed, between its creation and the lock: once more.
            Err(error) if error.kind() == io::ErrorKind::NotFound && incoming.is_dir() => {}
            filled => return Ok((directory, filled?)),
        }
    }
}

/// Removes what killed processes left behind.
pub(super) fn remove_abandoned(layout: &Layout) -> Result<(), Error> {
    let incoming = layout.incoming();
    let entries = match fs::read_dir(&incoming) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).while_doing("reading", &incoming),
    };
    for entry in entries {
        let path = entry.while_doing("reading", &incoming)?.path();
        if !path.is_dir() {
            // The beginning of a reference or the like: those are written under the lock, which we hold.
            fs::remove_file(&path).while_doing("removing", &path)?;
            continue;
        }
        // Gone in between is as good as removed here.
        let Ok(directory) = File::open(&path) else { continue };
        if directory.try_lock().is_ok() {
            fs::remove_dir_all(&path).while_doing("removing", &path)?;
        }
    }
    Ok(())
}

/// Writes as it goes: a snapshot of many files is long.
fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Error> {
    let write = || {
        let mut file = BufWriter::with_capacity(COPIED_AT_ONCE, File::create(path)?);
        serde_json::to_writer(&mut file, value)?;
        file.flush()
    };
    write().while_doing("writing", path)
}
