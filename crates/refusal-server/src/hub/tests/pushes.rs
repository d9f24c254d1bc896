//! What moves a branch and what does not.

use hub_protocol::Id;

use crate::testing::{History, TestServer};

const PATH: &str = "/owner/slug";

#[tokio::test]
async fn a_push_that_does_not_follow_the_head_is_a_conflict_and_force_moves_it_all_the_same() {
    let server = TestServer::start(|_| {}).await;
    let (_, ours) = History::of_one_commit("ours");
    let (_, theirs) = History::of_one_commit("theirs");
    server.push(&ours).await.assert_status(200);
    let refused = server.push(&theirs).await;
    refused.assert(
        409,
        &format!(
            "main is at {}, which {} does not follow: fetch and merge first, or push with force",
            ours.head, theirs.head
        ),
    );
    assert_eq!(refused.all("retry-after"), [""; 0]);
    assert_eq!(server.get("/owner/slug/refs").await.json()["branch_heads"]["main"], ours.head.to_string());

    let forced = server.push_to(PATH, &theirs, true).await;
    assert_eq!(forced.assert_status(200).json()["branch_heads"]["main"], theirs.head.to_string());
    assert_eq!(forced.json()["generation"], 2);
}

/// A refused push has recorded nothing: its commit cannot be wanted, and its objects are not missed.
#[tokio::test]
async fn a_refused_push_leaves_nothing_behind() {
    let server = TestServer::held().await;
    let (_, ours) = History::of_one_commit("ours");
    let (_, theirs) = History::of_one_commit("theirs");
    server.push(&ours).await.assert_status(200);
    server.push(&theirs).await.assert_status(409);
    server.fetch(&[theirs.head], &[]).await.assert_status(404);
    assert_eq!(server.jobs().await.len(), 1);
    server.fetch(&[ours.head], &[]).await.assert(503, "Objects not yet indexed: 1 missing. Retry shortly.");
}

/// Compare-and-swap: of pushes that all follow the same head, one wins.
#[tokio::test(flavor = "multi_thread")]
async fn of_pushes_at_once_one_wins_and_the_others_conflict() {
    let server = TestServer::start(|_| {}).await;
    let mut base = History::default();
    let root = base.commit(&[], "root", &[("file", b"root")]);
    server.push(&base.pack(root)).await.assert_status(200);
    let mut pushes = Vec::new();
    for number in 0..8 {
        let mut history = base.clone();
        let head = history.commit(&[root], &format!("number {number}"), &[("file", &[number])]);
        let pushed = history.pack(head);
        server.upload_to(PATH, &pushed).await.assert_status(201);
        pushes.push(pushed);
    }
    let replies =
        futures_util::future::join_all(pushes.iter().map(|pushed| server.unpack(PATH, pushed, false))).await;
    let won: Vec<Id> = replies
        .iter()
        .zip(&pushes)
        .filter(|(reply, _)| reply.status == 200)
        .map(|(_, pushed)| pushed.head)
        .collect();
    assert_eq!(won.len(), 1);
    assert_eq!(replies.iter().filter(|reply| reply.status == 409).count(), 7);
    let refs = server.get("/owner/slug/refs").await.json();
    assert_eq!(refs["branch_heads"]["main"], won[0].to_string());
}

/// A history with holes is refused, and the refusal names the hole.
#[tokio::test]
async fn what_a_push_names_must_be_in_the_pack_or_in_the_repository() {
    let server = TestServer::start(|_| {}).await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("a", b"1")]);
    let second = history.commit(&[first], "second", &[("b", b"2")]);

    let mut no_parent = history.clone();
    no_parent.commits.remove(&first);
    server.push(&no_parent.pack(second)).await.assert(
        422,
        &format!("the parent {first} of the commit {second} is neither in the pack nor in the repository"),
    );

    let mut no_snapshot = history.clone();
    let snapshot = history.commits[&second].snapshot();
    no_snapshot.snapshots.remove(&snapshot);
    server.push(&no_snapshot.pack(second)).await.assert(
        422,
        &format!(
            "the snapshot {snapshot} of the commit {second} is neither in the pack nor in the repository"
        ),
    );

    let mut no_object = history.clone();
    let object = Id::of(b"2");
    no_object.objects.remove(&object);
    server.push(&no_object.pack(second)).await.assert(
        422,
        &format!("the object {object} of `b` in the snapshot {snapshot} is neither in the pack nor in the repository"),
    );

    let mut nowhere = history.pack(second);
    nowhere.head = Id::of("no commit");
    server
        .push(&nowhere)
        .await
        .assert(422, &format!("the head {} is neither in the pack nor in the repository", nowhere.head));
    assert_eq!(server.jobs().await.len(), 0);
}

