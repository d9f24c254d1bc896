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
        (vec!["run", "--jobs", "0", "--sh", "true"], "expected a number from 1 to 256, got \"0\""),
        (
            vec!["run", "--jobs", "18446744073709551615", "--sh", "true"],
            "expected a number from 1 to 256, got \"18446744073709551615\"",
        ),
        (vec!["run", "--case", "no-such-case", "--sh", "true"], "there is no case \"no-such-case\""),
        (
            vec!["run", "--built-in", "eager", "--built-in", "eager"],
            "expected each client once, got \"eager\" twice",
        ),
        (vec!["run", "--adapter", "curl", "--claim", "507=interactive"], "cannot be used with"),
        (vec!["run", "--built-in", "eager", "--supports", "post"], "cannot be used with"),
        (vec!["run", "--adapter", "curl", "--name", "mine"], "cannot be used with"),
    ] {
        let output = conformance(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.contains(expected), "{arguments:?}: {complaint}");
    }
}

#[test]
fn a_directory_without_cases_is_named() {
    let empty = tempfile::tempdir().unwrap();
    let path = empty.path().to_str().unwrap();
    let output = conformance(&["run", "--cases", path, "--sh", "true"]);
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(complaint.contains(&format!("{path} holds no cases")), "{complaint}");
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

/// The command line before a file with this text: exit code 2, and what is said after the file's name.
#[track_caller]
fn refuses(command: &[&str], text: &str, expected: &str) {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("given.jsonl");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let output = conformance(&[command, &[file]].concat());
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{command:?}: {complaint}");
    let expected = format!("conformance: {file}: {expected}");
    assert!(complaint.starts_with(&expected), "{command:?}: expected {expected:?} in {complaint:?}");
}

#[test]
fn a_trace_that_cannot_be_judged_is_named() {
    let judge = |text: &str, expected: &str| refuses(&["judge"], text, expected);
    judge("", "expected an event `start` that names the case, got none");
    judge("\n{\"event\":\"start\",\"case\":\"seco", "line 2 of the trace: EOF while parsing a string");
    judge(
        r#"{"event":"start","case":"seconds-5o3","rev":1,"unix_ms":0}"#,
        "there is no case \"seconds-5o3\"",
    );
    let other = r#"{"event":"start","case":"seconds-503","rev":7,"unix_ms":0}"#;
    judge(other, "expected a trace of \"seconds-503\" in revision 1, got one in revision 7");
}

#[test]
fn a_result_that_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let whole = directory.path().join("whole.jsonl");
    let whole_name = whole.to_str().unwrap();
    conformance(&["run", "--case", "retry-503", "--sh", "exit 77", "--jsonl", whole_name]);
    let text = std::fs::read_to_string(&whole).unwrap();
    let (without_the_last, _) = text.trim_end().rsplit_once('\n').unwrap();
    let half = &without_the_last[..without_the_last.len() - 9];
    for command in [&["matrix"][..], &["diff", whole_name]] {
        refuses(command, "", "expected a line that describes the run, got none");
        refuses(command, text.lines().next().unwrap(), "expected clients and cases, got none");
        let missing = "expected a result of \"client\" in \"retry-503\", got none: was the file cut short?";
        refuses(command, without_the_last, missing);
        refuses(command, half, "line 3 is no record of a run: EOF while parsing");
        refuses(command, &format!("{text}{text}"), "line 5: expected one run, got a second");
    }
    let other = directory.path().join("other.jsonl");
    std::fs::write(&other, text.replacen("\"edition\":\"2026.1\"", "\"edition\":\"2027.1\"", 1)).unwrap();
    for command in ["matrix", "diff"] {
        let output = conformance(&[command, whole_name, other.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(2), "{command}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.contains("expected results of one edition, got 2026.1, 2027.1"), "{complaint}");
    }
}

#[test]
fn a_directory_in_the_place_of_a_file_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    for (arguments, expected) in [
        (vec!["judge", path], format!("cannot read {path}: Is a directory")),
        (vec!["matrix", path], format!("cannot read {path}: Is a directory")),
        (vec!["diff", path, path], format!("cannot read {path}: Is a directory")),
        (vec!["run", "--sh", "true", "--html", path], format!("cannot write {path}: Is a directory")),
    ] {
        let output = conformance(&arguments);
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {complaint}");
        assert!(complaint.contains(&expected), "{arguments:?}: {complaint}");
    }
}

#[test]
fn an_address_that_is_taken_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let output = conformance(&["serve", "seconds-503", "--listen", &address]);
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaint.contains(&format!("cannot listen on {address}: Address already in use")),
        "{complaint}"
    );
}

/// Nobody reads what is printed, nor what is said about that: `conformance list 2>&1 | head -1`.
#[test]
fn a_closed_output_is_an_error_and_no_panic() {
    for arguments in [vec!["list"], vec!["explain", "chain"], vec!["questions"], vec!["run", "--case", "no"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let status = Command::new(env!("CARGO_BIN_EXE_conformance"))
            .args(&arguments)
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .status()
            .unwrap();
        assert_eq!(status.code(), Some(2), "{arguments:?}");
    }
}

#[test]
fn a_report_is_written_though_nobody_reads_what_is_printed() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.md");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["run", "--case", "retry-503", "--sh", "exit 77", "--markdown", page.to_str().unwrap()])
        .stdout(writer)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("cannot print the report: Broken pipe"), "{complaint}");
    assert!(std::fs::read_to_string(&page).unwrap().starts_with("# How 1 client takes"));
}

