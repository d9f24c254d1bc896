//! The program as people and scripts meet it.

use std::io::{BufRead, BufReader};
use std::process::Child;
use std::time::Duration;

use crate::hub::{Download, Refusal, TestHub};
use crate::program::{Ran, command, finish, run};
use crate::scratch::{files, names, pushed, write};

fn place() -> tempfile::TempDir {
    tempfile::tempdir().expect("a directory")
}

#[tokio::test]
async fn four_commands_publish_a_directory_and_bring_it_back() {
    let hub = TestHub::start().await;
    let place = place();
    write(place.path(), "work/README.md", "# Work\n");
    let work = place.path().join("work");
    for arguments in [&["init"][..], &["commit", "-m", "first"], &["push", "--public", &hub.url()]] {
        let ran = run(&work, arguments).await;
        assert_eq!(ran.code, Some(0), "{arguments:?}: {ran:?}");
    }
    let ran = run(place.path(), &["clone", &hub.url(), "copy"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(files(&place.path().join("copy")), files(&work));
}

#[tokio::test]
async fn a_clone_without_a_target_takes_the_last_part_of_the_address() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let place = place();
    let ran = run(place.path(), &["clone", &hub.url()]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(files(&place.path().join("work")), work.files());
}

/// MWP5_13 as a process; the waiting lines to the letter.
#[tokio::test]
async fn mwp5_13_a_clone_waits_out_refusals_and_says_so() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    hub.refuse([Refusal::not_ready("1"), Refusal::not_ready("1")]);
    let place = place();
    let ran = run(place.path(), &["clone", &hub.url(), "copy"]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(files(&place.path().join("copy")), work.files());
    let [first, second] = ran.waiting_lines()[..] else { panic!("expected two waiting lines: {ran:?}") };
    assert_eq!(
        first,
        "⏳ remote preparing fetch data (server busy, attempt 1); retrying in 1s … (waited 0s / 120s)"
    );
    assert_eq!(
        second,
        "⏳ remote preparing fetch data (server busy, attempt 2); retrying in 1s … (waited 1s / 120s)"
    );
}

/// MWP5_14, MWP5_12
#[tokio::test]
async fn mwp5_14_a_terminal_503_is_exit_3_removes_the_target_and_is_marked() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.always_refuse(Refusal::not_ready("30"));
    let place = place();
    let ran = run(place.path(), &["clone", &hub.url(), "copy", "--no-retry", "--json"]).await;
    assert_eq!(ran.code, Some(3));
    assert_eq!(names(place.path()), [""; 0]);
    let said = "❌ Remote still preparing clone data after 0s — try again shortly.\n   the server said: 503 mpack not \
                ready — prebuild in progress. Retry shortly. (request request-7); waited 0";
    assert!(ran.err.starts_with(said), "{}", ran.err);
    let envelope = ran.envelope();
    assert_eq!(envelope["ok"], false);
    assert_eq!((&envelope["retryable"], &envelope["timed_out"]), (&true.into(), &true.into()));
    assert_eq!((&envelope["status"], &envelope["retry_after_s"]), (&503.into(), &30.into()));
    assert_eq!((&envelope["exit_code"], &envelope["attempts"]), (&3.into(), &1.into()));
    assert_eq!(envelope["request_id"], "request-7");
}

/// MWP5_15, MWP5_16 as processes.
#[tokio::test]
async fn mwp5_16_fetch_and_pull_wait_alike_and_remove_nothing() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let place = place();
    run(place.path(), &["clone", &hub.url(), "copy"]).await;
    let copy = place.path().join("copy");
    work.write("new", "1").commit("second");
    work.push(&hub).await;
    hub.always_refuse(Refusal::not_ready("30"));
    for verb in ["fetch", "pull"] {
        let ran = run(&copy, &[verb, "--retry-timeout", "0.25"]).await;
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.err.starts_with("❌ Remote still preparing fetch data after 0s — try again shortly."),
            "{ran:?}"
        );
        assert!(copy.join("README.md").exists());
    }
    hub.serve_normally();
    hub.refuse([Refusal::not_ready("0")]);
    let ran = run(&copy, &["fetch", "--json"]).await;
    assert_eq!((ran.code, ran.envelope()["attempts"].as_u64()), (Some(0), Some(2)), "{ran:?}");
    let ran = run(&copy, &["pull", "--json"]).await;
    assert_eq!((ran.code, ran.envelope()["attempts"].as_u64()), (Some(0), Some(0)), "{ran:?}");
    assert_eq!(files(&copy), work.files());
}

