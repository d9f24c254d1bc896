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
    insta::assert_snapshot!(help(&["--help"]), @r#"
    exit 0
    Repositories over a hub that is asked again when it says so

    Usage: fetch-client [OPTIONS] <COMMAND>

    Commands:
      init       Make this directory a repository
      commit     Record the working tree
      status     Show what differs from the last commit, and from the remote as it was last seen
      push       Send the branch's commits to a hub
      clone      Make a repository of what a hub has
      fetch      Bring what the hub has and this repository has not
      pull       Fetch, then move on to the remote's branch or merge it
      ls-remote  List the branches of a hub's repository
      get        Send any request, and come back later as a profile says
      instance   Ask a cluster for instances
      help       Print this message or the help of the given subcommand(s)

    Options:
      -C, --directory <DIRECTORY>  Work as if started in this directory
      -h, --help                   Print help
      -V, --version                Print version

    Exit codes:
      0  done                                4  a name that is missing here
      1  the user's error                    5  the remote refused the push
      2  no repository here                130  interrupted
      3  the server, the connection, the disk, or a defect of this program
    "#);
}

#[test]
fn help_of_clone() {
    insta::assert_snapshot!(help(&["clone", "--help"]), @r#"
    exit 0
    Make a repository of what a hub has

    Usage: fetch-client clone [OPTIONS] <URL> [TARGET]

    Arguments:
      <URL>     The address of the hub's repository
      [TARGET]  A directory that is missing or empty; without it, the address's last part

    Options:
          --branch <BRANCH>          The branch to check out; without it the remote's default
      -C, --directory <DIRECTORY>    Work as if started in this directory
          --token <TOKEN>            The access token; without it, the one in `.muse/config.toml` [env: MUSE_TOKEN]
          --retry-timeout <SECONDS>  How long to wait in all while the remote is preparing; without it MUSE_FETCH_RETRY_BUDGET_S, or 120
          --no-retry                 One attempt, whatever the remote asks for
          --json                     Print one JSON object on standard output, and everything else on standard error
      -h, --help                     Print help
    "#);
}

#[test]
fn help_of_get() {
    insta::assert_snapshot!(help(&["get", "--help"]), @r#"
    exit 0
    Send any request, and come back later as a profile says

    Usage: fetch-client get [OPTIONS] <URL>

    Arguments:
      <URL>  Where to

    Options:
      -C, --directory <DIRECTORY>  Work as if started in this directory
          --method <METHOD>        The method; without it GET, or POST with a body
          --body-file <FILE>       The file to send as the body, afresh in each attempt
          --header <FIELD>         A header field, `Name: value`, but none that says how the request is sent; may be repeated
          --profile <PROFILE>      When to come back, and how often: muse, shakenfist, alkhttp or recommended [default: recommended]
          --deadline <SECONDS>     Plan no attempt after this time, and let none run past it; with 0, one attempt and no wait
          --vouch                  Vouch that a refused request has changed nothing, so that any method may be sent again
      -o, --output <FILE>          Write the answer's body to this file, once it is whole, and not to standard output
      -h, --help                   Print help

    Exit codes:
      0  a success                           3  a refusal, no answer, or an answer that could not be written
      1  nothing was sent: a usage error   130  interrupted
    "#);
}

#[test]
fn a_usage_error() {
    insta::assert_snapshot!(help(&["clone"]), @r#"
    exit 1
    error: the following required arguments were not provided:
      <URL>

    Usage: fetch-client clone <URL> [TARGET]

    For more information, try '--help'.
    "#);
}

#[test]
fn a_clone_that_waited() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("1"), busy("1")]), &[]), @r#"
    exit 0
    ⏳ remote preparing fetch data (server busy, attempt 1); retrying in 1s … (waited 0s / 120s)
    ⏳ remote preparing fetch data (server busy, attempt 2); retrying in 1s … (waited 1s / 120s)
    received 423 B
    cloned http://127.0.0.1:PORT/owner/slug into FOLDER/work-0/target: 1 commit, 1 object, SIZE bytes; main is at sha256:ID
    "#);
}

