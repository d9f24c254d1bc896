//! What people read, pinned: help, waiting lines, terminal messages, envelopes.

use std::fs;

use e2e::{Answer, Client, Ended, Scene};

use crate::fake_hub::{Answers, busy, fake_hub, url};
use crate::forge::forged;
use crate::redacted::redacted;
use crate::scene;

/// An exit code and both outputs, as a person sees them.
fn shown(scene: &Scene, ended: &Ended) -> String {
    let folder = scene.folder();
    let text = format!("exit {}\n{}{}", ended.code().unwrap_or(-1), ended.stderr, ended.stdout);
    redacted(text.trim_end(), &[(&folder, "FOLDER")])
}

fn client(scene: &Scene) -> Client<'_> {
    scene.client(scene.new_folder("work").unwrap())
}

fn help(arguments: &[&str]) -> String {
    let scene = scene();
    shown(&scene, &client(&scene).run(arguments).unwrap())
}

/// A clone from a hub that first answers like this.
fn clone(answers: Answers, options: &[&str]) -> String {
    let scene = scene();
    let hub = fake_hub(&scene, &forged(&[("a.txt", "content")]), answers);
    let from = url(&hub);
    let ended = client(&scene).run(&[&["clone", &from, "target"], options].concat()).unwrap();
    shown(&scene, &ended)
}

#[test]
fn help_of_the_client() {
    insta::assert_snapshot!(help(&["--help"]), @"");
}

#[test]
fn help_of_clone() {
    insta::assert_snapshot!(help(&["clone", "--help"]), @"");
}

#[test]
fn help_of_get() {
    insta::assert_snapshot!(help(&["get", "--help"]), @"");
}

#[test]
fn a_usage_error() {
    insta::assert_snapshot!(help(&["clone"]), @"");
}

#[test]
fn a_clone_that_waited() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("1"), busy("1")]), &[]), @"");
}

#[test]
fn the_envelope_of_a_clone_that_waited() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("1")]), &["--json"]), @"");
}

/// MWP5_14.
#[test]
fn a_clone_that_may_not_wait() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("30")]), &["--no-retry"]), @"");
}

#[test]
fn the_envelope_of_a_clone_that_may_not_wait() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("30")]), &["--no-retry", "--json"]), @"");
}

#[test]
fn a_refusal_beyond_the_budget() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("5")]), &["--retry-timeout", "3"]), @"");
}

#[test]
fn a_failure_of_another_kind() {
    let broken = || Answers::fetches([Answer::new("500 Internal Server Error", &[], "the disk is full")]);
    insta::assert_snapshot!(clone(broken(), &[]), @"");
    insta::assert_snapshot!(clone(broken(), &["--json"]), @"");
}

#[test]
fn a_commit_a_push_and_what_they_say() {
    let scene = scene();
    let client = client(&scene);
    fs::write(client.directory().join(".env"), "SECRET=1").unwrap();
    std::os::unix::fs::symlink("nowhere", client.directory().join("link")).unwrap();
    fs::write(client.directory().join("a.txt"), "content").unwrap();
    let hub = scene.hub(&[]).unwrap();
    let (from, wrong) = (hub.url("owner/slug"), "wrong");
    let steps = [
        client.run(&["push", &from]).unwrap(),
        client.run(&["init"]).unwrap(),
        client.run(&["push", &from]).unwrap(),
        client.run(&["commit", "-m", "first"]).unwrap(),
        client.run(&["commit", "-m", "again"]).unwrap(),
        client.run(&["push", &from, "--token", wrong]).unwrap(),
        client.run(&["push", "elsewhere"]).unwrap(),
        client.run(&["push", &from, "--token", e2e::TOKEN]).unwrap(),
        client.run(&["push", &from, "--token", e2e::TOKEN]).unwrap(),
        client.run(&["status"]).unwrap(),
    ];
    let told: Vec<_> = steps.iter().map(|ended| shown(&scene, ended)).collect();
    insta::assert_snapshot!(told.join("\n"), @"");
}
