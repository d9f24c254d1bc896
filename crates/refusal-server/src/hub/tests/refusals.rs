//! The two 503, to the byte and to the field line.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::json;

use super::{INDEX, PREBUILD};
use crate::RetryAfter;
use crate::testing::{History, Pushed, Reply, TestServer};

async fn fetch_as(server: &TestServer, pushed: &Pushed, accept: &str) -> Reply {
    let body = json!({ "want": [pushed.head] }).to_string();
    let request = Request::post("/owner/slug/fetch/mpack").header("accept", accept);
    server.send(request.body(Full::new(Bytes::from(body))).unwrap()).await
}

/// F39, F40, F41, F42: every refusal has each of these fields exactly once.
fn assert_refusal_fields(reply: &Reply, retry_after: &str, content_type: &str) {
    assert_eq!(reply.all("retry-after"), [retry_after]);
    assert_eq!(reply.all("cache-control"), ["no-store"]);
    assert_eq!(reply.all("access-control-expose-headers"), ["Retry-After"]);
    assert_eq!(reply.all("content-type"), [content_type]);
    assert_eq!(reply.all("content-length"), [reply.body.len().to_string()]);
    assert_eq!(reply.all("date").len(), 1);
    assert_eq!(reply.all("x-request-id").len(), 1);
}

#[tokio::test]
async fn not_indexed_is_plain_text_with_one_retry_after_of_60() {
    let server = TestServer::held().await;
    let mut history = History::default();
    let head = history.commit(&[], "two files", &[("a", b"1"), ("b", b"2"), ("same as a", b"1")]);
    let pushed = history.pack(head);
    server.push(&pushed).await.assert_status(200);
    let refused = server.fetch(&[head], &[]).await;
    refused.assert(503, "Objects not yet indexed: 2 missing. Retry shortly.");
    assert_refusal_fields(&refused, "60", "text/plain; charset=utf-8");
}

#[tokio::test]
async fn not_ready_is_plain_text_with_one_retry_after_of_30() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.release(INDEX).await;
    server.wait_for(INDEX, "done").await;
    let refused = server.fetch(&[pushed.head], &[]).await;
    refused.assert(503, "mpack not ready \u{2014} prebuild in progress. Retry shortly.");
    assert_refusal_fields(&refused, "30", "text/plain; charset=utf-8");
}

/// RFC 9457, with the members of the contract.
#[tokio::test]
async fn whoever_accepts_problem_details_gets_them() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let refused = fetch_as(&server, &pushed, "application/problem+json").await;
    refused.assert_status(503);
    assert_refusal_fields(&refused, "60", "application/problem+json");
    assert_eq!(
        refused.json(),
        json!({
            "title": "Objects not yet indexed",
            "status": 503,
            "detail": "Objects not yet indexed: 1 missing. Retry shortly.",
            "transient": true,
            "stage": "mpack_index",
            "missing": 1,
        })
    );
    server.release(INDEX).await;
    server.wait_for(INDEX, "done").await;
    let refused = fetch_as(&server, &pushed, "text/html, application/problem+json;q=0.5, */*;q=0.9").await;
    assert_refusal_fields(&refused, "30", "application/problem+json");
    assert_eq!(
        refused.json(),
        json!({
            "title": "Mpack not ready",
            "status": 503,
            "detail": "mpack not ready \u{2014} prebuild in progress. Retry shortly.",
            "transient": true,
            "stage": "mpack_prebuild",
            "missing": 0,
        })
    );
}

#[tokio::test]
async fn whoever_does_not_name_problem_details_or_likes_text_better_gets_the_text() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    for accept in [
        "*/*",
        "application/*",
        "application/json",
        "application/problem+json;q=0",
        "application/problem+json;q=0.5, text/plain",
        "application/problem+json;q=nonsense",
    ] {
        let refused = fetch_as(&server, &pushed, accept).await;
        assert_eq!(refused.text(), "Objects not yet indexed: 1 missing. Retry shortly.", "{accept}");
    }
}

#[tokio::test]
async fn the_two_delays_can_be_overridden_for_demonstrations() {
    let server = TestServer::start(|config| {
        config.hub.held = crate::JobKind::ALL.to_vec();
        config.hub.retry_after_index = RetryAfter::seconds(2);
        config.hub.retry_after_prebuild = RetryAfter::seconds(1);
    })
    .await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    assert_eq!(server.fetch(&[pushed.head], &[]).await.all("retry-after"), ["2"]);
    server.release(INDEX).await;
    server.wait_for(PREBUILD, "queued").await;
    assert_eq!(server.fetch(&[pushed.head], &[]).await.all("retry-after"), ["1"]);
}

#[tokio::test]
async fn a_job_that_runs_refuses_like_one_that_is_queued() {
    let server = TestServer::start(|config| {
        config.hub.index_delay = std::time::Duration::from_secs(3_600);
    })
    .await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.wait_for(INDEX, "running").await;
    server.fetch(&[pushed.head], &[]).await.assert(503, "Objects not yet indexed: 1 missing. Retry shortly.");
}

#[tokio::test]
async fn refs_never_wait() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let refs = server.get("/owner/slug/refs").await;
    refs.assert_status(200);
    assert_eq!(refs.json()["branch_heads"], json!({ "main": pushed.head }));
    assert_eq!(refs.json()["default_branch"], "main");
    assert_eq!(refs.json()["domain"], "code");
    assert_eq!(refs.json()["repo_id"].as_str().unwrap().len(), 32);
}

#[tokio::test]
async fn an_acceptable_request_id_comes_back_and_any_answer_has_one() {
    let server = TestServer::held().await;
    let request = Request::get("/nowhere").header("x-request-id", "mine-1");
    let reply = server.send(request.body(Full::default()).unwrap()).await;
    assert_eq!(reply.all("x-request-id"), ["mine-1"]);
    let reply = server.get("/healthz").await;
    reply.assert(200, "ok\n");
    assert_eq!(reply.all("x-request-id")[0].len(), 32);
}
