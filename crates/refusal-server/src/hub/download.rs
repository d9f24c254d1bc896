//! `GET` of a pack: streamed from its file, whole or one range of it.

use std::io;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::rejection::PathRejection;
use axum::extract::{Path, State};
use axum::response::{IntoResponse, Response};
use http::header::{ACCEPT_RANGES, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, RANGE};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use hub_protocol::Id;
use serde::Deserialize;
use tokio::fs::File;
use tokio::io::{AsyncReadExt, AsyncSeekExt};
use tokio_util::io::ReaderStream;

use super::Hub;
use super::name::RepositoryName;
use super::range::Asked;
use super::store::StoreError;
use crate::refusal::{Failure, Refused};

/// How much of a file is read at once: large enough that switching threads for it does not count.
const CHUNK: usize = 256 << 10;

#[derive(Deserialize)]
pub(super) struct Segments {
    mpack_id: Id,
}

/// Download a pack, from a URL from `fetch/mpack`
///
/// Whole, or one range of its bytes.
#[utoipa::path(
    get,
    path = "/{owner}/{slug}/mpacks/{mpack_id}",
    tag = "hub",
    operation_id = "download",
    params(
        RepositoryName,
        ("mpack_id" = Id, Path),
        ("expires" = Option<u64>, Query),
        ("signature" = Option<String>, Query),
        ("Range" = Option<String>, Header),
    ),
    responses(
        (status = 200, description = "The pack", body = Vec<u8>, content_type = "application/x-muse-mpack"),
        (status = 206, description = "A part of it", body = Vec<u8>, content_type = "application/x-muse-mpack",
            headers(("Content-Range" = String))),
        (status = 403, description = "The signature is missing, wrong or expired"),
        (status = 404, description = "The pack is not kept any more, or never was"),
        (status = 416, description = "No byte of that range exists"),
    ),
    security(()),
)]
pub(super) async fn get(
    State(hub): State<Arc<Hub>>,
    _name: RepositoryName,
    segments: Result<Path<Segments>, PathRejection>,
    uri: Uri,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Refused> {
    let Path(Segments { mpack_id }) =
        segments.map_err(|error| Failure::NotFound(format!("no pack is called so: {error}")))?;
    // Who may GET may also HEAD: it shows less.
    hub.signer.check("GET", &uri, &mpack_id, hub.clock.unix_seconds())?;

    let failed = || format!("could not read the pack {mpack_id}");
    let mut file = File::open(hub.files.pack(&mpack_id)).await.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => {
            Refused::from(Failure::NotFound(format!("the pack {mpack_id} is no longer kept: fetch again")))
        }
        _ => StoreError::file(failed())(error).into(),
    })?;
    let size = file.metadata().await.map_err(StoreError::file(failed()))?.len();
    let asked = match method {
        // RFC 9110 section 14.2: Range has a meaning for GET alone.
        Method::GET => Asked::parse(headers.get(RANGE).and_then(|range| range.to_str().ok()), size),
        _ => Asked::Whole,
    };
    let (status, bytes) = match asked {
        Asked::Whole => (StatusCode::OK, 0..size),
        Asked::Part(range) => (StatusCode::PARTIAL_CONTENT, *range.start()..range.end() + 1),
        Asked::Unsatisfiable => return Err(Failure::RangeNotSatisfiable(size).into()),
    };
    let length = bytes.end - bytes.start;
    if bytes.start > 0 {
        file.seek(io::SeekFrom::Start(bytes.start)).await.map_err(StoreError::file(failed()))?;
    }
    let stream = ReaderStream::with_capacity(file.take(length), CHUNK);
    let mut response = (status, Body::from_stream(stream)).into_response();
    let fields = response.headers_mut();
    fields.insert(CONTENT_LENGTH, length.into());
    fields.insert(CONTENT_TYPE, HeaderValue::from_static("application/x-muse-mpack"));
    fields.insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    // The bytes behind an id never change; the URL is a credential, which shared caches must not hand on.
    fields.insert(CACHE_CONTROL, HeaderValue::from_static("private, immutable, max-age=3600"));
    let ascii = |text: String| HeaderValue::from_str(&text).expect("ids, digits and signs are ASCII");
    fields.insert(ETAG, ascii(format!("\"{mpack_id}\"")));
    if status == StatusCode::PARTIAL_CONTENT {
        fields.insert(CONTENT_RANGE, ascii(format!("bytes {}-{}/{size}", bytes.start, bytes.end - 1)));
    }
    Ok(response)
}