#[test]
fn the_envelope_of_a_clone_that_waited() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("1")]), &["--json"]), @r#"
    exit 0
    ⏳ remote preparing fetch data (server busy, attempt 1); retrying in 1s … (waited 0s / 120s)
    received 423 B
    {"ok":true,"command":"clone","url":"http://127.0.0.1:PORT/owner/slug","target":"FOLDER/work-0/target","branch":"main","head":"sha256:ID","commits":1,"snapshots":1,"objects":1,"bytes":423,"attempts":2,"waited_s":WAITED}
    "#);
}

/// MWP5_14.
#[test]
fn a_clone_that_may_not_wait() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("30")]), &["--no-retry"]), @r#"
    exit 3
    ❌ Remote still preparing clone data after 0s — try again shortly.
       the server said: 503 mpack not ready — prebuild in progress. Retry shortly. (request fake-1); waited WAITEDs in 1 attempt
    "#);
}

#[test]
fn the_envelope_of_a_clone_that_may_not_wait() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("30")]), &["--no-retry", "--json"]), @r#"
    exit 3
    ❌ Remote still preparing clone data after 0s — try again shortly.
       the server said: 503 mpack not ready — prebuild in progress. Retry shortly. (request fake-1); waited WAITEDs in 1 attempt
    {"ok":false,"command":"clone","error":"Remote still preparing clone data after 0s — try again shortly. The server said: mpack not ready — prebuild in progress. Retry shortly.","status":503,"exit_code":3,"attempts":1,"waited_s":WAITED,"request_id":"fake-1","retryable":true,"timed_out":true,"retry_after_s":30}
    "#);
}

#[test]
fn a_refusal_beyond_the_budget() {
    insta::assert_snapshot!(clone(Answers::fetches([busy("5")]), &["--retry-timeout", "3"]), @r#"
    exit 3
    ❌ Remote still preparing clone data after 3s — try again shortly.
       the server said: 503 mpack not ready — prebuild in progress. Retry shortly. (request fake-1); waited WAITEDs in 1 attempt
    "#);
}

#[test]
fn a_failure_of_another_kind() {
    let broken = || Answers::fetches([Answer::new("500 Internal Server Error", &[], "the disk is full")]);
    insta::assert_snapshot!(clone(broken(), &[]), @r#"
    exit 3
    ❌ Fetch failed: POST http://127.0.0.1:PORT/owner/slug/fetch/mpack answered 500: the disk is full
    "#);
    insta::assert_snapshot!(clone(broken(), &["--json"]), @r#"
    exit 3
    ❌ Fetch failed: POST http://127.0.0.1:PORT/owner/slug/fetch/mpack answered 500: the disk is full
    {"ok":false,"command":"clone","error":"POST http://127.0.0.1:PORT/owner/slug/fetch/mpack answered 500: the disk is full","status":500,"exit_code":3,"attempts":1,"waited_s":WAITED,"request_id":null}
    "#);
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
    insta::assert_snapshot!(told.join("\n"), @r#"
    exit 2
    ❌ no repository here: FOLDER/work-0 and the directories above it hold no .muse
    exit 0
    FOLDER/work-0 is a repository now, on branch main
    exit 1
    ❌ nothing to push: the branch main has no commit yet
    exit 0
    ⚠ left out .env: secrets and build folders are, unless .museignore has a line such as !.env
    ⚠ left out link: it is a symlink
    recorded sha256:ID on main: 1 file
    exit 1
    ❌ nothing to commit: the working tree is as in the last commit
    exit 3
    ❌ POST http://127.0.0.1:PORT/owner/slug/push/mpack-presign answered 401: the token is not known to this server (request REQUEST)
    exit 4
    ❌ no remote "elsewhere" here; a push to its address creates it
    exit 0
    sent SIZE B
    pushed main to http://127.0.0.1:PORT/owner/slug: 1 commit, 1 object, SIZE bytes; its head is sha256:ID
    exit 0
    main of http://127.0.0.1:PORT/owner/slug is at sha256:ID already
    exit 0
    ⚠ left out .env: secrets and build folders are, unless .museignore has a line such as !.env
    ⚠ left out link: it is a symlink
    on main, at sha256:ID
    as the remote was last seen
    nothing to commit
    "#);
}
