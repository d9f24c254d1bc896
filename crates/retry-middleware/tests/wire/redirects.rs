//! Windows belong to the responder (E9).

use retry_core::{Reason, profiles};
use retry_middleware::{Destination, Key, RetryMiddleware};

use crate::faces::reqwest_client;
use crate::responder::{Reply, Responder};

/// E9, F23: what B asked is recorded under B and never holds A.
#[tokio::test]
async fn middleware_records_under_the_effective_url() {
    let b = Responder::start(|_, _| Reply::refuse(503, 900)).await;
    let to = b.url("/there");
    let a = Responder::start(move |earlier, _| match earlier {
        0 => Reply::new(302, &format!("Location: {to}\r\n"), ""),
        _ => Reply::ok(),
    })
    .await;
    let client = reqwest_middleware::ClientBuilder::new(reqwest_client())
        .with(RetryMiddleware::new(profiles::RECOMMENDED))
        .build();
    let refused = client.get(a.url("/here")).send().await.unwrap();
    assert_eq!((refused.status().as_u16(), refused.url().as_str()), (503, b.url("/there").as_str()));
    let report = refused.extensions().get::<retry_middleware::Report>().unwrap();
    assert_eq!(report.reason(), Some(Reason::HintAboveCeiling));

    assert_eq!(client.get(a.url("/here")).send().await.unwrap().status(), 200);
    let held = client.get(b.url("/there")).send().await.unwrap_err();
    assert!(held.to_string().contains("/there answered 503"), "{held}");
    assert_eq!((a.count(), b.count()), (2, 1));
}

/// E9: the caller's function may tell tenants apart, and join paths.
#[tokio::test]
async fn a_credential_can_be_made_part_of_the_key() {
    let server =
        Responder::start(|earlier, _| if earlier == 0 { Reply::refuse(503, 900) } else { Reply::ok() }).await;
    let by_tenant = |destination: &Destination<'_>| {
        let tenant = destination.headers.get("x-tenant").and_then(|tenant| tenant.to_str().ok());
        Key::new(format!("{} of {}", destination.host, tenant.unwrap_or("nobody")))
    };
    let client = reqwest_middleware::ClientBuilder::new(reqwest_client())
        .with(RetryMiddleware::new(profiles::RECOMMENDED).with_key(by_tenant))
        .build();
    let get = |tenant: &'static str, path| client.get(server.url(path)).header("x-tenant", tenant).send();
    assert_eq!(get("one", "/a").await.unwrap().status(), 503);
    assert_eq!(get("two", "/a").await.unwrap().status(), 200);
    let held = get("one", "/b").await.unwrap_err().to_string();
    assert!(held.contains("127.0.0.1 of one answered 503"), "{held}");
}

/// E9: no userinfo, no query, no fragment; http apart from https; the port always there; of the path alone the
/// case counts.
#[test]
fn the_default_key_is_scheme_host_port_and_path() {
    let headers = http::HeaderMap::new();
    let key = |scheme, port| {
        Key::of(&Destination { scheme, host: "example.com", port, path: "/a", headers: &headers })
    };
    insta::assert_snapshot!(key("http", 80), @"http://example.com:80/a");
    assert_ne!(key("http", 80), key("https", 80));
    assert_ne!(key("https", 443), key("https", 8_443));
    let shouted =
        Destination { scheme: "HTTP", host: "Example.COM", port: 80, path: "/A", headers: &headers };
    insta::assert_snapshot!(Key::of(&shouted), @"http://example.com:80/A");
}
