//! What a creation may not say, and what it is told then.

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use serde_json::json;

use super::{Tenant, assert_plain, cpus, with};

#[tokio::test]
async fn all_faults_are_reported_at_once() {
    let tenant = Tenant::of_small(|_| {}).await;
    let request = json!({
        "cpus": 0,
        "memory": "much",
        "disk": [{ "size": 8 }, { "size": -1, "bus": "virtio" }, 7],
        "network": [
            { "network_uuid": "" },
            { "address": null },
            { "network_uuid": "net", "address": "10.0.0.300" },
        ],
        "placed_on": "a/b",
        "tags": ["ok", "-"],
        "affinity": { "with": [] },
        "namespace": "x",
    });
    let faults = [
        "name: expected 1 to 63 letters, digits and inner dashes or dots, got nothing",
        "cpus: expected a whole number from 1 to 2147483647, got 0",
        "memory: expected a whole number from 1 to 2147483647, got \"much\"",
        "disk[1].size: expected a whole number from 1 to 2147483647, got -1",
        "disk[1].bus: no such field",
        "disk[2]: expected a JSON object, got 7",
        "disk[2].size: expected a whole number from 1 to 2147483647, got nothing",
        "network[0].network_uuid: expected 1 to 63 letters, digits and inner dashes or dots, got \"\"",
        "network[1].network_uuid: expected 1 to 63 letters, digits and inner dashes or dots, got nothing",
        "network[2].address: expected an IPv4 address, got \"10.0.0.300\"",
        "placed_on: expected 1 to 63 letters, digits and inner dashes or dots, got \"a/b\"",
        "tags[1]: expected 1 to 63 letters, digits and inner dashes or dots, got \"-\"",
        "affinity.with: no such field",
        "namespace: no such field",
    ];
    assert_plain(&tenant.create(request).await, 400, &faults.join("; "));
}

#[tokio::test]
async fn a_body_that_is_no_json_object_is_400() {
    let tenant = Tenant::of_small(|_| {}).await;
    let send = async |body: &'static [u8]| {
        let request = Request::post("/instances").header("authorization", format!("Bearer {}", tenant.token));
        tenant.server.send(request.body(Full::new(Bytes::from_static(body))).unwrap()).await
    };
    for body in [b"".as_slice(), b"{", b"\xff", b"{} {}"] {
        let reply = send(body).await;
        let text = reply.json()["error"].as_str().unwrap().to_owned();
        assert!(text.starts_with("the body is not JSON: "), "{text}");
        assert_plain(&reply, 400, &text);
    }
    for body in [b"[]".as_slice(), b"null", b"7"] {
        let reply = send(body).await;
        reply.assert_status(400);
        assert!(reply.text().contains("expected a JSON object"), "{}", reply.text());
    }
}

#[tokio::test]
async fn numbers_that_no_machine_has_are_refused_before_they_are_added() {
    let tenant = Tenant::of_small(|_| {}).await;
    for number in ["2147483648", "1.5", "18446744073709551616", "1e300", "-1.0", "0.0", "-0.0"] {
        let size = serde_json::from_str::<serde_json::Value>(number).unwrap();
        tenant.create(with(cpus(1), "memory", size)).await.assert_status(400);
    }
    // What JSON Schema calls an integer is one.
    tenant.create(with(cpus(1), "memory", json!(1.0))).await.assert_status(200);
    let disk = vec![json!({ "size": i32::MAX }); 16];
    tenant.create(with(cpus(1), "disk", disk.into())).await.assert_status(507);
}

/// A document made of faults is not answered with a longer one.
#[tokio::test]
async fn of_many_faults_the_first_are_told_and_the_rest_counted() {
    let tenant = Tenant::of_small(|_| {}).await;
    let mut request = cpus(1);
    for number in 0..1_000 {
        request[format!("{number:0200}")] = 0.into();
    }
    let reply = tenant.create(request).await;
    reply.assert_status(400);
    assert!(reply.text().contains("; and 984 more"), "{}", reply.text());
    assert!(reply.body.len() < 2_000);
}

#[tokio::test]
async fn a_path_that_is_no_id_names_no_instance_and_a_wrong_method_is_405_in_the_same_shape() {
    let tenant = Tenant::of_small(|_| {}).await;
    for id in ["x", "%ff", "00000000000000000000000000000000", "../nodes"] {
        let reply = tenant.get(&format!("/instances/{}", id.replace('/', "%2f"))).await;
        assert_plain(&reply, 404, "instance not found");
    }
    let reply = tenant.ask(http::Method::PATCH, "/instances", &json!({})).await;
    assert_plain(&reply, 405, "this path does not answer this method");
    assert_eq!(reply.all("allow").len(), 1);
}

/// A body over the cap is refused in the room's own shape.
#[tokio::test]
async fn a_body_that_is_too_long_is_413() {
    let tenant = Tenant::of_small(|_| {}).await;
    let reply = tenant.create(with(cpus(1), "name", "x".repeat(1 << 20).into())).await;
    assert_plain(&reply, 413, "expected a JSON body of at most 1048576 bytes, and more came");
}

/// A document without fault that asks for what is not there.
#[tokio::test]
async fn a_network_that_does_not_exist_is_404_and_an_address_that_it_does_not_have_409() {
    let tenant = Tenant::of_small(|_| {}).await;
    let on = |interface| with(cpus(1), "network", json!([interface]));
    let reply = tenant.create(on(json!({ "network_uuid": "nowhere" }))).await;
    assert_plain(&reply, 404, "network not found: nowhere");
    let reply = tenant.create(on(json!({ "network_uuid": "net", "address": "10.0.0.9" }))).await;
    let text = "the network `net` has the addresses 10.0.0.1 to 10.0.0.2, and 10.0.0.9 was asked for";
    assert_plain(&reply, 409, text);
}
