//! Fetch and pull, over the library and over real sockets.

use std::fs;
use std::os::unix::fs::symlink;

use fetch_client::{CloneRequest, Error, FetchReport, Repository, Update, clone, fetch, pull, status};

use crate::hub::{Refusal, TestHub};
use crate::scratch::{Work, address, files, main_branch, names, origin, pushed, session, write};

/// A hub, the repository that pushes to it, and a clone that lags behind.
struct Pair {
    hub: TestHub,
    work: Work,
    place: tempfile::TempDir,
    copy: Repository,
}

impl Pair {
    async fn start() -> Self {
        let hub = TestHub::start().await;
        let work = pushed(&hub).await;
        let place = tempfile::tempdir().expect("a directory");
        let target = place.path().join("copy");
        let request = CloneRequest { address: address(&hub), target: Some(target.clone()), branch: None };
        clone(&session(), &request).await.expect("a clone");
        Self { hub, work, place, copy: Repository::discover(&target).expect("a repository") }
    }

    async fn push(&self, change: impl FnOnce(&Work)) {
        change(&self.work);
        self.work.commit("more");
        self.work.push(&self.hub).await;
    }

    async fn pull(&self) -> Result<FetchReport, Error> {
        pull(&session(), &self.copy, &origin()).await.map_err(|failed| failed.error)
    }

    /// Everything of the clone that a refused pull must leave as it is.
    fn state(&self) -> impl PartialEq + std::fmt::Debug + use<> {
        let head = self.copy.head(&main_branch()).expect("readable");
        (head, files(self.copy.root()), self.copy.root().join(".muse/checkout.json").exists())
    }

    fn write(&self, path: &str, content: &str) {
        write(self.copy.root(), path, content);
    }
}

fn overwritten(result: Result<FetchReport, Error>) -> Vec<String> {
    match result {
        Err(Error::WouldOverwrite { paths }) => paths.iter().map(ToString::to_string).collect(),
        other => panic!("expected files that would be overwritten, got {other:?}"),
    }
}

/// MWP5_15
#[tokio::test]
async fn mwp5_15_a_fetch_waits_out_a_refusal_and_leaves_the_working_tree_alone() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("new", "1")).await;
    let before = pair.state();
    pair.hub.refuse([Refusal::not_ready("0")]);
    let report = fetch(&session(), &pair.copy, &origin()).await.expect("a fetch");
    assert_eq!((report.commits, report.objects, report.spent.attempts), (1, 1, 2));
    assert_eq!(pair.state(), before);
    assert_eq!(pair.copy.remote_head("origin", &main_branch()).expect("readable"), Some(pair.work.head()));
    assert_eq!(status(&pair.copy).expect("a status").ahead_and_behind, Some((0, 1)));
    let asked = pair.hub.fetches();
    assert_eq!(asked.last().expect("a fetch").have.len(), 1, "the one commit that both know");
}

/// MWP5_16
#[tokio::test]
async fn mwp5_16_a_pull_waits_out_a_refusal_and_moves_on() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("new/file", "1").write("README.md", "other").remove(".hidden")).await;
    pair.hub.refuse([Refusal::not_ready("0")]);
    let report = pair.pull().await.expect("a pull");
    assert_eq!((report.update, report.spent.attempts), (Some(Update::FastForward), 2));
    assert_eq!(files(pair.copy.root()), pair.work.files());
    assert_eq!(status(&pair.copy).expect("a status").differences, Default::default());
}

#[tokio::test]
async fn a_pull_with_nothing_new_asks_for_no_pack() {
    let pair = Pair::start().await;
    let asked = pair.hub.count("POST fetch");
    let report = pair.pull().await.expect("a pull");
    assert_eq!((report.update, report.spent.attempts), (Some(Update::UpToDate), 0));
    assert_eq!(pair.hub.count("POST fetch"), asked);
}

