//! `PUT` of a pack: streamed to a file, and checked to its last entry while it arrives.
//!
//! A pack that lies (an entry that is not its id, a path that leaves the target, a bomb) is refused here, with
//! the entry's name and to the one who sent it. What is uploaded is therefore good, and an index job can only
//! fail for reasons of the server's own.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use bytes::{Buf, Bytes};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::BodyExt;
use hub_protocol::{Commit, HashingReader, Id, PackError, PackSink, Snapshot, read_pack};
use serde::Deserialize;
use tempfile::NamedTempFile;
use tokio::sync::mpsc;

use super::store::{REPOSITORIES, StoreError, chain, files, repository};
use super::{Hub, jobs, name::RepositoryName, no_such_repository};
use crate::refusal::{Failure, Refused};

/// How many frames of a body may wait for the disk: a few hundred KiB.
const FRAMES_IN_FLIGHT: usize = 8;
/// A body of which nothing arrives for this long is given up.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long an upload is kept that no `unpack-mpack` follows, in seconds.
const KEPT_SECONDS: u64 = 6 * 3_600;

#[derive(Deserialize)]
pub(super) struct Segments {
    mpack_id: Id,
    size: u64,
}

/// Upload a pack, to a URL from `mpack-presign`
///
/// It is checked to its last entry while it arrives: what is answered with 201 is good.
#[utoipa::path(
    put,
    path = "/{owner}/{slug}/uploads/{mpack_id}/{size}",
    tag = "hub",
    operation_id = "upload",
    params(
        ("owner" = String, Path, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length = 64),
        ("slug" = String, Path, pattern = "^[A-Za-z0-9_-][A-Za-z0-9._-]*$", max_length = 64),
        ("mpack_id" = Id, Path),
        ("size" = u64, Path),
        ("expires" = Option<u64>, Query),
        ("signature" = Option<String>, Query),
    ),
    request_body(content = Vec<u8>, content_type = "application/x-muse-mpack"),
    responses(
        (status = 201, description = "It is kept until it is unpacked"),
        (status = 403, description = "The signature is missing, wrong or expired"),
        (status = 404, description = "No such repository, or no such name of a pack"),
        (status = 413, description = "More came than was announced"),
    ),
    security(()),
)]
pub(super) async fn put(
    State(hub): State<Arc<Hub>>,
    name: RepositoryName,
    segments: Result<Path<Segments>, PathRejection>,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refused> {
    let Path(Segments { mpack_id, size }) =
        segments.map_err(|error| Failure::NotFound(format!("no pack is called so: {error}")))?;
    hub.signer.check("PUT", &uri, &mpack_id, hub.clock.unix_seconds())?;
    if let Some(length) = headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok())
        && length.parse() != Ok(size)
    {
        return Err(Failure::Unprocessable(format!(
            "expected the {size} bytes that were announced, and a body of {length} is on its way"
        ))
        .into());
    }

    let _permit = hub.uploads.acquire().await.map_err(|_closed| StoreError::Stopping)?;
    let (sender, receiver) = mpsc::channel(FRAMES_IN_FLIGHT);
    let storing = hub.blocking(move |hub| store(hub, &name, mpack_id, size, receiver));
    // Both at once: the disk writes what the socket has read. Storing ends early only to refuse, and then
    // what is still to come is not read here.
    let (stored, ()) = tokio::join!(storing, forward(body, sender));
    stored?;
    Ok(StatusCode::CREATED)
}

/// Hands the body to the thread that stores it, until it ends or that thread has had enough.
async fn forward(mut body: Body, sender: mpsc::Sender<io::Result<Bytes>>) {
    loop {
        let piece = match tokio::time::timeout(LONGEST_PAUSE, body.frame()).await {
            Ok(None) => return,
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => Ok(data),
                Err(_trailers) => continue,
            },
            Ok(Some(Err(error))) => Err(io::Error::new(io::ErrorKind::ConnectionAborted, error)),
            Err(_elapsed) => Err(io::ErrorKind::TimedOut.into()),
        };
        let is_last = piece.is_err();
        if sender.send(piece).await.is_err() || is_last {
            return;
        }
    }
}

