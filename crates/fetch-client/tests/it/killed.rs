//! SIGKILL at any point leaves the old or the new state (F49).
//!
//! Each test measures how long a command takes and kills it after every eighth of that, so that the kills fall
//! into every phase of it.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use fetch_client::{Error, Repository, status};
use retry_middleware::{Clock, SystemClock};

use crate::hub::TestHub;
use crate::program::{command, run};
use crate::scratch::{Work, files, main_branch, write};

const KILLS: u32 = 8;
/// Enough files for the phases of a command to take some time each.
const FILES: usize = 80;

fn write_many(root: &Path, content: &str) {
    for number in 0..FILES {
        write(root, &format!("folder-{}/file-{number}", number % 7), format!("{content} {number}"));
    }
}

/// How long `program` takes, to its end.
async fn duration_of(mut program: Command) -> Duration {
    let start = SystemClock.monotonic();
    let code = tokio::task::spawn_blocking(move || program.status().expect("it starts").code())
        .await
        .expect("it runs");
    assert_eq!(code, Some(0));
    SystemClock.monotonic().since(start)
}

/// Starts `program` and kills it after `delay`, unless it has ended by then.
async fn kill_after(mut program: Command, delay: Duration) {
    let mut child = program.spawn().expect("it starts");
    tokio::time::sleep(delay).await;
    // An error here is a program that has ended already.
    let _ = child.kill();
    tokio::task::spawn_blocking(move || child.wait()).await.expect("it runs").expect("it ends");
}

/// Asserts that the repository is whole: what HEAD names is what the working tree holds.
fn assert_settled(root: &Path) -> Repository {
    let repository = Repository::discover(root).expect("a repository");
    let report = status(&repository).expect("a readable repository");
    assert_eq!(report.differences, Default::default(), "half a change is left in {}", root.display());
    let left: Vec<_> = std::fs::read_dir(root.join(".muse/incoming")).expect("there").collect();
    assert!(left.is_empty(), "left behind: {left:?}");
    repository
}

/// A clone for each kill and one for the time, all the same.
async fn clones(place: &Path, url: &str) {
    let ran = run(place, &["clone", url, "copy-0"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    for copy in 1..=KILLS {
        copy_tree(&place.join("copy-0"), &place.join(format!("copy-{copy}")));
    }
}

fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir(to).expect("a new directory");
    for entry in std::fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let to = to.join(entry.file_name());
        if entry.file_type().expect("a kind").is_dir() {
            copy_tree(&entry.path(), &to);
        } else {
            std::fs::copy(entry.path(), to).expect("a copy");
        }
    }
}

#[tokio::test]
async fn a_killed_commit_leaves_the_old_head_or_the_new_one() {
    let timed = Work::new();
    write_many(timed.directory.path(), "timed");
    let length = duration_of(command(timed.directory.path(), &["commit", "-m", "timed"])).await;

    let work = Work::new();
    let first = work.write("a", "1").commit("first");
    write_many(work.directory.path(), "content");
    let mut ends = (0, 0);
    for kill in 0..KILLS {
        kill_after(command(work.directory.path(), &["commit", "-m", "many"]), length * kill / KILLS).await;
        let report = status(&work.repository).expect("a readable repository");
        if work.head() == first {
            assert_eq!(report.differences.added.len(), FILES, "all or nothing is recorded");
            ends.0 += 1;
        } else {
            assert_eq!(report.differences, Default::default());
            ends.1 += 1;
            std::fs::write(work.at(".muse/refs/heads/main"), format!("{first}\n"))
                .expect("back to the first");
        }
    }
    assert!(ends.0 > 0, "no kill was early enough to show anything");
    let ran = run(work.directory.path(), &["commit", "-m", "many"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_settled(work.directory.path());
}

#[tokio::test]
async fn a_killed_clone_leaves_no_repository_or_a_whole_one_and_can_be_repeated() {
    let hub = TestHub::start().await;
    let work = Work::new();
    write_many(work.directory.path(), "content");
    work.commit("many");
    work.push(&hub).await;
    let expected = work.files();
    let place = tempfile::tempdir().expect("a directory");
    let url = hub.url();
    let length = duration_of(command(place.path(), &["clone", &url, "timed"])).await;

    let mut without = 0;
    for kill in 0..KILLS {
        let name = format!("copy-{kill}");
        kill_after(command(place.path(), &["clone", &url, &name]), length * kill / KILLS).await;
        let target = place.path().join(&name);
        match Repository::discover(&target) {
            Ok(_) => {}
            Err(Error::NoDirectory { .. } | Error::NoRepository { .. } | Error::CloneInterrupted { .. }) => {
                without += 1;
                let ran = run(place.path(), &["clone", &url, &name]).await;
                assert_eq!(ran.code, Some(0), "a repeated clone: {ran:?}");
            }
            Err(error) => panic!("a killed clone left {error}"),
        }
        assert_settled(&target);
        assert_eq!(files(&target), expected);
    }
    assert!(without > 0, "no kill was early enough to show anything");
}

#[tokio::test]
async fn a_killed_pull_leaves_the_old_head_or_the_new_one_and_no_half_of_either() {
    let hub = TestHub::start().await;
    let work = Work::new();
    write_many(work.directory.path(), "old");
    let old = work.commit("old");
    work.push(&hub).await;
    let place = tempfile::tempdir().expect("a directory");
    let url = hub.url();
    clones(place.path(), &url).await;
    let old_files = work.files();
    write_many(work.directory.path(), "new");
    work.remove("folder-0/file-0").write("added", "1");
    let new = work.commit("new");
    work.push(&hub).await;
    let new_files = work.files();
    let length = duration_of(command(&place.path().join(format!("copy-{KILLS}")), &["pull"])).await;

    let mut unfinished = 0;
    for kill in 0..KILLS {
        let copy = place.path().join(format!("copy-{kill}"));
        kill_after(command(&copy, &["pull"]), length * kill / KILLS).await;
        let repository = assert_settled(&copy);
        let head = repository.head(&main_branch()).expect("readable");
        if head == Some(old) {
            unfinished += 1;
            assert_eq!(files(&copy), old_files);
            let ran = run(&copy, &["pull"]).await;
            assert_eq!(ran.code, Some(0), "a repeated pull: {ran:?}");
        }
        assert_eq!(assert_settled(&copy).head(&main_branch()).expect("readable"), Some(new));
        assert_eq!(files(&copy), new_files);
    }
    assert!(unfinished > 0, "no kill was early enough to show anything");
}

#[tokio::test]
async fn a_killed_fetch_can_be_repeated() {
    let hub = TestHub::start().await;
    let work = Work::new();
    work.write("a", "1").commit("first");
    work.push(&hub).await;
    let place = tempfile::tempdir().expect("a directory");
    let url = hub.url();
    clones(place.path(), &url).await;
    write_many(work.directory.path(), "new");
    let new = work.commit("new");
    work.push(&hub).await;
    let length = duration_of(command(&place.path().join(format!("copy-{KILLS}")), &["fetch"])).await;
    for kill in 0..KILLS {
        let copy = place.path().join(format!("copy-{kill}"));
        kill_after(command(&copy, &["fetch"]), length * kill / KILLS).await;
        assert_settled(&copy);
        let ran = run(&copy, &["fetch"]).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let repository = assert_settled(&copy);
        assert_eq!(repository.remote_head("origin", &main_branch()).expect("readable"), Some(new));
        assert_eq!(status(&repository).expect("a status").ahead_and_behind, Some((0, 1)));
    }
}
