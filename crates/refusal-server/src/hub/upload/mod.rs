//! `PUT` of a pack: streamed to a file, and checked to its last entry while it arrives.
//!
//! A pack that lies (an entry that is not its id, a path that leaves the target, a bomb) is refused here, with
//! the entry's name and to the one who sent it. What is uploaded is therefore good, and an index job can only
//! fail for reasons of the server's own.

mod arriving;
mod contents;
mod receive;

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use http::header::CONTENT_LENGTH;
use http::{HeaderMap, StatusCode, Uri};
use http_body_util::BodyExt;
use hub_protocol::Id;
use serde::Deserialize;
use tokio::sync::mpsc;

use super::store::{StoreError, files};
use super::{Hub, jobs, name::RepositoryName};
use crate::refusal::{Failure, Refused};

use arriving::Piece;
pub(super) use contents::contents;

/// How many frames of a body may wait for the disk: a few hundred KiB.
const FRAMES_IN_FLIGHT: usize = 8;
/// A body of which nothing arrives for this long is given up.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

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
        RepositoryName,
        ("mpack_id" = Id, Path),
        ("size" = u64, Path),
        ("expires" = Option<u64>, Query),
        ("signature" = Option<String>, Query),
    ),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
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
    let storing = hub.blocking(move |hub| receive::store(hub, &name, mpack_id, size, receiver));
    // Both at once: the disk writes what the socket has read. Storing ends early only to refuse, and then
    // what is still to come is not read here.
    let (stored, ()) = tokio::join!(storing, forward(body, sender));
    stored?;
    Ok(StatusCode::CREATED)
}

/// Hands the body to the thread that stores it, until it ends or that thread has had enough.
async fn forward(mut body: Body, sender: mpsc::Sender<Piece>) {
    loop {
        let frame = tokio::select! {
            frame = tokio::time::timeout(LONGEST_PAUSE, body.frame()) => frame,
            () = sender.closed() => return,
        };
        let piece = match frame {
            Ok(None) => return,
            Ok(Some(Ok(frame))) => match frame.into_data() {
                Ok(data) => Ok(data),
                Err(_trailers) => continue,
            },
            Ok(Some(Err(error))) => Err(Failure::BadRequest(format!("the pack broke off: {error}"))),
            Err(_elapsed) => Err(Failure::Timeout(format!(
                "nothing of the pack arrived for {} seconds",
                LONGEST_PAUSE.as_secs()
            ))),
        };
        let is_last = piece.is_err();
        if sender.send(piece).await.is_err() || is_last {
            return;
        }
    }
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
