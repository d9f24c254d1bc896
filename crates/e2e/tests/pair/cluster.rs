//! 507 for want of capacity: it is waited out where it passes and where that was asked for, and nowhere else.

use std::time::Duration;

use e2e::{Client, Exchange, Hub, Process, Scene, Stream, TOKEN, Tap};
use serde_json::Value;

use crate::scene;

const ACCESS: [&str; 4] = ["--namespace", "demo", "--key", TOKEN];
const WAITING: &str = "⏳ no capacity: ";

/// A cluster of one node with 4 cpus, which `first` fills.
struct Full<'a> {
    client: Client<'a>,
    hub: Hub,
    tap: Tap,
    first: String,
}

impl<'a> Full<'a> {
    fn new(scene: &'a Scene) -> Self {
        let file = scene.new_path("cluster.toml");
        std::fs::write(&file, "[[nodes]]\nname = \"node-1\"\ncpus = 4\ncpu_max_per_instance = 4\n").unwrap();
        let hub = scene
            .hub(&[
                "--cluster",
                file.to_str().unwrap(),
                "--retry-after-capacity=1",
                "--release-delay=0.5",
                "--start-delay=0.1",
            ])
            .unwrap();
        let tap = scene.tap(hub.address(), |_| {}).unwrap();
        let client = scene.client(scene.folder());
        let url = hub.url("");
        let arguments = ["instance", "create", "first", "--cpus", "4", "--url", &url];
        let made = client.succeed(&[&arguments[..], &ACCESS].concat()).unwrap();
        let made: Value = serde_json::from_str(&made.stdout).unwrap();
        Self { first: made["uuid"].as_str().unwrap().to_owned(), client, hub, tap }
    }

    fn create(&self, cpus: &str, options: &[&str]) -> Process {
        let url = format!("http://{}", self.tap.address());
        let arguments = ["instance", "create", "second", "--cpus", cpus, "--url", &url];
        self.client.start(&[&arguments[..], &ACCESS, options].concat()).unwrap()
    }

    fn delete_first(&self) {
        let url = self.hub.url("");
        let arguments = ["instance", "delete", &self.first, "--url", &url];
        self.client.succeed(&[&arguments[..], &ACCESS].concat()).unwrap();
    }

    fn creations(&self) -> Vec<Exchange> {
        self.tap.trace().of("POST /instances")
    }
}

fn statuses(exchanges: &[Exchange]) -> Vec<u16> {
    exchanges.iter().map(|exchange| exchange.status().unwrap()).collect()
}

/// The hint and the release delay against each other: what is deleted during the wait is there after it.
#[test]
fn a_creation_waits_for_capacity_that_is_released() {
    let scene = scene();
    let full = Full::new(&scene);
    let creating = full.create("4", &["--retry-transient-capacity"]);
    creating.line("a wait", |line| line.stream == Stream::Err && line.text.starts_with(WAITING)).unwrap();
    full.delete_first();
    let ended = creating.wait().unwrap();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let created: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(created["state"], "created");

    let creations = full.creations();
    let (last, refused) = creations.split_last().unwrap();
    assert_eq!(last.status(), Some(200));
    assert!(!refused.is_empty());
    for pair in creations.windows(2) {
        assert_eq!(pair[0].status(), Some(507));
        let body: Value = serde_json::from_slice(&pair[0].body).unwrap();
        assert_eq!((&body["transient"], &body["stage"]), (&true.into(), &"sufficient_idle_cpu".into()));
        assert_eq!(pair[0].answer.as_ref().unwrap().fields("retry-after").collect::<Vec<_>>(), ["1"]);
        let wait = pair[1].arrived - pair[0].answered.unwrap();
        assert!(wait >= Duration::from_secs(1), "came back after {wait:?}");
    }
}

/// Five cpus on nodes of four: one request, whatever was asked for.
#[test]
fn a_creation_that_never_fits_is_refused_once() {
    let scene = scene();
    let full = Full::new(&scene);
    let ended = full.create("5", &["--retry-transient-capacity"]).wait().unwrap();
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("waiting does not help (stage cpu_max_per_instance)"), "{}", ended.stderr);
    let creations = full.creations();
    assert_eq!(statuses(&creations), [507]);
    assert_eq!(creations[0].answer.as_ref().unwrap().field("retry-after"), None);
}

/// Without the option a refusal that passes is told, with its advice, and not waited out.
#[test]
fn a_creation_that_did_not_opt_in_is_refused_once() {
    let scene = scene();
    let full = Full::new(&scene);
    let ended = full.create("4", &[]).wait().unwrap();
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    assert!(ended.stderr.contains("or with --retry-transient-capacity"), "{}", ended.stderr);
    assert_eq!(statuses(&full.creations()), [507]);
}

/// Nobody deletes anything: five attempts, and the cluster's own last words.
#[test]
fn a_creation_gives_up_after_five_attempts() {
    let scene = scene();
    let full = Full::new(&scene);
    let ended = full.create("4", &["--retry-transient-capacity"]).wait().unwrap();
    assert_eq!(ended.code(), Some(3), "{}", ended.stderr);
    assert_eq!(statuses(&full.creations()), [507; 5]);
    assert_eq!(ended.stderr.matches(WAITING).count(), 4, "{}", ended.stderr);
}
