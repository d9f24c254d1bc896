//! Push, over the library and over real sockets.

use fetch_client::{Error, PushRequest, Remote, Repository, push};

use crate::hub::TestHub;
use crate::scratch::{Work, main_branch, pushed, session};

fn request(hub: &TestHub) -> PushRequest {
    PushRequest { remote: hub.url(), branch: None, force: false, public: false }
}

#[tokio::test]
async fn the_first_push_notes_the_remote_and_its_head() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let config = work.repository.config().expect("a configuration");
    assert_eq!(config.remotes["origin"], Remote { url: hub.url(), token: None });
    assert_eq!(work.repository.remote_head("origin", &main_branch()).expect("readable"), Some(work.head()));
    assert_eq!(hub.head("main"), Some(work.head()));
}

#[tokio::test]
async fn a_push_sends_only_what_the_remote_lacks() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    work.write("new", "content").commit("second");
    let report = push(&session(), &work.repository, &request(&hub)).await.expect("a push");
    let sent = report.sent.expect("something new");
    assert_eq!((sent.commits, sent.snapshots, sent.objects, sent.bytes), (1, 1, 1, 7));
}

#[tokio::test]
async fn a_push_of_what_is_there_sends_nothing() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let report = push(&session(), &work.repository, &request(&hub)).await.expect("a push");
    assert_eq!(report.sent, None);
    assert_eq!(hub.count("POST unpack"), 1, "the first one");
}

#[tokio::test]
async fn a_push_that_would_lose_commits_is_refused_and_may_be_forced() {
    let hub = TestHub::start().await;
    let first = pushed(&hub).await;
    let other = Work::new();
    other.write("unrelated", "1").commit("elsewhere");
    let refused =
        push(&session(), &other.repository, &request(&hub)).await.expect_err("it would lose a commit");
    assert!(matches!(refused, Error::PushRefused { .. }), "{refused:?}");
    assert_eq!(hub.head("main"), Some(first.head()));
    let force = PushRequest { force: true, ..request(&hub) };
    push(&session(), &other.repository, &force).await.expect("it is forced");
    assert_eq!(hub.head("main"), Some(other.head()));
}

#[tokio::test]
async fn names_that_are_missing_here_are_told_apart() {
    let hub = TestHub::start().await;
    let work = Work::new();
    let remote = PushRequest { remote: "origin".to_owned(), ..request(&hub) };
    let empty = push(&session(), &work.repository, &remote).await.expect_err("no commit");
    assert!(matches!(empty, Error::NothingToPush { .. }));
    work.write("a", "1").commit("first");
    let unknown = push(&session(), &work.repository, &remote).await.expect_err("no remote");
    assert!(matches!(unknown, Error::RemoteMissing { .. }));
    let branch = PushRequest { branch: Some("gone".parse().expect("a branch")), ..request(&hub) };
    let unknown = push(&session(), &work.repository, &branch).await.expect_err("no branch");
    assert!(matches!(unknown, Error::BranchMissing { .. }));
}

#[tokio::test]
async fn a_push_to_a_second_address_leaves_origin_alone() {
    let (hub, other) = (TestHub::start().await, TestHub::start().await);
    let work = pushed(&hub).await;
    work.write("b", "1").commit("second");
    push(&session(), &work.repository, &request(&other)).await.expect("a push");
    let repository = Repository::discover(work.directory.path()).expect("a repository");
    assert_eq!(repository.config().expect("readable").remotes.len(), 1);
    assert_eq!(repository.remote_head("origin", &main_branch()).expect("readable"), hub.head("main"));
}
