//! Questions as JSON, answers as JSON, and nothing decided in between: that is [`retry_core`]'s part.

mod answer;
mod json;
mod lines;
mod names;
mod overrides;
mod parse;
mod question;
mod session;
mod windows;

pub use lines::{LONGEST_LINE, answer_lines};

use answer::Answer;
use json::Invalid;
use question::Question;

/// Appends the answer to one question, without a line end, to `output`.
///
/// Whatever `line` holds, the answer is one JSON object; `{"error":"…"}` says what is wrong with a line
/// that is no valid question.
///
/// ```
/// let mut answer = Vec::new();
/// conformance::answer_line(br#"{"op":"parse","lines":["120"],"now":0}"#, &mut answer);
/// assert_eq!(answer, br#"{"kind":"delay","seconds":120,"anomalies":[]}"#);
/// ```
pub fn answer_line(line: &[u8], output: &mut Vec<u8>) {
    answer_to(line).unwrap_or_else(Answer::from).write(output);
}

fn answer_to(line: &[u8]) -> Result<Answer, Invalid> {
    let line = std::str::from_utf8(line).map_err(|error| Invalid::of_line("UTF-8", error))?;
    Ok(match Question::read(line)? {
        Question::Parse(question) => Answer::Parse(parse::answer(&question)),
        Question::Session(question) => Answer::Session(session::answer(&question)),
        Question::Windows(question) => Answer::Windows(windows::answer(&question)),
    })
}
