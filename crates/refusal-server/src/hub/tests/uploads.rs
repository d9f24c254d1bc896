//! What is taken as a pack, from whom, and until when.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use hub_protocol::Id;
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::Clock;
use crate::testing::{History, Pushed, TestServer, forged, sealed};

const PATH: &str = "/owner/slug";

async fn refusal(server: &TestServer, pushed: &Pushed) -> String {
    let refused = server.upload_to(PATH, pushed).await;
    refused.assert_status(422);
    assert_eq!(server.unpack(PATH, pushed, false).await.status, 422, "nothing of it was kept");
    refused.text().to_owned()
}

#[tokio::test]
async fn bytes_that_are_not_the_announced_pack_are_refused() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    let url = server.presign(PATH, &pushed).await;

    let mut flipped = pushed.pack.to_vec();
    flipped[20] ^= 1;
    let refused = server.put(&url, flipped.clone()).await;
    refused.assert(422, &format!("expected the pack {}, and {} came", pushed.mpack_id, Id::of(&flipped)));

    let (size, short) = (pushed.pack.len(), pushed.pack.slice(1..));
    let refused = server.put(&url, short).await;
    refused.assert(
        422,
        &format!("expected the {size} bytes that were announced, and a body of {} is on its way", size - 1),
    );
    server.put(&url, pushed.pack.clone()).await.assert_status(201);
}

/// Chunked, so that no `Content-Length` gives it away.
#[tokio::test]
async fn a_body_of_another_length_than_announced_is_refused_while_it_arrives() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    let path = server.presign(PATH, &pushed).await.replace(&server.running.url(), "");
    let size = pushed.pack.len();
    for (body, status, text) in [
        (
            &pushed.pack[..size - 1],
            "422 ",
            format!("expected the {size} bytes that were announced, and {} came", size - 1),
        ),
        (
            &[&pushed.pack[..], b"x"].concat()[..],
            "413 ",
            format!("expected the {size} bytes that were announced, and more came"),
        ),
    ] {
        let mut request = format!(
            "PUT {path} HTTP/1.1\r\nhost: h\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        .into_bytes();
        for chunk in body.chunks(100) {
            request.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            request.extend(chunk);
            request.extend(b"\r\n");
        }
        request.extend(b"0\r\n\r\n");
        let answer = exchange(&server, &request).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")) && answer.ends_with(&text), "{answer}");
    }
}

