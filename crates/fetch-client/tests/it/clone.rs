//! Clone, over the library and over real sockets.

use std::fs;
use std::time::Duration;

use fetch_client::{CloneRequest, Error, Failed, FetchReport, clone};
use rustix::fs::inotify;

use crate::hub::{Download, Refusal, TestHub};
use crate::scratch::{address, files, names, pushed, session};

async fn clone_into(
    hub: &TestHub,
    target: &std::path::Path,
    budget: Duration,
) -> Result<FetchReport, Failed> {
    let request = CloneRequest { address: address(hub), target: Some(target.to_owned()), branch: None };
    clone(&session().with_retry_budget(budget), &request).await
}

const PATIENT: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_clone_is_the_working_tree_that_was_pushed() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().join("copy");
    let report = clone_into(&hub, &target, PATIENT).await.expect("a clone");
    assert_eq!(files(&target), work.files());
    assert_eq!(report.head, Some(work.head()));
    assert_eq!((report.commits, report.snapshots, report.objects), (1, 1, 4));
    assert_eq!(report.spent.attempts, 1);
    let status =
        fetch_client::status(&fetch_client::Repository::discover(&target).expect("one")).expect("a status");
    assert_eq!(status.differences, Default::default());
    assert_eq!(status.ahead_and_behind, Some((0, 0)));
}

#[tokio::test]
async fn a_clone_of_a_clone_has_the_whole_history() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    work.write("README.md", "# More\n").remove(".hidden").commit("second");
    work.push(&hub).await;
    let place = tempfile::tempdir().expect("a directory");
    let report = clone_into(&hub, &place.path().join("copy"), PATIENT).await.expect("a clone");
    assert_eq!((report.commits, report.snapshots), (2, 2));
    assert_eq!(files(&report.target), work.files());
}

/// MWP5_18, MWP5_03: through real sockets, the real head and real seconds.
#[tokio::test]
async fn mwp5_18_a_refusal_is_waited_out_and_never_early() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    hub.refuse([Refusal::not_ready("1")]);
    let place = tempfile::tempdir().expect("a directory");
    let report = clone_into(&hub, &place.path().join("copy"), PATIENT).await.expect("a clone");
    assert_eq!(report.spent.attempts, 2);
    assert!(report.spent.waited >= Duration::from_millis(990), "waited {:?}", report.spent.waited);
    assert_eq!(files(&report.target), work.files());
    assert_eq!(
        (hub.count("POST fetch"), hub.count("GET refs")),
        (2, 2),
        "one of each of push and clone, one retry"
    );
}

/// MWP5_03, MWP5_12
#[tokio::test]
async fn mwp5_03_a_real_503_arrives_with_its_status_its_hint_and_its_words() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.always_refuse(Refusal::not_ready("30"));
    let place = tempfile::tempdir().expect("a directory");
    let failed = clone_into(&hub, &place.path().join("copy"), Duration::ZERO).await.expect_err("refused");
    let Error::StillPreparing(terminal) = &failed.error else {
        panic!("expected the terminal 503: {failed:?}")
    };
    assert_eq!(terminal.refusal.status, 503);
    assert_eq!(terminal.retry_after, Some(30));
    assert_eq!(terminal.refusal.text, crate::hub::NOT_READY);
    assert_eq!(terminal.refusal.request_id.as_deref(), Some("request-7"));
    assert_eq!(failed.spent.attempts, 1);
}

/// MWP5_10 in real time with small values.
#[tokio::test]
async fn mwp5_10_a_503_for_ever_ends_within_the_budget() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.always_refuse(Refusal::not_ready("1"));
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().join("copy");
    let failed = clone_into(&hub, &target, Duration::from_millis(1_500)).await.expect_err("refused");
    assert!(matches!(failed.error, Error::StillPreparing(_)));
    assert_eq!(failed.spent.attempts, 2);
    assert!(failed.spent.waited <= Duration::from_millis(1_500));
    assert!(!target.exists());
}

#[tokio::test]
async fn a_404_is_told_at_once_and_leaves_nothing() {
    let hub = TestHub::start().await;
    let place = tempfile::tempdir().expect("a directory");
    let failed = clone_into(&hub, &place.path().join("deep/er/copy"), PATIENT).await.expect_err("not there");
    let Error::Refused(refusal) = &failed.error else { panic!("expected a refusal: {failed:?}") };
    assert_eq!(refusal.status, 404);
    assert_eq!(names(place.path()), [""; 0]);
}

/// F47
#[tokio::test]
async fn a_folder_that_was_there_before_stays_when_the_clone_fails() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.cheat(Download::Missing);
    let place = tempfile::tempdir().expect("a directory");
    clone_into(&hub, place.path(), PATIENT).await.expect_err("no pack");
    assert_eq!(names(place.path()), [""; 0]);
}

#[tokio::test]
async fn what_others_put_into_the_target_meanwhile_stays_when_the_clone_fails() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.refuse([Refusal::not_ready("1")]);
    hub.cheat(Download::Missing);
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().join("copy");
    let noticed = target.clone();
    let visitor = tokio::spawn(async move {
        while !noticed.join(".muse").exists() {
            tokio::task::yield_now().await;
        }
        fs::write(noticed.join("mine"), "precious").expect("a file");
    });
    clone_into(&hub, &target, PATIENT).await.expect_err("no pack");
    visitor.await.expect("the visitor came");
    assert_eq!(names(&target), ["mine"]);
}

