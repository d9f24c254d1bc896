//! Jobs that fail, servers that end in the middle.

use std::path::PathBuf;

use hub_protocol::Id;
use serde_json::json;

use super::{INDEX, PREBUILD};
use crate::testing::{History, TestServer};

/// The one uploaded pack of a server.
fn upload_of(server: &TestServer) -> PathBuf {
    let uploads = std::fs::read_dir(server.data().join("uploads")).unwrap();
    uploads.map(|entry| entry.unwrap().path()).find(|path| path.extension().is_none()).unwrap()
}

/// A pack that went bad on the disk: the job fails with the reason, the fetch says so instead of promising
/// anything, other repositories go on, and a good upload mends it.
#[tokio::test]
async fn a_failed_index_job_is_told_and_can_be_mended() {
    let server = TestServer::start(|config| config.hub.held = vec![crate::JobKind::Index]).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    std::fs::write(upload_of(&server), &pushed.pack[..pushed.pack.len() - 40]).unwrap();
    server.release(INDEX).await;
    server.wait_for(INDEX, "failed").await;

    let job = &server.jobs().await[0];
    let error = job["error"].as_str().unwrap();
    assert!(
        error.starts_with(&format!("could not index the pack {}: the pack is cut off", pushed.mpack_id)),
        "{error}"
    );
    assert_eq!(job["attempts"], 1);
    let refused = server.fetch(&[pushed.head], &[]).await;
    refused.assert(500, &format!("1 of the objects could not be indexed: {error}"));
    assert_eq!(refused.all("retry-after"), [""; 0]);

    let (_, elsewhere) = History::of_one_commit("elsewhere");
    server.push_to("/owner/other", &elsewhere, false).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;

    server.push(&pushed).await.assert_status(200);
    server.wait_for_jobs(|jobs| jobs.len() == 4 && jobs.iter().all(|job| job["state"] == "done")).await;
    server.fetch(&[pushed.head], &[]).await.assert_status(200);
}

/// What is not indexed holds back the prebuild, even when another pack of the repository went well.
#[tokio::test]
async fn nothing_is_prebuilt_while_objects_are_missing() {
    let server = TestServer::start(|config| config.hub.held = vec![crate::JobKind::Index]).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("a", b"1")]);
    let old = history.clone();
    let push_first = history.pack(first);
    server.push(&push_first).await.assert_status(200);
    std::fs::write(upload_of(&server), b"").unwrap();
    let second = history.commit(&[first], "second", &[("a", b"1"), ("b", b"2")]);
    server.push(&history.without(&old).pack(second)).await.assert_status(200);
    server.release(INDEX).await;
    let ended = |jobs: &[serde_json::Value]| {
        jobs.iter().all(|job| job["state"] == "done" || job["state"] == "failed")
    };
    let jobs = server.wait_for_jobs(ended).await;
    assert_eq!(jobs.len(), 2, "{jobs:#?}");

    // On demand: it fails again, since the pack is still bad.
    let failed = jobs.iter().find(|job| job["state"] == "failed").unwrap()["id"].as_str().unwrap();
    server.post("/_admin/jobs/retry", &json!({ "id": failed })).await.assert_status(200);
    server.wait_for_jobs(|jobs| ended(jobs) && jobs.iter().any(|job| job["attempts"] == 2)).await;

    let path = upload_of(&server);
    std::fs::write(path, &push_first.pack).unwrap();
    server.post("/_admin/jobs/retry", &json!({ "id": failed })).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    server.fetch(&[second], &[]).await.assert_status(200);
}

#[tokio::test]
async fn only_what_has_failed_can_be_retried() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let id = server.jobs().await[0]["id"].as_str().unwrap().to_owned();
    let refused = server.post("/_admin/jobs/retry", &json!({ "id": id })).await;
    refused.assert(409, &format!("the job `{id}` has not failed"));
    let refused = server.post("/_admin/jobs/retry", &json!({ "id": "no such" })).await;
    refused.assert(404, "there is no job `no such`");
}

