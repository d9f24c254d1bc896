//! The program as a process: its ready line, its signals, what it survives.
#![cfg(unix)]

mod support;

use std::process::Command;

use serde_json::json;
use support::{Program, Push, first_line};

#[test]
fn one_ready_line_names_the_address() {
    let program = Program::start(&["--listen", "127.0.0.1:0"]);
    assert!(program.ready.starts_with("refusal-server ready on http://127.0.0.1:"), "{}", program.ready);
    assert_eq!(program.get("/healthz").0, 200);
}

/// SIGTERM and SIGINT end the program in good order.
#[test]
fn a_signal_ends_it_with_exit_code_0_and_nothing_more_on_stdout() {
    for signal in ["TERM", "INT"] {
        let program = Program::start(&[]);
        let (code, stdout) = program.end_with(signal);
        assert_eq!((code, stdout.as_str()), (Some(0), ""), "{signal}");
    }
}

/// F49: killed between the push and the index job, and again between index and prebuild.
#[test]
fn killed_servers_lose_nothing() {
    let mut program = Program::start(&["--hold-jobs", "mpack.index,fetch.mpack.prebuild"]);
    let push = Push::of("some content");
    push.to(&program);
    program = program.kill_and_start(&["--hold-jobs", "fetch.mpack.prebuild"]);
    program.wait_for_job("fetch.mpack.prebuild", "queued");
    let (status, text) = program.post("/owner/slug/fetch/mpack", &json!({ "want": [push.head] }));
    assert_eq!(
        (status, text.as_str()),
        (503, "mpack not ready \u{2014} prebuild in progress. Retry shortly.")
    );
    program = program.kill_and_start(&[]);
    program.wait_for_job("fetch.mpack.prebuild", "done");
    let (status, answer) = program.post("/owner/slug/fetch/mpack", &json!({ "want": [push.head] }));
    assert_eq!(status, 200, "{answer}");
    let url = serde_json::from_str::<serde_json::Value>(&answer).unwrap()["url"].as_str().unwrap().to_owned();
    let (status, pack) = program.get_bytes(&url[program.url.len()..]);
    assert_eq!(status, 200);
    assert!(push.is_whole(&pack));
}

/// Killed while jobs run, again and again: the store stays whole and the work is done in the end.
#[test]
fn a_server_that_is_killed_at_any_time_comes_to_the_end_of_its_jobs() {
    let mut program = Program::start(&[]);
    for round in 0..4 {
        let push = Push::of(&format!("content of round {round}")).on_branch(&format!("branch-{round}"));
        push.to(&program);
        program = program.kill_and_start(&[]);
    }
    program
        .wait_for_jobs(|jobs| jobs.iter().all(|job| job["state"] != "queued" && job["state"] != "running"));
    let (_, jobs) = program.get("/_admin/jobs");
    assert!(!jobs.contains("\"failed\""), "{jobs}");
    let (_, refs) = program.get("/owner/slug/refs");
    let refs: serde_json::Value = serde_json::from_str(&refs).unwrap();
    let heads: Vec<_> = refs["branch_heads"].as_object().unwrap().values().cloned().collect();
    assert_eq!(heads.len(), 4);
    let (status, answer) = program.post("/owner/slug/fetch/mpack", &json!({ "want": heads }));
    assert_eq!(status, 200, "{answer}");
}

/// A disk that is full fails the one request, with a text that says so; the server goes on. A file that may
/// not grow beyond a limit stands in for the disk.
#[test]
fn a_full_disk_fails_the_one_request_and_the_server_goes_on() {
    // The database needs about two megabytes of this; more while transactions overlap.
    let program = Program::start_with_largest_file(12 << 20, &[]);
    let small = Push::of("small");
    small.to(&program);
    let large = Push::of_bytes(support::noise(16 << 20));
    let (status, text) = large.upload(&program);
    assert_eq!(status, 500, "{text}");
    assert!(text.starts_with(&format!("could not store the pack {}: ", large.mpack_id)), "{text}");
    let other = Push::of("another small one").on_branch("other");
    other.to(&program);
    program.wait_for_jobs(|jobs| jobs.len() == 4 && jobs.iter().all(|job| job["state"] == "done"));
    let (status, _) = program.post("/owner/slug/fetch/mpack", &json!({ "want": [small.head, other.head] }));
    assert_eq!(status, 200);
}

/// The database itself cannot grow: pushes fail one by one, reads go on, and nothing that was there is lost.
#[test]
fn a_database_that_cannot_grow_fails_pushes_and_nothing_else() {
    let program = Program::start_with_largest_file(3 << 20, &[]);
    let first = Push::of("first");
    first.to(&program);
    program.wait_for_job("fetch.mpack.prebuild", "done");
    let mut failed = None;
    for round in 0..40 {
        let push = Push::with_long_message(round, 60_000).on_branch(&format!("branch-{round}"));
        let (status, text) = push.try_to(&program);
        if status != 200 {
            failed = Some((status, text));
            break;
        }
    }
    let (status, text) = failed.expect("a database of 3 MiB has no room for all this");
    assert_eq!(status, 500, "{text}");
    assert!(text.contains("database"), "{text}");
    let (status, refs) = program.get("/owner/slug/refs");
    assert_eq!(status, 200, "{refs}");
    let program = program.kill_and_start(&[]);
    let (status, answer) =
        program.post("/owner/slug/fetch/mpack", &json!({ "want": [first.head], "have": [] }));
    assert!(status == 200 || status == 503, "{status} {answer}");
    Push::of("after").on_branch("after").to(&program);
}

