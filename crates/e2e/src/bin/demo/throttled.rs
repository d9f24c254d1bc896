//! Two clients at once of something that admits fewer.

use std::sync::Arc;

use anyhow::ensure;
use e2e::{Exchange, Scene, Stream};

use crate::page::Page;
use crate::waits::{honoured, told};

/// A token in 1.43 s, and two at most: time enough to start two clients, and room for their jitter.
const PER_SECOND: &str = "0.7";
const BURST: usize = 2;
/// What tells the clients apart on the wire.
const NAME: &str = "x-client";
const CLIENTS: [&str; 2] = ["one", "two"];

/// Runs this part.
pub(crate) fn run(page: &Arc<Page>, scene: &Scene) -> anyhow::Result<()> {
    page.heading("A throttle, and two clients at once");
    page.say(&format!(
        "{PER_SECOND} requests a second are admitted, {BURST} at once after a rest; the bucket has just been emptied. Both \
         clients are refused with 429, and each is told an instant of its own.",
    ));
    let hub = scene.hub(&["--throttle-per-second", PER_SECOND, "--throttle-burst", &BURST.to_string()])?;
    let tap = scene.tap(hub.address(), |_| {})?;
    for _ in 0..BURST {
        let (head, body) = e2e::ask(hub.address(), "GET /throttle/demo", "")?;
        ensure!(head.status() == Some(200), "the bucket was not full: {body}");
    }
    let url = format!("http://{}/throttle/demo", tap.address());
    page.event("fetch-client get, twice at once");
    let started: Vec<_> = CLIENTS
        .iter()
        .map(|name| {
            let live = Arc::clone(page);
            let header = format!("{NAME}: {name}");
            scene.client(scene.folder()).start_watched(&["get", &url, "--header", &header], move |line| {
                if line.stream == Stream::Err {
                    live.event(&format!("{name}: {}", line.text));
                }
            })
        })
        .collect::<Result<_, _>>()?;
    for (name, client) in CLIENTS.iter().zip(started) {
        let ended = client.wait()?;
        ensure!(ended.code() == Some(0), "the client {name} failed with {}", ended.status);
        page.event(&format!("{name}: {}", ended.stdout.trim_end()));
    }

    let exchanges = tap.trace().exchanges();
    page.heading("What to notice");
    let mut refused = 0;
    for name in CLIENTS {
        let of_it: Vec<Exchange> =
            exchanges.iter().filter(|exchange| exchange.request.field(NAME) == Some(name)).cloned().collect();
        let waits = honoured(&of_it)?;
        let last = of_it.last().and_then(Exchange::status);
        ensure!(last == Some(200), "the client {name} was not admitted:\n{}", tap.trace().log());
        let was_refused = |exchange: &Exchange| exchange.status() == Some(429);
        ensure!(of_it[..waits.len()].iter().all(was_refused), "expected refusals:\n{}", tap.trace().log());
        refused += waits.len();
        let what = if waits.is_empty() { "admitted at once".to_owned() } else { told(&waits) };
        page.point(&format!("Client {name}: {what}."));
    }
    ensure!(refused > 0, "expected a refusal:\n{}", tap.trace().log());
    page.point(
        "Neither came early, and neither took the other's turn: the server spreads whom it refuses over the instants \
         at which it will have a token, and the client adds its jitter after the instant, never before.",
    );
    Ok(())
}
