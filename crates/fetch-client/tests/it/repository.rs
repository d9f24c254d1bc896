//! What is recorded, and what is not.

use std::fs;
use std::os::unix::fs::symlink;

use fetch_client::{Error, Repository, status};

use crate::scratch::{Work, main_branch, names};

#[test]
fn init_makes_the_layout() {
    let work = Work::new();
    assert_eq!(
        names(&work.at(".muse")),
        [
            "HEAD",
            "commits",
            "config.toml",
            "incoming",
            "lock",
            "objects",
            "refs",
            "remotes",
            "repo.json",
            "snapshots"
        ]
    );
    assert_eq!(fs::read_to_string(work.at(".muse/HEAD")).expect("a head"), "ref: refs/heads/main\n");
}

#[test]
fn init_where_a_repository_is_changes_nothing() {
    let work = Work::new();
    let again = Repository::init(work.directory.path(), &"other".parse().expect("a branch"));
    assert!(matches!(again, Err(Error::AlreadyARepository { .. })));
    assert_eq!(work.repository.current_branch().expect("a branch"), main_branch());
}

#[test]
fn objects_commits_and_snapshots_lie_where_their_ids_say() {
    let work = Work::new();
    let commit = work.write("a", "come back later").commit("first");
    let object = hub_protocol::Id::of("come back later").hex();
    let stored = work.at(&format!(".muse/objects/{}/{}", &object[..2], &object[2..]));
    assert_eq!(fs::read_to_string(stored).expect("an object"), "come back later");
    let text = fs::read(work.at(&format!(".muse/commits/{}.json", commit.hex()))).expect("a commit");
    let recorded: hub_protocol::Commit = serde_json::from_slice(&text).expect("a commit");
    assert_eq!(recorded.id(), commit);
    assert!(work.at(&format!(".muse/snapshots/{}.json", recorded.snapshot().hex())).exists());
    assert_eq!(fs::read_to_string(work.at(".muse/refs/heads/main")).expect("a head"), format!("{commit}\n"));
}

#[test]
fn a_repository_is_found_from_the_directories_below_it() {
    let work = Work::new();
    work.write("deep/er/file", "");
    let found = Repository::discover(&work.at("deep/er")).expect("a repository");
    assert_eq!(found.root(), work.directory.path());
    let elsewhere = tempfile::tempdir().expect("a directory");
    assert!(matches!(Repository::discover(elsewhere.path()), Err(Error::NoRepository { .. })));
}

#[test]
fn nothing_is_left_in_incoming() {
    let work = Work::new();
    work.write("a", "1").commit("first");
    assert!(matches!(work.repository.record("again", "2026-11-30T12:00:00Z"), Err(Error::NothingToCommit)));
    assert_eq!(names(&work.at(".muse/incoming")), [""; 0]);
}

#[test]
fn status_tells_added_modified_and_deleted_files() {
    let work = Work::new();
    work.write("same", "1").write("modified", "1").write("deleted", "1").write("script", "1").commit("first");
    work.write("modified", "2").remove("deleted").write("added", "1");
    fs::set_permissions(work.at("script"), std::os::unix::fs::PermissionsExt::from_mode(0o755))
        .expect("ours");
    let found = status(&work.repository).expect("a status").differences;
    let names =
        |paths: &[hub_protocol::RepositoryPath]| paths.iter().map(ToString::to_string).collect::<Vec<_>>();
    assert_eq!(names(&found.added), ["added"]);
    assert_eq!(names(&found.modified), ["modified", "script"]);
    assert_eq!(names(&found.deleted), ["deleted"]);
}

#[test]
fn what_does_not_take_part_is_told() {
    let work = Work::new();
    work.write("kept", "1").write(".env", "SECRET=1").write("target/debug/out", "1").write("bad:name", "1");
    work.write("ignored.log", "1").write(".museignore", "*.log\n").write(".git/config", "1");
    symlink("/etc/passwd", work.at("link")).expect("a symlink");
    rustix::fs::mkfifoat(rustix::fs::CWD, work.at("pipe"), rustix::fs::Mode::from_raw_mode(0o600))
        .expect("a pipe");
    let recorded = work.repository.record("first", "2026-11-30T12:00:00Z").expect("a commit");
    assert_eq!(recorded.files, 2, "kept and .museignore");
    let warnings: Vec<String> = recorded.warnings.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(warnings.join("\n"), @r#"
    left out .env: secrets and build folders are, unless .museignore has a line such as !.env
    left out link: it is a symlink
    left out pipe: it is neither a file nor a directory
    left out target: secrets and build folders are, unless .museignore has a line such as !target
    left out: the path "bad:name" holds the character ':', which is not allowed
    "#);
}

/// A file that is recorded stays so when a rule comes to leave its name out: a commit never drops it silently.
#[test]
fn a_recorded_file_stays_recorded_when_a_rule_leaves_its_name_out() {
    let work = Work::new();
    work.write("notes.log", "1")
        .write("cert/public.pem", "1")
        .write(".museignore", "!cert/*.pem\n")
        .commit("first");
    work.write(".museignore", "*.log\n").write("other.log", "1").commit("second");
    let found = status(&work.repository).expect("a status");
    assert_eq!(found.differences, Default::default());
    assert_eq!(found.warnings, []);
    work.write("notes.log", "2");
    let found = status(&work.repository).expect("a status").differences;
    assert_eq!(found.modified.len(), 1);
}

#[test]
fn two_processes_do_not_change_a_repository_at_once() {
    let work = Work::new();
    work.write("a", "1");
    let lock = fs::File::open(work.at(".muse/lock")).expect("the lock's file");
    lock.lock().expect("free");
    let refused = work.repository.record("first", "2026-11-30T12:00:00Z");
    assert!(matches!(refused, Err(Error::Busy { .. })));
    drop(lock);
    work.commit("first");
}

#[test]
fn a_damaged_commit_is_named() {
    let work = Work::new();
    let commit = work.write("a", "1").commit("first");
    let path = work.at(&format!(".muse/commits/{}.json", commit.hex()));
    let text = fs::read_to_string(&path).expect("a commit").replace("first", "forged");
    fs::write(&path, text).expect("writable");
    let Err(Error::Damaged { path: named, .. }) = status(&work.repository) else { panic!("expected damage") };
    assert_eq!(named, path);
}

#[test]
fn a_secret_in_the_configuration_is_not_shown() {
    let work = Work::new();
    fs::write(work.at(".muse/config.toml"), "[remotes.origin]\nurl = \"http://h/a/b\"\ntoken = \"s3cret\"\n")
        .expect("w");
    let config = work.repository.config().expect("a configuration");
    assert!(!format!("{config:?}").contains("s3cret"));
    work.repository.set_config(&config).expect("writable");
    let mode = fs::metadata(work.at(".muse/config.toml")).expect("there").permissions();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode) & 0o777, 0o600);
}
