//! The answerer in Python, written from `docs/spec.md` alone, against `decide`: if both agree, the page
//! says enough.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use conformance::{Questions, answer_lines};
use serde_json::Value;

const RANDOM_QUESTIONS: usize = 20_000;
const SEED: u64 = 1;

/// So many random questions already reach every kind of answer.
const REACHING: usize = 5_000;

/// At most this many disagreements are shown.
const SHOWN: usize = 20;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance")
}

/// Whether there is a Python to ask. Its absence is said aloud, and is a failure where `CI` is set.
fn python_is_missing() -> bool {
    let version =
        Command::new("python3").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if version.is_ok_and(|status| status.success()) {
        return false;
    }
    assert!(std::env::var_os("CI").is_none(), "expected python3, which CI has to have");
    // Not `eprintln!`, which the test harness keeps to itself while a test passes.
    let notice = "\nSKIPPED: there is no python3, so nothing was compared with answer.py\n\n";
    io::stderr().write_all(notice.as_bytes()).expect("standard error is open");
    true
}

/// The questions of every vector, one a line.
fn pinned_questions() -> Vec<String> {
    let mut questions = Vec::new();
    for operation in ["parse", "session", "windows"] {
        let path = data().join(format!("vectors/{operation}.json"));
        let text = fs::read_to_string(&path).expect("the vectors are part of the repository");
        let file: Value = serde_json::from_str(&text).expect("the vectors are JSON");
        questions.extend(file["vectors"].as_array().into_iter().flatten().map(Value::to_string));
    }
    questions
}

fn parsed(answers: &[u8]) -> Vec<Value> {
    let text = std::str::from_utf8(answers).expect("answers are UTF-8");
    text.lines().map(|line| serde_json::from_str(line).expect("answers are JSON")).collect()
}

fn answers_of_decide(questions: &str) -> Vec<Value> {
    let mut answers = Vec::new();
    answer_lines(questions.as_bytes(), &mut answers).expect("memory neither blocks nor fails");
    parsed(&answers)
}

fn answers_of_python(questions: &str) -> Vec<Value> {
    let mut python = Command::new("python3")
        .arg(data().join("answerers/python/answer.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 starts");
    let mut input = python.stdin.take().expect("piped");
    let output = thread::scope(|scope| {
        scope.spawn(move || input.write_all(questions.as_bytes()).expect("the answerer reads to the end"));
        python.wait_with_output().expect("the answerer ends")
    });
    assert!(output.status.success(), "{}", output.status);
    parsed(&output.stdout)
}

/// What two answers have to agree on: of an error, that it is one; of a malformed field, not why.
fn comparable(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if answer.get("error").is_some() {
        return Value::from("error");
    }
    if answer["kind"] == "malformed"
        && let Some(members) = answer.as_object_mut()
    {
        members.remove("reason");
    }
    answer
}

#[track_caller]
fn agree(questions: &[String]) {
    if python_is_missing() {
        return;
    }
    let lines: String = questions.iter().flat_map(|question| [question.as_str(), "\n"]).collect();
    let ours = answers_of_decide(&lines);
    let theirs = answers_of_python(&lines);
    assert_eq!((ours.len(), theirs.len()), (questions.len(), questions.len()), "an answer for each question");
    let disagreements: Vec<_> = questions
        .iter()
        .zip(ours.iter().zip(&theirs))
        .filter(|(_, (ours, theirs))| comparable(ours) != comparable(theirs))
        .map(|(question, (ours, theirs))| format!("{question}\n  decide: {ours}\n  python: {theirs}"))
        .collect();
    let shown = disagreements.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join("\n");
    assert!(disagreements.is_empty(), "{} disagreements:\n{shown}", disagreements.len());
}

#[test]
fn python_answers_the_vectors_like_decide() {
    agree(&pinned_questions());
}

#[test]
fn python_answers_random_questions_like_decide() {
    agree(&Questions::from_seed(SEED).take(RANDOM_QUESTIONS).collect::<Vec<_>>());
}

/// Random questions compare little unless most are valid and every kind of answer occurs.
#[test]
fn random_questions_reach_every_kind_of_answer() {
    let questions: String =
        Questions::from_seed(SEED).take(REACHING).flat_map(|question| [question, "\n".to_owned()]).collect();
    let answers = answers_of_decide(&questions);
    let errors = answers.iter().filter(|answer| answer.get("error").is_some()).count();
    assert!((20..REACHING / 10).contains(&errors), "{errors} errors");
    let text = answers.iter().map(Value::to_string).collect::<String>();
    let names = [
        "absent",
        "malformed",
        "delay",
        "date",
        "empty",
        "not_a_delay_or_date",
        "bad_date",
        "too_long",
        "date_skew",
        "folded",
        "fraction",
        "ignored_line",
        "leap_second",
        "past",
        "repeated",
        "saturated",
        "wrong_weekday",
        "success",
        "refused",
        "failed",
        "waiting",
        "wait",
        "stop",
        "done",
        "default_backoff",
        "backoff",
        "floor",
        "ceiling",
        "truncated",
        "jitter",
        "not_retryable",
        "disabled",
        "unmarked",
        "not_replayable",
        "attempts_exhausted",
        "hint_above_ceiling",
        "budget_exhausted",
    ];
    for name in names {
        let count = text.matches(&format!("\"{name}\"")).count();
        assert!(count >= 5, "{name}: {count}");
    }
}
