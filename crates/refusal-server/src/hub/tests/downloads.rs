//! `GET` of a pack.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use http::Request;
use http_body_util::Full;
use serde_json::json;

use super::PREBUILD;
use crate::Clock;
use crate::testing::{History, Reply, TestServer};

/// A server with a pack at hand, and the URL of the pack.
async fn serving() -> (TestServer, String) {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    let answer = server.fetch(&[pushed.head], &[]).await;
    let url = answer.assert_status(200).json()["url"].as_str().unwrap().to_owned();
    (server, url)
}

async fn range(server: &TestServer, url: &str, range: &str) -> Reply {
    server.send(Request::get(url).header("range", range).body(Full::default()).unwrap()).await
}

#[tokio::test]
async fn a_pack_is_served_whole_with_its_length_and_its_id() {
    let (server, url) = serving().await;
    let pack = server.get(&url).await;
    pack.assert_status(200);
    assert_eq!(pack.all("content-length"), [pack.body.len().to_string()]);
    assert_eq!(pack.all("etag"), [format!("\"{}\"", hub_protocol::Id::of(&pack.body))]);
    assert_eq!(pack.all("accept-ranges"), ["bytes"]);
}

#[tokio::test]
async fn one_range_is_served_as_partial_content() {
    let (server, url) = serving().await;
    let whole = server.get(&url).await.body;
    let size = whole.len();
    for (asked, from, to) in [("bytes=0-9", 0, 10), ("bytes=10-", 10, size), ("bytes=-5", size - 5, size)] {
        let part = range(&server, &url, asked).await;
        part.assert_status(206);
        assert_eq!(part.body, whole.slice(from..to), "{asked}");
        assert_eq!(part.all("content-range"), [format!("bytes {from}-{}/{size}", to - 1)]);
        assert_eq!(part.all("content-length"), [(to - from).to_string()]);
    }
    assert_eq!(range(&server, &url, "bytes=0-1,4-5").await.assert_status(200).body, whole);
}

#[tokio::test]
async fn a_range_without_a_byte_is_416_and_says_how_many_there_are() {
    let (server, url) = serving().await;
    let size = server.get(&url).await.body.len();
    let refused = range(&server, &url, &format!("bytes={size}-")).await;
    refused.assert(416, &format!("no byte of the asked range exists: there are {size} bytes"));
    assert_eq!(refused.all("content-range"), [format!("bytes */{size}")]);
}

#[tokio::test]
async fn head_tells_the_length_and_ignores_ranges() {
    let (server, url) = serving().await;
    let whole = server.get(&url).await;
    let request = Request::head(&url).header("range", "bytes=0-0").body(Full::default()).unwrap();
    let head = server.send(request).await;
    head.assert(200, "");
    assert_eq!(head.all("content-length"), whole.all("content-length"));
}

#[tokio::test]
async fn a_tampered_url_is_refused_and_a_signature_for_one_pack_opens_no_other() {
    let (server, url) = serving().await;
    let no_match = "the signature of this URL does not match";
    server.get(&url.replace("slug", "other")).await.assert(403, no_match);
    server.get(&url.replace("expires=1", "expires=2")).await.assert(403, no_match);
    let (path, signature) = url.split_once('?').unwrap();
    let (folder, _) = path.rsplit_once('/').unwrap();
    let other = format!("{folder}/{}?{signature}", hub_protocol::Id::of("another"));
    server.get(&other).await.assert(403, no_match);
    server.get(path).await.assert(403, "this URL is not signed: ask for one that is");
    server.put(&url, "bytes").await.assert(405, "this path does not answer this method");
}

/// A URL lives as long as its request asked, and the pack at least as long, although it is old by then.
#[tokio::test]
async fn a_pack_is_kept_until_its_last_url_expires_and_no_longer() {
    let time = Arc::new(AtomicU64::new(1_800_000_000));
    let clock = Clock::Manual(Arc::clone(&time));
    let server = TestServer::start(|config| config.clock = clock).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("file", b"1")]);
    server.push(&history.pack(first)).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    time.fetch_add(3_000, Ordering::SeqCst);
    let body = json!({ "want": [first], "ttl_seconds": 3_600 });
    let answer = server.post("/owner/slug/fetch/mpack", &body).await;
    assert_eq!(answer.json()["expires_at"], "2027-01-15T09:50:00Z");
    let url = answer.json()["url"].as_str().unwrap().to_owned();

    // A push makes the pack old; each build sweeps.
    let second = history.commit(&[first], "second", &[("file", b"2")]);
    server.push(&history.pack(second)).await.assert_status(200);
    time.fetch_add(3_600, Ordering::SeqCst);
    server.wait_for_jobs(|jobs| jobs.len() == 4 && jobs.iter().all(|job| job["state"] == "done")).await;
    server.get(&url).await.assert_status(200);
    assert_eq!(packs(&server), 2);

    time.fetch_add(1, Ordering::SeqCst);
    server.get(&url).await.assert(403, "this URL expired 1 s ago: ask for a new one");
    let third = history.commit(&[second], "third", &[("file", b"3")]);
    server.push(&history.pack(third)).await.assert_status(200);
    server.wait_for_jobs(|jobs| jobs.len() == 6 && jobs.iter().all(|job| job["state"] == "done")).await;
    assert_eq!(packs(&server), 2, "the first is gone, the second may still be asked for");
}

fn packs(server: &TestServer) -> usize {
    std::fs::read_dir(server.data().join("packs")).unwrap().count()
}

/// Whoever removes a pack from the disk makes the server build it again, no more.
#[tokio::test]
async fn a_pack_that_has_vanished_is_built_again() {
    let (server, url) = serving().await;
    for pack in std::fs::read_dir(server.data().join("packs")).unwrap() {
        std::fs::remove_file(pack.unwrap().path()).unwrap();
    }
    assert_eq!(server.get(&url).await.status, 404);
    let refs = server.get("/owner/slug/refs").await.json();
    let head = refs["branch_heads"]["main"].as_str().unwrap().parse().unwrap();
    let answer = server.fetch(&[head], &[]).await;
    server.get(answer.assert_status(200).json()["url"].as_str().unwrap()).await.assert_status(200);
}

/// Many at once cost one build: each is answered with the same file.
#[tokio::test(flavor = "multi_thread")]
async fn many_clients_with_one_question_get_one_pack() {
    let server = TestServer::start(|_| {}).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("file", b"1")]);
    let second = history.commit(&[first], "second", &[("file", b"2")]);
    server.push(&history.pack(second)).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    let (want, have) = ([second], [first]);
    let replies = futures_util::future::join_all((0..64).map(|_| server.fetch(&want, &have))).await;
    let ids: std::collections::BTreeSet<_> =
        replies.iter().map(|reply| reply.assert_status(200).json()["mpack_id"].to_string()).collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(packs(&server), 2);
}