/// What an ended server leaves is taken up by the next: heads, uploads, queue.
#[tokio::test]
async fn unfinished_jobs_are_taken_up_by_the_next_start() {
    let server = TestServer::held().await;
    let (history, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let data = server.stop().await;

    let server = TestServer::start_in(data, |config| config.hub.held = vec![crate::JobKind::Prebuild]).await;
    server.wait_for(PREBUILD, "queued").await;
    let data = server.stop().await;

    let server = TestServer::start_in(data, |_| {}).await;
    server.wait_for(PREBUILD, "done").await;
    let answer = server.fetch(&[pushed.head], &[]).await;
    let pack = server.get(answer.assert_status(200).json()["url"].as_str().unwrap()).await;
    assert_eq!(History::read(&pack.body), history);
}

/// A job that was running when the server ended was not finished: it runs again.
#[tokio::test]
async fn a_job_that_was_running_runs_again() {
    let server =
        TestServer::start(|config| config.hub.index_delay = std::time::Duration::from_secs(3_600)).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.wait_for(INDEX, "running").await;
    let data = server.stop().await;

    let server = TestServer::start_in(data, |_| {}).await;
    server.wait_for(PREBUILD, "done").await;
    assert_eq!(server.jobs().await[0]["attempts"], 2);
    server.fetch(&[pushed.head], &[]).await.assert_status(200);
}

/// URLs that are out survive a restart: the key that signs them is kept.
#[tokio::test]
async fn presigned_urls_survive_a_restart() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    let url = server.presign("/owner/slug", &pushed).await;
    let data = server.stop().await;
    let server = TestServer::start_in(data, |_| {}).await;
    server.put(&url, pushed.pack.clone()).await.assert_status(201);
}

/// So does an upload that nothing has been done with yet.
#[tokio::test]
async fn an_upload_survives_a_restart() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.upload_to("/owner/slug", &pushed).await.assert_status(201);
    let data = server.stop().await;
    let server = TestServer::start_in(data, |_| {}).await;
    server.unpack("/owner/slug", &pushed, false).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
}

/// And one that nothing is ever done with is swept away by a start that comes hours later.
#[tokio::test]
async fn an_upload_that_is_never_unpacked_is_swept_away() {
    let hours_later = |hours: u64| {
        let clock = crate::Clock::Manual(std::sync::Arc::new((2_000_000_000 + hours * 3_600).into()));
        move |config: &mut crate::Config| config.clock = clock
    };
    let server = TestServer::start(hours_later(0)).await;
    let (_, pushed) = History::of_one_commit("content");
    server.upload_to("/owner/slug", &pushed).await.assert_status(201);
    let uploads = |server: &TestServer| std::fs::read_dir(server.data().join("uploads")).unwrap().count();
    let server = TestServer::start_in(server.stop().await, hours_later(6)).await;
    assert_eq!(uploads(&server), 2, "the pack and the list of its objects");
    let server = TestServer::start_in(server.stop().await, hours_later(7)).await;
    assert_eq!(uploads(&server), 0);
}

/// A failed job is tried again by each start, and not for ever.
#[tokio::test]
async fn a_job_that_fails_at_every_start_is_given_up() {
    let server = TestServer::start(|config| config.hub.held = vec![crate::JobKind::Index]).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    std::fs::write(upload_of(&server), b"").unwrap();
    let mut data = server.stop().await;
    for attempt in [1, 2, 3, 4, 5, 5] {
        let server = TestServer::start_in(data, |_| {}).await;
        let jobs =
            server.wait_for_jobs(|jobs| jobs[0]["state"] == "failed" && jobs[0]["attempts"] == attempt).await;
        assert_eq!(jobs.len(), 1);
        data = server.stop().await;
    }
}

#[tokio::test]
async fn a_second_server_on_the_same_data_does_not_start_and_names_the_folder() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    let error = crate::Server::bind(crate::Config::new(server.data())).await.unwrap_err();
    let folder = server.data().display();
    assert_eq!(
        error.to_string(),
        format!("cannot use the data folder {folder}: the database is in use by another server")
    );
    server.release(INDEX).await;
    server.wait_for(INDEX, "done").await;
}

/// Objects are whole and named by what they are; nothing of the work is left lying about.
#[tokio::test]
async fn objects_are_files_named_by_their_id() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    let id = Id::of("content").hex();
    let object = server.data().join("objects").join(&id[..2]).join(&id[2..]);
    assert_eq!(std::fs::read_to_string(object).unwrap(), "content");
    for folder in ["uploads", "temporary"] {
        assert_eq!(std::fs::read_dir(server.data().join(folder)).unwrap().count(), 0, "{folder}");
    }
}
