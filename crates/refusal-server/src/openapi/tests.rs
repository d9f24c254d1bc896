//! The document against the live server: what is answered is documented, and what is served is documented.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::cluster::Cluster;
use crate::hub::Hub;
use crate::testing::{History, Published, Reply, TOKEN, TestServer};
use crate::{Config, Tokens};

/// A client that remembers which documented operations it has performed.
struct Walk<'s> {
    server: &'s TestServer,
    done: BTreeSet<String>,
}

impl Walk<'_> {
    async fn step(
        &mut self,
        method: Method,
        url: &str,
        token: &str,
        body: impl Into<Bytes>,
        status: u16,
    ) -> Reply {
        let mut request = Request::builder().method(method.clone()).uri(url);
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Full::new(body.into())).unwrap();
        let path = request.uri().path().to_owned();
        // Checks the answer against the document.
        let reply = self.server.send(request).await;
        reply.assert_status(status);
        let template = Published::of(self.server).await.template(&path).unwrap();
        self.done.insert(format!("{method} {template}"));
        reply
    }

    async fn get(&mut self, url: &str, token: &str, status: u16) -> Reply {
        self.step(Method::GET, url, token, "", status).await
    }

    async fn post(&mut self, url: &str, token: &str, body: Value, status: u16) -> Reply {
        self.step(Method::POST, url, token, body.to_string(), status).await
    }
}

/// Every documented operation is performed, with a good answer and a refusal where it has one, and each answer
/// is one that the document knows.
#[tokio::test]
async fn every_documented_operation_answers_as_documented() {
    let server = TestServer::start(|config| {
        config.hub.held = crate::JobKind::ALL.to_vec();
        config.throttle.burst = std::num::NonZeroU32::MIN;
    })
    .await;
    let mut walk = Walk { server: &server, done: BTreeSet::new() };
    walk_server(&mut walk).await;
    walk_hub(&mut walk).await;
    walk_cluster(&mut walk).await;
    walk_throttle(&mut walk).await;
    walk_admin(&mut walk).await;
    assert_eq!(walk.done, Published::of(&server).await.operations());
}

async fn walk_server(walk: &mut Walk<'_>) {
    walk.get("/healthz", "", 200).await;
    let front = walk.get("/", "", 200).await;
    assert_eq!(
        front.text(),
        "refusal-server: /docs says what it serves, /openapi.json says so to machines\n"
    );
    assert_eq!(walk.get("/openapi.json", "", 200).await.json()["openapi"], "3.1.0");
    let page = walk.get("/docs", "", 200).await;
    assert!(page.text().contains("<code>POST /instances</code>"));
    for loaded in ["<script", "src=", "<link", "@import", "http://", "https://"] {
        assert!(!page.text().contains(loaded), "the page needs the network: {loaded}");
    }
}

async fn walk_hub(walk: &mut Walk<'_>) {
    let (_, pushed) = History::of_one_commit("content");
    walk.get("/owner/slug/refs", "", 404).await;
    walk.get("/owner/.slug/refs", "", 422).await;
    let presign = json!({ "mpack_id": pushed.mpack_id, "size": pushed.pack.len(), "public": true });
    walk.post("/owner/slug/push/mpack-presign", "", presign.clone(), 401).await;
    let answer = walk.post("/owner/slug/push/mpack-presign", TOKEN, presign, 200).await.json();
    let url = answer["upload_url"].as_str().unwrap();
    walk.step(Method::PUT, url, "", pushed.pack.clone(), 201).await;
    walk.step(Method::PUT, url.split('?').next().unwrap(), "", pushed.pack.clone(), 403).await;
    let unpack = json!({ "mpack_id": pushed.mpack_id, "branch": "main", "head": pushed.head });
    walk.post("/owner/slug/push/unpack-mpack", TOKEN, unpack, 200).await;
    walk.get("/owner/slug/refs", "", 200).await;
    let fetch = json!({ "want": [pushed.head] });
    walk.post("/owner/slug/fetch/mpack", "", fetch.clone(), 503).await;
    for kind in crate::JobKind::ALL {
        walk.post("/_admin/jobs/release", "", json!({ "kind": kind }), 200).await;
    }
    walk.server.wait_for("fetch.mpack.prebuild", "done").await;
    let answer = walk.post("/owner/slug/fetch/mpack", "", fetch, 200).await.json();
    walk.get(answer["url"].as_str().unwrap(), "", 200).await;
    walk.get(&format!("/owner/slug/mpacks/{}", pushed.mpack_id), "", 403).await;
}