/// The client leaves a mark when it is started, so that a run that has begun would show.
#[test]
fn a_report_that_cannot_be_written_ends_the_run_before_it_begins() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("started");
    let client = format!("touch {}", mark.display());
    for option in ["--jsonl", "--html", "--junit", "--markdown"] {
        let nowhere = directory.path().join("nowhere/report");
        let nowhere = nowhere.to_str().unwrap();
        let output = conformance(&["run", "--case", "retry-503", "--sh", &client, option, nowhere]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        let complaint = String::from_utf8(output.stderr).unwrap();
        assert!(complaint.contains(&format!("cannot write {nowhere}")), "{option}: {complaint}");
        assert!(!mark.exists(), "{option}");
    }
}

/// A report is replaced when there is a new one: longer text is cut off, and a usage error leaves it alone.
#[test]
fn a_report_is_kept_until_there_is_a_new_one() {
    let directory = tempfile::tempdir().unwrap();
    let page = directory.path().join("page.md");
    let old = "old\n".repeat(100_000);
    std::fs::write(&page, &old).unwrap();
    let page_name = page.to_str().unwrap();
    let run = |more: &[&str]| {
        let common = ["run", "--case", "retry-503", "--sh", "exit 77", "--markdown", page_name];
        conformance(&[&common, more].concat()).status.code()
    };
    let nowhere = directory.path().join("nowhere/out");
    assert_eq!(run(&["--junit", nowhere.to_str().unwrap()]), Some(2));
    assert_eq!(std::fs::read_to_string(&page).unwrap(), old);
    assert_eq!(run(&[]), Some(3));
    let new = std::fs::read_to_string(&page).unwrap();
    assert!(new.starts_with("# How 1 client takes \"come back later\"\n\nEdition "), "{new}");
    assert!(new.contains(", 1 case, run on ") && !new.contains("old\n"), "{new}");
}

#[test]
fn a_command_line_that_names_no_url_is_told_of_the_placeholder() {
    let (_, tree) = run_sh("exit 0", "retry-503");
    assert!(tree.contains("(exit 0); its command line names neither {url}"), "{tree}");
    let (_, tree) = run_sh(": {url}", "retry-503");
    assert!(tree.contains("(exit 0)\n"), "{tree}");
    let (_, tree) = run_sh(": $RAC_URL", "retry-503");
    assert!(tree.contains("(exit 0)\n"), "{tree}");
}

/// Runs `sh -c LINE` as an adapter with one entry in `known_failing`.
fn run_known_failing(line: &str, case: &str) -> (Output, String) {
    let directory = tempfile::tempdir().unwrap();
    let adapter = format!(
        "name = \"mine\"\ntitle = \"mine\"\ncommand = [\"sh\", \"-c\", \"{line}\", \"{{url}}\"]\n\
         [known_failing]\n{case} = \"too busy to look\"\n"
    );
    std::fs::write(directory.path().join("mine.toml"), adapter).unwrap();
    let xml = directory.path().join("out.xml");
    let (adapters, file) = (directory.path().to_str().unwrap(), xml.to_str().unwrap());
    let output = conformance(&[
        "run",
        "--case",
        "retry-503",
        "--adapter",
        "mine",
        "--adapters",
        adapters,
        "--junit",
        file,
    ]);
    (output, std::fs::read_to_string(&xml).unwrap_or_default())
}

#[test]
fn a_stale_known_failure_fails_in_junit_and_in_the_exit_code() {
    let (output, xml) = run_known_failing("exit 77", "retry-503");
    assert_eq!(output.status.code(), Some(1));
    let failure =
        "<failure message=\"listed as known to fail, and does not: the entry is stale (too busy to look); ";
    assert!(xml.contains(failure) && xml.contains("failures=\"1\""), "{xml}");
}

#[test]
fn a_known_failure_is_skipped_in_junit_with_its_reason() {
    let (output, xml) = run_known_failing("exit 0", "retry-503");
    assert_eq!(output.status.code(), Some(3), "nothing failed, and nothing was shown either");
    assert!(xml.contains("<skipped message=\"known to fail: too busy to look; no_contact"), "{xml}");
    assert!(xml.contains("failures=\"0\" errors=\"0\""), "{xml}");
}

#[test]
fn a_known_failure_that_is_no_case_is_named() {
    let (output, _) = run_known_failing("exit 0", "retry-5o3");
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(
        complaint.contains("adapter \"mine\": known_failing: there is no case \"retry-5o3\""),
        "{complaint}"
    );
}

/// What nobody looks at any more may be broken; what is looked at for the first time is no regression.
#[test]
fn a_case_that_vanishes_is_a_regression() {
    let directory = tempfile::tempdir().unwrap();
    let [both, one] = ["both.jsonl", "one.jsonl"].map(|name| directory.path().join(name));
    let (both, one) = (both.to_str().unwrap(), one.to_str().unwrap());
    let run = |cases: &[&str], file: &str| {
        let common = ["run", "--sh", "exit 77", "--jsonl", file];
        assert_eq!(conformance(&[&common, cases].concat()).status.code(), Some(3));
    };
    run(&["--case", "retry-503", "--case", "retry-429"], both);
    run(&["--case", "retry-503"], one);
    let output = conformance(&["diff", both, one]);
    let lines = String::from_utf8(output.stdout).unwrap();
    assert_eq!(lines, "client retry-429: unsupported -> none: not in the new report\n");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(conformance(&["diff", one, both]).status.code(), Some(0));
    assert_eq!(conformance(&["diff", one, one]).status.code(), Some(0));
}
