//! Objects on their way to the disk.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;

use hub_protocol::Id;
use tempfile::NamedTempFile;

use super::files::{Files, rename};

/// Writes objects as files, one after the other, and makes them durable together.
///
/// Each is renamed to its id as soon as it is whole, and none may be relied on before [`sync`](Self::sync):
/// a crash may leave a name without its bytes. That does no harm, as an object counts only once the index
/// holds it, and one that the index does not hold is written again.
#[derive(Debug)]
pub(crate) struct ObjectWriter<'a> {
    files: &'a Files,
    open: Option<NamedTempFile>,
    written: Vec<Id>,
    folders: HashSet<PathBuf>,
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn new(files: &'a Files) -> Self {
        Self { files, open: None, written: Vec::new(), folders: HashSet::new() }
    }

    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.open = Some(self.files.new_temporary()?);
        Ok(())
    }

    /// Takes the next bytes; without a [`begin`](Self::begin) they are dropped.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.open {
            Some(file) => file.as_file().write_all(bytes),
            None => Ok(()),
        }
    }

    pub(crate) fn end(&mut self, id: Id) -> io::Result<()> {
        let Some(file) = self.open.take() else { return Ok(()) };
        let path = self.files.object(&id);
        let folder = path.parent().expect("an object's path ends in its folder and its name").to_owned();
        if !self.folders.contains(&folder) {
            fs::create_dir_all(&folder)?;
            self.folders.insert(folder);
        }
        rename(file.into_temp_path(), &path)?;
        self.written.push(id);
        Ok(())
    }

    /// Makes everything written durable.
    pub(crate) fn sync(self) -> io::Result<()> {
        if self.written.is_empty() || sync_file_system(&self.files.objects())? {
            return Ok(());
        }
        for id in &self.written {
            File::open(self.files.object(id))?.sync_all()?;
        }
        for folder in self.folders {
            File::open(folder)?.sync_all()?;
        }
        File::open(self.files.objects())?.sync_all()
    }
}

/// One call for ten thousand small files, where ten thousand `fsync` would take seconds; says whether the
/// system has it.
#[cfg(target_os = "linux")]
fn sync_file_system(folder: &std::path::Path) -> io::Result<bool> {
    match rustix::fs::syncfs(File::open(folder)?) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::NOSYS) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn sync_file_system(_folder: &std::path::Path) -> io::Result<bool> {
    Ok(false)
}