async fn walk_cluster(walk: &mut Walk<'_>) {
    let key = json!({ "namespace": "tenant", "key": TOKEN });
    let token = walk.post("/auth", "", key, 200).await.json()["access_token"].as_str().unwrap().to_owned();
    walk.post("/auth", "", json!({ "namespace": "tenant", "key": "wrong" }), 401).await;
    let request = json!({ "name": "it", "cpus": 1, "memory": 1, "network": [{ "network_uuid": "default" }] });
    let id = walk.post("/instances", &token, request.clone(), 200).await.json()["uuid"].clone();
    let path = format!("/instances/{}", id.as_str().unwrap());
    walk.post("/instances", "", request.clone(), 401).await;
    walk.post("/instances", &token, json!({}), 400).await;
    walk.post("/_admin/cluster/networks/hold", "", json!({}), 200).await;
    walk.post("/instances", &token, request.clone(), 406).await;
    walk.post("/_admin/cluster/networks/release", "", json!({}), 200).await;
    walk.post("/_admin/cluster/networks/release", "", json!({ "network": "no such" }), 404).await;
    walk.post("/_admin/cluster/capacity/hold", "", json!({ "stage": "gpu_topology" }), 200).await;
    walk.post("/instances", &token, request.clone(), 507).await;
    walk.get("/_admin/cluster", "", 200).await;
    walk.post("/_admin/cluster/capacity/hold", "", json!({}), 200).await;
    walk.post("/instances", &token, request, 507).await;
    walk.post("/_admin/cluster/capacity/release", "", json!({}), 200).await;
    walk.post("/_admin/cluster/starts/hold", "", json!({}), 200).await;
    walk.post("/_admin/cluster/starts/release", "", json!({}), 200).await;
    walk.get("/instances", &token, 200).await;
    walk.get(&path, &token, 200).await;
    walk.get("/nodes", &token, 200).await;
    walk.step(Method::DELETE, &path, &token, "", 200).await;
    walk.get(&path, &token, 404).await;
    walk.post("/_admin/cluster/access/revoke", "", json!({}), 200).await;
    walk.get("/nodes", &token, 401).await;
}

async fn walk_throttle(walk: &mut Walk<'_>) {
    walk.get("/throttle/one", "", 200).await;
    walk.get("/throttle/one", "", 429).await;
    walk.post("/throttle/two", "", json!({}), 200).await;
    walk.post("/throttle/two", "", json!({}), 429).await;
    walk.get("/throttle/no%20key", "", 422).await;
    walk.get("/throttle/%ff", "", 400).await;
}

async fn walk_admin(walk: &mut Walk<'_>) {
    walk.get("/_admin/jobs", "", 200).await;
    walk.post("/_admin/jobs/hold", "", json!({}), 200).await;
    walk.post("/_admin/jobs/hold", "", json!({ "kind": "no such" }), 422).await;
    walk.post("/_admin/jobs/retry", "", json!({ "id": "no such" }), 404).await;
}

/// A route that a room adds without describing it fails here: the router's own list of paths is compared.
#[tokio::test]
async fn every_route_is_documented() {
    let data = tempfile::tempdir().unwrap();
    let config = Config::new(data.path());
    let tokens = Tokens::open(data.path(), None).unwrap();
    let hub = Arc::new(Hub::open(&config, "127.0.0.1:1".parse().unwrap(), tokens.clone()).unwrap());
    let cluster = Arc::new(Cluster::new(&config, tokens, CancellationToken::new()));
    let router = format!("{:?}", crate::app::router(hub, cluster, &config));
    // The fallback is a route of axum's own, beside `/`, which is ours too.
    let is_route = |text: &&str| text.starts_with('/') && *text != "/{*__private__axum_fallback}";
    let served: BTreeSet<_> = router.split('"').filter(is_route).map(str::to_owned).collect();

    let server = TestServer::start(|_| {}).await;
    let document = &Published::of(&server).await.document;
    let documented: BTreeSet<_> = document["paths"].as_object().unwrap().keys().cloned().collect();
    assert_eq!(served, documented);
    server.get("/nowhere").await.assert(404, "nothing is served at this path");
}

/// The same for methods: what a path allows is what is documented of it.
#[tokio::test]
async fn every_method_is_documented() {
    let server = TestServer::start(|_| {}).await;
    let document = &Published::of(&server).await.document;
    for (path, item) in document["paths"].as_object().unwrap() {
        let request = Request::patch(path.replace(['{', '}'], "")).body(Full::<Bytes>::default()).unwrap();
        let reply = server.send_unchecked(request).await;
        reply.assert_status(405);
        let allowed: BTreeSet<_> =
            reply.all("allow")[0].split(',').filter(|method| *method != "HEAD").collect();
        let documented: BTreeSet<_> =
            item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
        assert_eq!(allowed, documented.iter().map(String::as_str).collect(), "{path}");
    }
}

/// The seed of this contract could not: the hint is part of what is published.
#[tokio::test]
async fn the_hints_are_published_as_response_headers() {
    let server = TestServer::start(|_| {}).await;
    let document = &Published::of(&server).await.document;
    for (path, status) in
        [("/instances", "507"), ("/{owner}/{slug}/fetch/mpack", "503"), ("/throttle/{key}", "429")]
    {
        let response = &document["paths"][path]["post"]["responses"][status];
        assert_eq!(response["headers"]["Retry-After"]["schema"]["minimum"], 1, "{path}");
        assert_eq!(response["headers"]["Cache-Control"]["schema"]["const"], "no-store", "{path}");
    }
    assert!(document["components"]["schemas"]["CapacityRefused"]["properties"]["transient"].is_object());
}
