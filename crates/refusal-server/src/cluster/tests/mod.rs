//! The cluster on real sockets, small and quick.

mod access;
mod flood;
mod lifecycle;
mod outcomes;
mod validation;

use std::net::Ipv4Addr;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use serde_json::{Value, json};

use super::{ClusterConfig, Network, Node};
use crate::testing::{Client, Reply, TOKEN, TestServer};

/// A cluster of one small node and two addresses, of which nothing takes long.
fn small() -> ClusterConfig {
    let node = Node {
        name: "node".into(),
        cpus: 4,
        cpu_max_per_instance: 4,
        memory: 4_096,
        disk: 100,
        disks: 4,
        ..Node::default()
    };
    let (first, last) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    ClusterConfig {
        nodes: vec![node],
        networks: vec![Network { id: "net".into(), first, last }],
        release_delay: Duration::from_millis(20),
        address_delay: Duration::from_millis(20),
        start_delay: Duration::ZERO,
        ..ClusterConfig::default()
    }
}

/// A server with this cluster, and someone who has authenticated.
struct Tenant {
    server: TestServer,
    token: String,
}

impl Tenant {
    async fn of(cluster: ClusterConfig) -> Self {
        let server = TestServer::start(|config| config.cluster = cluster).await;
        let token = server.authenticate("tenant").await;
        Self { server, token }
    }

    async fn of_small(change: impl FnOnce(&mut ClusterConfig)) -> Self {
        let mut cluster = small();
        change(&mut cluster);
        Self::of(cluster).await
    }

    async fn ask(&self, method: Method, path: &str, body: &Value) -> Reply {
        self.server.ask(&self.token, method, path, body).await
    }

    async fn create(&self, request: Value) -> Reply {
        self.ask(Method::POST, "/instances", &request).await
    }

    /// Creates an instance and waits until it runs; its id.
    async fn run(&self, request: Value) -> String {
        let reply = self.create(request).await;
        let id = reply.assert_status(200).json()["uuid"].as_str().unwrap().to_owned();
        self.wait_for(&id, "created").await;
        id
    }

    async fn get(&self, path: &str) -> Reply {
        self.ask(Method::GET, path, &Value::Null).await
    }

    async fn delete(&self, id: &str) -> Reply {
        self.ask(Method::DELETE, &format!("/instances/{id}"), &Value::Null).await
    }

    async fn admin(&self, path: &str, body: Value) -> Value {
        self.server.post(&format!("/_admin/cluster/{path}"), &body).await.assert_status(200).json()
    }

    async fn status(&self) -> Value {
        self.server.get("/_admin/cluster").await.json()
    }

    /// What can be seen of record, addresses and ledger.
    async fn committed(&self) -> [Value; 3] {
        [self.get("/instances").await.json(), self.get("/nodes").await.json(), self.status().await]
    }

    async fn wait_for(&self, id: &str, state: &str) -> Value {
        let path = format!("/instances/{id}");
        self.wait_until(async || self.get(&path).await.json(), |instance| instance["state"] == state).await
    }

    /// Looks again every few milliseconds, and gives up after a time that no test comes near.
    async fn wait_until(&self, look: impl AsyncFn() -> Value, is_so: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..2_000 {
            let seen = look().await;
            if is_so(&seen) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        panic!("it did not come to what was expected: {:#}", look().await);
    }
}

impl Client {
    async fn authenticate(&self, namespace: &str) -> String {
        let reply = self.post("/auth", &json!({ "namespace": namespace, "key": TOKEN })).await;
        reply.assert_status(200).json()["access_token"].as_str().unwrap().to_owned()
    }

    async fn ask(&self, token: &str, method: Method, path: &str, body: &Value) -> Reply {
        let request =
            Request::builder().method(method).uri(path).header("authorization", format!("Bearer {token}"));
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.send(request.body(Full::new(Bytes::from(body))).unwrap()).await
    }
}

/// The smallest instance with so many cpus.
fn cpus(cpus: u32) -> Value {
    json!({ "name": "it", "cpus": cpus, "memory": 1 })
}

fn with(mut request: Value, field: &str, value: Value) -> Value {
    request[field] = value;
    request
}

/// The plain two-key shape, whole.
#[track_caller]
fn assert_plain(reply: &Reply, status: u16, error: &str) {
    assert_eq!(reply.json(), json!({ "error": error, "status": status }));
    assert_eq!(reply.status, status);
    assert_eq!(reply.all("retry-after"), [""; 0]);
    assert_refusal_fields(reply);
}

/// The marked shape, whole, with its hint or without.
#[track_caller]
fn assert_marked(reply: &Reply, stage: &str, transient: bool, error: &str) {
    let body = json!({ "error": error, "status": 507, "stage": stage, "transient": transient });
    assert_eq!(reply.json(), body);
    assert_eq!(reply.status, 507);
    assert_eq!(reply.all("retry-after"), if transient { vec!["15"] } else { vec![] });
    assert_refusal_fields(reply);
}

/// F40, F41, F42: every refusal has each of these fields exactly once.
#[track_caller]
fn assert_refusal_fields(reply: &Reply) {
    assert_eq!(reply.all("cache-control"), ["no-store"]);
    assert_eq!(reply.all("access-control-expose-headers"), ["Retry-After"]);
    assert_eq!(reply.all("content-type"), ["application/json"]);
    assert_eq!(reply.all("date").len(), 1);
    assert_eq!(reply.all("x-request-id").len(), 1);
}
