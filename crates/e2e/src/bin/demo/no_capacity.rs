//! Two creations that a cluster has no capacity for: the lack of one passes, that of the other never will.

use std::sync::Arc;

use anyhow::{Context, ensure};
use e2e::{Exchange, Hub, Process, Scene, Stream, TOKEN, Tap};
use serde_json::Value;

use crate::page::Page;
use crate::waits::{honoured, told};

/// A cluster that one instance fills.
const CLUSTER: &str = "[[nodes]]\nname = \"node-1\"\ncpus = 4\ncpu_max_per_instance = 4\n";
/// What the cluster asks for here, in seconds: longer than it takes to get the capacity of a deleted instance back.
const CAPACITY_WAIT: &str = "2";
const RELEASE_DELAY: &str = "1";

/// Runs this part.
pub(crate) fn run(page: &Arc<Page>, scene: &Scene) -> anyhow::Result<()> {
    page.heading("A cluster that is full");
    page.say(
        "One node of 4 cpus. When it has none left, a creation is refused with 507, and the refusal says whether \
         that passes. Only then is there a Retry-After, and only who asks for it with --retry-transient-capacity \
         has the client wait.",
    );
    let file = scene.new_path("cluster.toml");
    std::fs::write(&file, CLUSTER).context("could not write the cluster's description")?;
    let file = file.to_str().context("the scene's folder has a name in UTF-8")?;
    let hub = scene.hub(&[
        "--cluster",
        file,
        "--retry-after-capacity",
        CAPACITY_WAIT,
        "--release-delay",
        RELEASE_DELAY,
        "--start-delay",
        "0.1",
    ])?;
    let quoting = Arc::clone(page);
    let tap = scene.tap(hub.address(), move |exchange| {
        if exchange.status() == Some(507) {
            quoting.event("the cluster answered:");
            quoting.quote(&told_by(exchange));
        }
    })?;
    let cluster = Cluster { page, scene, tap };

    let first = cluster.instance(&hub)?;
    page.event("fetch-client instance create first --cpus 4");
    let waiting = cluster.create("second", "4")?;
    waiting.line("that it waits", |line| line.stream == Stream::Err && line.text.starts_with('⏳'))?;
    cluster.delete(&hub, &first)?;
    page.event(&format!("somebody deletes the first one: its cpus are back in {RELEASE_DELAY} s"));
    let ended = waiting.wait()?;
    ensure!(ended.code() == Some(0), "the creation failed with {}", ended.status);
    let created: Value = serde_json::from_str(&ended.stdout).context("expected an instance")?;
    ensure!(created["state"] == "created", "expected a running instance, got {created}");
    page.event("created");
    let passed = cluster.asked();
    let (last, refused) = passed.split_last().context("expected a creation")?;
    ensure!(
        last.status() == Some(200),
        "expected the last request to be answered:\n{}",
        cluster.tap.trace().log()
    );
    ensure!(!refused.is_empty(), "expected a refusal:\n{}", cluster.tap.trace().log());
    ensure!(
        refused.iter().all(|exchange| is_transient(exchange) == Some(true)),
        "expected transient refusals"
    );
    let waits = honoured(&passed)?;

    let ended = cluster.create("too-large", "5")?.wait()?;
    ensure!(ended.code() == Some(3), "expected a failure, and it ended with {}", ended.status);
    let hopeless = &cluster.asked()[passed.len()..];
    let [only] = hopeless else {
        anyhow::bail!("expected one request, and {} came:\n{}", hopeless.len(), cluster.tap.trace().log())
    };
    ensure!(is_transient(only) == Some(false), "expected a refusal for ever: {}", only.text());
    let hints = only.answer.as_ref().map_or(0, |head| head.fields("retry-after").count());
    ensure!(hints == 0, "a refusal for ever has a Retry-After");

    page.heading("What to notice");
    page.point(&format!("The lack that passes was waited for: {}.", told(&waits)));
    page.point(
        "The lack that never passes cost one request and no wait, under the same option and the same status: what \
         decides is the member transient, never the text.",
    );
    Ok(())
}

struct Cluster<'a> {
    page: &'a Arc<Page>,
    scene: &'a Scene,
    tap: Tap,
}

impl Cluster<'_> {
    /// Fills the cluster, and returns the id of what does.
    fn instance(&self, hub: &Hub) -> anyhow::Result<String> {
        let url = hub.url("");
        let client = self.scene.client(self.scene.folder());
        let arguments = ["instance", "create", "first", "--cpus", "4", "--url", &url];
        let made = client.succeed(&[&arguments[..], &ACCESS].concat())?;
        let made: Value = serde_json::from_str(&made.stdout).context("expected an instance")?;
        Ok(made["uuid"].as_str().context("expected an instance with an id")?.to_owned())
    }

    fn delete(&self, hub: &Hub, id: &str) -> anyhow::Result<()> {
        let url = hub.url("");
        let client = self.scene.client(self.scene.folder());
        client.succeed(&[&["instance", "delete", id, "--url", &url][..], &ACCESS].concat()).map(drop)
    }

    /// Starts a creation that may wait, by way of the tap.
    fn create(&self, name: &str, cpus: &str) -> anyhow::Result<Process> {
        self.page.event(&format!("fetch-client instance create {name} --cpus {cpus}"));
        let url = format!("http://{}", self.tap.address());
        let live = Arc::clone(self.page);
        let arguments =
            ["instance", "create", name, "--cpus", cpus, "--retry-transient-capacity", "--url", &url];
        self.scene.client(self.scene.folder()).start_watched(
            &[&arguments[..], &ACCESS].concat(),
            move |line| {
                if line.stream == Stream::Err {
                    live.event(&line.text);
                }
            },
        )
    }

    /// The creations that came by way of the tap.
    fn asked(&self) -> Vec<Exchange> {
        self.tap.trace().of("POST /instances")
    }
}

const ACCESS: [&str; 4] = ["--namespace", "demo", "--key", TOKEN];

fn is_transient(exchange: &Exchange) -> Option<bool> {
    serde_json::from_slice::<Value>(&exchange.body).ok()?["transient"].as_bool()
}

/// The lines of a refusal that matter here, its body one member a line.
fn told_by(exchange: &Exchange) -> String {
    let Some(head) = &exchange.answer else { return String::new() };
    let hint = head.field("retry-after").map(|hint| format!("retry-after: {hint}\n")).unwrap_or_default();
    let body = serde_json::from_slice::<Value>(&exchange.body).map(|body| format!("{body:#}"));
    format!("{}\n{hint}\n{}", head.first_line(), body.unwrap_or_else(|_| exchange.text()))
}