async fn exchange(server: &TestServer, request: &[u8]) -> String {
    let mut stream = tokio::net::TcpStream::connect(server.running.address()).await.unwrap();
    stream.write_all(request).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

/// F48 at the server's door: the bytes are what was announced, and what they say is a lie or an attack. The
/// sender is told, by the name of the entry, and no job ever sees it.
#[tokio::test]
async fn a_pack_that_lies_is_refused_by_entry_at_its_upload() {
    let server = TestServer::start(|_| {}).await;
    let lie = Id::of("something else");
    let text = refusal(&server, &forged(&[(b'O', lie, b"content")])).await;
    assert_eq!(text, format!("the pack is not acceptable: object {lie} is really {}", Id::of("content")));

    let object = Id::of("content");
    for path in ["../../x", "/etc/passwd", ".muse/config.toml", "a/.MUSE/x", "NUL", "a\\u0000b"] {
        let snapshot = format!(r#"{{"files":{{"{path}":{{"object":"{object}"}}}}}}"#);
        let text = refusal(&server, &forged(&[(b'S', lie, snapshot.as_bytes())])).await;
        assert!(
            text.starts_with(&format!("the pack is not acceptable: snapshot {lie} is malformed")),
            "{path}: {text}"
        );
    }

    let text = refusal(&server, &sealed(b"PK\x03\x04 not a pack at all".to_vec())).await;
    assert!(text.starts_with("the pack is not acceptable: expected a pack"), "{text}");
    let (_, whole) = History::of_one_commit("content");
    let text = refusal(&server, &sealed(whole.pack[..whole.pack.len() - 40].to_vec())).await;
    assert!(text.starts_with("the pack is not acceptable: the pack is cut off"), "{text}");
    let text = refusal(&server, &sealed([&whole.pack[..], b"trailing"].concat())).await;
    assert!(text.contains("not acceptable"), "{text}");
    assert_eq!(server.jobs().await.len(), 0);
}

/// F48: ten kilobytes that would be gigabytes.
#[tokio::test]
async fn a_decompression_bomb_is_refused() {
    let server = TestServer::start(|config| {
        config.hub.limits.ratio_exempt_bytes = 1 << 20;
    })
    .await;
    let zeros = vec![0; 32 << 20];
    let bomb = forged(&[(b'O', Id::of(&zeros), &zeros)]);
    assert!(bomb.pack.len() < 10_000);
    let text = refusal(&server, &bomb).await;
    assert!(text.contains("the pack grows from"), "{text}");
}

#[tokio::test]
async fn a_tampered_or_foreign_url_is_refused() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    let url = server.presign(PATH, &pushed).await;
    let no_match = "the signature of this URL does not match";
    server.put(&url.replace("owner", "other"), pushed.pack.clone()).await.assert(403, no_match);
    server.put(&url.replace("expires=1", "expires=2"), pushed.pack.clone()).await.assert(403, no_match);
    let larger = url.replace(&format!("/{}?", pushed.pack.len()), "/999999?");
    server.put(&larger, pushed.pack.clone()).await.assert(403, no_match);
    let (unsigned, _) = url.split_once('?').unwrap();
    server
        .put(unsigned, pushed.pack.clone())
        .await
        .assert(403, "this URL is not signed: ask for one that is");
    // Nor does it open the door to a download.
    server
        .get(&url.replace("uploads", "mpacks").replace(&format!("/{}?", pushed.pack.len()), "?"))
        .await
        .assert(403, no_match);
}

#[tokio::test]
async fn an_upload_url_expires() {
    let time = Arc::new(AtomicU64::new(1_800_000_000));
    let clock = Clock::Manual(Arc::clone(&time));
    let server = TestServer::start(|config| {
        config.clock = clock;
        config.hub.upload_lifetime = Duration::from_secs(60);
    })
    .await;
    let (_, pushed) = History::of_one_commit("content");
    let url = server.presign(PATH, &pushed).await;
    time.fetch_add(61, Ordering::SeqCst);
    server.put(&url, pushed.pack.clone()).await.assert(403, "this URL expired 1 s ago: ask for a new one");
    time.fetch_sub(1, Ordering::SeqCst);
    server.put(&url, pushed.pack.clone()).await.assert_status(201);
}

#[tokio::test]
async fn a_pack_over_the_cap_is_refused_before_it_is_sent() {
    let server = TestServer::start(|config| config.hub.largest_mpack = 1_000).await;
    let body = json!({ "mpack_id": Id::of(""), "size": 1_001 });
    let refused = server.post_authorised("/owner/slug/push/mpack-presign", &body).await;
    refused.assert(413, "a pack of 1001 bytes is too large: at most 1000 are taken");
    assert_eq!(refused.all("retry-after"), [""; 0]);
}

/// F44: a large upload that is refused early is read on for a while, so that its sender sees the status and
/// not a reset. The body is sent whole before the answer is read, as simple clients do.
#[tokio::test]
async fn an_early_refusal_of_a_large_upload_can_be_read() {
    let server = TestServer::start(|_| {}).await;
    let body = vec![0; 10 << 20];
    let head = format!(
        "PUT /owner/slug/uploads/{}/{}?expires=9&signature=0 HTTP/1.1\r\nhost: h\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
        Id::of(&body),
        body.len(),
        body.len()
    );
    let answer = exchange(&server, &[head.as_bytes(), &body].concat()).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(answer.ends_with("the signature of this URL does not match"), "{answer}");
}

/// One that waits for `100 Continue` has sent nothing, and is not made to.
#[tokio::test]
async fn a_refused_upload_that_expects_100_is_not_asked_for() {
    let server = TestServer::start(|_| {}).await;
    let head = "PUT /owner/slug/uploads/x/9 HTTP/1.1\r\nhost: h\r\nexpect: 100-continue\r\nconnection: close\r\ncontent-length: 9\r\n\r\n";
    let answer = exchange(&server, head.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
}
