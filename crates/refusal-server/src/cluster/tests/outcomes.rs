//! The table of outcomes, one test a row; bodies are asserted whole.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::json;

use super::{Tenant, assert_marked, assert_plain, cpus, with};

#[tokio::test]
async fn sufficient_idle_cpu_is_transient() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.run(cpus(3)).await;
    assert_marked(
        &tenant.create(cpus(2)).await,
        "sufficient_idle_cpu",
        true,
        "No nodes remaining at scheduling stage sufficient_idle_cpu: \
         asked for 2 cpus, and no node has more than 1 idle",
    );
}

#[tokio::test]
async fn sufficient_idle_memory_is_transient() {
    let tenant = Tenant::of_small(|_| {}).await;
    assert_marked(
        &tenant.create(with(cpus(1), "memory", 4_097.into())).await,
        "sufficient_idle_memory",
        true,
        "No nodes remaining at scheduling stage sufficient_idle_memory: \
         asked for 4097 MiB of memory, and no node has more than 4096 idle",
    );
}

#[tokio::test]
async fn sufficient_free_disk_is_transient() {
    let tenant = Tenant::of_small(|_| {}).await;
    assert_marked(
        &tenant.create(with(cpus(1), "disk", json!([{ "size": 100 }, { "size": 1 }]))).await,
        "sufficient_free_disk",
        true,
        "No nodes remaining at scheduling stage sufficient_free_disk: \
         asked for 101 GiB of disk, and no node has more than 100 idle",
    );
}

#[tokio::test]
async fn sufficient_idle_disk_is_transient() {
    let tenant = Tenant::of_small(|_| {}).await;
    let disk = json!([{ "size": 1 }, { "size": 1 }, { "size": 1 }, { "size": 1 }, { "size": 1 }]);
    assert_marked(
        &tenant.create(with(cpus(1), "disk", disk)).await,
        "sufficient_idle_disk",
        true,
        "No nodes remaining at scheduling stage sufficient_idle_disk: \
         asked for 5 disks, and no node has more than 4 idle",
    );
}

#[tokio::test]
async fn queue_state_is_transient() {
    let tenant = Tenant::of_small(|cluster| cluster.nodes[0].queue = 1).await;
    tenant.admin("starts/hold", json!({})).await;
    tenant.create(cpus(1)).await.assert_status(200);
    assert_marked(
        &tenant.create(cpus(1)).await,
        "queue_state",
        true,
        "No nodes remaining at scheduling stage queue_state",
    );
}

/// Denied by `node`: what was promised and has not been started cannot be measured, and the guard knows.
#[tokio::test]
async fn capacity_guard_is_transient() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("starts/hold", json!({})).await;
    tenant.create(cpus(3)).await.assert_status(200);
    assert_marked(
        &tenant.create(cpus(2)).await,
        "capacity_guard",
        true,
        "no node had capacity for this instance, 1 candidates refused it",
    );
}

/// Denied by `cluster`: by what all nodes together may promise, and by a hold.
#[tokio::test]
async fn capacity_guard_is_what_the_whole_clusters_denial_is_called_too() {
    let guard = "no node had capacity for this instance, 1 candidates refused it";
    let tenant = Tenant::of_small(|cluster| cluster.most_cpus = Some(1)).await;
    assert_marked(&tenant.create(cpus(2)).await, "capacity_guard", true, guard);
    tenant.admin("capacity/hold", json!({})).await;
    assert_marked(&tenant.create(cpus(1)).await, "capacity_guard", true, guard);
    tenant.admin("capacity/release", json!({})).await;
    tenant.create(cpus(1)).await.assert_status(200);
}

#[tokio::test]
async fn cpu_max_per_instance_is_permanent() {
    let tenant = Tenant::of_small(|cluster| cluster.nodes[0].cpu_max_per_instance = 2).await;
    assert_marked(
        &tenant.create(cpus(3)).await,
        "cpu_max_per_instance",
        false,
        "No nodes remaining at scheduling stage cpu_max_per_instance: \
         asked for 3 cpus, and one instance may have 2",
    );
}

#[tokio::test]
async fn is_hypervisor_is_permanent() {
    let tenant = Tenant::of_small(|cluster| cluster.nodes[0].is_hypervisor = false).await;
    assert_marked(
        &tenant.create(cpus(1)).await,
        "is_hypervisor",
        false,
        "No nodes remaining at scheduling stage is_hypervisor",
    );
}

#[tokio::test]
async fn pre_schedule_is_permanent() {
    let message = "No nodes remaining at scheduling stage pre_schedule";
    let tenant = Tenant::of_small(|cluster| cluster.nodes[0].up = false).await;
    assert_marked(&tenant.create(cpus(1)).await, "pre_schedule", false, message);
    let tenant = Tenant::of_small(|cluster| cluster.nodes.clear()).await;
    assert_marked(&tenant.create(cpus(1)).await, "pre_schedule", false, message);
}

