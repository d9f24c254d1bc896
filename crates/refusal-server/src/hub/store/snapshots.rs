//! Snapshots in the database. One lists all files of a state, and may be long: it is kept in parts and neither
//! written nor read as a whole.

use std::io::{self, BufReader, Read, Write};

use hub_protocol::{Id, Snapshot, objects_in};
use redb::{AccessGuard, Range, ReadableTable, StorageError, Table};

use super::StoreError;
use super::tables::SnapshotPart;

/// How long a part is: with its key it fills a page of 64 KiB.
const PART: usize = 60 << 10;
/// How much is handed to the parser at once.
const READ_AT_ONCE: usize = 16 << 10;

/// Puts a snapshot in.
pub(crate) fn put(
    table: &mut Table<'_, SnapshotPart, &'static [u8]>,
    repository: u64,
    id: &Id,
    snapshot: &Snapshot,
) -> Result<(), StoreError> {
    let mut parts = Parts { table, repository, id, number: 0, part: Vec::with_capacity(PART), failed: None };
    let written =
        serde_json::to_writer(&mut parts, snapshot).map_err(io::Error::from).and_then(|()| parts.end());
    match (parts.failed, written) {
        (Some(error), _) => Err(error.into()),
        (None, written) => {
            written.expect("a snapshot is a map with text for keys, which JSON can hold");
            Ok(())
        }
    }
}

/// Whether a snapshot is there.
pub(crate) fn contains(
    table: &impl ReadableTable<SnapshotPart, &'static [u8]>,
    repository: u64,
    id: &Id,
) -> Result<bool, StoreError> {
    Ok(table.get((repository, id.as_bytes(), 0))?.is_some())
}

/// A snapshot that is known to be there.
pub(crate) fn get(
    table: &impl ReadableTable<SnapshotPart, &'static [u8]>,
    repository: u64,
    id: &Id,
) -> Result<Snapshot, StoreError> {
    read(table, repository, id, |text| serde_json::from_reader(text))
}

/// Hands over the object of each file in a snapshot that is known to be there.
pub(crate) fn objects(
    table: &impl ReadableTable<SnapshotPart, &'static [u8]>,
    repository: u64,
    id: &Id,
    visit: &mut dyn FnMut(Id),
) -> Result<(), StoreError> {
    read(table, repository, id, |text| objects_in(text, visit))
}

fn read<'t, T>(
    table: &'t impl ReadableTable<SnapshotPart, &'static [u8]>,
    repository: u64,
    id: &Id,
    parse: impl FnOnce(BufReader<&mut Text<'t>>) -> serde_json::Result<T>,
) -> Result<T, StoreError> {
    let parts = table.range((repository, id.as_bytes(), 0)..=(repository, id.as_bytes(), u32::MAX))?;
    let mut text = Text { parts, part: None, taken: 0, failed: None };
    let parsed = parse(BufReader::with_capacity(READ_AT_ONCE, &mut text));
    match text.failed {
        Some(error) => Err(error.into()),
        None => parsed.map_err(|error| StoreError::Damaged(format!("the snapshot {id}: {error}"))),
    }
}

/// The parts of a snapshot, as something to write to.
struct Parts<'t, 'a> {
    table: &'t mut Table<'a, SnapshotPart, &'static [u8]>,
    repository: u64,
    id: &'t Id,
    number: u32,
    part: Vec<u8>,
    failed: Option<StorageError>,
}

impl Parts<'_, '_> {
    fn end(&mut self) -> io::Result<()> {
        let key = (self.repository, self.id.as_bytes(), self.number);
        if let Err(error) = self.table.insert(key, self.part.as_slice()) {
            self.failed = Some(error);
            return Err(io::ErrorKind::Other.into());
        }
        self.number += 1;
        self.part.clear();
        Ok(())
    }
}

impl Write for Parts<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.part.len() == PART {
            self.end()?;
        }
        let count = bytes.len().min(PART - self.part.len());
        self.part.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The text of a snapshot, as something to read from.
struct Text<'a> {
    parts: Range<'a, SnapshotPart, &'static [u8]>,
    part: Option<AccessGuard<'a, &'static [u8]>>,
    taken: usize,
    failed: Option<StorageError>,
}

impl Read for Text<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let left = self.part.as_ref().map_or(&[][..], |part| &part.value()[self.taken..]);
            if !left.is_empty() {
                let count = left.len().min(buffer.len());
                buffer[..count].copy_from_slice(&left[..count]);
                self.taken += count;
                return Ok(count);
            }
            match self.parts.next() {
                None => return Ok(0),
                Some(Ok((_, part))) => (self.part, self.taken) = (Some(part), 0),
                Some(Err(error)) => {
                    self.failed = Some(error);
                    return Err(io::ErrorKind::Other.into());
                }
            }
        }
    }
}
