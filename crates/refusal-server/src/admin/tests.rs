//! The admin API: who may use it, and what it holds and releases.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::json;

use crate::Secret;
use crate::testing::{History, TestServer};

#[tokio::test]
async fn a_hold_keeps_jobs_of_that_kind_queued_until_the_release() {
    let server = TestServer::start(|_| {}).await;
    server.hold("mpack.index").await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let listed = server.get("/_admin/jobs").await.json();
    assert_eq!(listed["held"], json!(["mpack.index"]));
    assert_eq!(
        listed["jobs"],
        json!([{
            "id": format!("mpack.index:1:{}", pushed.mpack_id),
            "kind": "mpack.index",
            "place": 1,
            "repository": "owner/slug",
            "repository_number": 1,
            "task": { "index": { "mpack_id": pushed.mpack_id } },
            "state": "queued",
            "attempts": 0,
            "error": null,
        }])
    );
    server.release("mpack.index").await;
    server.wait_for("fetch.mpack.prebuild", "done").await;
}

#[tokio::test]
async fn without_a_kind_all_are_held_and_released() {
    let server = TestServer::start(|_| {}).await;
    let held = server.post("/_admin/jobs/hold", &json!({})).await;
    assert_eq!(held.json(), json!({ "held": ["mpack.index", "fetch.mpack.prebuild"] }));
    let request = Request::post("/_admin/jobs/release").body(Full::default()).unwrap();
    assert_eq!(server.send(request).await.json(), json!({ "held": [] }));
}

#[tokio::test]
async fn what_makes_no_sense_is_422_with_the_reason() {
    let server = TestServer::start(|_| {}).await;
    let refused = server.post("/_admin/jobs/hold", &json!({ "kind": "mpack" })).await;
    refused.assert(
        422,
        "the body is not the JSON expected here: unknown variant `mpack`, expected `mpack.index` or \
         `fetch.mpack.prebuild` at line 1 column 15",
    );
    assert_eq!(server.post("/_admin/jobs/hold", &json!({ "kinds": [] })).await.status, 422);
}

/// A derived reader would take an array for an object.
#[tokio::test]
async fn an_array_is_no_object() {
    let server = TestServer::start(|_| {}).await;
    let refused = server.post("/_admin/jobs/hold", &json!([null])).await;
    refused.assert(422, "the body is not the JSON expected here: expected an object, got an array");
    assert_eq!(server.get("/_admin/jobs").await.json()["held"], json!([]));
}

#[tokio::test]
async fn with_a_token_configured_the_token_is_needed_even_on_loopback() {
    let server = TestServer::start(|config| config.admin_token = Some(Secret::new("admin"))).await;
    let refused = server.get("/_admin/jobs").await;
    refused.assert(401, "expected `Authorization: Bearer` with the admin token");
    assert_eq!(refused.all("www-authenticate"), ["Bearer"]);
    for (token, status) in [("admin", 200), ("secret", 401), ("", 401)] {
        let request = Request::get("/_admin/jobs").header("authorization", format!("Bearer {token}"));
        let reply = server.send(request.body(Full::new(Bytes::new())).unwrap()).await;
        assert_eq!(reply.status, status, "{token}");
    }
}

/// A browser on this machine is a loopback peer, whoever wrote the page that it shows.
#[tokio::test]
async fn a_page_of_another_site_may_do_nothing_without_a_token() {
    let server = TestServer::start(|_| {}).await;
    for (field, value, status) in [
        ("origin", "http://elsewhere.example", 403),
        ("origin", "null", 403),
        ("host", "rebound.example:8750", 403),
        ("host", "127.0.0.1.rebound.example", 403),
        ("host", "", 403),
        ("host", "localhost:8750", 200),
        ("host", "127.0.0.1", 200),
        ("host", "[::1]:8750", 200),
    ] {
        let request = Request::post("/_admin/jobs/hold").header(field, value).body(Full::default()).unwrap();
        assert_eq!(server.send(request).await.status, status, "{field}: {value}");
    }
    let request = Request::get("/_admin/jobs").header("origin", "null").body(Full::default()).unwrap();
    server.send(request).await.assert(403, "no web page may do that while no admin token is configured");
}
