//! A small hub in this process: it keeps what is pushed, and refuses or cheats as a test tells it to.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post, put};
use axum::{Json, Router};
use bytes::Bytes;
use futures_util::stream;
use hub_protocol::{
    BranchName, Commit, FetchAnswer, FetchRequest, Id, Limits, PackSink, PackWriter, PresignAnswer,
    PresignRequest, Refs, Snapshot, Totals, UnpackAnswer, UnpackRequest, read_pack,
};
use tokio::net::TcpListener;

pub(crate) const NOT_READY: &str = "mpack not ready — prebuild in progress. Retry shortly.";

/// What a refused fetch is answered with.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    pub(crate) status: u16,
    pub(crate) retry_after: Option<&'static str>,
    pub(crate) body: &'static str,
}

impl Refusal {
    pub(crate) fn not_ready(retry_after: &'static str) -> Self {
        Self { status: 503, retry_after: Some(retry_after), body: NOT_READY }
    }
}

/// What is wrong with a download.
#[derive(Debug, Clone, Default)]
pub(crate) enum Download {
    #[default]
    Whole,
    /// The connection closes after so many bytes; requests for a range are honoured if it says so.
    CutAt { at: usize, ranges: bool, times: usize },
    /// The connection closes after so many bytes, and what follows is a part that does not say which.
    Splices { at: usize },
    /// More bytes follow than were promised.
    Longer,
    /// One bit differs.
    Flipped { at: usize },
    /// Other bytes altogether, announced truthfully.
    Other(Bytes),
    /// Starts, and never goes on.
    Stalls { after: usize },
    /// Not there.
    Missing,
}

#[derive(Default)]
struct Inner {
    heads: BTreeMap<BranchName, Id>,
    commits: HashMap<Id, Commit>,
    snapshots: HashMap<Id, Snapshot>,
    objects: HashMap<Id, Vec<u8>>,
    packs: HashMap<Id, Bytes>,
    /// An id to promise for every pack, in place of the true one.
    promised: Option<Id>,
    /// A pack to serve for every fetch, in place of one that is built.
    forged: Option<Bytes>,
    refusals: VecDeque<Refusal>,
    always: Option<Refusal>,
    download: Download,
    /// What was asked for, in order.
    requests: Vec<String>,
    fetches: Vec<FetchRequest>,
    generation: u64,
}

#[derive(Clone)]
pub(crate) struct TestHub {
    inner: Arc<Mutex<Inner>>,
    pub(crate) origin: String,
}

impl TestHub {
    /// A hub on a port of its own, for as long as the runtime lives.
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let origin = format!("http://{}", listener.local_addr().expect("an address"));
        let hub = Self { inner: Arc::default(), origin };
        let app = Router::new()
            .route("/me/work/refs", get(refs))
            .route("/me/work/push/mpack-presign", post(presign))
            .route("/me/work/push/unpack-mpack", post(unpack))
            .route("/me/work/fetch/mpack", post(fetch))
            .route("/upload/{id}", put(upload))
            .route("/packs/{id}", get(download))
            .layer(axum::extract::DefaultBodyLimit::disable())
            .with_state(hub.clone());
        tokio::spawn(async move { axum::serve(listener, app).await });
        hub
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/me/work", self.origin)
    }

    pub(crate) fn refuse(&self, refusals: impl IntoIterator<Item = Refusal>) {
        self.inner().refusals.extend(refusals);
    }

    pub(crate) fn always_refuse(&self, refusal: Refusal) {
        self.inner().always = Some(refusal);
    }

    pub(crate) fn serve_normally(&self) {
        let mut inner = self.inner();
        inner.always = None;
        inner.download = Download::Whole;
        inner.forged = None;
    }

    pub(crate) fn cheat(&self, download: Download) {
        self.inner().download = download;
    }

    /// Serves `pack` for every fetch, under its true id.
    pub(crate) fn forge(&self, pack: Vec<u8>) {
        self.inner().forged = Some(pack.into());
    }

    pub(crate) fn promise(&self, id: Id) {
        self.inner().promised = Some(id);
    }

    pub(crate) fn set_head(&self, branch: &str, commit: Id) {
        self.inner().heads.insert(BranchName::new(branch).expect("a branch"), commit);
    }

    pub(crate) fn head(&self, branch: &str) -> Option<Id> {
        self.inner().heads.get(branch).copied()
    }

    /// How many requests there were whose method and path start so.
    pub(crate) fn count(&self, start: &str) -> usize {
        self.inner().requests.iter().filter(|request| request.starts_with(start)).count()
    }

    pub(crate) fn fetches(&self) -> Vec<FetchRequest> {
        self.inner().fetches.clone()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().expect("no handler panics")
    }
}

async fn refs(State(hub): State<TestHub>) -> Response {
    let mut inner = hub.inner();
    inner.requests.push("GET refs".to_owned());
    if inner.heads.is_empty() {
        return (StatusCode::NOT_FOUND, "no such repository").into_response();
    }
    Json(Refs {
        repo_id: "repo-1".to_owned(),
        domain: "code".to_owned(),
        default_branch: BranchName::new("main").expect("a branch"),
        branch_heads: inner.heads.clone(),
    })
    .into_response()
}

