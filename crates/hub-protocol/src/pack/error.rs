//! Why a pack is refused, and where in it.

use std::error::Error as _;
use std::fmt;
use std::io;

use crate::Id;

use super::format::{MAGIC, VERSION};

/// What an entry of a pack is. They come in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A [`Commit`](crate::Commit), as JSON.
    Commit,
    /// A [`Snapshot`](crate::Snapshot), as JSON.
    Snapshot,
    /// The bytes of a file.
    Object,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Commit => "commit",
            Self::Snapshot => "snapshot",
            Self::Object => "object",
        })
    }
}

/// One entry of a pack, by the id that the pack declares for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: Kind,
    /// What it is called.
    pub id: Id,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.id)
    }
}

/// Where in a pack something went wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The eight bytes before the compressed stream.
    Header,
    /// The record that says what the pack holds.
    Totals,
    /// A record, counted from 1, whose id is not known yet.
    Record(u64),
    /// An entry whose id is known.
    Entry(Entry),
    /// What follows the last record inside the compressed stream.
    End,
    /// The SHA-256 after the compressed stream.
    Digest,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Header => f.write_str("the header"),
            Self::Totals => f.write_str("the totals"),
            Self::Record(number) => write!(f, "record {number}"),
            Self::Entry(entry) => write!(f, "{entry}"),
            Self::End => f.write_str("the end of the stream"),
            Self::Digest => f.write_str("the closing digest"),
        }
    }
}

/// Why a pack was refused, or could not be read or written.
///
/// What a sink was given before the error is to be thrown away, or kept only as far as it is good by itself:
/// an object that was declared done is whole and named rightly, whatever became of the rest of its pack.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// The source of the pack failed.
    #[error("could not read the pack at {at}")]
    Read {
        /// How far it was read.
        at: Place,
        /// What the source said.
        source: io::Error,
    },
    /// The destination of the pack failed.
    #[error("could not write the pack at {at}")]
    Write {
        /// How far it was written.
        at: Place,
        /// What the destination said.
        source: io::Error,
    },
    /// The sink could not keep what the pack holds.
    #[error("could not store {entry}")]
    Store {
        /// What it was given.
        entry: Entry,
        /// What the sink said.
        source: io::Error,
    },
    /// The content of an object could not be read for packing.
    #[error("could not read {entry}")]
    Content {
        /// What was to be packed.
        entry: Entry,
        /// What the content's reader said.
        source: io::Error,
    },
    /// The file is something else.
    #[error("expected a pack, which begins with \"{}\", and got \"{}\"", MAGIC.escape_ascii(), .found.escape_ascii())]
    NotAPack {
        /// Its first bytes.
        found: [u8; 7],
    },
    /// The pack is of another version.
    #[error("expected a pack of version {VERSION}, and got version {found}")]
    Version {
        /// Which.
        found: u8,
    },
    /// The pack ends too early.
    #[error("the pack is cut off in {at}")]
    CutOff {
        /// Where.
        at: Place,
    },
    /// The compressed stream is not what its writer wrote. It is decompressed 128 KiB at a time: the damage may lie
    /// that far ahead.
    #[error("the pack is damaged in or after {at}: {reason}")]
    Damaged {
        /// How far it was good for certain.
        at: Place,
        /// What the decompressor said.
        reason: String,
    },
    /// The pack is not what its writer wrote, though it decompresses.
    #[error("the pack's closing digest says {declared}, and its bytes are {actual}")]
    Digest {
        /// What the pack says.
        declared: Id,
        /// What it is.
        actual: Id,
    },
    /// The pack goes on after its end.
    #[error("bytes follow {at}")]
    TrailingBytes {
        /// After what.
        at: Place,
    },
    /// A record of a type that this version does not have.
    #[error("record {number} is of the unknown type \"{}\"", .found.escape_ascii())]
    UnknownRecord {
        /// Which record, counted from 1.
        number: u64,
        /// Its type.
        found: u8,
    },
    /// The entry's kind came to its end before: commits, then snapshots, then objects.
    #[error("{entry} comes after the first {after}")]
    OutOfOrder {
        /// Which.
        entry: Entry,
        /// The kind that has begun.
        after: Kind,
    },
    /// One entry more than declared.
    #[error("{entry} is one too many: the pack declares {declared} of its kind")]
    Surplus {
        /// Which.
        entry: Entry,
        /// How many the pack declares.
        declared: u64,
    },
    /// Fewer entries than declared.
    #[error("the pack declares {declared} of the kind {kind}, and holds {found}")]
    Missing {
        /// Of which kind.
        kind: Kind,
        /// How many it declares.
        declared: u64,
        /// How many it holds.
        found: u64,
    },
    /// The object is longer than what is left of the declared bytes.
    #[error("{entry} is {len} bytes long, and only {left} are left of those that the pack declares")]
    SurplusBytes {
        /// Which.
        entry: Entry,
        /// Its length.
        len: u64,
        /// What is left.
        left: u64,
    },
    /// The objects are shorter than declared.
    #[error("the pack declares {declared} bytes of objects, and holds {found}")]
    MissingBytes {
        /// How many bytes it declares.
        declared: u64,
        /// How many it holds.
        found: u64,
    },
    /// The entry has come before.
    #[error("{entry} comes twice")]
    Duplicate {
        /// Which.
        entry: Entry,
    },
    /// The entry is called what it is not.
    #[error("{entry} is really {actual}")]
    LyingId {
        /// What it is called.
        entry: Entry,
        /// What it is.
        actual: Id,
    },
    /// The content of an object, as it was handed in for packing, is shorter or longer than it was said to be.
    #[error("{entry} was said to be {declared} bytes long, and is {}", Actual(*.declared, *.found))]
    Length {
        /// Which.
        entry: Entry,
        /// How long it was said to be.
        declared: u64,
        /// How long it is; where that is more than `declared`, the rest was not read.
        found: u64,
    },
    /// The entry is no commit or snapshot, or one that must not be.
    #[error("{entry} is malformed: {reason}")]
    Malformed {
        /// Which.
        entry: Entry,
        /// What is wrong with it.
        reason: String,
    },
    /// The pack goes beyond what the reader or writer allows.
    #[error(transparent)]
    Limit(#[from] LimitExceeded),
    /// An earlier call failed and left half an entry in the pack.
    #[error("the pack cannot be finished, as writing {at} failed")]
    Unusable {
        /// What failed.
        at: Place,
    },
}

