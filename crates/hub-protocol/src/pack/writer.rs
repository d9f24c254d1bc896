//! Writing a pack: what was declared, in its order, and nothing else.

use std::io::{self, Read, Write};

use crate::{Commit, Id, IdHasher, Snapshot};

use super::deflate::Deflate;
use super::format::{END, MAGIC, Summary, TOTALS, Totals, VERSION, entry_header};
use super::ledger::Ledger;
use super::{Entry, Kind, Limits, PackError, Place};

/// Writes a pack from its first byte to its last, in bounded memory.
///
/// What the pack holds is declared first and then handed in, commits before snapshots before objects. Each call
/// checks what it is given as the reader will; a call that fails leaves the pack unfinishable.
pub struct PackWriter<W> {
    stream: Deflate<W>,
    ledger: Ledger,
    failed: Option<Place>,
}

impl<W: Write> PackWriter<W> {
    /// Begins a pack that holds what `totals` says, within the default limits.
    ///
    /// # Errors
    ///
    /// As [`with_limits`](Self::with_limits).
    pub fn new(destination: W, totals: Totals) -> Result<Self, PackError> {
        Self::with_limits(destination, totals, Limits::default())
    }

    /// Begins a pack that holds what `totals` says, for readers that allow `limits`.
    ///
    /// The destination gets pieces of about 128 KiB, and needs no buffer of its own.
    ///
    /// # Errors
    ///
    /// [`PackError::Limit`] where `totals` exceed `limits`; [`PackError::Write`] where the destination fails.
    pub fn with_limits(destination: W, totals: Totals, limits: Limits) -> Result<Self, PackError> {
        let ledger = Ledger::open(totals, &limits)?;
        let mut header = [VERSION; MAGIC.len() + 1];
        header[..MAGIC.len()].copy_from_slice(&MAGIC);
        let mut stream = Deflate::new(destination, limits, &header)?;
        stream.at = Place::Totals;
        stream.write(&[TOTALS])?;
        stream.write(&totals.to_bytes())?;
        Ok(Self { stream, ledger, failed: None })
    }

    /// Adds a commit.
    ///
    /// # Errors
    ///
    /// [`PackError`] where the reader would refuse it or the destination fails.
    pub fn commit(&mut self, commit: &Commit) -> Result<(), PackError> {
        let json = serde_json::to_vec(commit).expect("a commit is ids and text, which JSON can hold");
        self.record(Entry { kind: Kind::Commit, id: commit.id() }, &json)
    }

    /// Adds a snapshot.
    ///
    /// # Errors
    ///
    /// [`PackError`] where the reader would refuse it or the destination fails.
    pub fn snapshot(&mut self, snapshot: &Snapshot) -> Result<(), PackError> {
        let entry = Entry { kind: Kind::Snapshot, id: snapshot.id() };
        let mut length = Length(0);
        serde_json::to_writer(&mut length, snapshot)
            .expect("a snapshot is a map with text for keys, which JSON can hold");
        self.guarded(entry, |writer| {
            writer.begin(entry, length.0)?;
            let mut record = Record { stream: &mut writer.stream, failed: None };
            let written = serde_json::to_writer(&mut record, snapshot);
            match record.failed {
                Some(error) => Err(error),
                None => {
                    written.expect("it could be written before");
                    Ok(())
                }
            }
        })
    }

    /// Adds an object of `len` bytes, hashing it while it is copied.
    ///
    /// # Errors
    ///
    /// [`PackError`] where `content` fails, is not of that length or is not `id`; where the reader would refuse it;
    /// or where the destination fails.
    pub fn object(&mut self, id: Id, len: u64, content: impl Read) -> Result<(), PackError> {
        let entry = Entry { kind: Kind::Object, id };
        self.guarded(entry, |writer| {
            writer.begin(entry, len)?;
            writer.copy(entry, len, content)
        })
    }

    /// Ends the pack and flushes the destination.
    ///
    /// # Errors
    ///
    /// [`PackError::Missing`] and [`PackError::MissingBytes`] where less came than was declared;
    /// [`PackError::Unusable`] where an earlier call failed; [`PackError`] where the destination fails.
    pub fn finish(mut self) -> Result<(W, Summary), PackError> {
        self.check_usable()?;
        let found = self.ledger.close()?;
        self.stream.at = Place::End;
        self.stream.write(&[END])?;
        let (destination, mpack_id, size) = self.stream.finish()?;
        Ok((destination, Summary::new(found, mpack_id, size)))
    }

    fn record(&mut self, entry: Entry, json: &[u8]) -> Result<(), PackError> {
        self.guarded(entry, |writer| {
            writer.begin(entry, json.len() as u64)?;
            writer.stream.write(json)
        })
    }

    fn guarded(
        &mut self,
        entry: Entry,
        write: impl FnOnce(&mut Self) -> Result<(), PackError>,
    ) -> Result<(), PackError> {
        self.check_usable()?;
        let result = write(self);
        if result.is_err() {
            self.failed = Some(Place::Entry(entry));
        }
        result
    }

    fn check_usable(&self) -> Result<(), PackError> {
        match self.failed {
            None => Ok(()),
            Some(at) => Err(PackError::Unusable { at }),
        }
    }

    fn begin(&mut self, entry: Entry, len: u64) -> Result<(), PackError> {
        self.stream.at = Place::Entry(entry);
        self.ledger.admit(entry, len, self.stream.limits())?;
        self.stream.write(&[entry.kind.record_type()])?;
        self.stream.write(&entry_header(entry.id, len))
    }

    fn copy(&mut self, entry: Entry, len: u64, mut content: impl Read) -> Result<(), PackError> {
        let mut hasher = IdHasher::new();
        let mut found = 0;
        while found < len {
            let room = self.stream.room()?;
            let most = usize::try_from(len - found).map_or(room.len(), |left| left.min(room.len()));
            match read_some(&mut content, &mut room[..most], entry)? {
                0 => return Err(PackError::Length { entry, declared: len, found }),
                count => {
                    hasher.update(self.stream.fill(count));
                    found += count as u64;
                }
            }
        }
        if read_some(&mut content, &mut [0], entry)? > 0 {
            return Err(PackError::Length { entry, declared: len, found: len.saturating_add(1) });
        }
        let actual = hasher.finish();
        if actual == entry.id { Ok(()) } else { Err(PackError::LyingId { entry, actual }) }
    }
}

/// Writes the text of a record as it is made: that of a long one is never in memory as a whole.
struct Record<'a, W> {
    stream: &'a mut Deflate<W>,
    /// Why the stream cannot be written to; the serialiser only learns that it cannot.
    failed: Option<PackError>,
}

impl<W: Write> Write for Record<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Ok(()) => Ok(bytes.len()),
            Err(error) => {
                self.failed = Some(error);
                Err(io::ErrorKind::Other.into())
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Counts what would be written.
struct Length(u64);

impl Write for Length {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn read_some(content: &mut impl Read, buffer: &mut [u8], entry: Entry) -> Result<usize, PackError> {
    loop {
        match content.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result.map_err(|source| PackError::Content { entry, source }),
        }
    }
}
