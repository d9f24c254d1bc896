//! Clients that do what no client should: the run ends in time, says so, and leaves no process behind.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use conformance::runner::{self, Client, Settings};
use conformance::{Adapter, Selection, Suite};

/// Twice what the slowest of these takes on a busy machine; a run that hangs takes for ever.
const IN_TIME: Duration = Duration::from_secs(40);
/// Connects to the case's server as descriptor 3.
const CONNECT: &str = r#"target=${RAC_URL#http://}; host=${target%%/*}; path=/${target#*/}
exec 3<>/dev/tcp/${host%:*}/${host#*:}"#;
const SEND: &str = r#"printf 'GET %s HTTP/1.1\r\nHost: %s\r\n\r\n' "$path" "$host" >&3"#;

struct Ran {
    code: Option<i32>,
    tree: String,
    complaint: String,
}

/// Runs a client that is a script for bash, and looks for what it left.
fn run_script(script: &str) -> Ran {
    run(&["--case", "seconds-503", "--", "bash", "-c", script])
}

fn run(client: &[&str]) -> Ran {
    let mark = Mark::new();
    let started = started_now();
    let child = start(&mark, client);
    let output = child.wait_with_output().unwrap();
    let took = started();
    assert!(took < IN_TIME, "took {took:?}");
    mark.assert_nobody_is_left();
    Ran {
        code: output.status.code(),
        tree: String::from_utf8(output.stdout).unwrap(),
        complaint: String::from_utf8(output.stderr).unwrap(),
    }
}

fn start(mark: &Mark, client: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_conformance"))
        .args(["run", "--first-contact-s", "2"])
        .args(client)
        .env("RAC_TEST", &mark.0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[expect(clippy::disallowed_methods, reason = "an upper bound to a run in real time")]
fn started_now() -> impl Fn() -> Duration {
    let started = Instant::now();
    move || started.elapsed()
}

/// In the environment of everything that a run starts.
struct Mark(String);

impl Mark {
    #[expect(clippy::disallowed_methods, reason = "a name that no other test has")]
    fn new() -> Self {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Self(format!("{}-{}", std::process::id(), now.as_nanos()))
    }

    fn bearers(&self) -> Vec<String> {
        let entry = format!("RAC_TEST={}", self.0);
        let processes = std::fs::read_dir("/proc").unwrap().flatten();
        processes
            .filter(|process| {
                let environment = std::fs::read(process.path().join("environ")).unwrap_or_default();
                environment.split(|byte| *byte == 0).any(|variable| variable == entry.as_bytes())
            })
            .map(|process| {
                let command = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
                String::from_utf8_lossy(&command).replace('\0', " ")
            })
            .collect()
    }

    #[track_caller]
    fn assert_nobody_is_left(&self) {
        assert_eq!(self.bearers(), Vec::<String>::new());
    }
}

#[track_caller]
fn assert_says(ran: &Ran, code: i32, expected: &str) {
    assert!(ran.tree.contains(expected), "expected {expected:?} in\n{}{}", ran.tree, ran.complaint);
    assert_eq!(ran.code, Some(code), "{}{}", ran.tree, ran.complaint);
}

#[test]
fn an_adapter_that_does_not_exist_is_named() {
    let ran = run(&["--adapter", "no-such-adapter"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.complaint.contains("there is no adapter \"no-such-adapter\""), "{}", ran.complaint);
}

#[test]
fn a_program_that_is_not_there_is_named() {
    let ran = run(&["--case", "seconds-503", "--", "/no/such/binary", "{url}"]);
    assert_says(&ran, 2, "not tested: cannot start \"/no/such/binary\": No such file or directory");
    let ran = run(&["--", "no-such-binary", "{url}"]);
    assert_says(&ran, 2, "cannot start \"no-such-binary\": there is no such program in PATH");
    let ran = run(&["--", "/etc/passwd", "{url}"]);
    assert_says(&ran, 2, "cannot start \"/etc/passwd\": Permission denied");
}

/// The program of an adapter may be there, and what it rests on not: its version command tells.
#[test]
fn an_adapter_that_is_not_installed_is_reported_and_the_others_are_tested() {
    let directory = tempfile::tempdir().unwrap();
    let write = |name: &str, version: &str| {
        let text = format!(
            "name = \"{name}\"\ntitle = \"a test\"\ncommand = [\"sh\", \"-c\", \"exit 1\"]\nversion = {version}\n"
        );
        std::fs::write(directory.path().join(format!("{name}.toml")), text).unwrap();
    };
    write("absent", r#"["sh", "-c", "echo no module >&2; exit 1"]"#);
    write("present", r#"["echo", "present 1.2"]"#);
    let html = directory.path().join("report.html");
    let junit = directory.path().join("report.xml");
    let path = |path: &std::path::Path| path.to_str().unwrap().to_owned();
    let ran = run(&[
        "--case=seconds-503",
        "--adapter=all",
        &format!("--adapters={}", path(directory.path())),
        &format!("--html={}", path(&html)),
        &format!("--junit={}", path(&junit)),
    ]);
    assert_says(&ran, 2, "absent: a test (missing)\n  not tested: `sh -c echo no module >&2; exit 1` failed");
    assert_says(&ran, 2, "and said: no module");
    assert_says(&ran, 2, "present: a test (present 1.2)");
    assert_says(&ran, 2, "no_contact");
    let page = std::fs::read_to_string(html).unwrap();
    assert!(page.contains("Not tested") && page.contains("no module"), "{page}");
    let xml = std::fs::read_to_string(junit).unwrap();
    assert!(xml.contains("<testsuite name=\"absent\" tests=\"1\"") && xml.contains("no module"), "{xml}");
}

#[test]
fn a_client_that_exits_at_once_made_no_contact() {
    let ran = run_script("exit 0");
    assert_says(&ran, 1, "the client ended without a request to the case's URL (exit 0)");
}

#[test]
fn a_client_that_never_connects_is_given_up() {
    let ran = run_script("exec sleep 300");
    assert_says(&ran, 1, "no request to the case's URL within 2.");
}

/// It connects and says nothing, which is no contact either.
#[test]
fn a_client_that_connects_and_is_silent_is_given_up() {
    let ran = run_script(&format!("{CONNECT}\nexec sleep 300"));
    assert_says(&ran, 1, "no request to the case's URL within 2.");
}

#[test]
fn a_client_that_hangs_after_the_refusal_has_shown_nothing() {
    let ran = run_script(&format!("trap '' TERM INT HUP\n{CONNECT}\n{SEND}\nwhile :; do sleep 300; done"));
    assert_says(&ran, 3, "no second attempt in the 7.0");
    assert_says(&ran, 3, "nothing was shown");
}

#[test]
fn a_client_that_floods_is_early_and_is_ended() {
    let ran = run_script(&format!("while :; do {CONNECT}\n{SEND}; read line <&3; done"));
    assert_says(&ran, 1, "✗ fail         promise  seconds-503  attempt 2 arrived 0.0");
}

/// It writes for ever into one connection and waits for no answer.
#[test]
fn a_client_that_floods_one_connection_is_ended() {
    let script = format!("{CONNECT}\nwhile :; do {SEND}; done & cat <&3 >/dev/null; wait");
    let ran = run(&["--strict", "--case", "attempts-bounded", "--", "bash", "-c", &script]);
    assert_says(&ran, 1, "attempts-bounded  sent at least 1000 requests in ");
}

#[test]
fn a_client_that_sends_garbage_made_no_contact() {
    let ran = run_script(&format!("{CONNECT}\ntrap '' PIPE\nhead -c 3000000 /dev/urandom >&3; exit 0"));
    assert_says(&ran, 1, "no_contact");
}

/// One in its group; one in a session of its own; one that cleared its environment as well, and whose
/// parent is gone.
#[test]
fn children_that_leave_the_group_are_ended_too() {
    let directory = tempfile::tempdir().unwrap();
    let marked = "setsid sleep 301 &";
    let unmarked = "setsid env -i RAC_TEST=$RAC_TEST setsid -f sleep 302";
    let script = format!("sleep 300 & {marked} {unmarked}; touch {}/up; exit 0", directory.path().display());
    let ran = run_script(&script);
    assert!(directory.path().join("up").exists(), "the children were started: {}", ran.tree);
    assert_says(&ran, 1, "the client ended without a request");
}

/// Within a run a stray would disturb the other clients, so it ends with its own client and not at the end.
#[tokio::test]
async fn a_child_in_a_session_of_its_own_ends_with_its_client() {
    let mark = Mark::new();
    let line = ["bash", "-c", "setsid sleep 305 & exit 0"].map(str::to_owned).to_vec();
    let mut adapter = Adapter::of_command("t".to_owned(), line, Vec::new());
    adapter.environment.insert("RAC_TEST".to_owned(), mark.0.clone());
    let suite = Suite::carried().unwrap().select(&Selection::Named(vec!["seconds-503".to_owned()])).unwrap();
    runner::run(&suite, &[Client::Program(adapter.into())], &Settings::new(2, "."), |_| {}).await;
    mark.assert_nobody_is_left();
}

/// Who stops a run means its clients as well, also those that left the group.
#[test]
fn a_run_that_is_terminated_ends_its_clients() {
    let mark = Mark::new();
    let child =
        start(&mark, &["--case", "seconds-503", "--", "bash", "-c", "setsid sleep 303 & exec sleep 304"]);
    // The case is played twice, once without the field.
    let up = || mark.bearers().iter().filter(|command| command.starts_with("sleep 30")).count() == 4;
    let came_up = (0..1_000).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        up()
    });
    assert!(came_up, "{:?}", mark.bearers());
    let id = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let complaint = String::from_utf8(output.stderr).unwrap();
    assert!(complaint.contains("interrupted; every client was ended"), "{complaint}");
    mark.assert_nobody_is_left();
}