/// MWP5_17, F33
#[tokio::test]
async fn mwp5_17_standard_output_holds_the_envelope_and_nothing_else() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    hub.refuse([Refusal::not_ready("0"), Refusal::not_ready("1")]);
    let place = place();
    let ran = run(place.path(), &["clone", "--json", &hub.url(), "copy"]).await;
    assert_eq!(ran.code, Some(0));
    let envelope = ran.envelope();
    assert_eq!(
        (&envelope["ok"], &envelope["command"], &envelope["branch"]),
        (&true.into(), &"clone".into(), &"main".into())
    );
    assert_eq!((&envelope["attempts"], &envelope["objects"]), (&3.into(), &4.into()));
    assert_eq!(envelope["head"], work.head().to_string());
    assert!(envelope["waited_s"].as_f64().is_some_and(|waited| waited >= 1.98), "{envelope}");
    assert_eq!(ran.waiting_lines().len(), 2, "{ran:?}");
}

#[tokio::test]
async fn each_failure_has_its_exit_code_its_words_and_one_envelope() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    let place = place();
    write(place.path(), "full/file", "1");
    write(place.path(), "file", "1");
    let closed = std::net::TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .expect("a port");
    let nobody = format!("http://{closed}/me/work");
    let missing = format!("{}/you/nothing", hub.origin);
    let cases: [(&[&str], i32, &str); 12] = [
        (
            &["clone", "work"],
            1,
            "❌ expected the address of a repository such as https://host/owner/slug, got \"work\"",
        ),
        (&["clone", "ftp://h/a/b"], 1, "it starts with neither http:// nor https://"),
        (&["clone", &hub.url(), "full"], 1, "❌ the target full exists and is not empty"),
        (&["clone", &hub.url(), "file"], 1, "❌ the target file exists and is not a directory"),
        (&["clone", &hub.url(), "file/copy"], 1, "❌ the target file/copy cannot be created: "),
        (&["clone", &hub.url(), "copy", "--branch", "gone"], 1, "❌ the remote has no branch gone"),
        (&["clone", &hub.url(), "copy", "--branch", "../x"], 1, "❌ the branch name \"../x\" "),
        (
            &["clone", &hub.url(), "copy", "--retry-timeout", "1e3"],
            1,
            "--retry-timeout: expected a number of seconds",
        ),
        (&["clone", &nobody, "copy"], 3, "❌ Fetch failed: http://127.0.0.1:"),
        (&["clone", "http://no-such-host.invalid/a/b", "copy"], 3, "the host name cannot be resolved"),
        (&["clone", &missing, "copy"], 3, "answered 404"),
        (&["fetch"], 2, "❌ no repository here: "),
    ];
    for (arguments, code, words) in cases {
        let ran = run(place.path(), &[arguments, &["--json"]].concat()).await;
        assert_eq!(ran.code, Some(code), "{arguments:?}: {ran:?}");
        assert!(ran.err.contains(words), "{arguments:?}: {}", ran.err);
        let envelope = ran.envelope();
        assert_eq!((&envelope["ok"], &envelope["exit_code"]), (&false.into(), &code.into()), "{arguments:?}");
        assert_eq!(names(place.path()), ["file", "full"], "{arguments:?} left something");
    }
}

#[tokio::test]
async fn names_that_are_missing_here_are_exit_4_and_a_refused_push_is_exit_5() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    let place = place();
    let here = place.path();
    write(here, "file", "1");
    assert_eq!(run(here, &["status"]).await.code, Some(2));
    run(here, &["init"]).await;
    assert_eq!(run(here, &["fetch"]).await.code, Some(4), "no remote");
    assert_eq!(run(here, &["push", &hub.url()]).await.code, Some(1), "nothing to push");
    run(here, &["commit", "-m", "elsewhere"]).await;
    assert_eq!(run(here, &["push", &hub.url(), "--branch", "gone"]).await.code, Some(4), "no branch");
    let refused = run(here, &["push", &hub.url()]).await;
    assert_eq!(refused.code, Some(5));
    assert!(refused.err.contains("\n❌ the remote refused the push: "), "{refused:?}");
    assert_eq!(run(here, &["commit", "-m", "again"]).await.code, Some(1), "nothing to commit");
    assert_eq!(run(here, &["init"]).await.code, Some(1), "a repository already");
}

