//! SIGKILL at moments that were seen to have come (F49): afterwards there is the old state or the new one.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use e2e::{Answer, Client, Hub, JobKind, Process, RawServer, Scene, TOKEN, Tree, clock, write_random_file};

use crate::fake_hub::{Answers, busy, fake_hub, url};
use crate::forge::{Forged, forged};
use crate::{scene, wait_for_waiting_line};

const SHORT_WAITS: [&str; 2] = ["--retry-after-index=1", "--retry-after-prebuild=1"];

/// A folder with two files, pushed to a hub that was started with these arguments.
fn pushed(scene: &Scene, arguments: &[&str]) -> (Hub, PathBuf) {
    let hub = scene.hub(arguments).unwrap();
    let folder = scene.new_folder("folder").unwrap();
    fs::write(folder.join("a.txt"), "a\n").unwrap();
    fs::write(folder.join("b.txt"), "b\n").unwrap();
    scene.client(&folder).publish(&hub.url("owner/slug")).unwrap();
    (hub, folder)
}

/// The killed hub, started anew, serves a clone that is whole.
#[track_caller]
fn assert_recovers(scene: &Scene, hub: &Hub, folder: &Path) {
    hub.process().kill().unwrap();
    let again = hub.start_again(scene, &SHORT_WAITS).unwrap();
    let target = scene.new_path("target");
    let from = again.url("owner/slug");
    scene.client(folder).succeed(&["clone", &from, target.to_str().unwrap()]).unwrap();
    let differences = Tree::differences(folder, &target).unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    for kind in [JobKind::Index, JobKind::Prebuild] {
        assert_eq!(again.jobs(kind).unwrap(), ["done"], "{kind}");
    }
}

#[test]
fn a_hub_killed_between_push_and_index_goes_on_where_it_was() {
    let scene = scene();
    let (hub, folder) = pushed(&scene, &["--hold-jobs=mpack.index"]);
    hub.wait_for_jobs(JobKind::Index, 1, "queued").unwrap();
    assert_recovers(&scene, &hub, &folder);
}

#[test]
fn a_hub_killed_during_an_index_job_runs_it_again() {
    let scene = scene();
    let (hub, folder) = pushed(&scene, &["--index-delay=600"]);
    hub.wait_for_jobs(JobKind::Index, 1, "running").unwrap();
    assert_recovers(&scene, &hub, &folder);
}

#[test]
fn a_hub_killed_between_index_and_prebuild_goes_on_where_it_was() {
    let scene = scene();
    let (hub, folder) = pushed(&scene, &["--hold-jobs=fetch.mpack.prebuild"]);
    hub.wait_for_jobs(JobKind::Index, 1, "done").unwrap();
    hub.wait_for_jobs(JobKind::Prebuild, 1, "queued").unwrap();
    assert_recovers(&scene, &hub, &folder);
}

#[test]
fn a_hub_killed_during_a_prebuild_runs_it_again() {
    let scene = scene();
    let (hub, folder) = pushed(&scene, &["--prebuild-delay=600"]);
    hub.wait_for_jobs(JobKind::Prebuild, 1, "running").unwrap();
    assert_recovers(&scene, &hub, &folder);
}

/// A clone that waits while its hub is killed and started again needs nobody's help. Six seconds are what a new
/// server has to be there in; it takes a fraction of one.
#[test]
fn a_clone_outlives_a_hub_that_is_killed_during_the_wait() {
    let scene = scene();
    let (hub, folder) = pushed(&scene, &["--hold-jobs=mpack.index", "--retry-after-index=6"]);
    let target = scene.new_path("target");
    let from = hub.url("owner/slug");
    let cloning = scene.client(&folder).start(&["clone", &from, target.to_str().unwrap()]).unwrap();
    wait_for_waiting_line(&cloning);
    hub.process().kill().unwrap();
    let _again = hub.start_again(&scene, &SHORT_WAITS).unwrap();
    let ended = cloning.wait().unwrap();
    assert_eq!(ended.code(), Some(0), "{}", ended.stderr);
    let differences = Tree::differences(&folder, &target).unwrap();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// A hub whose first download never ends.
fn stuck_download(scene: &Scene, forged: &Forged) -> RawServer {
    let half = &forged.pack[..forged.pack.len() / 2];
    let stuck = Answer::head("200 OK", &[], forged.pack.len() as u64).write(half).silence();
    fake_hub(scene, forged, Answers::downloads([stuck]))
}

fn wait_for_download(hub: &RawServer) {
    hub.trace().wait_for("the download", |exchange| exchange.request.asked().contains("/mpacks/")).unwrap();
}

#[test]
fn a_clone_killed_during_a_wait_is_no_repository_and_can_be_repeated() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "content")]), Answers::fetches([busy("60")]));
    let client = scene.client(scene.new_folder("work").unwrap());
    let cloning = client.start(&["clone", &url(&hub), "target"]).unwrap();
    wait_for_waiting_line(&cloning);
    cloning.kill().unwrap();
    assert_clone_can_be_repeated(&scene, &client, &url(&hub));
}