/// Only what is new has to be sent: the rest is in the repository, or still in a pack that is queued.
#[tokio::test]
async fn a_push_may_rest_on_an_earlier_one_that_is_not_indexed_yet() {
    let server = TestServer::held().await;
    let mut history = History::default();
    let first = history.commit(&[], "first", &[("a", b"1")]);
    let old = history.clone();
    server.push(&history.pack(first)).await.assert_status(200);
    let second = history.commit(&[first], "second", &[("a", b"1"), ("b", b"2")]);
    server.push(&history.without(&old).pack(second)).await.assert_status(200);
    server.fetch(&[second], &[]).await.assert(503, "Objects not yet indexed: 2 missing. Retry shortly.");
    server.fetch(&[second], &[first]).await.assert(503, "Objects not yet indexed: 1 missing. Retry shortly.");
    server.fetch(&[first], &[]).await.assert(503, "Objects not yet indexed: 1 missing. Retry shortly.");
}

#[tokio::test]
async fn a_pack_that_was_not_uploaded_cannot_be_unpacked() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.presign(PATH, &pushed).await;
    server
        .unpack(PATH, &pushed, false)
        .await
        .assert(422, &format!("the pack {} has not been uploaded here", pushed.mpack_id));
}

/// An upload belongs to its repository: knowing the id of another's pack gives nobody its content.
#[tokio::test]
async fn a_pack_uploaded_to_another_repository_cannot_be_unpacked() {
    let server = TestServer::start(|_| {}).await;
    let (_, pushed) = History::of_one_commit("content");
    server.upload_to("/owner/other", &pushed).await.assert_status(201);
    server.presign(PATH, &pushed).await;
    server.unpack(PATH, &pushed, false).await.assert_status(422);
}

/// Nor does knowing an object's id: the index is by repository, although the files are shared.
#[tokio::test]
async fn an_object_of_another_repository_is_not_in_this_one() {
    let server = TestServer::start(|_| {}).await;
    let (history, pushed) = History::of_one_commit("content");
    server.push_to("/owner/other", &pushed, false).await.assert_status(200);
    server.wait_for(super::PREBUILD, "done").await;
    let mut without = history.clone();
    without.objects.clear();
    server.push(&without.pack(pushed.head)).await.assert_status(422);
}

/// A new branch on an old commit needs no content: its pack is empty, and the same for each such push.
#[tokio::test]
async fn an_empty_pack_moves_branches_again_and_again() {
    let server = TestServer::start(|_| {}).await;
    let (history, pushed) = History::of_one_commit("content");
    server.push(&pushed).await.assert_status(200);
    for (branch, generation) in [("second", 2), ("third", 3)] {
        let mut empty = History::default().pack(pushed.head);
        empty.branch = branch;
        assert_eq!(server.push(&empty).await.assert_status(200).json()["generation"], generation);
        server.wait_for(super::PREBUILD, "done").await;
    }
    let answer = server.fetch(&[pushed.head], &[]).await;
    let pack = server.get(answer.assert_status(200).json()["url"].as_str().unwrap()).await;
    assert_eq!(History::read(&pack.body), history);
}

/// Clients keep branches as files: one cannot be the folder of another.
#[tokio::test]
async fn a_branch_that_would_be_the_folder_of_another_is_refused() {
    let server = TestServer::start(|_| {}).await;
    let (_, mut pushed) = History::of_one_commit("content");
    for (branch, status) in [("a/b", 200), ("a", 409), ("a/b/c", 409), ("a/bc", 200), ("ab", 200)] {
        pushed.branch = branch;
        server.push(&pushed).await.assert_status(status);
    }
    pushed.branch = "a";
    server.push(&pushed).await.assert(
        409,
        "the branches a and a/b cannot be beside each other: one would be the folder of the other",
    );
}

#[tokio::test]
async fn the_first_branch_that_is_pushed_is_what_clones_check_out() {
    let server = TestServer::start(|_| {}).await;
    let (_, mut pushed) = History::of_one_commit("content");
    pushed.branch = "trunk";
    server.push(&pushed).await.assert_status(200);
    assert_eq!(server.get("/owner/slug/refs").await.json()["default_branch"], "trunk");
}