#[tokio::test]
async fn changes_on_both_sides_are_merged_file_by_file() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("README.md", "theirs").write("theirs", "1")).await;
    pair.write("src/deep/er/lib.rs", "ours");
    pair.write("ours", "1");
    fs::remove_file(pair.copy.root().join(".hidden")).expect("a file");
    let ours = pair.copy.record("ours", "2026-11-30T13:00:00Z").expect("a commit").commit;

    let report = pair.pull().await.expect("a merge");
    assert_eq!(report.update, Some(Update::Merged));
    let found = files(pair.copy.root());
    assert_eq!(found["README.md"], "theirs");
    assert_eq!(found["src/deep/er/lib.rs"], "ours");
    assert_eq!((found.contains_key("theirs"), found.contains_key("ours")), (true, true));
    assert!(!found.contains_key(".hidden"));
    assert_eq!(status(&pair.copy).expect("a status").differences, Default::default());
    assert_eq!(status(&pair.copy).expect("a status").ahead_and_behind, Some((2, 0)));

    let head = report.head.expect("a head").hex();
    let text = fs::read(pair.copy.root().join(format!(".muse/commits/{head}.json"))).expect("a commit");
    let merge: hub_protocol::Commit = serde_json::from_slice(&text).expect("a commit");
    let mut parents = [ours, pair.work.head()];
    parents.sort_unstable();
    assert_eq!(merge.parents(), parents);
}

#[tokio::test]
async fn a_conflict_names_the_files_and_changes_nothing() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("README.md", "theirs").write("both", "theirs").write("fine", "1")).await;
    pair.write("README.md", "ours");
    pair.write("both", "ours");
    pair.copy.record("ours", "2026-11-30T13:00:00Z").expect("a commit");
    let before = pair.state();
    match pair.pull().await {
        Err(Error::Conflicts { paths }) => {
            assert_eq!(paths.iter().map(ToString::to_string).collect::<Vec<_>>(), ["README.md", "both"]);
        }
        other => panic!("expected conflicts, got {other:?}"),
    }
    assert_eq!(pair.state(), before);
}

#[tokio::test]
async fn files_that_are_changed_and_not_committed_are_not_overwritten() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("README.md", "theirs").write("new", "theirs").remove(".hidden")).await;
    pair.write("README.md", "edited");
    pair.write("new", "untracked");
    pair.write(".hidden", "edited");
    let before = pair.state();
    assert_eq!(overwritten(pair.pull().await), [".hidden", "README.md", "new"]);
    assert_eq!(pair.state(), before);
}

#[tokio::test]
async fn files_that_a_pull_does_not_touch_may_be_changed() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("README.md", "theirs")).await;
    pair.write("src/deep/er/lib.rs", "edited");
    pair.write("mine", "untracked");
    pair.pull().await.expect("a pull");
    let found = files(pair.copy.root());
    assert_eq!(
        (&*found["README.md"], &*found["src/deep/er/lib.rs"], &*found["mine"]),
        ("theirs", "edited", "untracked")
    );
}

#[tokio::test]
async fn a_file_that_already_is_as_the_remote_has_it_is_no_obstacle() {
    let pair = Pair::start().await;
    pair.push(|work| _ = work.write("new", "same").remove(".hidden")).await;
    pair.write("new", "same");
    fs::remove_file(pair.copy.root().join(".hidden")).expect("a file");
    pair.pull().await.expect("a pull");
    assert_eq!(files(pair.copy.root()), pair.work.files());
}

#[tokio::test]
async fn a_file_becomes_a_directory_and_a_directory_a_file() {
    let pair = Pair::start().await;
    pair.push(|work| {
        work.remove("README.md").write("README.md/now", "a directory");
        work.remove("src/deep/er/lib.rs");
        fs::remove_dir_all(work.at("src")).expect("a directory");
        work.write("src", "a file");
    })
    .await;
    pair.pull().await.expect("a pull");
    assert_eq!(files(pair.copy.root()), pair.work.files());
}

#[tokio::test]
async fn a_directory_that_holds_something_of_the_users_is_not_replaced_by_a_file() {
    let pair = Pair::start().await;
    pair.push(|work| {
        fs::remove_dir_all(work.at("src")).expect("a directory");
        work.write("src", "a file");
    })
    .await;
    pair.write("src/deep/mine", "precious");
    let before = pair.state();
    assert_eq!(overwritten(pair.pull().await), ["src"]);
    assert_eq!(pair.state(), before);
}

