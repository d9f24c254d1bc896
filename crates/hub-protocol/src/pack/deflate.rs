//! From records to the compressed file.

use std::io::{self, Write};

use zstd::stream::raw::{CParameter, Encoder, InBuffer, Operation, OutBuffer};

use crate::Id;

use super::side_hasher::SideHasher;
use super::{Limits, PackError, Place};

/// Uncompressed bytes given to zstd at once: a whole block of its.
const PLAIN_BUFFER: usize = 128 * 1024;
const PACKED_BUFFER: usize = 132 * 1024;
/// Twice as fast as zstd's own choice of 3, for a few per cent in size.
const LEVEL: i32 = 1;
/// A snapshot lists all files, and most lines of it are those of the snapshot before. Matching over all 8 MiB that
/// a reader grants finds them, which makes the snapshots of 5,000 files 75 times smaller.
const WINDOW_LOG: u32 = 23;

/// The writing side of the file around the records: header, one zstd frame, digest.
pub(super) struct Deflate<W> {
    destination: Destination<W>,
    limits: Limits,
    encoder: Encoder<'static>,
    plain: Box<[u8]>,
    plain_filled: usize,
    plain_total: u64,
    packed: Box<[u8]>,
    /// What is being written, for the errors.
    pub(super) at: Place,
}

impl<W: Write> Deflate<W> {
    pub(super) fn new(destination: W, limits: Limits, header: &[u8]) -> Result<Self, PackError> {
        let at = Place::Header;
        let encoder = encoder().map_err(|source| PackError::Write { at, source })?;
        let mut this = Self {
            destination: Destination { inner: destination, hasher: SideHasher::new() },
            limits,
            encoder,
            plain: vec![0; PLAIN_BUFFER].into(),
            plain_filled: 0,
            plain_total: 0,
            packed: vec![0; PACKED_BUFFER].into(),
            at,
        };
        this.destination.put(header).map_err(|source| PackError::Write { at, source })?;
        Ok(this)
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Room for the next bytes of the records, at least one; [`fill`](Self::fill) says how many were put there.
    pub(super) fn room(&mut self) -> Result<&mut [u8], PackError> {
        if self.plain_filled == self.plain.len() {
            self.encode()?;
        }
        Ok(&mut self.plain[self.plain_filled..])
    }

    pub(super) fn fill(&mut self, count: usize) -> &[u8] {
        let start = self.plain_filled;
        self.plain_filled += count;
        &self.plain[start..self.plain_filled]
    }

    /// Writes the next bytes of the records.
    pub(super) fn write(&mut self, mut bytes: &[u8]) -> Result<(), PackError> {
        while !bytes.is_empty() {
            let room = self.room()?;
            let count = room.len().min(bytes.len());
            room[..count].copy_from_slice(&bytes[..count]);
            self.fill(count);
            bytes = &bytes[count..];
        }
        Ok(())
    }

    /// Ends the frame and writes the digest; the id and the length of the whole.
    pub(super) fn finish(mut self) -> Result<(W, Id, u64), PackError> {
        self.encode()?;
        self.end_frame().map_err(|source| PackError::Write { at: self.at, source })?;
        self.at = Place::Digest;
        self.end_file().map_err(|source| PackError::Write { at: self.at, source })?;
        let Destination { inner, mut hasher } = self.destination;
        Ok((inner, hasher.id(), hasher.len()))
    }

    /// Compresses what has gathered.
    ///
    /// What is about to go in is weighed against what has come out before it. That never falls behind what the
    /// reader weighs, which holds at least as much of the compressed stream when it has as much of the plain one.
    fn encode(&mut self) -> Result<(), PackError> {
        self.plain_total += self.plain_filled as u64;
        self.limits.check_growth(self.plain_total, self.destination.hasher.len(), self.at)?;
        self.compress().map_err(|source| PackError::Write { at: self.at, source })
    }

    fn compress(&mut self) -> io::Result<()> {
        let mut input = InBuffer::around(&self.plain[..self.plain_filled]);
        while input.pos() < self.plain_filled {
            let mut output = OutBuffer::around(&mut *self.packed);
            self.encoder.run(&mut input, &mut output)?;
            self.destination.put(output.as_slice())?;
        }
        self.plain_filled = 0;
        Ok(())
    }

    fn end_frame(&mut self) -> io::Result<()> {
        loop {
            let mut output = OutBuffer::around(&mut *self.packed);
            let left = self.encoder.finish(&mut output, true)?;
            self.destination.put(output.as_slice())?;
            if left == 0 {
                return Ok(());
            }
        }
    }

    fn end_file(&mut self) -> io::Result<()> {
        let digest = self.destination.hasher.id();
        self.destination.put(digest.as_bytes())?;
        self.destination.inner.flush()
    }
}

/// Where the pack goes, and the hash of what went there.
struct Destination<W> {
    inner: W,
    hasher: SideHasher,
}

impl<W: Write> Destination<W> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hasher.update(bytes);
        self.inner.write_all(bytes)
    }
}

fn encoder() -> io::Result<Encoder<'static>> {
    let mut encoder = Encoder::new(LEVEL)?;
    encoder.set_parameter(CParameter::WindowLog(WINDOW_LOG))?;
    encoder.set_parameter(CParameter::EnableLongDistanceMatching(true))?;
    encoder.set_parameter(CParameter::ChecksumFlag(true))?;
    Ok(encoder)
}
