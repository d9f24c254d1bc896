//! What the tests of every room need: a server on a real socket, a plain client, and packs to push.

mod client;
mod document;
mod forged;
mod history;

use std::ops::Deref;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{Config, Running, Secret, Server};

pub(crate) use client::{Client, Reply};
pub(crate) use document::Published;
pub(crate) use forged::{forged, sealed};
pub(crate) use history::{History, Pushed};

/// The token that test servers admit.
pub(crate) const TOKEN: &str = "secret";

/// A server of its own for one test, with its data in a folder that goes away with it.
pub(crate) struct TestServer {
    client: Client,
    pub(crate) running: Running,
    data: TempDir,
}

impl TestServer {
    /// A server with all jobs held, so that a test decides when each runs.
    pub(crate) async fn held() -> Self {
        Self::start(|config| config.hub.held = crate::JobKind::ALL.to_vec()).await
    }

    pub(crate) async fn start(change: impl FnOnce(&mut Config)) -> Self {
        Self::start_in(tempfile::tempdir().unwrap(), change).await
    }

    pub(crate) async fn start_in(data: TempDir, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(data.path());
        config.dev_token = Some(Secret::new(TOKEN));
        change(&mut config);
        let running = Server::bind(config).await.unwrap();
        Self { client: Client::new(running.address()), running, data }
    }

    /// Ends the server in good order and hands back its data.
    pub(crate) async fn stop(self) -> TempDir {
        self.running.shutdown().await;
        self.data
    }

    pub(crate) fn data(&self) -> &std::path::Path {
        self.data.path()
    }
}

impl Deref for TestServer {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Client {
    /// Pushes to `/owner/slug`, all three steps, and returns the answer of the last.
    pub(crate) async fn push(&self, pushed: &Pushed) -> Reply {
        self.push_to("/owner/slug", pushed, false).await
    }

    pub(crate) async fn push_to(&self, repository: &str, pushed: &Pushed, force: bool) -> Reply {
        self.upload_to(repository, pushed).await.assert_status(201);
        self.unpack(repository, pushed, force).await
    }

    pub(crate) async fn upload_to(&self, repository: &str, pushed: &Pushed) -> Reply {
        let url = self.presign(repository, pushed).await;
        self.put(&url, pushed.pack.clone()).await
    }

    pub(crate) async fn presign(&self, repository: &str, pushed: &Pushed) -> String {
        let body = json!({ "mpack_id": pushed.mpack_id, "size": pushed.pack.len(), "public": true });
        let reply = self.post_authorised(&format!("{repository}/push/mpack-presign"), &body).await;
        reply.assert_status(200);
        reply.json()["upload_url"].as_str().unwrap().to_owned()
    }

    pub(crate) async fn unpack(&self, repository: &str, pushed: &Pushed, force: bool) -> Reply {
        let body = json!({
            "mpack_id": pushed.mpack_id, "branch": pushed.branch, "head": pushed.head, "force": force,
        });
        self.post_authorised(&format!("{repository}/push/unpack-mpack"), &body).await
    }

    pub(crate) async fn fetch(&self, want: &[hub_protocol::Id], have: &[hub_protocol::Id]) -> Reply {
        self.post("/owner/slug/fetch/mpack", &json!({ "want": want, "have": have })).await
    }

    pub(crate) async fn hold(&self, kind: &str) {
        self.post("/_admin/jobs/hold", &json!({ "kind": kind })).await.assert_status(200);
    }

    pub(crate) async fn release(&self, kind: &str) {
        self.post("/_admin/jobs/release", &json!({ "kind": kind })).await.assert_status(200);
    }

    pub(crate) async fn jobs(&self) -> Vec<Value> {
        self.get("/_admin/jobs").await.json()["jobs"].as_array().unwrap().clone()
    }

    /// Waits until `is_so` holds of the queue. Nothing rings for a test, so it looks again every few
    /// milliseconds, and gives up after a time that no job of a test comes near.
    pub(crate) async fn wait_for_jobs(&self, is_so: impl Fn(&[Value]) -> bool) -> Vec<Value> {
        for _ in 0..6_000 {
            let jobs = self.jobs().await;
            if is_so(&jobs) {
                return jobs;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        panic!("the queue did not come to what was expected: {:#?}", self.jobs().await);
    }

    /// Waits until the first job of this kind is in this state.
    pub(crate) async fn wait_for(&self, kind: &str, state: &str) {
        self.wait_for_jobs(|jobs| {
            jobs.iter().rfind(|job| job["kind"] == kind).is_some_and(|job| job["state"] == state)
        })
        .await;
    }
}
