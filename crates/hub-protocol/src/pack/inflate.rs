//! From the compressed file to records.

use std::io::{self, Read};

use zstd::stream::raw::{DParameter, Decoder, InBuffer, Operation, OutBuffer};

use crate::Id;

use super::format::DIGEST_LEN;
use super::side_hasher::SideHasher;
use super::{Limits, PackError, Place};

/// Compressed bytes asked of the source at once: a whole zstd block and its header.
const PACKED_BUFFER: usize = 132 * 1024;
/// Uncompressed bytes handed on at once: a whole zstd block, which is hashed while the cache still holds it.
const PLAIN_BUFFER: usize = 128 * 1024;
/// The window that zstd may ask for is at most 2^23 bytes, 8 MiB, whatever the frame's header says.
const WINDOW_LOG_MAX: u32 = 23;

/// The reading side of the file around the records: header, one zstd frame, digest, nothing.
pub(super) struct Inflate<'a, R> {
    source: R,
    limits: &'a Limits,
    decoder: Decoder<'static>,
    hasher: SideHasher,
    packed: Box<[u8]>,
    packed_taken: usize,
    packed_filled: usize,
    plain: Box<[u8]>,
    plain_taken: usize,
    plain_filled: usize,
    plain_total: u64,
    frame_done: bool,
    /// What is being read, for the errors.
    pub(super) at: Place,
}

impl<'a, R: Read> Inflate<'a, R> {
    pub(super) fn new(source: R, limits: &'a Limits) -> Result<Self, PackError> {
        let decoder = decoder().map_err(|source| PackError::Read { at: Place::Header, source })?;
        Ok(Self {
            source,
            limits,
            decoder,
            hasher: SideHasher::new(),
            packed: vec![0; PACKED_BUFFER].into(),
            packed_taken: 0,
            packed_filled: 0,
            plain: vec![0; PLAIN_BUFFER].into(),
            plain_taken: 0,
            plain_filled: 0,
            plain_total: 0,
            frame_done: false,
            at: Place::Header,
        })
    }

    /// The next bytes before the frame begins or after it has ended.
    pub(super) fn take_outside<const N: usize>(&mut self) -> Result<[u8; N], PackError> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while filled < N {
            if self.packed_taken == self.packed_filled && self.refill()? == 0 {
                return Err(PackError::CutOff { at: self.at });
            }
            let count = (N - filled).min(self.packed_filled - self.packed_taken);
            bytes[filled..filled + count].copy_from_slice(&self.packed[self.packed_taken..][..count]);
            self.take_packed(count);
            filled += count;
        }
        Ok(bytes)
    }

    /// The next bytes of the records.
    pub(super) fn take<const N: usize>(&mut self) -> Result<[u8; N], PackError> {
        let mut bytes = [0; N];
        let mut filled = 0;
        while filled < N {
            let chunk = self.chunk()?;
            let count = (N - filled).min(chunk.len());
            bytes[filled..filled + count].copy_from_slice(&chunk[..count]);
            self.consume(count);
            filled += count;
        }
        Ok(bytes)
    }

    /// As many of the next bytes of the records as are at hand, at least one.
    pub(super) fn chunk(&mut self) -> Result<&[u8], PackError> {
        if self.at_end()? {
            return Err(PackError::CutOff { at: self.at });
        }
        Ok(&self.plain[self.plain_taken..self.plain_filled])
    }

    /// Marks the first `count` bytes of [`chunk`](Self::chunk) as used.
    pub(super) fn consume(&mut self, count: usize) {
        self.plain_taken += count;
    }

    /// Whether the frame has come to its end, as well as all that was in it.
    pub(super) fn at_end(&mut self) -> Result<bool, PackError> {
        while self.plain_taken == self.plain_filled {
            if self.frame_done {
                return Ok(true);
            }
            self.decode()?;
        }
        Ok(false)
    }

    /// Reads the digest and the end of the file; the id and the length of the whole.
    pub(super) fn finish(mut self) -> Result<(Id, u64), PackError> {
        self.at = Place::Digest;
        let actual = self.hasher.id();
        let declared = Id::from_digest(self.take_outside::<DIGEST_LEN>()?);
        if declared != actual {
            return Err(PackError::Digest { declared, actual });
        }
        if self.packed_taken < self.packed_filled || self.refill()? > 0 {
            return Err(PackError::TrailingBytes { at: self.at });
        }
        Ok((self.hasher.id(), self.hasher.len()))
    }

    fn decode(&mut self) -> Result<(), PackError> {
        // A decoder that filled the last buffer may hold more, but more input is due all the same: the digest.
        if self.packed_taken == self.packed_filled && self.refill()? == 0 {
            return Err(PackError::CutOff { at: self.at });
        }
        let mut input = InBuffer::around(&self.packed[self.packed_taken..self.packed_filled]);
        let mut output = OutBuffer::around(&mut *self.plain);
        let hint = self
            .decoder
            .run(&mut input, &mut output)
            .map_err(|error| PackError::Damaged { at: self.at, reason: error.to_string() })?;
        let (read, written) = (input.pos(), output.pos());
        self.take_packed(read);
        (self.plain_taken, self.plain_filled) = (0, written);
        self.plain_total += written as u64;
        self.frame_done = hint == 0;
        Ok(self.limits.check_growth(self.plain_total, self.hasher.len(), self.at)?)
    }

    fn refill(&mut self) -> Result<usize, PackError> {
        (self.packed_taken, self.packed_filled) = (0, 0);
        loop {
            match self.source.read(&mut self.packed) {
                Ok(count) => {
                    self.packed_filled = count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => return Err(PackError::Read { at: self.at, source }),
            }
        }
    }

    fn take_packed(&mut self, count: usize) {
        self.hasher.update(&self.packed[self.packed_taken..][..count]);
        self.packed_taken += count;
    }
}

fn decoder() -> io::Result<Decoder<'static>> {
    let mut decoder = Decoder::new()?;
    decoder.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX))?;
    Ok(decoder)
}
