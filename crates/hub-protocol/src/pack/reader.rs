//! Reading a pack: records in their order, each checked before its content is believed.

use std::io::{self, BufReader, Read};

use serde::de::DeserializeOwned;

use crate::{Commit, Id, IdHasher, Snapshot};

use super::format::{
    END, ENTRY_HEADER_LEN, MAGIC, Summary, TOTALS, TOTALS_LEN, Totals, VERSION, parse_entry_header,
};
use super::inflate::Inflate;
use super::ledger::Ledger;
use super::{Entry, Kind, Limits, PackError, Place};

/// Where the content of a pack goes.
///
/// Commits come first, then snapshots, then objects, each checked against its id. An object comes in pieces
/// that are checked only at its end: what has begun and is not [done](Self::object_done) when
/// [`read_pack`] returns must be thrown away. Nothing is to be believed as a whole, such as a branch being
/// complete, before [`read_pack`] returns `Ok`.
pub trait PackSink {
    /// Takes a commit.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being stored; it ends the reading.
    fn commit(&mut self, id: Id, commit: Commit) -> io::Result<()>;

    /// Takes a snapshot. Its objects may be in the pack, or the receiver is meant to hold them already.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being stored; it ends the reading.
    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> io::Result<()>;

    /// Whether commits and snapshots are handed over. A receiver that has read this very pack before, and held the
    /// id of the file against it, may do without: they are passed over then, and nothing of them is checked.
    fn wants_history(&self) -> bool {
        true
    }

    /// Begins an object of `len` bytes, which claims to be `id`. The length is within what the pack declares and
    /// the limits allow; it is no promise that so much follows.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being stored; it ends the reading.
    fn object_begin(&mut self, id: Id, len: u64) -> io::Result<()>;

    /// Takes the next piece of the object that has begun: not empty, 128 KiB at most, `len` bytes in all.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being stored; it ends the reading.
    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()>;

    /// Ends the object: it is whole and it is `id`.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from being stored; it ends the reading.
    fn object_done(&mut self, id: Id) -> io::Result<()>;
}

/// Reads a pack from its first byte to its last and hands its content to `sink`, in bounded memory.
///
/// # Examples
///
/// ```
/// use std::io;
///
/// use hub_protocol::{Commit, Id, Limits, PackSink, PackWriter, Snapshot, Totals, read_pack};
///
/// /// Keeps the objects, and each of them only once it is known to be whole.
/// #[derive(Default)]
/// struct Objects {
///     done: Vec<(Id, Vec<u8>)>,
///     coming: Vec<u8>,
/// }
///
/// impl PackSink for Objects {
///     fn commit(&mut self, _: Id, _: Commit) -> io::Result<()> {
///         Ok(())
///     }
///     fn snapshot(&mut self, _: Id, _: Snapshot) -> io::Result<()> {
///         Ok(())
///     }
///     fn object_begin(&mut self, _: Id, _: u64) -> io::Result<()> {
///         self.coming.clear();
///         Ok(())
///     }
///     fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
///         self.coming.extend_from_slice(chunk);
///         Ok(())
///     }
///     fn object_done(&mut self, id: Id) -> io::Result<()> {
///         self.done.push((id, std::mem::take(&mut self.coming)));
///         Ok(())
///     }
/// }
///
/// let content = b"come back later\n";
/// let totals = Totals { objects: 1, bytes: content.len() as u64, ..Totals::default() };
/// let mut writer = PackWriter::new(Vec::new(), totals)?;
/// writer.object(Id::of(content), totals.bytes, &content[..])?;
/// let (pack, written) = writer.finish()?;
///
/// let mut objects = Objects::default();
/// let read = read_pack(&pack[..], &Limits::default(), &mut objects)?;
/// assert_eq!(read.mpack_id, written.mpack_id);
/// assert_eq!(objects.done, [(Id::of(content), content.to_vec())]);
/// # Ok::<(), hub_protocol::PackError>(())
/// ```
///
/// # Errors
///
/// [`PackError`] names the first entry that is wrong, unreadable or beyond `limits`.
pub fn read_pack<R: Read, S: PackSink + ?Sized>(
    source: R,
    limits: &Limits,
    sink: &mut S,
) -> Result<Summary, PackError> {
    let mut stream = Inflate::new(source, limits)?;
    check_header(&mut stream)?;

    stream.at = Place::Totals;
    match stream.take()? {
        [TOTALS] => {}
        [found] => return Err(PackError::UnknownRecord { number: 1, found }),
    }
    let totals = Totals::from_bytes(&stream.take::<TOTALS_LEN>()?);
    let mut ledger = Ledger::open(totals, limits)?;

    for number in 2.. {
        stream.at = Place::Record(number);
        let kind = match stream.take()? {
            [END] => break,
            [found] => Kind::from_record_type(found).ok_or(PackError::UnknownRecord { number, found })?,
        };
        let (id, len) = parse_entry_header(&stream.take::<ENTRY_HEADER_LEN>()?);
        let entry = Entry { kind, id };
        stream.at = Place::Entry(entry);
        ledger.admit(entry, len, limits)?;
        match kind {
            Kind::Commit | Kind::Snapshot if !sink.wants_history() => pass_over(&mut stream, len)?,
            Kind::Commit => {
                let commit: Commit = parse(&mut stream, entry, len)?;
                check_id(entry, commit.id())?;
                sink.commit(id, commit).map_err(|source| PackError::Store { entry, source })?;
            }
            Kind::Snapshot => {
                let snapshot: Snapshot = parse(&mut stream, entry, len)?;
                check_id(entry, snapshot.id())?;
                sink.snapshot(id, snapshot).map_err(|source| PackError::Store { entry, source })?;
            }
            Kind::Object => read_object(&mut stream, entry, len, sink)?,
        }
    }

    stream.at = Place::End;
    let found = ledger.close()?;
    if !stream.at_end()? {
        return Err(PackError::TrailingBytes { at: Place::End });
    }
    let (mpack_id, size) = stream.finish()?;
    Ok(Summary::new(found, mpack_id, size))
}