#[test]
fn a_clone_killed_during_the_download_is_no_repository_and_can_be_repeated() {
    let scene = scene();
    let hub = stuck_download(&scene, &forged(&[("a.txt", "content")]));
    let client = scene.client(scene.new_folder("work").unwrap());
    let cloning = client.start(&["clone", &url(&hub), "target"]).unwrap();
    wait_for_download(&hub);
    cloning.kill().unwrap();
    assert_clone_can_be_repeated(&scene, &client, &url(&hub));
}

#[track_caller]
fn assert_clone_can_be_repeated(scene: &Scene, client: &Client<'_>, from: &str) {
    let target = client.directory().join("target");
    let status = scene.client(&target).run(&["status"]).unwrap();
    assert_eq!(status.code(), Some(2), "half a clone is no repository: {}", status.stderr);
    assert!(!target.join("a.txt").exists());
    client.succeed(&["clone", from, "target"]).unwrap();
    assert_eq!(fs::read_to_string(target.join("a.txt")).unwrap(), "content");
    scene.client(&target).succeed(&["status"]).unwrap();
}

/// A clone of one state, whose remote is now a hub with the next one.
fn behind(scene: &Scene, answers: impl FnOnce(&Forged) -> RawServer) -> (Client<'_>, RawServer) {
    let old = fake_hub(scene, &forged(&[("a.txt", "old")]), Answers::default());
    let work = scene.new_folder("work").unwrap();
    scene.client(&work).succeed(&["clone", &url(&old), "target"]).unwrap();
    let next = answers(&forged(&[("a.txt", "new"), ("b.txt", "more")]));
    let config = work.join("target/.muse/config.toml");
    let text = fs::read_to_string(&config).unwrap().replace(&url(&old), &url(&next));
    fs::write(&config, text).unwrap();
    (scene.client(work.join("target")), next)
}

#[track_caller]
fn assert_unchanged(client: &Client<'_>, status_before: &str) {
    assert_eq!(client.succeed(&["status"]).unwrap().stdout, status_before);
    assert_eq!(fs::read_to_string(client.directory().join("a.txt")).unwrap(), "old");
    assert!(!client.directory().join("b.txt").exists());
}

#[test]
fn a_fetch_killed_during_the_download_leaves_the_old_state_and_can_be_repeated() {
    let scene = scene();
    let (client, hub) = behind(&scene, |next| stuck_download(&scene, next));
    let before = client.succeed(&["status"]).unwrap().stdout;
    let fetching = client.start(&["fetch"]).unwrap();
    wait_for_download(&hub);
    fetching.kill().unwrap();
    assert_unchanged(&client, &before);
    client.succeed(&["fetch"]).unwrap();
    assert!(client.succeed(&["status"]).unwrap().stdout.contains("behind"));
}

#[test]
fn a_pull_killed_during_a_wait_leaves_the_old_state() {
    let scene = scene();
    let (client, _hub) = behind(&scene, |next| fake_hub(&scene, next, Answers::fetches([busy("60")])));
    let before = client.succeed(&["status"]).unwrap().stdout;
    let pulling = client.start(&["pull"]).unwrap();
    wait_for_waiting_line(&pulling);
    pulling.kill().unwrap();
    assert_unchanged(&client, &before);
}

#[test]
fn a_pull_killed_during_the_download_leaves_the_old_state() {
    let scene = scene();
    let (client, hub) = behind(&scene, |next| stuck_download(&scene, next));
    let before = client.succeed(&["status"]).unwrap().stdout;
    let pulling = client.start(&["pull"]).unwrap();
    wait_for_download(&hub);
    pulling.kill().unwrap();
    assert_unchanged(&client, &before);
}

/// Many files, so that writing them takes long enough to be seen.
fn many_files(text: &str) -> Forged {
    let files: Vec<_> = (0..500).map(|number| (format!("{number:04}"), format!("{text} {number}"))).collect();
    let files: Vec<_> = files.iter().map(|(path, content)| (path.as_str(), content.as_str())).collect();
    forged(&files)
}

