//! The mpack (ours): many objects in one file that streams in both directions. See `docs/mpack.md`.

mod deflate;
mod error;
mod format;
mod inflate;
mod ledger;
mod limits;
mod reader;
mod side_hasher;
mod writer;

pub use error::{Entry, Kind, LimitExceeded, PackError, Place};
pub use format::{Summary, Totals};
pub use limits::Limits;
pub use reader::{PackSink, read_pack};
pub use writer::PackWriter;