/// F48: a directory of the repository that somebody has replaced by a symlink is not followed.
#[tokio::test]
async fn a_pull_does_not_write_or_remove_through_a_symlink() {
    let pair = Pair::start().await;
    let outside = pair.place.path().join("outside");
    fs::create_dir_all(outside.join("er")).expect("a directory");
    fs::write(outside.join("er/lib.rs"), "fn main() {}\n").expect("a file");
    fs::remove_dir_all(pair.copy.root().join("src/deep")).expect("a directory");
    symlink(&outside, pair.copy.root().join("src/deep")).expect("a symlink");
    pair.push(|work| _ = work.write("src/deep/er/lib.rs", "changed").write("src/deep/new", "1")).await;
    let before = pair.state();
    assert_eq!(overwritten(pair.pull().await), ["src/deep"]);
    assert_eq!(pair.state(), before);
    assert_eq!(fs::read_to_string(outside.join("er/lib.rs")).expect("untouched"), "fn main() {}\n");
    assert_eq!(names(&outside), ["er"]);
}

#[tokio::test]
async fn a_pull_into_a_repository_without_commits_moves_on_to_the_remotes_head() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let empty = tempfile::tempdir().expect("a directory");
    let repository =
        fetch_client::init(empty.path(), &main_branch(), Some(&address(&hub))).expect("a repository");
    pull(&session(), &repository, &origin()).await.expect("a pull");
    assert_eq!(files(empty.path()), work.files());
}

#[tokio::test]
async fn a_name_or_a_branch_that_is_missing_is_told() {
    let pair = Pair::start().await;
    let gone = fetch_client::FetchOptions { remote: "gone".to_owned(), branch: None };
    let failed = fetch(&session(), &pair.copy, &gone).await.expect_err("no remote");
    assert!(matches!(failed.error, Error::RemoteMissing { .. }));
    let gone = fetch_client::FetchOptions { branch: Some("gone".parse().expect("a branch")), ..origin() };
    let failed = pull(&session(), &pair.copy, &gone).await.expect_err("no branch");
    assert!(matches!(failed.error, Error::RemoteBranchMissing { .. }));
}

/// F49: the journal of a killed pull, found by the next command.
#[tokio::test]
async fn an_interrupted_pull_is_completed_by_the_next_command_and_overwrites_nothing() {
    let pair = Pair::start().await;
    let old = pair.work.head();
    pair.push(|work| _ = work.write("README.md", "theirs").write("new", "1").remove(".hidden")).await;
    fetch(&session(), &pair.copy, &origin()).await.expect("a fetch");
    let new = pair.work.head();
    // As if the pull had been killed after its first file.
    let journal = format!("{{\"branch\":\"main\",\"from\":\"{old}\",\"to\":\"{new}\"}}");
    fs::write(pair.copy.root().join(".muse/checkout.json"), journal).expect("writable");
    pair.write("new", "1");

    pair.write("README.md", "edited since");
    let before = pair.state();
    match status(&pair.copy) {
        Err(Error::Unfinished { error, .. }) => assert!(matches!(*error, Error::WouldOverwrite { .. })),
        other => panic!("expected an unfinished move, got {other:?}"),
    }
    assert_eq!(pair.state(), before);

    pair.write("README.md", "# Work\n");
    assert_eq!(status(&pair.copy).expect("a status").differences, Default::default());
    assert_eq!(pair.copy.head(&main_branch()).expect("readable"), Some(new));
    assert_eq!(files(pair.copy.root()), pair.work.files());
}

/// F49: killed while it created files. What was begun is written again; what only looks like it is the user's.
#[tokio::test]
async fn a_file_of_which_only_the_beginning_was_written_is_completed_and_no_other() {
    let pair = Pair::start().await;
    let old = pair.work.head();
    let long = "a line of some length\n".repeat(20_000);
    pair.push(|work| _ = work.write("begun", &long).write("empty", "1").write("whole", "whole")).await;
    fetch(&session(), &pair.copy, &origin()).await.expect("a fetch");
    let journal = format!("{{\"branch\":\"main\",\"from\":\"{old}\",\"to\":\"{}\"}}", pair.work.head());
    fs::write(pair.copy.root().join(".muse/checkout.json"), journal).expect("writable");
    pair.write("begun", &long[..300_001]);
    pair.write("empty", "");

    for other in ["wholE", "whole and more"] {
        pair.write("whole", other);
        match status(&pair.copy) {
            Err(Error::Unfinished { error, .. }) => {
                assert_eq!(overwritten(Err(*error)), ["whole"], "{other}");
            }
            other => panic!("expected an unfinished move, got {other:?}"),
        }
    }
    pair.write("whole", "who");
    assert_eq!(status(&pair.copy).expect("a status").differences, Default::default());
    assert_eq!(files(pair.copy.root()), pair.work.files());
}