async fn presign(State(hub): State<TestHub>, Json(request): Json<PresignRequest>) -> Json<PresignAnswer> {
    hub.inner().requests.push("POST presign".to_owned());
    // Relative on purpose: what a presigned URL leads to is relative to the repository's.
    Json(PresignAnswer { upload_url: format!("/upload/{}", request.mpack_id), expires_at: String::new() })
}

async fn upload(State(hub): State<TestHub>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    let mut inner = hub.inner();
    inner.requests.push("PUT pack".to_owned());
    let actual = Id::of(&body);
    if actual.to_string() != id {
        return StatusCode::BAD_REQUEST;
    }
    inner.packs.insert(actual, body);
    StatusCode::CREATED
}

async fn unpack(State(hub): State<TestHub>, Json(request): Json<UnpackRequest>) -> Response {
    let mut inner = hub.inner();
    inner.requests.push("POST unpack".to_owned());
    let pack = inner.packs[&request.mpack_id].clone();
    let mut sink = Keeping { inner: &mut inner, object: Vec::new() };
    if let Err(error) = read_pack(&pack[..], &Limits::default(), &mut sink) {
        return (StatusCode::UNPROCESSABLE_ENTITY, error.to_string()).into_response();
    }
    let current = inner.heads.get(&request.branch).copied();
    let is_fast_forward = current.is_none_or(|current| inner.closure([request.head]).contains(&current));
    if !is_fast_forward && !request.force {
        return (StatusCode::CONFLICT, "not a fast-forward").into_response();
    }
    inner.heads.insert(request.branch, request.head);
    inner.generation += 1;
    Json(UnpackAnswer { branch_heads: inner.heads.clone(), generation: inner.generation }).into_response()
}

struct Keeping<'a> {
    inner: &'a mut Inner,
    object: Vec<u8>,
}

impl PackSink for Keeping<'_> {
    fn commit(&mut self, id: Id, commit: Commit) -> io::Result<()> {
        self.inner.commits.insert(id, commit);
        Ok(())
    }

    fn snapshot(&mut self, id: Id, snapshot: Snapshot) -> io::Result<()> {
        self.inner.snapshots.insert(id, snapshot);
        Ok(())
    }

    fn object_begin(&mut self, _: Id, _: u64) -> io::Result<()> {
        self.object.clear();
        Ok(())
    }

    fn object_chunk(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.object.extend_from_slice(chunk);
        Ok(())
    }

    fn object_done(&mut self, id: Id) -> io::Result<()> {
        self.inner.objects.insert(id, std::mem::take(&mut self.object));
        Ok(())
    }
}

impl Inner {
    fn closure(&self, heads: impl IntoIterator<Item = Id>) -> BTreeSet<Id> {
        let mut seen = BTreeSet::new();
        let mut pending: Vec<Id> = heads.into_iter().collect();
        while let Some(id) = pending.pop() {
            if let Some(commit) = self.commits.get(&id)
                && seen.insert(id)
            {
                pending.extend_from_slice(commit.parents());
            }
        }
        seen
    }

    fn build(&self, request: &FetchRequest) -> Vec<u8> {
        let held = self.closure(request.have.iter().copied());
        let snapshots_of = |commits: &BTreeSet<Id>| -> BTreeSet<Id> {
            commits.iter().map(|commit| self.commits[commit].snapshot()).collect()
        };
        let objects_of = |snapshots: &BTreeSet<Id>| -> BTreeSet<Id> {
            snapshots.iter().flat_map(|snapshot| self.snapshots[snapshot].objects()).collect()
        };
        let commits: BTreeSet<Id> = &self.closure(request.want.iter().copied()) - &held;
        let snapshots = &snapshots_of(&commits) - &snapshots_of(&held);
        let objects = &objects_of(&snapshots) - &objects_of(&snapshots_of(&held));
        pack(
            commits.iter().map(|id| &self.commits[id]),
            snapshots.iter().map(|id| &self.snapshots[id]),
            objects.iter().map(|id| &self.objects[id][..]),
        )
    }
}

/// A pack that holds just this.
pub(crate) fn pack<'a>(
    commits: impl IntoIterator<Item = &'a Commit>,
    snapshots: impl IntoIterator<Item = &'a Snapshot>,
    objects: impl IntoIterator<Item = &'a [u8]>,
) -> Vec<u8> {
    let commits: Vec<_> = commits.into_iter().collect();
    let snapshots: Vec<_> = snapshots.into_iter().collect();
    let objects: Vec<_> = objects.into_iter().collect();
    let totals = Totals {
        commits: commits.len() as u64,
        snapshots: snapshots.len() as u64,
        objects: objects.len() as u64,
        bytes: objects.iter().map(|object| object.len() as u64).sum(),
    };
    let mut writer = PackWriter::new(Vec::new(), totals).expect("within the limits");
    for commit in commits {
        writer.commit(commit).expect("a fit commit");
    }
    for snapshot in snapshots {
        writer.snapshot(snapshot).expect("a fit snapshot");
    }
    for object in objects {
        writer.object(Id::of(object), object.len() as u64, object).expect("a fit object");
    }
    writer.finish().expect("all was added").0
}

