//! `instance`: the program against the real server.

use std::time::Duration;

use refusal_server::{Config, RetryAfter, Running, Secret, Server};
use serde_json::Value;
use tempfile::TempDir;

use crate::program::{Ran, command, finish};

struct Served {
    running: Running,
    folder: TempDir,
}

impl Served {
    async fn start(change: impl FnOnce(&mut Config)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut config = Config::new(folder.path());
        config.dev_token = Some(Secret::new("secret"));
        config.cluster.start_delay = Duration::ZERO;
        change(&mut config);
        Self { running: Server::bind(config).await.expect("a server"), folder }
    }

    async fn run(&self, arguments: &[&str]) -> Ran {
        let mut command = command(self.folder.path(), &[&["instance"], arguments].concat());
        command
            .env("CLUSTER_URL", self.running.url())
            .env("CLUSTER_NAMESPACE", "me")
            .env("CLUSTER_KEY", "secret");
        finish(command).await
    }
}

fn json(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|error| panic!("{error}: {ran:?}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_instance_is_created_shown_listed_and_deleted() {
    let server = Served::start(|_| {}).await;
    let created = server
        .run(&[
            "create",
            "web-1",
            "--cpus",
            "2",
            "--disk",
            "8",
            "--network",
            "default=10.0.0.9",
            "--tag",
            "web",
        ])
        .await;
    assert_eq!(created.code, Some(0), "{created:?}");
    let instance = json(&created);
    assert_eq!((&instance["state"], &instance["cpus"]), (&"created".into(), &2.into()));
    assert_eq!(instance["network"][0]["address"], "10.0.0.9");
    let id = instance["uuid"].as_str().expect("an id");
    assert_eq!(json(&server.run(&["get", id]).await), instance);
    assert_eq!(json(&server.run(&["list"]).await), Value::from(vec![instance.clone()]));
    assert_eq!(json(&server.run(&["delete", id]).await)["state"], "deleted");
    let gone = server.run(&["get", id]).await;
    assert_eq!(gone.code, Some(1), "{gone:?}");
    assert!(gone.err.ends_with("answered 404: instance not found\n"), "{gone:?}");
}

/// One request, its refusal in hand, and what to do about it.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_says_whether_to_wait_or_to_ask_for_less() {
    let server = Served::start(|_| {}).await;
    let full = server.run(&["create", "it", "--memory", "99999"]).await;
    assert_eq!((full.code, full.out.as_str()), (Some(3), ""));
    let advice = "; it may pass (stage sufficient_idle_memory): ask again later, or with \
                  --retry-transient-capacity\n";
    assert!(full.err.ends_with(advice), "{full:?}");
    let large = server.run(&["create", "it", "--cpus", "99", "--retry-transient-capacity"]).await;
    assert_eq!((large.code, large.waiting_lines().len()), (Some(3), 0));
    let advice =
        "; waiting does not help (stage cpu_max_per_instance): ask for less, or for something else\n";
    assert!(large.err.ends_with(advice), "{large:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn who_opts_in_waits_as_the_server_asks_and_within_the_timeout() {
    let server = Served::start(|config| {
        config.cluster.retry_after = RetryAfter::seconds(1);
        config.cluster.release_delay = Duration::ZERO;
    })
    .await;
    let arguments = ["create", "it", "--memory", "99999", "--retry-transient-capacity", "--timeout", "1.5"];
    let refused = server.run(&arguments).await;
    assert_eq!((refused.code, refused.waiting_lines().len()), (Some(3), 2), "{refused:?}");
    assert!(refused.err.contains("(3 attempts, 1.5 s waited)"), "{refused:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_the_command_line_is_said_before_anything_is_asked() {
    let server = Served::start(|_| {}).await;
    for (arguments, text) in [
        (vec!["get", "../nodes"], "expected the id of an instance"),
        (vec!["list", "--url", "ftp://host"], "expected the address of a cluster"),
        (vec!["list", "--timeout", "soon"], "--timeout: expected a number of seconds"),
        (vec!["list", "--key", "wrong"], "the key does not open the namespace `me`"),
        (vec!["create", "a b"], "name: expected 1 to 63 letters"),
    ] {
        let ran = server.run(&arguments).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{ran:?}");
        assert!(ran.err.contains(text), "{ran:?}");
    }
}
