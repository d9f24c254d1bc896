//! Who may do what, what is too much, and what is no sense at all.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use hub_protocol::Id;
use serde_json::json;

use super::PREBUILD;
use crate::testing::{History, Pushed, Reply, TOKEN, TestServer};

async fn push_private(server: &TestServer) -> Pushed {
    let (_, pushed) = History::of_one_commit("content");
    let body = json!({ "mpack_id": pushed.mpack_id, "size": pushed.pack.len() });
    let reply = server.post_authorised("/owner/private/push/mpack-presign", &body).await;
    let url = reply.assert_status(200).json()["upload_url"].as_str().unwrap().to_owned();
    server.put(&url, pushed.pack.clone()).await.assert_status(201);
    server.unpack("/owner/private", &pushed, false).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    pushed
}

async fn as_bearer(server: &TestServer, token: &str, request: http::request::Builder, body: String) -> Reply {
    let request = request.header("authorization", format!("Bearer {token}"));
    server.send(request.body(Full::new(Bytes::from(body))).unwrap()).await
}

#[tokio::test]
async fn pushing_needs_a_token_and_the_refusal_says_so() {
    let server = TestServer::start(|_| {}).await;
    for path in ["/owner/slug/push/mpack-presign", "/owner/slug/push/unpack-mpack"] {
        let refused = server.post(path, &json!("not even looked at")).await;
        refused.assert(401, "expected `Authorization: Bearer TOKEN`");
        assert_eq!(refused.all("www-authenticate"), ["Bearer"]);
        assert_eq!(refused.all("retry-after"), [""; 0]);
        let refused = as_bearer(&server, "wrong", Request::post(path), "{}".into()).await;
        refused.assert(401, "the token is not known to this server");
    }
    server.get("/owner/slug/refs").await.assert_status(404);
}

/// Private is the default; to others it is not even there, in the very words of what is not there.
#[tokio::test]
async fn a_private_repository_is_404_to_others() {
    let server = TestServer::start(|_| {}).await;
    let pushed = push_private(&server).await;
    let absent = server.get("/owner/absent/refs").await;
    absent.assert(404, "there is no repository owner/absent, or none that you may see");
    let hidden = "there is no repository owner/private, or none that you may see";
    let fetch = json!({ "want": [pushed.head] });
    server.get("/owner/private/refs").await.assert(404, hidden);
    server.post("/owner/private/fetch/mpack", &fetch).await.assert(404, hidden);
    as_bearer(&server, "wrong", Request::get("/owner/private/refs"), String::new()).await.assert(404, hidden);

    as_bearer(&server, TOKEN, Request::get("/owner/private/refs"), String::new()).await.assert_status(200);
    let answer = server.post_authorised("/owner/private/fetch/mpack", &fetch).await;
    let url = answer.assert_status(200).json()["url"].as_str().unwrap().to_owned();
    server.get(&url).await.assert_status(200);
}

#[tokio::test]
async fn a_repository_stays_what_its_first_push_made_it() {
    let server = TestServer::start(|_| {}).await;
    push_private(&server).await;
    let (_, pushed) = History::of_one_commit("content");
    server.presign("/owner/private", &pushed).await;
    server.get("/owner/private/refs").await.assert_status(404);
}

#[tokio::test]
async fn a_want_that_was_never_pushed_is_404() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let unknown = Id::of("no commit");
    let refused = server.fetch(&[pushed.head, unknown], &[]).await;
    refused.assert(404, &format!("there is no commit {unknown} in owner/slug"));
    assert_eq!(refused.all("retry-after"), [""; 0]);
}

#[tokio::test]
async fn over_a_cap_is_413_without_retry_after() {
    let server = TestServer::start(|_| {}).await;
    let ids = |count: u32| (0..count).map(|number| Id::of(number.to_le_bytes())).collect::<Vec<_>>();
    for (body, text) in [
        (json!({ "want": ids(1_001) }), "1001 wants are too many: at most 1000 are taken".to_owned()),
        (
            json!({ "want": ids(1), "have": ids(1_001) }),
            "1001 haves are too many: at most 1000 are taken".to_owned(),
        ),
        (
            json!({ "want": "x".repeat(1 << 20) }),
            "expected a JSON body of at most 1048576 bytes, and more came".to_owned(),
        ),
    ] {
        let refused = server.post("/owner/slug/fetch/mpack", &body).await;
        refused.assert(413, &text);
        assert_eq!(refused.all("retry-after"), [""; 0]);
    }
    server
        .post("/owner/slug/fetch/mpack", &json!({ "want": ids(1_000), "have": ids(1_000) }))
        .await
        .assert_status(404);
}

