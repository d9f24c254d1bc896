//! What becomes of an instance, and when its capacity is back.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Tenant, assert_marked, cpus, small, with};
use crate::testing::TestServer;
use crate::{Node, RetryAfter, Server, StartError};

#[tokio::test]
async fn an_instance_is_creating_in_the_answer_and_created_a_little_later() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("starts/hold", json!({})).await;
    let request = json!({
        "name": "web-1", "cpus": 2, "memory": 64, "disk": [{ "size": 8 }], "tags": ["web"],
        "network": [{ "network_uuid": "net", "address": "10.0.0.1" }], "placed_on": "node",
    });
    let mut instance = tenant.create(request).await.assert_status(200).json();
    let expected = json!({
        "uuid": instance["uuid"], "name": "web-1", "namespace": "tenant", "state": "creating", "node": "node",
        "cpus": 2, "memory": 64, "disk": [{ "size": 8 }], "tags": ["web"],
        "network": [{ "network_uuid": "net", "address": "10.0.0.1" }], "placed_on": "node",
        "affinity": { "together_with": [], "apart_from": [] }, "failure": null,
    });
    assert_eq!(instance, expected);
    let path = format!("/instances/{}", instance["uuid"].as_str().unwrap());
    assert_eq!(tenant.get(&path).await.json(), instance);
    tenant.admin("starts/release", json!({})).await;
    tenant.wait_for(instance["uuid"].as_str().unwrap(), "created").await;
    instance["state"] = "created".into();
    assert_eq!(tenant.get("/instances").await.json(), json!([instance]));
}

#[tokio::test]
async fn a_deleted_instance_is_gone_at_once_and_holds_its_capacity_and_addresses_for_a_while() {
    let tenant = Tenant::of_small(|cluster| {
        cluster.retry_after = RetryAfter::seconds(3_600);
        cluster.release_delay = Duration::from_secs(3_600);
        cluster.address_delay = Duration::from_secs(3_600);
    })
    .await;
    let id = tenant.run(with(cpus(4), "network", json!([{ "network_uuid": "net" }]))).await;
    assert_eq!(tenant.delete(&id).await.assert_status(200).json()["state"], "deleted");
    tenant.delete(&id).await.assert_status(404);
    assert_eq!(tenant.get("/instances").await.json(), json!([]));
    let status = tenant.status().await;
    assert_eq!((&status["promises"], &status["networks"][0]["used"]), (&1.into(), &1.into()));
    tenant.create(cpus(1)).await.assert_status(507);
}

#[tokio::test]
async fn its_capacity_comes_back_before_its_addresses_and_both_do() {
    let tenant = Tenant::of_small(|cluster| cluster.address_delay = Duration::from_secs(3_600)).await;
    let id = tenant.run(with(cpus(4), "network", json!([{ "network_uuid": "net" }]))).await;
    tenant.delete(&id).await.assert_status(200);
    let status = tenant.wait_until(async || tenant.status().await, |status| status["promises"] == 0).await;
    assert_eq!(status["networks"][0]["used"], 1);

    let tenant = Tenant::of_small(|_| {}).await;
    let id = tenant.run(with(cpus(4), "network", json!([{ "network_uuid": "net" }]))).await;
    tenant.delete(&id).await.assert_status(200);
    tenant.wait_until(async || tenant.status().await, |status| status["networks"][0]["used"] == 0).await;
}

/// The hint and the release, checked against each other end to end: whoever obeys the hint is admitted.
#[tokio::test]
async fn one_obeyed_hint_after_a_deletion_is_enough() {
    let tenant = Tenant::of_small(|cluster| {
        cluster.retry_after = RetryAfter::seconds(1);
        cluster.release_delay = Duration::from_millis(366);
    })
    .await;
    let id = tenant.run(cpus(4)).await;
    tenant.delete(&id).await.assert_status(200);
    let refused = tenant.create(cpus(4)).await;
    assert_eq!(refused.assert_status(507).json()["transient"], true);
    let hint: u64 = refused.all("retry-after")[0].parse().unwrap();
    tokio::time::sleep(Duration::from_secs(hint)).await;
    tenant.create(cpus(4)).await.assert_status(200);
}

/// A hint that is shorter than the release would send everyone back too early: such a server does not start.
#[tokio::test]
async fn a_server_whose_hint_would_be_a_lie_does_not_start() {
    let data = tempfile::tempdir().unwrap();
    let mut config = crate::Config::new(data.path());
    config.cluster.retry_after = RetryAfter::seconds(5);
    let error = Server::bind(config).await.unwrap_err();
    assert!(matches!(error, StartError::Cluster(_)), "{error}");
    assert!(error.to_string().contains("a hint of 5 s would be a lie"), "{error}");
}