/// clap's own exit code for these is 2, which means "no repository here".
#[tokio::test]
async fn usage_errors_are_exit_1_and_help_is_exit_0() {
    let place = place();
    for arguments in [&[][..], &["clone"], &["frobnicate"], &["clone", "--frobnicate", "x"]] {
        let ran = run(place.path(), arguments).await;
        assert_eq!((ran.code, ran.out.as_str()), (Some(1), ""), "{arguments:?}: {ran:?}");
    }
    for arguments in [&["--help"][..], &["--version"], &["clone", "--help"]] {
        let ran = run(place.path(), arguments).await;
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{arguments:?}: {ran:?}");
    }
}

/// MWP5_06 as processes: who wins, and that junk in the environment is not set.
#[tokio::test]
async fn mwp5_06_the_budget_comes_from_the_option_then_the_environment() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    // Without a budget that covers five seconds, the refusal is terminal at once and names the budget.
    hub.always_refuse(Refusal::not_ready("60"));
    let place = place();
    let cases: [(&[&str], &str, &str); 5] = [
        (&[], "7.9", "after 7s"),
        (&[], "-7", "after 0s"),
        (&["--retry-timeout", "3"], "7", "after 3s"),
        (&["--retry-timeout", "-3"], "7", "after 0s"),
        (&["--retry-timeout", "3", "--no-retry"], "7", "after 0s"),
    ];
    for (options, environment, words) in cases {
        let url = hub.url();
        let mut program = command(place.path(), &[&["clone", &url, "copy"], options].concat());
        program.env("MUSE_FETCH_RETRY_BUDGET_S", environment);
        let ran = finish(program).await;
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(ran.err.contains(words), "{options:?} {environment:?}: {}", ran.err);
    }
    hub.serve_normally();
    hub.refuse([Refusal::not_ready("0")]);
    let mut program = command(place.path(), &["clone", &hub.url(), "copy"]);
    program.env("MUSE_FETCH_RETRY_BUDGET_S", "junk");
    let ran = finish(program).await;
    assert!(ran.code == Some(0) && ran.waiting_lines()[0].ends_with("(waited 0s / 120s)"), "{ran:?}");
}

/// MWP5_06: what counts as not set is named with its value; what nobody would have looked at is not.
#[tokio::test]
async fn a_junk_budget_in_the_environment_is_warned_of() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    let place = place();
    let warning = "⚠ MUSE_FETCH_RETRY_BUDGET_S counts as not set: expected a number of seconds such as 120 or \
                   2.5, got \"1e3\"\n";
    let cases: [(&[&str], &str, &str); 5] = [
        (&[], "1e3", warning),
        (&["--json"], "1e3", warning),
        (&["--retry-timeout", "3"], "1e3", ""),
        (&["--no-retry"], "1e3", ""),
        (&[], "", ""),
    ];
    for (number, (options, value, expected)) in cases.into_iter().enumerate() {
        let (url, target) = (hub.url(), format!("copy-{number}"));
        let mut program = command(place.path(), &[&["clone", &url, &target], options].concat());
        program.env("MUSE_FETCH_RETRY_BUDGET_S", value);
        let ran = finish(program).await;
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let warned: String =
            ran.err.lines().filter(|line| line.starts_with('⚠')).map(|line| format!("{line}\n")).collect();
        assert_eq!(warned, expected, "{options:?} {value:?}");
    }
}

/// Starts a clone and waits until it has reached a point; then sends it a signal.
async fn interrupt(
    hub: &TestHub,
    reached: impl Fn(&TestHub) -> bool,
    signal: rustix::process::Signal,
) -> Ran {
    let place = place();
    let mut program = command(place.path(), &["clone", &hub.url(), "deep/copy", "--json"]);
    let mut child = program.spawn().expect("the program starts");
    while !reached(hub) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // The request has arrived; the client may not have its answer yet.
    tokio::time::sleep(Duration::from_millis(200)).await;
    kill(&child, signal);
    let ended = tokio::task::spawn_blocking(move || {
        let mut err = String::new();
        for line in BufReader::new(child.stderr.take().expect("piped")).lines() {
            err += &line.expect("UTF-8");
            err.push('\n');
        }
        let output = child.wait_with_output().expect("it ends");
        (output, err)
    });
    let (output, err) = tokio::time::timeout(Duration::from_secs(20), ended)
        .await
        .expect("at once, and not after the wait of a minute")
        .expect("nobody panics here");
    assert_eq!(names(place.path()), [""; 0], "the partial clone is removed, its new parents too");
    Ran { err, ..Ran::from(output) }
}

