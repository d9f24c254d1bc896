//! The loop over lines: `conformance decide` as a process, and its limits.

use std::io::{BufRead as _, BufReader, Cursor, Write as _};
use std::process::{Command, Stdio};

use conformance::{LONGEST_LINE, answer_lines};

const QUESTION: &str = r#"{"op":"parse","lines":["120"],"now":0}"#;
const ANSWER: &str = r#"{"kind":"delay","seconds":120,"anomalies":[]}"#;

fn answers(input: impl Into<Vec<u8>>) -> Vec<String> {
    let mut output = Vec::new();
    answer_lines(Cursor::new(input.into()), &mut output).expect("memory neither blocks nor fails");
    String::from_utf8(output).expect("answers are JSON").lines().map(str::to_owned).collect()
}

/// Section 11: each answer can be read before the next question is written.
#[test]
fn a_partner_may_ask_one_question_at_a_time() {
    let mut decide = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .arg("decide")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut questions = decide.stdin.take().expect("piped");
    let mut answers = BufReader::new(decide.stdout.take().expect("piped")).lines();
    for question in [QUESTION, "", QUESTION] {
        writeln!(questions, "{question}").expect("decide reads on");
        let answer = answers.next().expect("an answer").expect("readable");
        if question.is_empty() {
            assert!(answer.starts_with(r#"{"error":"#), "{answer}");
        } else {
            assert_eq!(answer, ANSWER);
        }
    }
    drop(questions);
    assert!(answers.next().is_none());
    assert_eq!(decide.wait().expect("it ends").code(), Some(0));
}

#[test]
fn the_last_line_may_lack_its_end() {
    assert_eq!(answers(format!("{QUESTION}\n{QUESTION}")), [ANSWER, ANSWER]);
    assert_eq!(answers(format!("{QUESTION}\r\n{QUESTION}\r\n")), [ANSWER, ANSWER]);
    assert!(answers("").is_empty());
}

#[test]
fn a_bad_line_is_answered_and_the_next_is_read() {
    let answers = answers([b"\xff\n\n", QUESTION.as_bytes()].concat());
    assert_eq!(answers.len(), 3);
    assert!(answers[0].contains("UTF-8") && answers[1].contains("blank"), "{answers:?}");
    assert_eq!(answers[2], ANSWER);
}

#[test]
fn a_line_of_the_longest_length_is_read_and_a_longer_one_is_skipped() {
    let padded = |length: usize| format!("{QUESTION}{}", " ".repeat(length - QUESTION.len()));
    let longest = answers(format!("{}\n{QUESTION}\n", padded(LONGEST_LINE)));
    assert_eq!(longest, [ANSWER, ANSWER]);
    let longer = answers(format!("{}\n{QUESTION}\n{}", padded(LONGEST_LINE + 1), padded(2 * LONGEST_LINE)));
    assert_eq!(longer.len(), 3);
    assert!(longer[0].contains("16777216 bytes") && longer[2] == longer[0], "{longer:?}");
    assert_eq!(longer[1], ANSWER);
}

/// Section 11: a failure to write is one; wrong lines are not.
#[cfg(target_os = "linux")]
#[test]
fn answers_that_cannot_be_written_end_with_2() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("Linux has a full device");
    let mut decide = Command::new(env!("CARGO_BIN_EXE_conformance"))
        .arg("decide")
        .stdin(Stdio::piped())
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut questions = decide.stdin.take().expect("piped");
    writeln!(questions, "{QUESTION}").expect("the first question is read");
    drop(questions);
    let ended = decide.wait_with_output().expect("it ends");
    assert_eq!(ended.status.code(), Some(2));
    let message = String::from_utf8_lossy(&ended.stderr);
    assert!(message.starts_with("conformance: cannot answer questions: "), "{message}");
}

/// Exit codes: wrong usage is 2.
#[test]
fn wrong_usage_ends_with_2() {
    let decide = Command::new(env!("CARGO_BIN_EXE_conformance")).arg("decode").output().expect("it starts");
    assert_eq!(decide.status.code(), Some(2));
    assert!(decide.stdout.is_empty());
}
