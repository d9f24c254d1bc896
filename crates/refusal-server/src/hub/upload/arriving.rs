//! The bridge from a body that arrives in tasks to a thread that reads it.

use std::io::{self, Read, Write};

use bytes::{Buf, Bytes};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use crate::refusal::Failure;

/// A piece of the body, or why no further one comes.
pub(super) type Piece = Result<Bytes, Failure>;

/// The body of the request, as something that blocks: every byte that is read is written to the file first.
pub(super) struct Arriving {
    pieces: mpsc::Receiver<Piece>,
    piece: Bytes,
    pub(super) file: NamedTempFile,
    pub(super) received: u64,
    most: u64,
    /// What ended it early; the reader of the pack only learns that something did.
    pub(super) fault: Option<Fault>,
}

pub(super) enum Fault {
    Socket(Failure),
    Disk(io::Error),
    TooMuch,
}

impl Arriving {
    /// The body that comes through `pieces`, `most` bytes of it, on its way into `file`.
    pub(super) fn new(pieces: mpsc::Receiver<Piece>, file: NamedTempFile, most: u64) -> Self {
        Self { pieces, piece: Bytes::new(), file, received: 0, most, fault: None }
    }

    fn give_up(&mut self, fault: Fault) -> io::Error {
        self.pieces.close();
        self.fault = Some(fault);
        io::ErrorKind::ConnectionAborted.into()
    }
}

impl Read for Arriving {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.piece.is_empty() {
            if self.fault.is_some() {
                return Err(io::ErrorKind::ConnectionAborted.into());
            }
            match self.pieces.blocking_recv() {
                None => return Ok(0),
                Some(Err(failure)) => return Err(self.give_up(Fault::Socket(failure))),
                Some(Ok(piece)) => {
                    self.received += piece.len() as u64;
                    if self.received > self.most {
                        return Err(self.give_up(Fault::TooMuch));
                    }
                    if let Err(error) = self.file.as_file().write_all(&piece) {
                        return Err(self.give_up(Fault::Disk(error)));
                    }
                    self.piece = piece;
                }
            }
        }
        let count = buffer.len().min(self.piece.len());
        self.piece.copy_to_slice(&mut buffer[..count]);
        Ok(count)
    }
}