#[tokio::test]
async fn a_bad_body_is_422_with_the_reason() {
    let server = TestServer::start(|_| {}).await;
    let id = Id::of("a commit");
    let prefix = "the body is not the JSON expected here: ";
    for (body, text) in [
        ("{", format!("{prefix}EOF while parsing an object at line 1 column 1")),
        ("", format!("{prefix}missing field `want` at line 1 column 2")),
        (
            r#"{"want":["main"]}"#,
            format!(
                "{prefix}expected an id, `sha256:` and 64 lower-case hex digits, and got \"main\" at line 1 column 15"
            ),
        ),
        (r#"{"want":[]}"#, "expected at least one want".into()),
        (
            &format!(r#"{{"want":["{id}"],"ttl_seconds":29}}"#),
            "expected a ttl_seconds from 30 to 3600, got 29".into(),
        ),
        (
            &format!(r#"{{"want":["{id}"],"ttl_seconds":3601}}"#),
            "expected a ttl_seconds from 30 to 3600, got 3601".into(),
        ),
    ] {
        let request =
            Request::post("/owner/slug/fetch/mpack").body(Full::new(Bytes::from(body.to_owned()))).unwrap();
        server.send(request).await.assert(422, &text);
    }
    let unknown_field = format!(r#"{{"want":["{id}"],"wants":[]}}"#);
    let request =
        Request::post("/owner/slug/fetch/mpack").body(Full::new(Bytes::from(unknown_field))).unwrap();
    let refused = server.send(request).await;
    assert!(refused.text().starts_with(&format!("{prefix}unknown field `wants`")), "{}", refused.text());
}

#[tokio::test]
async fn names_that_are_none_are_422() {
    let server = TestServer::start(|_| {}).await;
    for path in ["/owner/.slug/refs", "/a%2Fb/slug/refs", "/owner/%00/refs"] {
        assert_eq!(server.get(path).await.status, 422, "{path}");
    }
    server.get("/_admin/slug/refs").await.assert(404, "nothing is served at this path");
}

#[tokio::test]
async fn unknown_paths_are_404_and_unknown_methods_405_with_those_that_are_known() {
    let server = TestServer::start(|_| {}).await;
    for path in ["/nowhere", "/owner", "/owner/slug", "/owner/slug/fetch", "/_admin", "/_admin/nothing"] {
        server.get(path).await.assert(404, "nothing is served at this path");
    }
    for (path, allowed) in
        [("/owner/slug/refs", "GET,HEAD"), ("/healthz", "GET,HEAD"), ("/_admin/jobs", "GET,HEAD")]
    {
        let refused = server.post(path, &json!({})).await;
        refused.assert(405, "this path does not answer this method");
        assert_eq!(refused.all("allow"), [allowed], "{path}");
    }
    let refused = server.get("/owner/slug/fetch/mpack").await;
    assert_eq!((refused.status.as_u16(), refused.all("allow")), (405, vec!["POST"]));
}

#[tokio::test]
async fn head_is_get_without_the_body_and_so_is_its_refusal() {
    let server = TestServer::start(|_| {}).await;
    let head = server.send(Request::head("/healthz").body(Full::default()).unwrap()).await;
    head.assert(200, "");
    let head = server.send(Request::head("/owner/slug/refs").body(Full::default()).unwrap()).await;
    head.assert(404, "");
    let get = server.get("/owner/slug/refs").await;
    assert_eq!(head.all("content-length"), get.all("content-length"));
}

/// The URL that a client gets is on the name by which it called the server.
#[tokio::test]
async fn presigned_urls_start_as_configured_or_as_the_client_called() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    let url = server.presign("/owner/slug", &pushed).await;
    assert!(url.starts_with(&server.running.url()), "{url}");
    let body = json!({ "mpack_id": pushed.mpack_id, "size": 1 }).to_string();
    let request = Request::post("/owner/slug/push/mpack-presign").header("host", "a host");
    as_bearer(&server, TOKEN, request, body).await.assert(400, "the field `Host` names no host");

    let server = TestServer::start(|config| config.public_url = Some("https://hub.example/".into())).await;
    let url = server.presign("/owner/slug", &pushed).await;
    assert!(url.starts_with("https://hub.example/owner/slug/uploads/sha256:"), "{url}");
}