/// Writes the pack to a file while checking it, then gives it its name.
fn store(
    hub: &Hub,
    name: &RepositoryName,
    mpack_id: Id,
    size: u64,
    pieces: mpsc::Receiver<io::Result<Bytes>>,
) -> Result<(), Refused> {
    let failed = || format!("could not store the pack {mpack_id}");
    let number = hub
        .database
        .read(|transaction| repository(&transaction.open_table(REPOSITORIES)?, name))?
        .ok_or_else(|| no_such_repository(name))?
        .number;
    let file = hub.files.new_temporary().map_err(StoreError::file(failed()))?;
    let mut arriving = Arriving { pieces, piece: Bytes::new(), file, received: 0, most: size, fault: None };
    let mut contents = Contents::default();
    let read = read_pack(&mut arriving, &hub.config.limits, &mut contents);
    if arriving.fault.is_none() {
        // To the end, so that the refusal can say whether the transfer or the sender is to blame. What goes
        // wrong here is in `fault`.
        let _ = io::copy(&mut arriving, &mut io::sink());
    }
    if let Some(fault) = arriving.fault {
        return Err(match fault {
            Fault::Socket(error) if error.kind() == io::ErrorKind::TimedOut => Failure::Timeout(format!(
                "nothing of the pack arrived for {} seconds",
                LONGEST_PAUSE.as_secs()
            ))
            .into(),
            Fault::Socket(error) => Failure::BadRequest(format!("the pack broke off: {error}")).into(),
            Fault::Disk(error) => StoreError::file(failed())(error).into(),
            Fault::TooMuch => {
                Failure::TooLarge(format!("expected the {size} bytes that were announced, and more came"))
                    .into()
            }
        });
    }
    check_size_and_hash(
        &arriving.file,
        arriving.received,
        size,
        mpack_id,
        read.as_ref().ok().map(|s| s.mpack_id),
    )?;
    if let Err(error) = read {
        return Err(match error {
            PackError::Read { .. } | PackError::Store { .. } => StoreError::pack(failed())(error).into(),
            error => Failure::Unprocessable(format!("the pack is not acceptable: {}", chain(&error))).into(),
        });
    }

    let path = hub.files.upload(number, &mpack_id);
    contents
        .write(hub, &files::contents_of(&path))
        .and_then(|()| files::land(arriving.file, &path))
        .and_then(|()| files::keep_until(&path, hub.clock.unix_seconds() + KEPT_SECONDS))
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

/// Removes uploads that no job needs and that nothing has been done with for hours.
pub(super) fn sweep(hub: &Hub) -> Result<(), StoreError> {
    let needed: Vec<String> = hub
        .database
        .read(jobs::queue::packs_to_index)?
        .iter()
        .map(|(repository, id)| format!("{repository}-{}", id.hex()))
        .collect();
    files::sweep(&hub.files.uploads(), hub.clock.unix_seconds(), |name| {
        needed.iter().any(|needed| name.starts_with(needed))
    })
    .map_err(StoreError::file("could not remove old uploads"))?;
    Ok(())
}

/// The body of the request, as something that blocks: every byte that is read is written to the file first.
struct Arriving {
    pieces: mpsc::Receiver<io::Result<Bytes>>,
    piece: Bytes,
    file: NamedTempFile,
    received: u64,
    most: u64,
    /// What ended it early; the reader of the pack only learns that something did.
    fault: Option<Fault>,
}

enum Fault {
    Socket(io::Error),
    Disk(io::Error),
    TooMuch,
}

impl Arriving {
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
                Some(Err(error)) => return Err(self.give_up(Fault::Socket(error))),
                Some(Ok(piece)) => {
                    self.received += piece.len() as u64;
                    if self.received > self.most {
                        return Err(self.give_up(Fault::TooMuch));
                    }
                    if let Err(error) = self.file.write_all(&piece) {
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

/// The ids of a pack's objects, kept beside it: `unpack-mpack` has to know that nothing is wanting, and must
/// not have to read all of a large pack for it.
#[derive(Default)]
struct Contents(Vec<Id>);

impl Contents {
    fn write(mut self, hub: &Hub, path: &std::path::Path) -> io::Result<()> {
        self.0.sort_unstable();
        let mut file = io::BufWriter::new(hub.files.new_temporary()?);
        for id in &self.0 {
            file.write_all(id.as_bytes())?;
        }
        files::land(file.into_inner().map_err(io::IntoInnerError::into_error)?, path)
    }
}

impl PackSink for Contents {
    fn commit(&mut self, _id: Id, _commit: Commit) -> io::Result<()> {
        Ok(())
    }

    fn snapshot(&mut self, _id: Id, _snapshot: Snapshot) -> io::Result<()> {
        Ok(())
    }

    fn object_begin(&mut self, _id: Id, _len: u64) -> io::Result<()> {
        Ok(())
    }

    fn object_chunk(&mut self, _chunk: &[u8]) -> io::Result<()> {
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        self.0.push(id);
        Ok(())
    }
}

/// The sorted ids that were kept beside an upload.
pub(super) fn contents(path: &std::path::Path) -> io::Result<Vec<Id>> {
    let bytes = fs::read(files::contents_of(path))?;
    let (ids, _) = bytes.as_chunks::<32>();
    Ok(ids.iter().map(|digest| Id::from_digest(*digest)).collect())
}