#[tokio::test]
async fn a_stage_that_is_empty_is_unknown_and_permanent() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("capacity/hold", json!({ "stage": "" })).await;
    assert_marked(
        &tenant.create(cpus(1)).await,
        "unknown",
        false,
        "No nodes remaining at scheduling stage unknown: capacity is held",
    );
}

#[tokio::test]
async fn a_stage_in_neither_set_is_permanent() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("capacity/hold", json!({ "stage": "gpu_topology" })).await;
    assert_marked(
        &tenant.create(cpus(1)).await,
        "gpu_topology",
        false,
        "No nodes remaining at scheduling stage gpu_topology: capacity is held",
    );
}

/// No wait clears a quota: with enforcement on, a denial by `claim` is not called `capacity_guard`.
#[tokio::test]
async fn claim_quota_is_permanent() {
    let tenant = Tenant::of_small(|cluster| {
        cluster.claims.insert("tenant".into(), 2);
        cluster.enforce_claims = true;
    })
    .await;
    tenant.run(cpus(2)).await;
    assert_marked(
        &tenant.create(cpus(1)).await,
        "claim_quota",
        false,
        "no node had capacity for this instance, 1 candidates refused it",
    );
}

#[tokio::test]
async fn a_claim_that_is_not_enforced_refuses_nothing() {
    let tenant = Tenant::of_small(|cluster| {
        cluster.claims.insert("tenant".into(), 0);
    })
    .await;
    tenant.run(cpus(4)).await;
}

#[tokio::test]
async fn an_exhausted_network_is_a_plain_507() {
    let tenant = Tenant::of_small(|_| {}).await;
    let on_net = with(cpus(1), "network", json!([{ "network_uuid": "net" }]));
    tenant.create(on_net.clone()).await.assert_status(200);
    tenant.create(on_net.clone()).await.assert_status(200);
    assert_plain(&tenant.create(on_net).await, 507, "the network `net` has no free address");
}

#[tokio::test]
async fn an_address_in_use_is_a_plain_507() {
    let tenant = Tenant::of_small(|_| {}).await;
    let asked = with(cpus(1), "network", json!([{ "network_uuid": "net", "address": "10.0.0.2" }]));
    let created = tenant.create(asked.clone()).await;
    assert_eq!(created.assert_status(200).json()["network"], asked["network"]);
    assert_plain(&tenant.create(asked).await, 507, "the address 10.0.0.2 of the network `net` is in use");
}

#[tokio::test]
async fn an_affinity_that_cannot_be_satisfied_is_a_plain_409() {
    let message = "No nodes remaining at scheduling stage affinity_constraints";
    let tenant = Tenant::of_small(|_| {}).await;
    let together = with(cpus(1), "affinity", json!({ "together_with": ["web"] }));
    let apart = with(cpus(1), "affinity", json!({ "apart_from": ["web"] }));
    assert_plain(&tenant.create(together.clone()).await, 409, message);
    tenant.create(with(cpus(1), "tags", json!(["web"]))).await.assert_status(200);
    tenant.create(together.clone()).await.assert_status(200);
    assert_plain(&tenant.create(apart).await, 409, message);
    let other = tenant.server.authenticate("other").await;
    let reply = tenant.server.ask(&other, http::Method::POST, "/instances", &together).await;
    assert_plain(&reply, 409, message);
}

#[tokio::test]
async fn a_forced_node_that_is_unknown_is_a_plain_404() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.create(with(cpus(1), "placed_on", "node".into())).await.assert_status(200);
    let elsewhere = with(cpus(1), "placed_on", "nowhere".into());
    assert_plain(&tenant.create(elsewhere).await, 404, "node not found: nowhere");
}

#[tokio::test]
async fn a_network_that_is_not_ready_is_a_plain_406() {
    let tenant = Tenant::of_small(|_| {}).await;
    let on_net = with(cpus(1), "network", json!([{ "network_uuid": "net" }]));
    tenant.admin("networks/hold", json!({ "network": "net" })).await;
    assert_plain(&tenant.create(on_net.clone()).await, 406, "the network `net` is not ready");
    tenant.create(cpus(1)).await.assert_status(200);
    tenant.admin("networks/release", json!({})).await;
    tenant.create(on_net).await.assert_status(200);
}

/// RFC 9457: whoever accepts problem details gets the mark in them.
#[tokio::test]
async fn the_mark_is_in_problem_details_too() {
    let tenant = Tenant::of_small(|_| {}).await;
    tenant.admin("capacity/hold", json!({})).await;
    let request = Request::post("/instances")
        .header("authorization", format!("Bearer {}", tenant.token))
        .header("accept", "application/problem+json");
    let reply = tenant.server.send(request.body(Full::new(Bytes::from(cpus(1).to_string()))).unwrap()).await;
    assert_eq!(
        reply.assert_status(507).json(),
        json!({
            "title": "No capacity for this instance",
            "status": 507,
            "detail": "no node had capacity for this instance, 1 candidates refused it",
            "stage": "capacity_guard",
            "transient": true,
        })
    );
    assert_eq!(reply.all("retry-after"), ["15"]);
}