/// The second producer of `capacity_guard`: the guard is asked again when the instance is started, and what
/// the instance then shows is word for word what a creation is refused with.
#[tokio::test]
async fn an_instance_that_cannot_be_started_fails_at_the_same_stage() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("starts/hold", json!({})).await;
    let request = with(cpus(1), "network", json!([{ "network_uuid": "net" }]));
    let id = tenant.create(request).await.assert_status(200).json()["uuid"].as_str().unwrap().to_owned();
    tenant.admin("capacity/hold", json!({})).await;
    let refused = tenant.create(cpus(1)).await;
    tenant.admin("starts/release", json!({})).await;
    let failed = tenant.wait_for(&id, "error").await;
    assert_eq!(failed["failure"], refused.json());
    assert_eq!((&failed["node"], &failed["network"]), (&Value::Null, &json!([])));
    let look = async || tenant.status().await;
    let status = tenant.wait_until(look, |status| status["networks"][0]["used"] == 0).await;
    assert_eq!(status["promises"], 0, "it holds nothing any more");
    tenant.delete(&id).await.assert_status(200);
}

/// When the node that it was placed on cannot take it any more, another is asked.
#[tokio::test]
async fn an_instance_is_started_elsewhere_when_its_node_denies_it() {
    use super::super::instance::InstanceId;
    use super::super::wanted::Wanted;
    let mut config = small();
    config.nodes.push(Node { name: "other".into(), ..config.nodes[0].clone() });
    let wanted = Wanted::parse(cpus(3)).unwrap();
    let demand = super::super::ledger::Demand {
        namespace: "tenant".into(),
        resources: wanted.resources(),
        tags: std::collections::BTreeSet::new(),
    };
    let data = tempfile::tempdir().unwrap();
    let mut server = crate::Config::new(data.path());
    server.cluster = config;
    let tokens = crate::Tokens::open(data.path(), None).unwrap();
    let cluster = super::super::Cluster::new(&server, tokens, tokio_util::sync::CancellationToken::new());
    let id = InstanceId::random();
    assert_eq!(cluster.place(id, &demand, &wanted), Ok("node".into()));
    // Its promise says one node, and it is told to start on one that does not exist any more.
    assert_eq!(cluster.preflight(id, "gone", &demand, &wanted), Ok(Some("node".into())));
    cluster.ledger().assert_exact();
    assert_eq!(cluster.preflight(id, "node", &demand, &wanted), Ok(None), "it runs already");
}

#[tokio::test]
async fn an_instance_that_is_deleted_before_it_starts_never_runs() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("starts/hold", json!({})).await;
    let id = tenant.create(cpus(4)).await.assert_status(200).json()["uuid"].as_str().unwrap().to_owned();
    tenant.delete(&id).await.assert_status(200);
    tenant.admin("starts/release", json!({})).await;
    tenant.wait_until(async || tenant.status().await, |status| status["promises"] == 0).await;
    tenant.run(cpus(4)).await;
}

/// Every refusal leaves record, addresses and ledger as they were.
#[tokio::test]
async fn a_refusal_commits_nothing() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.run(with(cpus(2), "network", json!([{ "network_uuid": "net" }]))).await;
    let before = tenant.committed().await;
    let net = json!([{ "network_uuid": "net" }]);
    for (request, status) in [
        (with(cpus(3), "network", net.clone()), 507),
        (with(with(cpus(1), "network", net.clone()), "memory", 9_999.into()), 507),
        (with(cpus(1), "network", json!([net[0], net[0]])), 507),
        (with(with(cpus(1), "network", net.clone()), "placed_on", "nowhere".into()), 404),
        (with(with(cpus(1), "network", net.clone()), "affinity", json!({ "together_with": ["x"] })), 409),
        (json!({}), 400),
    ] {
        tenant.create(request.clone()).await.assert_status(status);
        assert_eq!(tenant.committed().await, before, "{request}");
    }
}

#[tokio::test]
async fn nodes_are_listed_with_what_they_have_what_is_measured_and_what_is_promised() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.run(with(cpus(1), "disk", json!([{ "size": 10 }]))).await;
    tenant.admin("starts/hold", json!({})).await;
    tenant.create(cpus(1)).await.assert_status(200);
    let expected = json!([{
        "name": "node", "up": true, "is_hypervisor": true, "cpu_max_per_instance": 4,
        "capacity": { "cpus": 4, "memory": 4096, "disk": 100, "disks": 4 },
        "measured": { "cpus": 1, "memory": 1, "disk": 10, "disks": 1 },
        "promised": { "cpus": 2, "memory": 2, "disk": 10, "disks": 1 },
    }]);
    assert_eq!(tenant.get("/nodes").await.json(), expected);
}

/// The built-in cluster, as it is: a creation, and the hint of 15 s.
#[tokio::test]
async fn the_built_in_cluster_takes_an_instance_and_refuses_too_large_a_one() {
    let server = TestServer::start(|_| {}).await;
    let token = server.authenticate("tenant").await;
    let post = async |request: Value| server.ask(&token, http::Method::POST, "/instances", &request).await;
    let created = post(with(cpus(8), "network", json!([{ "network_uuid": "default" }]))).await;
    assert_eq!(created.assert_status(200).json()["node"], "node-1");
    let refused = post(with(cpus(1), "memory", 65_537.into())).await;
    let message = "No nodes remaining at scheduling stage sufficient_idle_memory: \
                   asked for 65537 MiB of memory, and no node has more than 65536 idle";
    assert_marked(&refused, "sufficient_idle_memory", true, message);
}
