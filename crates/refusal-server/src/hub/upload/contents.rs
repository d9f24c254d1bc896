//! The list of the objects in an uploaded pack, kept beside it.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use hub_protocol::{Commit, Id, PackSink, Snapshot};

use crate::hub::Hub;
use crate::hub::store::files;

/// The ids of a pack's objects, kept beside it: `unpack-mpack` has to know that nothing is wanting, and must
/// not have to read all of a large pack for it.
#[derive(Default)]
pub(super) struct Contents(Vec<Id>);

impl Contents {
    /// Writes the list beside the pack, to be kept as long.
    pub(super) fn write(mut self, hub: &Hub, upload: &Path, until: u64) -> io::Result<()> {
        self.0.sort_unstable();
        let file = hub.files.new_temporary()?;
        let mut list = io::BufWriter::new(file.as_file());
        for id in &self.0 {
            list.write_all(id.as_bytes())?;
        }
        list.flush()?;
        drop(list);
        files::land(file, &files::contents_of(upload), until)
    }
}

impl PackSink for Contents {
    fn commit(&mut self, _id: Id, _commit: Commit) -> io::Result<()> {
        Ok(())
    }

    fn snapshot(&mut self, _id: Id, _snapshot: Snapshot) -> io::Result<()> {
        Ok(())
    }

    fn object_begin(&mut self, _id: Id, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn object_chunk(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        self.0.push(id);
        Ok(())
    }
}

/// The sorted ids that were kept beside an upload.
pub(in crate::hub) fn contents(upload: &Path) -> io::Result<Vec<Id>> {
    let bytes = fs::read(files::contents_of(upload))?;
    let (ids, _) = bytes.as_chunks::<32>();
    Ok(ids.iter().map(|digest| Id::from_digest(*digest)).collect())
}
