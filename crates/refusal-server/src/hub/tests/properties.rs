//! The four properties of what happens between a push and the first good fetch (contract section 3).

use hub_protocol::Id;

use super::{INDEX, PREBUILD};
use crate::testing::{History, Reply, TestServer};

/// The pack that an answer leads to.
async fn download(server: &TestServer, answer: &Reply) -> History {
    answer.assert_status(200);
    let pack = server.get(answer.json()["url"].as_str().unwrap()).await;
    pack.assert_status(200);
    assert_eq!(Id::of(&pack.body).to_string(), answer.json()["mpack_id"].as_str().unwrap());
    History::read(&pack.body)
}

/// Generation authority: a pack built for an older generation is never served, although it would hold the
/// same: the heads are back where they were when it was built.
#[tokio::test]
async fn a_pack_of_an_older_generation_is_never_served() {
    let server = TestServer::start(|_| {}).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("file", b"1")]);
    let push_first = history.pack(first);
    server.push(&push_first).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    assert_eq!(server.fetch(&[first], &[]).await.assert_status(200).json()["generation"], 1);

    server.hold(PREBUILD).await;
    let second = history.commit(&[first], "second", &[("file", b"2")]);
    server.push(&history.pack(second)).await.assert_status(200);
    server.wait_for(PREBUILD, "queued").await;
    let forced = server.push_to("/owner/slug", &push_first, true).await;
    assert_eq!(forced.json()["generation"], 3);
    server
        .fetch(&[first], &[])
        .await
        .assert(503, "mpack not ready \u{2014} prebuild in progress. Retry shortly.");

    server.release(PREBUILD).await;
    server
        .wait_for_jobs(|jobs| jobs.iter().all(|job| job["state"] != "queued" && job["state"] != "running"))
        .await;
    let prebuilds: Vec<_> = server.jobs().await.into_iter().filter(|job| job["kind"] == PREBUILD).collect();
    assert_eq!(
        prebuilds.iter().map(|job| job["state"].as_str().unwrap()).collect::<Vec<_>>(),
        ["done", "superseded", "done"],
        "a build for heads that have moved on is not begun"
    );
    let answer = server.fetch(&[first], &[]).await;
    assert_eq!(answer.assert_status(200).json()["generation"], 3);
}

/// Generation authority for packs that were built by walking: what an older generation had is built anew. The
/// file of the older one is spoilt, so that serving it would show.
#[tokio::test]
async fn a_walked_pack_of_an_older_generation_is_built_anew() {
    let server = TestServer::start(|_| {}).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("file", b"1")]);
    let second = history.commit(&[first], "second", &[("file", b"2")]);
    server.push(&history.pack(second)).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    let walked = server.fetch(&[second], &[first]).await.assert_status(200).json();
    let hex = walked["mpack_id"].as_str().unwrap().strip_prefix("sha256:").unwrap().to_owned();
    std::fs::write(server.data().join("packs").join(hex), "spoilt").unwrap();

    let (_, mut side) = History::of_one_commit("on the side");
    side.branch = "side";
    server.push(&side).await.assert_status(200);
    server.wait_for(INDEX, "done").await;
    let answer = server.fetch(&[second], &[first]).await;
    assert_eq!(answer.json()["generation"], 2);
    assert_eq!(download(&server, &answer).await.commits.len(), 1);
}

/// Walk fallback: indexed with haves never waits for a prebuild, and gets exactly what is new.
#[tokio::test]
async fn a_fetch_with_haves_is_answered_by_walking_while_the_prebuild_is_held() {
    let server = TestServer::start(|config| config.hub.held = vec![crate::JobKind::Prebuild]).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("kept", b"kept"), ("changed", b"1")]);
    let old = history.clone();
    let second = history.commit(&[first], "second", &[("kept", b"kept"), ("changed", b"2")]);
    server.push(&history.pack(second)).await.assert_status(200);
    server.wait_for(PREBUILD, "queued").await;

    let pack = download(&server, &server.fetch(&[second], &[first]).await).await;
    assert_eq!(pack, history.without(&old));
    assert_eq!(pack.objects.len(), 1);
    server.fetch(&[second], &[]).await.assert_status(503);
}

