//! The client against the real server, over real sockets; what is waited for is a second.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use refusal_server::{Config, RetryAfter, Running, Secret, Server};
use retry_middleware::{Clock, SystemClock};
use tempfile::TempDir;

use crate::cluster::{Cluster, ClusterSettings, Credentials, InstanceRequest, InterfaceRequest, Strategy};
use crate::testing::{RecordedWaits, assert_refused_at_stage};
use crate::transport::{Patience, Transport, TransportSettings};

const KEY: &str = "secret";

/// A server with its built-in cluster, where `change` does not say otherwise.
struct Served {
    running: Running,
    _data: TempDir,
}

impl Served {
    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let data = tempfile::tempdir().expect("a folder");
        let mut config = Config::new(data.path());
        config.dev_token = Some(Secret::new(KEY));
        config.cluster.start_delay = Duration::ZERO;
        change(&mut config);
        let running = Server::bind(config).await.expect("a server");
        Self { running, _data: data }
    }

    /// A server whose hints are of a second.
    async fn hasty() -> Self {
        Self::start(|config| {
            config.cluster.retry_after = RetryAfter::seconds(1);
            config.cluster.release_delay = Duration::from_millis(300);
        })
        .await
    }

    fn client(&self, change: impl FnOnce(&mut ClusterSettings)) -> Cluster {
        let address = self.running.url().parse().expect("an address");
        let mut settings = ClusterSettings::new(address, Credentials::new("suite", KEY));
        change(&mut settings);
        Cluster::new(settings, TransportSettings::default())
    }

    async fn admin(&self, path: &str) {
        admin(&self.running.url(), path).await;
    }
}

async fn admin(server: &str, path: &str) {
    let url = format!("{server}/_admin/cluster/{path}").parse().expect("a URL");
    let transport = Transport::new(TransportSettings::default());
    let request = transport.request(Method::POST, &url, Patience::Silence).expect("a request");
    assert_eq!(request.body("{}").send().await.expect("an answer").status(), 200);
}

fn named(name: &str) -> InstanceRequest {
    InstanceRequest { name: name.into(), cpus: 1, memory: 64, ..InstanceRequest::default() }
}

#[tokio::test]
async fn a_transient_refusal_is_waited_out_as_the_server_asks() {
    let server = Served::hasty().await;
    server.admin("capacity/hold").await;
    let waits = Arc::new(Mutex::new(Vec::new()));
    let (told, url) = (Arc::clone(&waits), server.running.url());
    let client =
        server.client(|settings| settings.retry_transient_capacity = true).with_observer(move |wait| {
            told.lock().expect("no panics").push(wait.length());
            let url = url.clone();
            tokio::spawn(async move { admin(&url, "capacity/release").await });
        });
    let start = SystemClock.monotonic();
    let instance = client.create(&named("it")).await.expect("an instance");
    assert!(SystemClock.monotonic().since(start) >= Duration::from_secs(1), "it came back before the hint");
    assert_eq!(*waits.lock().expect("no panics"), [Duration::from_secs(1)]);
    assert_eq!((instance.name.as_str(), instance.state.as_str()), ("it", "created"));
}

#[tokio::test]
async fn without_the_flag_a_refusal_is_raised_at_once_with_its_fields() {
    let server = Served::start(|_| {}).await;
    server.admin("capacity/hold").await;
    let outcome = server.client(|settings| settings.strategy = Strategy::Block).create(&named("it")).await;
    assert_refused_at_stage(&outcome, "capacity_guard");
    assert_eq!(outcome.expect_err("a refusal").refusal().expect("an answer").spent.attempts, 1);
}

#[tokio::test]
async fn a_token_that_is_no_longer_good_is_replaced_within_the_attempt() {
    let server = Served::start(|_| {}).await;
    let client = server.client(|_| {});
    let uuid = client.create(&named("it")).await.expect("an instance").uuid;
    server.admin("access/revoke").await;
    assert_eq!(client.get(&uuid).await.expect("the instance").uuid, uuid);
    assert_eq!(client.list().await.expect("a list").len(), 1);
    assert_eq!(client.delete(&uuid).await.expect("the instance").state, "deleted");
    assert_eq!(client.get(&uuid).await.expect_err("gone").refusal().expect("an answer").status, 404);
}

#[tokio::test]
async fn a_network_that_is_not_ready_and_an_instance_that_starts_are_waited_for() {
    let server = Served::start(|config| config.cluster.start_delay = Duration::from_millis(500)).await;
    server.admin("networks/hold").await;
    let url = server.running.url();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(500)).await;
        admin(&url, "networks/release").await;
    });
    let mut request = named("it");
    request.network = vec![InterfaceRequest { network_uuid: "default".into(), address: None }];
    let start = SystemClock.monotonic();
    let instance = server.client(|_| {}).create(&request).await.expect("an instance");
    assert_eq!(instance.state, "created");
    assert!(SystemClock.monotonic().since(start) >= Duration::from_secs(2), "two looks, a second apart each");
}

#[tokio::test]
async fn a_suite_records_what_it_waits_for() {
    let server = Served::hasty().await;
    server.admin("capacity/hold").await;
    let (client, url) = (server.client(|_| {}), server.running.url());
    let mut waits = RecordedWaits::new(Duration::from_secs(30));
    let created = waits.create("it", async |name: String| {
        let outcome = client.create(&named(&name)).await;
        if outcome.is_err() {
            admin(&url, "capacity/release").await;
        }
        outcome
    });
    assert_eq!(created.await.expect("an instance").name, "it-2");
    let [wait] = waits.waits() else { panic!("one wait: {waits:?}") };
    assert_eq!(
        (wait.name.as_str(), wait.stage.as_str(), wait.length.as_secs()),
        ("it-1", "capacity_guard", 1)
    );
}