/// Waits until `path` is there, or the process has ended, which kills nothing then.
fn wait_until_there(process: &Process, path: &Path) {
    let start = clock::now();
    while !path.exists() && !process.has_ended() {
        assert!(clock::since(start) < e2e::PATIENCE, "{} did not come", path.display());
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// The next command that changes something finds the old state or the new one, and no files in between: there is
/// nothing to commit.
#[track_caller]
fn assert_nothing_in_between(client: &Client<'_>) {
    let ended = client.run(&["commit", "-m", "what a killed command left"]).unwrap();
    assert_eq!(ended.code(), Some(1), "{}", ended.stdout);
    assert!(ended.stderr.contains("nothing to commit"), "{}", ended.stderr);
}

#[test]
fn a_pull_killed_while_it_writes_files_is_completed_or_undone_by_the_next_command() {
    let scene = scene();
    let next = many_files("new");
    let (client, _hub) = behind(&scene, |_| fake_hub(&scene, &next, Answers::default()));
    // The two histories have nothing in common, so this is a merge; what matters is that it writes many files.
    let pulling = client.start(&["pull"]).unwrap();
    wait_until_there(&pulling, &client.directory().join("0100"));
    pulling.kill().unwrap();
    assert_nothing_in_between(&client);
    client.succeed(&["pull"]).unwrap();
    let files = Tree::of_repository(client.directory()).unwrap().0.len();
    assert_eq!(files, 501, "a.txt and those that came");
    assert_nothing_in_between(&client);
}

#[test]
fn a_clone_killed_while_it_writes_files_is_repeated_or_completed() {
    let scene = scene();
    let hub = fake_hub(&scene, &many_files("new"), Answers::default());
    let work = scene.new_folder("work").unwrap();
    let cloning = scene.client(&work).start(&["clone", &url(&hub), "target"]).unwrap();
    wait_until_there(&cloning, &work.join("target/0100"));
    cloning.kill().unwrap();
    let target = scene.client(work.join("target"));
    if target.run(&["status"]).unwrap().code() == Some(2) {
        scene.client(&work).succeed(&["clone", &url(&hub), "target"]).unwrap();
    }
    assert_nothing_in_between(&target);
    target.succeed(&["pull"]).unwrap();
    assert_eq!(Tree::of_repository(target.directory()).unwrap().0.len(), 500);
}

/// Files on their way into the store are what can be seen of a commit from outside.
#[test]
fn a_commit_killed_while_it_copies_leaves_the_old_state_and_can_be_repeated() {
    let scene = scene();
    let client = scene.client(scene.new_folder("work").unwrap());
    fs::write(client.directory().join("a.txt"), "old").unwrap();
    client.commit_all().unwrap();
    let mut random = scene.random();
    for number in 0..200 {
        write_random_file(&client.directory().join(format!("{number}")), 100_000, 0o644, &mut random)
            .unwrap();
    }
    let head = client.directory().join(".muse/refs/heads/main");
    let incoming = client.directory().join(".muse/incoming");
    let before = fs::read(&head).unwrap();
    let committing = client.start(&["commit", "-m", "next"]).unwrap();
    wait_until_something_is_in(&committing, &incoming);
    committing.kill().unwrap();
    let is_new = fs::read(&head).unwrap() != before;
    let again = client.run(&["commit", "-m", "next"]).unwrap();
    assert_eq!(again.code(), Some(i32::from(is_new)), "{}", again.stderr);
    assert!(client.succeed(&["status"]).unwrap().stdout.contains("nothing to commit"));
    assert_eq!(fs::read_dir(&incoming).unwrap().count(), 0, "what the killed commit left is removed");
}

fn wait_until_something_is_in(process: &Process, folder: &Path) {
    let start = clock::now();
    while fs::read_dir(folder).map_or(0, Iterator::count) == 0 && !process.has_ended() {
        assert!(clock::since(start) < e2e::PATIENCE, "nothing came into {}", folder.display());
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// A push that is killed before its pack was taken has changed nothing at the hub.
#[test]
fn a_push_killed_during_the_upload_can_be_repeated() {
    let scene = scene();
    let hub = scene.hub(&SHORT_WAITS).unwrap();
    let from = hub.url("owner/slug");
    let client = scene.client(scene.new_folder("work").unwrap());
    write_random_file(&client.directory().join("large"), 20 << 20, 0o644, &mut scene.random()).unwrap();
    client.commit_all().unwrap();
    let tap = scene.tap(hub.address(), |_| {}).unwrap();
    let through_tap = format!("http://{}/owner/slug", tap.address());
    let pushing = client.start(&["push", &through_tap, "--public", "--token", TOKEN]).unwrap();
    tap.trace().wait_for("the upload", |exchange| exchange.request.asked().starts_with("PUT ")).unwrap();
    pushing.kill().unwrap();
    client.succeed(&["push", &from, "--public", "--token", TOKEN]).unwrap();
    let target = scene.new_path("target");
    client.succeed(&["clone", &from, target.to_str().unwrap()]).unwrap();
    assert!(Tree::differences(client.directory(), &target).unwrap().is_empty());
}