#[tokio::test]
async fn a_target_that_is_not_empty_is_refused_and_untouched() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    let place = tempfile::tempdir().expect("a directory");
    fs::write(place.path().join("mine"), "precious").expect("a file");
    let failed = clone_into(&hub, place.path(), PATIENT).await.expect_err("not empty");
    assert!(matches!(failed.error, Error::TargetNotEmpty { .. }));
    let failed = clone_into(&hub, &place.path().join("mine"), PATIENT).await.expect_err("a file");
    assert!(matches!(failed.error, Error::TargetNotADirectory { .. }));
    assert_eq!(fs::read_to_string(place.path().join("mine")).expect("still there"), "precious");
    assert_eq!(names(place.path()), ["mine"]);
}

#[tokio::test]
async fn a_clone_into_a_target_where_another_one_is_under_way_leaves_that_alone() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    hub.refuse([Refusal::not_ready("2")]);
    let place = tempfile::tempdir().expect("a directory");
    let target = place.path().join("copy");
    let second = async {
        while hub.count("POST fetch") == 0 {
            tokio::task::yield_now().await;
        }
        clone_into(&hub, &target, PATIENT).await
    };
    let (first, second) = tokio::join!(clone_into(&hub, &target, PATIENT), second);
    assert!(matches!(second.expect_err("the target is taken").error, Error::Busy { .. }));
    assert_eq!(files(&first.expect("a clone").target), work.files());
}

/// MWP5_13: watched by the kernel from before the first refusal to the end, not only looked at afterwards.
#[tokio::test]
async fn mwp5_13_the_target_is_never_removed_while_refusals_are_waited_out() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    hub.refuse([Refusal::not_ready("1"), Refusal::not_ready("0")]);
    let place = tempfile::tempdir().expect("a directory");
    let watch = inotify::init(inotify::CreateFlags::NONBLOCK).expect("a watch");
    let events = inotify::WatchFlags::DELETE | inotify::WatchFlags::MOVED_FROM | inotify::WatchFlags::CREATE;
    inotify::add_watch(&watch, place.path(), events).expect("a watch");

    let report = clone_into(&hub, &place.path().join("copy"), PATIENT).await.expect("a clone");
    assert_eq!(report.spent.attempts, 3);
    assert_eq!(files(&report.target), work.files());

    let mut buffer = [std::mem::MaybeUninit::uninit(); 4096];
    let mut reader = inotify::Reader::new(&watch, &mut buffer);
    let mut seen = Vec::new();
    while let Ok(event) = reader.next() {
        seen.push(event.events());
    }
    let created = inotify::ReadFlags::CREATE | inotify::ReadFlags::ISDIR;
    assert_eq!(seen, [created], "the target is created once and never removed");
}

#[tokio::test]
async fn two_branches_come_and_the_one_asked_for_is_checked_out() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let main = work.head();
    let other = work.write("other", "branch").commit("on another branch");
    work.push(&hub).await;
    hub.set_head("main", main);
    hub.set_head("feature/other", other);
    let place = tempfile::tempdir().expect("a directory");
    let branch = Some("feature/other".parse().expect("a branch"));
    let request = CloneRequest { address: address(&hub), target: Some(place.path().join("copy")), branch };
    let report = clone(&session(), &request).await.expect("a clone");
    assert_eq!(report.head, Some(other));
    assert!(report.target.join("other").exists());
    let repository = fetch_client::Repository::discover(&report.target).expect("a repository");
    assert_eq!(repository.current_branch().expect("a branch").as_str(), "feature/other");
    assert_eq!(repository.remote_head("origin", &crate::scratch::main_branch()).expect("a head"), Some(main));
}

#[tokio::test]
async fn a_branch_that_the_remote_lacks_is_told_and_leaves_nothing() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    let place = tempfile::tempdir().expect("a directory");
    let branch = Some("gone".parse().expect("a branch"));
    let request = CloneRequest { address: address(&hub), target: Some(place.path().join("copy")), branch };
    let failed = clone(&session(), &request).await.expect_err("no such branch");
    assert!(matches!(failed.error, Error::RemoteBranchMissing { .. }));
    assert_eq!(names(place.path()), [""; 0]);
}

#[tokio::test]
async fn cancelling_during_a_wait_ends_at_once_and_leaves_nothing() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.always_refuse(Refusal::not_ready("60"));
    let place = tempfile::tempdir().expect("a directory");
    let cancel = tokio_util::sync::CancellationToken::new();
    let session = session().with_cancel(cancel.clone());
    let request =
        CloneRequest { address: address(&hub), target: Some(place.path().join("copy")), branch: None };
    let asked = hub.clone();
    let cloning = clone(&session, &request);
    let cancelling = async {
        while asked.count("POST fetch") == 0 {
            tokio::task::yield_now().await;
        }
        cancel.cancel();
    };
    let done = tokio::time::timeout(Duration::from_secs(20), async { tokio::join!(cloning, cancelling).0 });
    let failed = done.await.expect("at once, not after a minute").expect_err("interrupted");
    assert!(matches!(failed.error, Error::Interrupted));
    assert_eq!(names(place.path()), [""; 0]);
}
