//! A pack on its way into the staging directory: read, checked, and written by several threads.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use hub_protocol::{Commit, Entry, Id, Kind, Limits, PackError, PackSink, Snapshot, Summary, read_pack};
use tokio_util::sync::CancellationToken;

use super::staging::{Staging, create_object};
use super::store::object_path;
use crate::errors::Error;

/// Objects up to this length are gathered and written beside the reading of the pack; a longer one as it comes.
const GATHERED: u64 = 64 * 1024;
/// How much is gathered before it is handed over.
const BATCH: usize = 256 * 1024;
/// Creating a file takes the kernel longer than reading it from the pack takes us.
const WRITERS: usize = 2;

/// Reads a pack into `staging`; nothing of it is part of the store yet.
///
/// # Errors
///
/// [`Error::Pack`] names the entry that is refused, [`Error::Interrupted`] when `cancel` came first.
pub(crate) fn receive_pack(
    pack: impl Read,
    staging: &mut Staging,
    cancel: &CancellationToken,
) -> Result<Summary, Error> {
    let limits = limits(staging)?;
    let directory = staging.objects_directory();
    let (sender, receiver) = sync_channel(WRITERS);
    let receiver = Arc::new(Mutex::new(receiver));
    let received = thread::scope(|scope| {
        let writers: Vec<_> = (0..WRITERS)
            .map(|_| {
                let (directory, receiver) = (&directory, Arc::clone(&receiver));
                scope.spawn(move || write_all(directory, &receiver))
            })
            .collect();
        // The last writer to give up takes the channel with it, and nobody waits for it in vain.
        drop(receiver);
        let mut sink = Sink { staging, cancel, writing: None, batch: Batch::default(), batches: sender };
        let read = read_pack(pack, &limits, &mut sink);
        // A failure is the writers' own, who tell it.
        let _ = sink.hand_over();
        drop(sink);
        writers.into_iter().fold(read, |read, writer| {
            // What a writer could not store is why the reading ended.
            writer.join().expect("writing does not panic").and(read)
        })
    });
    received.map_err(|error| if cancel.is_cancelled() { Error::Interrupted } else { Error::from(error) })
}

/// The default limits, and never more than the disk has room for: a pack may be tiny and unpack to terabytes.
fn limits(staging: &Staging) -> Result<Limits, Error> {
    let defaults = Limits::default();
    Ok(Limits { bytes: defaults.bytes.min(staging.free_space()?), ..defaults })
}

/// Small objects, one after the other, and where each ends.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    ends: Vec<(Id, usize)>,
}

fn write_all(directory: &Path, batches: &Mutex<Receiver<Batch>>) -> Result<(), PackError> {
    loop {
        let batch = batches.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Batch { bytes, ends }) = batch else { return Ok(()) };
        let mut start = 0;
        for (id, end) in ends {
            let entry = Entry { kind: Kind::Object, id };
            create_object(&object_path(directory.to_owned(), id))
                .and_then(|mut file| file.write_all(&bytes[start..end]))
                .map_err(|source| PackError::Store { entry, source })?;
            start = end;
        }
    }
}

struct Sink<'a> {
    staging: &'a mut Staging,
    cancel: &'a CancellationToken,
    /// The object that is being written as it comes.
    writing: Option<File>,
    batch: Batch,
    batches: SyncSender<Batch>,
}

impl Sink<'_> {
    fn go_on(&self) -> io::Result<()> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "interrupted"));
        }
        Ok(())
    }

    fn keep(put: Result<Id, Error>) -> io::Result<()> {
        match put {
            Ok(_) => Ok(()),
            Err(Error::Io { source, .. }) => Err(source),
            Err(other) => Err(io::Error::other(other)),
        }
    }

    fn hand_over(&mut self) -> io::Result<()> {
        let batch = std::mem::take(&mut self.batch);
        self.batches.send(batch).map_err(|_| io::Error::other("the writers have given up"))
    }
}

impl PackSink for Sink<'_> {
    fn commit(&mut self, _: Id, commit: Commit) -> io::Result<()> {
        self.go_on()?;
        Self::keep(self.staging.put_commit(&commit))
    }

    fn snapshot(&mut self, _: Id, snapshot: Snapshot) -> io::Result<()> {
        self.go_on()?;
        Self::keep(self.staging.put_snapshot(&snapshot))
    }

    fn object_begin(&mut self, id: Id, length: u64) -> io::Result<()> {
        self.go_on()?;
        if length > GATHERED {
            self.writing = Some(self.staging.create_object(id)?);
        }
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.go_on()?;
        match &mut self.writing {
            Some(file) => file.write_all(chunk),
            None => {
                self.batch.bytes.extend_from_slice(chunk);
                Ok(())
            }
        }
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        if self.writing.take().is_none() {
            self.batch.ends.push((id, self.batch.bytes.len()));
            if self.batch.bytes.len() >= BATCH {
                self.hand_over()?;
            }
        }
        self.staging.keep_object(id);
        Ok(())
    }
}
