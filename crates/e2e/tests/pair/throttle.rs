//! 429 by a bucket of tokens: clients that are refused at once come back at instants of their own.

use std::time::Duration;

use e2e::{Exchange, Scene, ask};

use crate::scene;

/// The clients' name on the wire.
const NAME: &str = "x-client";

/// Starts a `get` for each name by way of a tap, waits for all, and returns what each sent.
fn get_at_once(scene: &Scene, server: &[&str], names: &[String]) -> Vec<Vec<Exchange>> {
    let hub = scene.hub(server).unwrap();
    let (head, _) = ask(hub.address(), "GET /throttle/key", "").unwrap();
    assert_eq!(head.status(), Some(200), "the bucket was full");
    let tap = scene.tap(hub.address(), |_| {}).unwrap();
    let url = format!("http://{}/throttle/key", tap.address());
    let clients: Vec<_> = names
        .iter()
        .map(|name| {
            let header = format!("{NAME}: {name}");
            scene.client(scene.folder()).start(&["get", &url, "--header", &header]).unwrap()
        })
        .collect();
    for client in clients {
        let ended = client.wait().unwrap();
        assert_eq!(
            (ended.code(), ended.stdout.trim_end()),
            (Some(0), r#"{"key":"key"}"#),
            "{}",
            ended.stderr
        );
    }
    let exchanges = tap.trace().exchanges();
    let of = |name: &String| {
        let is_its = |exchange: &&Exchange| exchange.request.field(NAME) == Some(name.as_str());
        exchanges.iter().filter(is_its).cloned().collect()
    };
    names.iter().map(of).collect()
}

/// The seconds that each refusal told, after a check that the client was not back before.
#[track_caller]
fn honoured(exchanges: &[Exchange]) -> Vec<u64> {
    let told = exchanges.windows(2).map(|pair| {
        assert_eq!(pair[0].status(), Some(429));
        let hints: Vec<_> = pair[0].answer.as_ref().unwrap().fields("retry-after").collect();
        let [hint] = hints[..] else { panic!("expected one Retry-After, got {hints:?}") };
        let told = hint.parse().unwrap();
        let wait = pair[1].arrived - pair[0].answered.unwrap();
        assert!(wait >= Duration::from_secs(told), "told {told} s, back after {wait:?}");
        told
    });
    told.collect()
}

/// F39: one client, one refusal, one wait.
#[test]
fn a_client_that_obeys_is_admitted_at_its_second_request() {
    let scene = scene();
    // Five seconds to start the client in; the wait is what is left of them.
    let server = ["--throttle-per-second=0.2", "--throttle-burst=1"];
    let of = get_at_once(&scene, &server, &["one".to_owned()]);
    assert_eq!(honoured(&of[0]).len(), 1);
}

/// F43: however many come at once, each is admitted in the end and none comes early.
#[test]
fn clients_that_are_refused_at_once_are_told_different_instants() {
    let scene = scene();
    let names: Vec<_> = (0..3).map(|number| number.to_string()).collect();
    let of = get_at_once(&scene, &["--throttle-per-second=0.5", "--throttle-burst=1"], &names);
    let waits: Vec<_> = of.iter().map(|exchanges| honoured(exchanges)).collect();
    // The first refusals were answered at different instants and by a bucket that fills: what is told to the last
    // one of them is a later instant than what is told to the first.
    let mut due: Vec<_> = of
        .iter()
        .zip(&waits)
        .filter(|(_, told)| !told.is_empty())
        .map(|(exchanges, told)| exchanges[0].answered.unwrap() + Duration::from_secs(told[0]))
        .collect();
    due.sort();
    assert!(due.len() >= 2, "expected refusals: {waits:?}");
    let apart = due[due.len() - 1] - due[0];
    assert!(apart > Duration::from_secs(1), "all were told the same instant: {due:?}");
}

/// A key that is none is no reason to come back.
#[test]
fn a_key_that_is_none_is_refused_once() {
    let scene = scene();
    let hub = scene.hub(&[]).unwrap();
    let tap = scene.tap(hub.address(), |_| {}).unwrap();
    let url = format!("http://{}/throttle/no%20key", tap.address());
    let ended = scene.client(scene.folder()).run(&["get", &url]).unwrap();
    assert_ne!(ended.code(), Some(0), "{}", ended.stderr);
    let statuses: Vec<_> = tap.trace().exchanges().iter().map(Exchange::status).collect();
    assert_eq!(statuses, [Some(422)]);
}