#[test]
fn a_token_is_printed_once_and_known_to_a_running_server() {
    let program = Program::start(&[]);
    let output = Command::new(env!("CARGO_BIN_EXE_refusal-server"))
        .args(["token", "add", "gabriel", "--data"])
        .arg(program.data())
        .output()
        .unwrap();
    assert!(output.status.success());
    let token = String::from_utf8(output.stdout).unwrap();
    let mut push = Push::of("content");
    push.token = token.trim().to_owned();
    push.to(&program);
}

#[test]
fn what_cannot_be_served_is_said_on_stderr_with_exit_code_1() {
    let data = tempfile::tempdir().unwrap();
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_refusal-server"))
            .args(arguments)
            .arg("--data")
            .arg(data.path())
            .output()
            .unwrap();
        assert_eq!(output.stdout, b"", "{arguments:?}");
        (output.status.code(), first_line(&output.stderr))
    };
    assert_eq!(
        run(&["--listen", "0.0.0.0:0", "--dev-token", "secret"]),
        (
            Some(1),
            "refusal-server: a development token is for loopback addresses only, and 0.0.0.0:0 is none: use \
             `token add` instead"
                .into()
        )
    );
    for (option, variable) in
        [("--dev-token", "REFUSAL_SERVER_DEV_TOKEN"), ("--admin-token", "REFUSAL_SERVER_ADMIN_TOKEN")]
    {
        assert_eq!(
            run(&[option, ""]),
            (
                Some(1),
                format!("refusal-server: expected a token in {option} or {variable}, got an empty text")
            )
        );
        for unsound in ["two words", "a token and its line feed\n", "ünsound"] {
            assert_eq!(
                run(&[option, unsound]),
                (
                    Some(1),
                    format!(
                        "refusal-server: expected a token of visible ASCII characters in {option} or {variable}, \
                         got one with a blank, a line feed or another character"
                    )
                )
            );
        }
    }
    assert_eq!(
        run(&["--public-url", "hub.example"]),
        (
            Some(1),
            "refusal-server: expected a public URL such as `https://hub.example`, got `hub.example`".into()
        )
    );
    let taken = Program::start(&[]);
    let address = taken.url.trim_start_matches("http://");
    let (code, text) = run(&["--listen", address]);
    assert_eq!(code, Some(1));
    assert!(text.starts_with(&format!("refusal-server: cannot listen on {address}: ")), "{text}");
}

/// What the program says on stderr to a command line that it does not take, with what it exits with.
fn refused(arguments: &[&str], environment: &[(&str, &str)]) -> (Option<i32>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_refusal-server"))
        .args(arguments)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"", "{arguments:?}");
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_token_for_a_folder_that_no_server_uses_is_refused_and_makes_nothing() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("nowhere");
    let (code, text) = refused(&["token", "add", "gabriel", "--data", folder.to_str().unwrap()], &[]);
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with(&format!("refusal-server: there is no data folder {}: ", folder.display())),
        "{text}"
    );
    assert!(!folder.exists());
}

#[test]
fn an_empty_name_of_the_data_folder_names_option_and_variable() {
    let expected = "expected a folder in --data or REFUSAL_SERVER_DATA, got an empty text";
    for (arguments, environment) in [
        (&[][..], &[("REFUSAL_SERVER_DATA", "")][..]),
        (&["--data="], &[]),
        (&["token", "add", "me", "--data="], &[]),
    ] {
        let (code, text) = refused(arguments, environment);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(expected), "{text}");
    }
}

#[test]
fn an_option_before_the_subcommand_is_told_where_it_belongs() {
    let (code, text) = refused(&["--data", "somewhere", "token", "add", "me"], &[]);
    assert_eq!(code, Some(2));
    assert!(text.contains("the subcommand 'token' cannot be used with '--data <DIR>'"), "{text}");
    let tip = "options follow the subcommand, as in `refusal-server token add NAME --data DIR`";
    assert!(text.contains(tip), "{text}");
}

/// A filter that is none must neither keep the server down nor be taken in silence.
#[test]
fn a_log_filter_that_is_none_is_warned_of() {
    for (given, warned) in [("info,=,", true), ("hyper=debug,info", false), ("", false)] {
        let program = Program::start_with_environment(&[("RUST_LOG", given)], &[]);
        assert_eq!(program.get("/healthz").0, 200);
        let warning = format!("RUST_LOG={given:?} is not a filter for logs, and info is used");
        assert_eq!(program.log().contains(&warning), warned, "{}", program.log());
    }
}
