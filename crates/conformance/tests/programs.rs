//! Programs under test, and the command line: exit codes and what is said.

use std::process::{Command, Output};

fn conformance(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_conformance")).args(arguments).output().unwrap()
}

fn run_sh(line: &str, case: &str) -> (Option<i32>, String) {
    let output = conformance(&["run", "--case", case, "--sh", line]);
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn a_client_that_sends_nothing_is_named_and_fails() {
    let (code, tree) = run_sh("exit 0", "retry-503");
    assert_eq!(code, Some(1));
    assert!(tree.contains("no_contact"), "{tree}");
    assert!(tree.contains("the client ended without a request to the case's URL (exit 0)"), "{tree}");
}

#[test]
fn exit_77_is_unsupported_and_a_run_that_shows_nothing_else_is_not_fine() {
    let (code, tree) = run_sh("exit 77", "retry-503");
    assert_eq!(code, Some(3));
    assert!(tree.contains("unsupported"), "{tree}");
    assert!(tree.contains("nothing was shown: no case found out how this client takes a refusal"), "{tree}");
}

#[test]
fn a_signal_is_a_crash_and_shows_what_the_client_said() {
    let (code, tree) = run_sh("echo broken >&2; kill -SEGV $$", "retry-503");
    assert_eq!(code, Some(1));
    assert!(tree.contains("the client was ended by signal 11") && tree.contains("| broken"), "{tree}");
}

#[test]
fn wrong_usage_is_exit_2_and_says_what_was_expected() {
    for (arguments, expected) in [
        (vec!["run"], "expected a client"),
        (vec!["run", "--adapter", "../x"], "expected the name of an adapter"),
        (vec!["explain", "no-such-case"], "there is no case \"no-such-case\""),
        (vec!["run", "--case", "no-such-case", "--sh", "true"], "there is no case \"no-such-case\""),
    ] {
        let output = conformance(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.contains(expected), "{arguments:?}: {complaint}");
    }
}

#[test]
fn a_trace_from_elsewhere_is_judged() {
    let directory = tempfile::tempdir().unwrap();
    let trace = directory.path().join("trace.jsonl");
    let lines = r#"{"event":"start","case":"seconds-503","rev":1,"unix_ms":0}
{"event":"arrival","at_us":10,"exchange":1,"connection":1,"operation":1,"method":"GET","target":"/seconds-503","headers":[]}
{"event":"answer","at_us":20,"exchange":1,"step":0,"unix_ms":0,"head":""}
{"event":"arrival","at_us":1000020,"exchange":2,"connection":1,"operation":1,"method":"GET","target":"/seconds-503","headers":[]}
"#;
    std::fs::write(&trace, lines).unwrap();
    let output = conformance(&["judge", trace.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(1));
    let verdict = String::from_utf8(output.stdout).unwrap();
    assert!(
        verdict.contains("attempt 2 arrived 1.00 s after the refusal; it was asked to wait 2 s"),
        "{verdict}"
    );
}
