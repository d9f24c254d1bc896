//! The thread that stores an upload: written, read and judged at once, then named.

use std::fs::File;
use std::io;

use hub_protocol::{HashingReader, Id, PackError, read_pack};
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::arriving::{Arriving, Fault, Piece};
use super::contents::Contents;
use crate::hub::name::RepositoryName;
use crate::hub::store::{REPOSITORIES, StoreError, files, repository};
use crate::hub::{Hub, no_such_repository};
use crate::refusal::{Failure, Refused};

/// How long an upload is kept that no `unpack-mpack` follows, in seconds.
const KEPT_SECONDS: u64 = 6 * 3_600;

/// Writes the pack to a file while checking it, then gives it its name.
pub(super) fn store(
    hub: &Hub,
    name: &RepositoryName,
    mpack_id: Id,
    size: u64,
    pieces: mpsc::Receiver<Piece>,
) -> Result<(), Refused> {
    let failed = || format!("could not store the pack {mpack_id}");
    let number = hub
        .database
        .read(|transaction| repository(&transaction.open_table(REPOSITORIES)?, name))?
        .ok_or_else(|| no_such_repository(name))?
        .number;
    let file = hub.files.new_temporary().map_err(StoreError::file(failed()))?;
    let mut arriving = Arriving::new(pieces, file, size);
    let mut contents = Contents::default();
    let read = read_pack(&mut arriving, &hub.config.limits, &mut contents);
    if arriving.fault.is_none() {
        // To the end, so that the refusal can say whether the transfer or the sender is to blame. What goes
        // wrong here is in `fault`.
        let _ = io::copy(&mut arriving, &mut io::sink());
    }
    if let Some(fault) = arriving.fault {
        return Err(match fault {
            Fault::Socket(failure) => failure.into(),
            Fault::Disk(error) => StoreError::file(failed())(error).into(),
            Fault::TooMuch => {
                let text = format!("expected the {size} bytes that were announced, and more came");
                Failure::TooLarge(text).into()
            }
        });
    }
    let read_id = read.as_ref().ok().map(|summary| summary.mpack_id);
    check_size_and_hash(&arriving.file, arriving.received, size, mpack_id, read_id)?;
    if let Err(error) = read {
        return Err(match error {
            PackError::Read { .. } | PackError::Store { .. } => StoreError::pack(failed())(error).into(),
            error => {
                Failure::Unprocessable(format!("the pack is not acceptable: {}", error.with_causes())).into()
            }
        });
    }

    let path = hub.files.upload(number, &mpack_id);
    let until = hub.clock.unix_seconds() + KEPT_SECONDS;
    contents
        .write(hub, &path, until)
        .and_then(|()| files::land(arriving.file, &path, until))
        .map_err(StoreError::file(failed()))?;
    Ok(())
}

/// What was promised in the URL comes before what the pack says of itself.
fn check_size_and_hash(
    file: &NamedTempFile,
    received: u64,
    size: u64,
    mpack_id: Id,
    read: Option<Id>,
) -> Result<(), Refused> {
    if received != size {
        return Err(Failure::Unprocessable(format!(
            "expected the {size} bytes that were announced, and {received} came"
        ))
        .into());
    }
    let actual = match read {
        Some(id) => id,
        None => {
            let reopened =
                File::open(file.path()).map_err(StoreError::file("could not read the upload again"))?;
            let mut reader = HashingReader::new(reopened);
            io::copy(&mut reader, &mut io::sink())
                .map_err(StoreError::file("could not read the upload again"))?;
            reader.finish().1
        }
    };
    if actual != mpack_id {
        return Err(Failure::Unprocessable(format!("expected the pack {mpack_id}, and {actual} came")).into());
    }
    Ok(())
}
