//! Folders: what lies in them, and whether two are the same.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::random::Random;

/// What a path in a [`Tree`] is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// A file.
    File {
        /// Whether its owner may execute it.
        executable: bool,
        /// Its length in bytes.
        length: u64,
    },
    /// A symlink.
    Symlink,
    /// A device, a socket or a pipe.
    Special,
    /// A folder that cannot be read, and why.
    Unreadable(String),
}

/// What lies below a folder, by path. Folders are there only by what is in them, as in a repository.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<PathBuf, Kind>);

impl Tree {
    /// Looks at all that lies below `root`, except for folders that `passed_over` takes by their relative path.
    ///
    /// # Errors
    ///
    /// When `root` itself cannot be read.
    pub fn read(root: &Path, passed_over: impl Fn(&Path) -> bool) -> anyhow::Result<Self> {
        fs::read_dir(root).with_context(|| format!("could not read the folder {}", root.display()))?;
        let mut tree = Self::default();
        let mut pending = vec![PathBuf::new()];
        while let Some(folder) = pending.pop() {
            if let Err(error) = tree.read_folder(root, &folder, &passed_over, &mut pending) {
                tree.0.insert(folder, Kind::Unreadable(error.to_string()));
            }
        }
        Ok(tree)
    }

    fn read_folder(
        &mut self,
        root: &Path,
        folder: &Path,
        passed_over: &impl Fn(&Path) -> bool,
        pending: &mut Vec<PathBuf>,
    ) -> io::Result<()> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            let found = entry.metadata()?;
            let kind = if found.is_dir() {
                if !passed_over(&path) {
                    pending.push(path);
                }
                continue;
            } else if found.is_symlink() {
                Kind::Symlink
            } else if found.is_file() {
                Kind::File { executable: found.permissions().mode() & 0o100 != 0, length: found.len() }
            } else {
                Kind::Special
            };
            self.0.insert(path, kind);
        }
        Ok(())
    }

    /// The working tree of a repository: everything but `.muse`.
    ///
    /// # Errors
    ///
    /// When `root` cannot be read.
    pub fn of_repository(root: &Path) -> anyhow::Result<Self> {
        Self::read(root, |path| path == Path::new(".muse"))
    }

    /// How the working tree of the repository at `clone` differs from that at `source`, a sentence each.
    ///
    /// # Errors
    ///
    /// When either cannot be read.
    pub fn differences(source: &Path, clone: &Path) -> anyhow::Result<Vec<String>> {
        let (before, mut after) = (Self::of_repository(source)?, Self::of_repository(clone)?);
        let mut found = Vec::new();
        for (path, kind) in before.0 {
            match after.0.remove(&path) {
                None => found.push(format!("{} is missing", path.display())),
                Some(other) if other != kind => {
                    found.push(format!("{} was {kind:?} and is {other:?}", path.display()));
                }
                Some(_) if !same_bytes(&source.join(&path), &clone.join(&path))? => {
                    found.push(format!("{} has other bytes", path.display()));
                }
                Some(_) => {}
            }
        }
        found.extend(after.0.keys().map(|path| format!("{} has come from nowhere", path.display())));
        Ok(found)
    }
}

/// Whether two files hold the same bytes.
///
/// # Errors
///
/// When either cannot be read.
pub fn same_bytes(left: &Path, right: &Path) -> anyhow::Result<bool> {
    let open = |path: &Path| File::open(path).with_context(|| format!("could not open {}", path.display()));
    let (mut left_file, mut right_file) = (open(left)?, open(right)?);
    let (mut left_bytes, mut right_bytes) = (vec![0; 256 * 1_024], vec![0; 256 * 1_024]);
    loop {
        let count = fill(&mut left_file, &mut left_bytes)?;
        if fill(&mut right_file, &mut right_bytes)? != count || left_bytes[..count] != right_bytes[..count] {
            return Ok(false);
        }
        if count == 0 {
            return Ok(true);
        }
    }
}

fn fill(file: &mut File, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while filled < buffer.len() {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// Writes a file of `length` bytes that no compression makes smaller, with the folders above it.
///
/// # Errors
///
/// When it cannot be written.
pub fn write_random_file(path: &Path, length: u64, mode: u32, random: &mut Random) -> anyhow::Result<()> {
    let mut write = || -> io::Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        let mut file = File::create(path)?;
        let mut piece = vec![0; 256 * 1_024];
        let mut left = length;
        while left > 0 {
            let count = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
            random.fill(&mut piece[..count]);
            file.write_all(&piece[..count])?;
            left -= count as u64;
        }
        fs::set_permissions(path, Permissions::from_mode(mode))
    };
    write().with_context(|| format!("could not write {}", path.display()))
}