fn kill(child: &Child, signal: rustix::process::Signal) {
    let process = rustix::process::Pid::from_child(child);
    rustix::process::kill_process(process, signal).expect("it runs");
}

/// F27
#[tokio::test]
async fn ctrl_c_and_sigterm_during_a_wait_end_at_once_with_130() {
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let hub = TestHub::start().await;
        pushed(&hub).await;
        hub.always_refuse(Refusal::not_ready("60"));
        let ran = interrupt(&hub, |hub| hub.count("POST fetch") > 0, signal).await;
        assert_eq!(ran.code, Some(130), "{ran:?}");
        assert_eq!(ran.envelope()["exit_code"], 130);
        assert!(ran.err.ends_with("❌ interrupted\n"), "{ran:?}");
    }
}

#[tokio::test]
async fn ctrl_c_during_a_download_ends_at_once_with_130() {
    let hub = TestHub::start().await;
    pushed(&hub).await;
    hub.cheat(Download::Stalls { after: 100 });
    let ran = interrupt(&hub, |hub| hub.count("GET pack") > 0, rustix::process::Signal::INT).await;
    assert_eq!(ran.code, Some(130), "{ran:?}");
}

#[tokio::test]
async fn ls_remote_lists_the_branches() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let ran = run(work.directory.path(), &["ls-remote"]).await;
    assert_eq!(ran.out, format!("{}\tmain\n", work.head()));
    let elsewhere = place();
    assert_eq!(run(elsewhere.path(), &["ls-remote", &hub.url()]).await.out, ran.out);
}

#[tokio::test]
async fn a_conflict_is_exit_1_and_names_the_files() {
    let hub = TestHub::start().await;
    let work = pushed(&hub).await;
    let place = place();
    run(place.path(), &["clone", &hub.url(), "copy"]).await;
    let copy = place.path().join("copy");
    work.write("README.md", "theirs").commit("theirs");
    work.push(&hub).await;
    write(&copy, "README.md", "ours");
    run(&copy, &["commit", "-m", "ours"]).await;
    let ran = run(&copy, &["pull", "--json"]).await;
    assert_eq!(ran.code, Some(1));
    assert_eq!(ran.err.lines().last(), Some("❌ both sides changed README.md; nothing was changed here"));
    assert_eq!(ran.envelope()["exit_code"], 1);
}

/// A disk that is full has lost the output, and nobody may take that for a success.
#[tokio::test]
async fn output_that_could_not_be_written_is_a_failure() {
    let place = place();
    assert_eq!(run(place.path(), &["init"]).await.code, Some(0));
    let mut status = command(place.path(), &["status"]);
    status.stdout(std::fs::File::create("/dev/full").expect("a device"));
    let ran = finish(status).await;
    assert_eq!(ran.code, Some(3), "{ran:?}");
    assert!(ran.err.contains("the output could not be written"), "{ran:?}");
}

/// What cannot be read twice is kept, and so there is an end to it.
#[tokio::test]
async fn a_body_without_an_end_is_refused() {
    let place = place();
    let ran = run(place.path(), &["get", "--body-file", "/dev/zero", "http://127.0.0.1:1/"]).await;
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("expected at most 64 MiB from /dev/zero"), "{ran:?}");
}

/// The question for the branches comes first: where that is refused, it was the one attempt.
#[tokio::test]
async fn a_clone_of_nothing_counts_the_attempt_that_was_refused() {
    let hub = TestHub::start().await;
    let missing = format!("{}/you/nothing", hub.origin);
    let ran = run(place().path(), &["clone", &missing, "copy", "--json"]).await;
    assert_eq!((&ran.envelope()["status"], &ran.envelope()["attempts"]), (&404.into(), &1.into()), "{ran:?}");
}

#[tokio::test]
async fn a_directory_that_is_not_there_is_named() {
    let ran = run(place().path(), &["-C", "/nowhere/at/all", "status"]).await;
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.err, "❌ no repository here: there is no directory /nowhere/at/all\n");
}