/// Haves that the repository has never seen cut nothing short, and they are haves all the same: no waiting.
#[tokio::test]
async fn unknown_haves_are_ignored() {
    let server = TestServer::start(|config| config.hub.held = vec![crate::JobKind::Prebuild]).await;
    let (history, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.wait_for(PREBUILD, "queued").await;
    let answer = server.fetch(&[pushed.head], &[Id::of("a commit that was never pushed")]).await;
    assert_eq!(download(&server, &answer).await, history);
}

/// A part of the heads is not what was prebuilt: it is walked, and only what it leads to is sent.
#[tokio::test]
async fn a_part_of_the_heads_is_answered_by_walking_once_the_prebuild_is_done() {
    let server = TestServer::start(|_| {}).await;
    let (main, pushed) = History::of_one_commit("on main");
    server.push(&pushed).await.assert_status(200);
    let (side, mut pushed_side) = History::of_one_commit("on the side");
    pushed_side.branch = "side";
    server.push(&pushed_side).await.assert_status(200);
    server.wait_for_jobs(|jobs| jobs.iter().filter(|job| job["state"] == "done").count() >= 3).await;
    server.wait_for(PREBUILD, "done").await;

    let all = download(&server, &server.fetch(&[pushed_side.head, pushed.head], &[]).await).await;
    assert_eq!(all.commits.len(), 2);
    assert_eq!(download(&server, &server.fetch(&[pushed.head], &[]).await).await, main);
    assert_eq!(download(&server, &server.fetch(&[pushed_side.head], &[]).await).await, side);
}

#[tokio::test]
async fn whoever_has_it_all_gets_an_empty_pack() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;
    let answer = server.fetch(&[pushed.head], &[pushed.head]).await;
    assert_eq!(download(&server, &answer).await, History::default());
}

/// Enqueue idempotency, with the first push still queued and again with everything done.
#[tokio::test]
async fn the_same_push_twice_makes_one_job_of_each_kind() {
    let server = TestServer::held().await;
    let (_, pushed) = History::of_one_commit("content");
    let first = server.push(&pushed).await.assert_status(200).json();
    assert_eq!(server.push(&pushed).await.assert_status(200).json(), first);
    assert_eq!(server.jobs().await.len(), 1);

    server.release(INDEX).await;
    server.release(PREBUILD).await;
    server.wait_for(PREBUILD, "done").await;
    assert_eq!(server.push(&pushed).await.assert_status(200).json(), first);
    // The upload is gone once it is indexed, and an answer that was lost may be asked for again.
    assert_eq!(server.unpack("/owner/slug", &pushed, false).await.assert_status(200).json(), first);
    let jobs = server.jobs().await;
    let kinds: Vec<_> =
        jobs.iter().map(|job| (job["kind"].as_str().unwrap(), job["state"].as_str().unwrap())).collect();
    assert_eq!(kinds, [(INDEX, "done"), (PREBUILD, "done")]);
    assert!(jobs.iter().all(|job| job["attempts"] == 1));
}

/// Ordering: no prebuild starts, or is even queued, before its index job has ended. The second push brings no
/// new object, so nothing but the order keeps its prebuild back.
#[tokio::test]
async fn no_prebuild_is_queued_before_its_index_job_has_ended() {
    let server = TestServer::start(|_| {}).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("file", b"same")]);
    server.push(&history.pack(first)).await.assert_status(200);
    server.wait_for(PREBUILD, "done").await;

    server.hold(INDEX).await;
    let second = history.commit(&[first], "second", &[("file", b"same")]);
    server.push(&history.pack(second)).await.assert_status(200);
    let third = history.commit(&[second], "third", &[("file", b"same")]);
    // The same pack once more: a second chance to queue the prebuild too early.
    server.push(&history.pack(third)).await.assert_status(200);
    server.push(&history.pack(third)).await.assert_status(200);
    let count =
        |jobs: &[serde_json::Value], kind: &str| jobs.iter().filter(|job| job["kind"] == kind).count();
    let jobs = server.jobs().await;
    assert_eq!((count(&jobs, INDEX), count(&jobs, PREBUILD)), (3, 1), "{jobs:#?}");
    // All objects are at hand and no prebuild is queued: it is answered by walking.
    server.fetch(&[third], &[]).await.assert_status(200);

    server.release(INDEX).await;
    server.wait_for_jobs(|jobs| count(jobs, PREBUILD) == 2).await;
    let jobs = server.jobs().await;
    assert!(jobs.iter().all(|job| job["kind"] == PREBUILD || job["state"] == "done"), "{jobs:#?}");
}
