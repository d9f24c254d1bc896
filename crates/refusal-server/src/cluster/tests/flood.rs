//! Many at once: nothing is promised twice, and nothing is lost.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::stream::{self, iter};
use http::Method;
use serde_json::{Value, json};

use super::{Tenant, cpus, with};

/// Creates `count` instances, 64 at once; how many answers there were of each status and stage.
async fn flood(tenant: &Arc<Tenant>, count: usize, request: &Value) -> BTreeMap<String, usize> {
    let one = |_| {
        let (tenant, request) = (Arc::clone(tenant), request.clone());
        // A task each, so that several threads serve them at the same time.
        tokio::spawn(async move { tenant.create(request).await })
    };
    let mut answers = BTreeMap::new();
    let mut replies = stream::StreamExt::buffer_unordered(iter(0..count).map(one), 64);
    while let Some(reply) = replies.next().await {
        let reply = reply.unwrap();
        let stage = reply.json()["stage"].as_str().unwrap_or("-").to_owned();
        *answers.entry(format!("{} {stage}", reply.status.as_u16())).or_default() += 1;
    }
    answers
}

/// 64 requests at once, all refused by the guard: record, addresses and ledger are as they were.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn refusals_at_the_same_time_commit_nothing() {
    let tenant =
        Arc::new(Tenant::of_small(|cluster| cluster.networks[0].last = [10, 0, 0, 254].into()).await);
    tenant.run(cpus(1)).await;
    tenant.admin("capacity/hold", json!({})).await;
    let before = tenant.committed().await;
    let request = with(cpus(1), "network", json!([{ "network_uuid": "net" }]));
    let answers = flood(&tenant, 64, &request).await;
    assert_eq!(answers, BTreeMap::from([("507 capacity_guard".to_owned(), 64)]));
    assert_eq!(tenant.committed().await, before);
}

/// As many as there is room for are admitted, whatever the order, and the others refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_at_once_exactly_those_are_admitted_that_there_is_room_for() {
    let tenant = Arc::new(
        Tenant::of_small(|cluster| {
            cluster.nodes[0].cpus = 10;
            cluster.networks[0].last = [10, 0, 0, 254].into();
        })
        .await,
    );
    let request = with(cpus(1), "network", json!([{ "network_uuid": "net" }]));
    let answers = flood(&tenant, 64, &request).await;
    assert_eq!(answers["200 -"], 10);
    let refused = ["507 capacity_guard", "507 sufficient_idle_cpu", "507 queue_state"];
    assert_eq!(refused.iter().filter_map(|kind| answers.get(*kind)).sum::<usize>(), 54, "{answers:?}");
    let status = tenant.status().await;
    assert_eq!((&status["promises"], &status["networks"][0]["used"]), (&10.into(), &10.into()));
    assert_eq!(tenant.get("/nodes").await.json()[0]["promised"]["cpus"], 10);
    assert_eq!(tenant.get("/instances").await.json().as_array().unwrap().len(), 10);
}

/// 2,000 creations against a full cluster: every answer is a documented one, and the ledger is exact
/// afterwards, down to nothing when everything is deleted.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_flood_against_a_full_cluster_changes_nothing() {
    let tenant = Arc::new(Tenant::of_small(|_| {}).await);
    let mut running = Vec::new();
    for _ in 0..4 {
        running.push(tenant.run(cpus(1)).await);
    }
    let before = tenant.committed().await;
    let answers = flood(&tenant, 2_000, &cpus(1)).await;
    assert_eq!(answers, BTreeMap::from([("507 sufficient_idle_cpu".to_owned(), 2_000)]));
    assert_eq!(tenant.committed().await, before);
    for id in running {
        tenant.ask(Method::DELETE, &format!("/instances/{id}"), &Value::Null).await.assert_status(200);
    }
    tenant.wait_until(async || tenant.status().await, |status| status["promises"] == 0).await;
    let nothing = json!({ "cpus": 0, "memory": 0, "disk": 0, "disks": 0 });
    let node = tenant.get("/nodes").await.json()[0].clone();
    assert_eq!((&node["promised"], &node["measured"]), (&nothing, &nothing));
}
