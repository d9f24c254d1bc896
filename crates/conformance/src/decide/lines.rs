//! The loop over lines: large reads, large writes, and a flush before every read that may block.

use std::io::{self, ErrorKind, Read, Write};

use super::answer::Answer;
use super::answer_line;
use super::json::Invalid;

/// The longest line that is read, in bytes; a longer one is answered with an error and skipped.
pub const LONGEST_LINE: usize = 16 * 1_024 * 1_024;

/// What one read asks for: a pipe holds no more on most systems, and larger reads bring nothing.
const CHUNK: usize = 64 * 1_024;

/// Answers every line of `input` on `output`, in order, until `input` ends.
///
/// Whatever was answered is written and flushed before the next read, so a partner may ask one question
/// at a time. A line of more than [`LONGEST_LINE`] bytes is answered with an error as soon as that is
/// known; the next line is read as usual.
///
/// # Errors
///
/// What reading or writing fails with. A bad line is no failure.
pub fn answer_lines(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
    let mut lines = Lines::default();
    let mut chunk = vec![0; CHUNK];
    loop {
        match input.read(&mut chunk) {
            Ok(0) => break,
            Ok(length) => lines.take_in(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        lines.send_to(&mut output)?;
    }
    lines.end();
    lines.send_to(&mut output)
}

#[derive(Default)]
struct Lines {
    /// The beginning of a line whose end has not been read.
    begun: Vec<u8>,
    /// Whether that line is too long already, and was answered.
    skipping: bool,
    answers: Vec<u8>,
}

impl Lines {
    fn take_in(&mut self, mut input: &[u8]) {
        while let Some(end) = input.iter().position(|byte| *byte == b'\n') {
            let (line, rest) = input.split_at(end);
            self.end_line(line);
            input = &rest[1..];
        }
        self.begin_line(input);
    }

    fn begin_line(&mut self, part: &[u8]) {
        if self.skipping {
            return;
        }
        if self.begun.len() + part.len() > LONGEST_LINE {
            self.refuse_length();
            self.skipping = true;
        } else {
            self.begun.extend_from_slice(part);
        }
    }

    fn end_line(&mut self, part: &[u8]) {
        if self.skipping {
            self.skipping = false;
        } else if self.begun.len() + part.len() > LONGEST_LINE {
            self.refuse_length();
        } else if self.begun.is_empty() {
            self.answer(part);
        } else {
            let mut line = std::mem::take(&mut self.begun);
            line.extend_from_slice(part);
            self.answer(&line);
            line.clear();
            self.begun = line;
        }
    }

    /// The last line may lack its end.
    fn end(&mut self) {
        if !self.begun.is_empty() {
            self.end_line(&[]);
        }
    }

    fn answer(&mut self, line: &[u8]) {
        answer_line(line, &mut self.answers);
        self.answers.push(b'\n');
    }

    fn refuse_length(&mut self) {
        let invalid = Invalid::because(format_args!("expected a line of at most {LONGEST_LINE} bytes"));
        Answer::from(invalid).write(&mut self.answers);
        self.answers.push(b'\n');
        self.begun = Vec::new();
    }

    fn send_to(&mut self, output: &mut impl Write) -> io::Result<()> {
        if self.answers.is_empty() {
            return Ok(());
        }
        output.write_all(&self.answers)?;
        self.answers.clear();
        output.flush()
    }
}
