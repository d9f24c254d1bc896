use std::fs::File;
use std::io::{self, Read, Write};

use hub_protocol::{Commit, Id, Limits, PackSink, Snapshot, Summary, read_pack};
use tokio_util::sync::CancellationToken;

use super::staging::Staging;
use crate::errors::Error;

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
    let mut receiver = Receiver { staging, cancel, open: None };
    read_pack(pack, &limits, &mut receiver)
        .map_err(|error| if cancel.is_cancelled() { Error::Interrupted } else { Error::from(error) })
}

/// The default limits, and never more than the disk has room for: a pack may be tiny and unpack to terabytes.
fn limits(staging: &Staging) -> Result<Limits, Error> {
    let defaults = Limits::default();
    Ok(Limits { bytes: defaults.bytes.min(staging.free_space()?), ..defaults })
}

struct Receiver<'a> {
    staging: &'a mut Staging,
    cancel: &'a CancellationToken,
    open: Option<File>,
}

impl Receiver<'_> {
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
}

impl PackSink for Receiver<'_> {
    fn commit(&mut self, _: Id, commit: Commit) -> io::Result<()> {
        self.go_on()?;
        Self::keep(self.staging.put_commit(&commit))
    }

    fn snapshot(&mut self, _: Id, snapshot: Snapshot) -> io::Result<()> {
        self.go_on()?;
        Self::keep(self.staging.put_snapshot(&snapshot))
    }

    fn object_begin(&mut self, id: Id, _: u64) -> io::Result<()> {
        self.go_on()?;
        self.open = Some(self.staging.create_object(id)?);
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.go_on()?;
        self.open.as_mut().expect("an object begins before its first chunk").write_all(chunk)
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        self.open = None;
        self.staging.keep_object(id);
        Ok(())
    }
}
