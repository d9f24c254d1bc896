//! Ctrl-C and SIGTERM: the end is at once, and what was made is removed.

use std::fs;
use std::path::Path;
use std::time::Duration;

use e2e::{Answer, Process, Scene};

use crate::fake_hub::{Answers, busy, fake_hub, url};
use crate::forge::{Forged, forged};
use crate::{scene, wait_for_waiting_line};

/// A hub whose pack comes so slowly that the test is over long before.
fn slow_download(scene: &Scene, forged: &Forged) -> e2e::RawServer {
    let pack = &forged.pack;
    let trickling = Answer::head("200 OK", &[], pack.len() as u64).trickle(pack, 1, Duration::from_secs(1));
    fake_hub(scene, forged, Answers::downloads([trickling]))
}

#[track_caller]
fn assert_interrupted(process: &Process) {
    let ended = process.wait().unwrap();
    assert_eq!(ended.code(), Some(130), "{}", ended.stderr);
    assert!(ended.stderr.contains("❌ interrupted"), "{}", ended.stderr);
    assert!(ended.after < Duration::from_secs(30), "it waited on: {:?}", ended.after);
}

/// B7.
#[test]
fn ctrl_c_during_a_wait_removes_the_target_and_the_folders_made_for_it() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::fetches([busy("60")]));
    let work = scene.new_folder("work").unwrap();
    let cloning = scene.client(&work).start(&["clone", &url(&hub), "made/for/target"]).unwrap();
    wait_for_waiting_line(&cloning);
    assert!(work.join("made/for/target").is_dir(), "the target lives through the wait");
    cloning.interrupt();
    assert_interrupted(&cloning);
    assert!(!work.join("made").exists());
    assert_eq!(hub.trace().fetches().len(), 1);
}

/// B7.
#[test]
fn sigterm_during_a_wait_ends_it_as_ctrl_c_does() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::fetches([busy("60")]));
    let work = scene.new_folder("work").unwrap();
    let cloning = scene.client(&work).start(&["clone", &url(&hub), "target"]).unwrap();
    wait_for_waiting_line(&cloning);
    cloning.terminate();
    assert_interrupted(&cloning);
    assert!(!work.join("target").exists());
}

/// F47.
#[test]
fn a_folder_that_was_there_before_the_clone_stays() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::fetches([busy("60")]));
    let work = scene.new_folder("work").unwrap();
    fs::create_dir_all(work.join("there/target")).unwrap();
    let cloning = scene.client(&work).start(&["clone", &url(&hub), "there/target"]).unwrap();
    wait_for_waiting_line(&cloning);
    cloning.interrupt();
    assert_interrupted(&cloning);
    let left: Vec<_> = fs::read_dir(work.join("there/target")).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn ctrl_c_during_a_download_removes_the_target() {
    let scene = scene();
    let hub = slow_download(&scene, &forged(&[("a.txt", "a")]));
    let work = scene.new_folder("work").unwrap();
    let cloning = scene.client(&work).start(&["clone", &url(&hub), "target"]).unwrap();
    hub.trace().wait_for("the download", |exchange| exchange.request.asked().contains("/mpacks/")).unwrap();
    cloning.interrupt();
    assert_interrupted(&cloning);
    assert!(!work.join("target").exists());
}

#[test]
fn ctrl_c_while_the_server_says_nothing_ends_the_clone() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::refs([Answer::default().silence()]));
    let work = scene.new_folder("work").unwrap();
    let cloning = scene.client(&work).start(&["clone", &url(&hub), "target"]).unwrap();
    hub.trace().wait_for("the request", |_| true).unwrap();
    cloning.interrupt();
    assert_interrupted(&cloning);
    assert!(!work.join("target").exists());
}

/// A fetch and a pull have nothing to remove: the repository is as it was.
#[test]
fn ctrl_c_during_the_wait_of_a_pull_leaves_the_repository_as_it_was() {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "a")]), Answers::default());
    let work = scene.new_folder("work").unwrap();
    scene.client(&work).succeed(&["clone", &url(&hub), "target"]).unwrap();
    let newer = forged(&[("a.txt", "b")]);
    let answers = Answers::fetches([busy("60")]);
    let moved_on = fake_hub(&scene, &newer, answers);
    point_at(&work.join("target"), &url(&hub), &url(&moved_on));
    let target = scene.client(work.join("target"));
    let before = target.succeed(&["status"]).unwrap().stdout;
    let pulling = target.start(&["pull"]).unwrap();
    wait_for_waiting_line(&pulling);
    pulling.interrupt();
    assert_interrupted(&pulling);
    assert_eq!(target.succeed(&["status"]).unwrap().stdout, before);
    assert_eq!(fs::read_to_string(work.join("target/a.txt")).unwrap(), "a");
}

/// Makes another server the remote of a repository.
fn point_at(repository: &Path, before: &str, after: &str) {
    let path = repository.join(".muse/config.toml");
    let config = fs::read_to_string(&path).unwrap();
    assert!(config.contains(before), "{config}");
    fs::write(path, config.replace(before, after)).unwrap();
}