impl PackError {
    /// The error and what caused it, in one line: it says where, its causes say why.
    #[must_use]
    pub fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

struct Actual(u64, u64);

impl fmt::Display for Actual {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(declared, found) = self;
        if found > declared { f.write_str("longer") } else { write!(f, "{found}") }
    }
}

/// Which of the [`Limits`](super::Limits) a pack exceeds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LimitExceeded {
    /// Too many entries of one kind.
    #[error("the pack declares {declared} of the kind {kind}, and at most {limit} are allowed")]
    Count {
        /// Of which kind.
        kind: Kind,
        /// How many it declares.
        declared: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// A commit or snapshot that is too long to be held in memory.
    #[error("{entry} is a record of {len} bytes, and at most {limit} are allowed")]
    Record {
        /// Which.
        entry: Entry,
        /// Its length.
        len: u64,
        /// What is allowed.
        limit: u64,
    },
    /// More data than allowed.
    #[error("the pack holds {bytes} bytes or more at {at}, and at most {limit} are allowed")]
    Bytes {
        /// Where that was seen.
        at: Place,
        /// How many.
        bytes: u64,
        /// How many are allowed.
        limit: u64,
    },
    /// A decompression bomb, or what cannot be told from one.
    #[error("the pack grows from {packed} to {plain} bytes by {at}, and at most {ratio} times are allowed")]
    Ratio {
        /// Where that was seen.
        at: Place,
        /// Compressed bytes so far.
        packed: u64,
        /// Uncompressed bytes so far.
        plain: u64,
        /// How many times is allowed.
        ratio: u64,
    },
}