fn check_header<R: Read>(stream: &mut Inflate<'_, R>) -> Result<(), PackError> {
    let found = stream.take_outside()?;
    if found != MAGIC {
        return Err(PackError::NotAPack { found });
    }
    match stream.take_outside()? {
        [VERSION] => Ok(()),
        [found] => Err(PackError::Version { found }),
    }
}

fn pass_over<R: Read>(stream: &mut Inflate<'_, R>, len: u64) -> Result<(), PackError> {
    let mut left = len;
    while left > 0 {
        let count = piece(stream.chunk()?, left);
        stream.consume(count);
        left -= count as u64;
    }
    Ok(())
}

fn read_object<R: Read, S: PackSink + ?Sized>(
    stream: &mut Inflate<'_, R>,
    entry: Entry,
    len: u64,
    sink: &mut S,
) -> Result<(), PackError> {
    let store = |source| PackError::Store { entry, source };
    let mut hasher = IdHasher::new();
    sink.object_begin(entry.id, len).map_err(store)?;
    let mut left = len;
    while left > 0 {
        let chunk = stream.chunk()?;
        let count = piece(chunk, left);
        hasher.update(&chunk[..count]);
        sink.object_chunk(&chunk[..count]).map_err(store)?;
        stream.consume(count);
        left -= count as u64;
    }
    check_id(entry, hasher.finish())?;
    sink.object_done(entry.id).map_err(store)
}

/// How much of `chunk` belongs to an entry of which `left` bytes are to come.
fn piece(chunk: &[u8], left: u64) -> usize {
    usize::try_from(left).map_or(chunk.len(), |left| left.min(chunk.len()))
}

/// Reads a record as it comes: the text of a long one is never in memory as a whole.
fn parse<R: Read, T: DeserializeOwned>(
    stream: &mut Inflate<'_, R>,
    entry: Entry,
    len: u64,
) -> Result<T, PackError> {
    const AT_ONCE: u64 = 16 * 1024;
    let mut record = Record { stream, left: len, failed: None };
    let at_once = usize::try_from(len.min(AT_ONCE)).expect("a few KiB");
    let parsed = serde_json::from_reader(BufReader::with_capacity(at_once, &mut record));
    match record.failed {
        Some(error) => Err(error),
        None => parsed.map_err(|error| PackError::Malformed { entry, reason: error.to_string() }),
    }
}

/// The text of one record.
struct Record<'s, 'l, R> {
    stream: &'s mut Inflate<'l, R>,
    left: u64,
    /// Why the stream ended early; the parser only learns that it did.
    failed: Option<PackError>,
}

impl<R: Read> Read for Record<'_, '_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Ok(0);
        }
        let chunk = match self.stream.chunk() {
            Ok(chunk) => chunk,
            Err(error) => {
                self.failed = Some(error);
                return Err(io::ErrorKind::Other.into());
            }
        };
        let count = piece(chunk, self.left).min(buffer.len());
        buffer[..count].copy_from_slice(&chunk[..count]);
        self.stream.consume(count);
        self.left -= count as u64;
        Ok(count)
    }
}

fn check_id(entry: Entry, actual: Id) -> Result<(), PackError> {
    if actual == entry.id { Ok(()) } else { Err(PackError::LyingId { entry, actual }) }
}