async fn fetch(State(hub): State<TestHub>, Json(request): Json<FetchRequest>) -> Response {
    let mut inner = hub.inner();
    inner.requests.push("POST fetch".to_owned());
    inner.fetches.push(request.clone());
    if let Some(refusal) = inner.refusals.pop_front().or_else(|| inner.always.clone()) {
        let status = StatusCode::from_u16(refusal.status).expect("a status");
        let mut response = (status, [("x-request-id", "request-7")], refusal.body).into_response();
        if let Some(retry_after) = refusal.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, retry_after.parse().expect("a field value"));
        }
        return response;
    }
    let unknown = request.want.iter().find(|want| !inner.commits.contains_key(want));
    if let (Some(unknown), None) = (unknown, &inner.forged) {
        return (StatusCode::NOT_FOUND, format!("no such commit: {unknown}")).into_response();
    }
    let pack = inner.forged.clone().unwrap_or_else(|| inner.build(&request).into());
    let (mpack_id, size) = (inner.promised.unwrap_or_else(|| Id::of(&pack)), pack.len() as u64);
    inner.packs.insert(mpack_id, pack);
    Json(FetchAnswer {
        mpack_id,
        url: format!("{}/packs/{mpack_id}?signature=secret", hub.origin),
        size,
        expires_at: String::new(),
        branch_heads: inner.heads.clone(),
        generation: inner.generation,
    })
    .into_response()
}

async fn download(State(hub): State<TestHub>, Path(id): Path<String>, headers: HeaderMap) -> Response {
    let mut inner = hub.inner();
    let range = headers.get(header::RANGE).and_then(|range| range.to_str().ok()).unwrap_or("").to_owned();
    inner.requests.push(format!("GET pack {range}"));
    let pack = inner.packs[&id.parse::<Id>().expect("an id")].clone();
    let whole = pack.len();
    let mut start = 0;
    match &mut inner.download {
        Download::CutAt { times: 0, ranges, .. } => {
            if *ranges
                && let Some(from) = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'))
            {
                start = from.parse().expect("a number");
            }
        }
        Download::CutAt { at, ranges, times } => {
            *times -= 1;
            if *ranges
                && let Some(from) = range.strip_prefix("bytes=").and_then(|range| range.strip_suffix('-'))
            {
                start = from.parse().expect("a number");
            }
            let piece = pack.slice(start..(start + *at).min(whole));
            return cut(piece, start, whole);
        }
        Download::Splices { at } if range.is_empty() => return cut(pack.slice(..*at), 0, whole),
        Download::Splices { at } => return (StatusCode::PARTIAL_CONTENT, pack.slice(*at..)).into_response(),
        Download::Longer => {
            let longer = [&pack[..], b"more"].concat();
            // Without a length: what is announced truthfully is refused before its first byte.
            return Body::from_stream(stream::iter([Ok::<_, io::Error>(Bytes::from(longer))]))
                .into_response();
        }
        Download::Flipped { at } => {
            let mut bytes = pack.to_vec();
            bytes[*at] ^= 1;
            return bytes.into_response();
        }
        Download::Other(bytes) => return bytes.clone().into_response(),
        Download::Stalls { after } => {
            let head = pack.slice(..*after);
            let forever = stream::once(async move { Ok::<_, io::Error>(head) });
            let forever = futures_util::StreamExt::chain(forever, stream::pending());
            return ([(header::CONTENT_LENGTH, whole)], Body::from_stream(forever)).into_response();
        }
        Download::Missing => return (StatusCode::NOT_FOUND, "expired").into_response(),
        Download::Whole => {}
    }
    if start > 0 {
        let range = format!("bytes {start}-{}/{whole}", whole - 1);
        return (StatusCode::PARTIAL_CONTENT, [(header::CONTENT_RANGE, range)], pack.slice(start..))
            .into_response();
    }
    pack.into_response()
}

/// Announces everything from `start` on, and closes the connection after `piece`.
fn cut(piece: Bytes, start: usize, whole: usize) -> Response {
    let end = stream::once(async {
        // The head and the piece have to be on their way by then: a broken body takes back what was not sent.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        Err(io::Error::other("cut"))
    });
    let body = Body::from_stream(futures_util::StreamExt::chain(stream::iter([Ok(piece)]), end));
    let length = (header::CONTENT_LENGTH, (whole - start).to_string());
    if start > 0 {
        let range = (header::CONTENT_RANGE, format!("bytes {start}-{}/{whole}", whole - 1));
        (StatusCode::PARTIAL_CONTENT, [length, range], body).into_response()
    } else {
        ([length], body).into_response()
    }
}
