//! Keys, access tokens and namespaces.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use super::{Tenant, assert_plain, cpus, small};
use crate::testing::TestServer;
use crate::{Clock, Tokens};

const NOT_GOOD: &str = "the access token is not good, or no longer: get one from /auth";

/// 401 comes before 400 and 404: whoever may not is told nothing else.
#[tokio::test]
async fn without_an_access_token_everything_is_401() {
    let server = TestServer::start(|config| config.cluster = small()).await;
    let paths = [
        (Method::POST, "/instances"),
        (Method::GET, "/instances"),
        (Method::GET, "/instances/x"),
        (Method::DELETE, "/instances/x"),
        (Method::GET, "/nodes"),
    ];
    for (method, path) in paths {
        let request =
            Request::builder().method(method.clone()).uri(path).body(Full::<Bytes>::default()).unwrap();
        let reply = server.send(request).await;
        assert_plain(&reply, 401, "expected `Authorization: Bearer TOKEN`, with a token from /auth");
        assert_eq!(reply.all("www-authenticate"), ["Bearer"]);
        assert_plain(&server.ask("secret", method, path, &json!([])).await, 401, NOT_GOOD);
    }
}

#[tokio::test]
async fn a_key_opens_the_namespace_that_it_was_made_for_and_no_other() {
    let server = TestServer::start(|config| config.dev_token = None).await;
    let key = Tokens::open(server.data(), None).unwrap().add("mine").unwrap();
    let ask =
        async |namespace: &str| server.post("/auth", &json!({ "namespace": namespace, "key": key })).await;
    let granted = ask("mine").await.assert_status(200).json();
    assert_eq!((&granted["namespace"], &granted["expires_in"]), (&"mine".into(), &900.into()));
    assert_plain(&ask("yours").await, 401, "the key does not open the namespace `yours`");
}

#[tokio::test]
async fn an_access_token_expires_and_can_be_revoked() {
    let now = Arc::new(AtomicU64::new(1_000));
    let clock = Clock::Manual(Arc::clone(&now));
    let server = TestServer::start(|config| config.clock = clock).await;
    let token = server.authenticate("tenant").await;
    let ask = async |token: &str| server.ask(token, Method::GET, "/nodes", &Value::Null).await;
    now.store(1_900, Ordering::SeqCst);
    ask(&token).await.assert_status(200);
    now.store(1_901, Ordering::SeqCst);
    assert_plain(&ask(&token).await, 401, NOT_GOOD);
    let token = server.authenticate("tenant").await;
    server.post("/_admin/cluster/access/revoke", &json!({})).await.assert_status(200);
    assert_plain(&ask(&token).await, 401, NOT_GOOD);
    ask(&server.authenticate("tenant").await).await.assert_status(200);
}

#[tokio::test]
async fn what_is_wrong_with_a_request_for_access_is_told_without_the_key() {
    let server = TestServer::start(|_| {}).await;
    let reply = server.post("/auth", &json!({ "namespace": "a b", "key": ["hush"], "more": 1 })).await;
    assert_plain(
        &reply,
        400,
        "namespace: expected 1 to 64 letters, digits or `-._@`, got \"a b\"; \
         key: expected a text that is not empty; more: no such field",
    );
}

#[tokio::test]
async fn an_instance_of_another_namespace_is_not_there() {
    let tenant = Tenant::of_small(|_| {}).await;
    let id = tenant.run(cpus(1)).await;
    let other = tenant.server.authenticate("other").await;
    let path = format!("/instances/{id}");
    for method in [Method::GET, Method::DELETE] {
        let reply = tenant.server.ask(&other, method, &path, &Value::Null).await;
        assert_plain(&reply, 404, "instance not found");
    }
    let listed = tenant.server.ask(&other, Method::GET, "/instances", &Value::Null).await;
    assert_eq!(listed.json(), json!([]));
    assert_eq!(tenant.get("/instances").await.json()[0]["uuid"], id);
}
