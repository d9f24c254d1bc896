//! A trace: what was seen from the server's side, one JSON object a line.

use serde::{Deserialize, Serialize};

/// Everything that happened in one run, in the order in which it became known.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trace {
    /// The events.
    pub events: Vec<Event>,
}

impl Trace {
    /// Reads JSON lines; blank lines are skipped.
    ///
    /// # Errors
    ///
    /// The first line that is no event, by its number.
    pub fn from_json_lines(text: &str) -> Result<Self, TraceError> {
        let mut events = Vec::new();
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() {
                continue;
            }
            let event =
                serde_json::from_str(line).map_err(|problem| TraceError { line: index + 1, problem })?;
            events.push(event);
        }
        Ok(Self { events })
    }

    /// Writes JSON lines.
    #[must_use]
    pub fn to_json_lines(&self) -> String {
        let mut text = String::new();
        for event in &self.events {
            text.push_str(&event.to_json());
            text.push('\n');
        }
        text
    }
}

/// A line of a trace that is no event.
#[derive(Debug, thiserror::Error)]
#[error("line {line} of the trace: {problem}")]
pub struct TraceError {
    /// Counted from 1.
    pub line: usize,
    problem: serde_json::Error,
}

/// One thing that happened. Stamps are microseconds since the start of the trace.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Event {
    /// The server listens.
    Start {
        /// The case that is played.
        case: String,
        /// Its revision.
        rev: u32,
        /// The wall clock at stamp 0, unix milliseconds.
        unix_ms: i64,
    },
    /// The request that the case is about; stamped when its first byte was read.
    Arrival {
        /// The stamp.
        at_us: u64,
        /// Joins the events of one request.
        exchange: u64,
        /// The connection it came on.
        connection: u64,
        /// The operation that it belongs to, from 1.
        operation: u32,
        /// The method.
        method: String,
        /// The request target.
        target: String,
        /// The field lines as received, bytes as code points 0 to 255.
        headers: Vec<(String, String)>,
    },
    /// The end of a request's body.
    Received {
        /// The stamp.
        at_us: u64,
        /// The request.
        exchange: u64,
        /// Bytes of content, without chunk framing.
        body_bytes: u64,
        /// SHA-256 of them, in hex.
        body_sha256: String,
        /// False where the client stopped in the middle.
        complete: bool,
    },
    /// An answer is about to be written; stamped before its first byte.
    Answer {
        /// The stamp.
        at_us: u64,
        /// The request that it answers.
        exchange: u64,
        /// The step of the script, or none behind it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<usize>,
        /// The wall clock, unix milliseconds.
        unix_ms: i64,
        /// The head as written, bytes as code points 0 to 255.
        head: String,
    },
    /// An answer has been written; stamped after its last byte.
    Answered {
        /// The stamp.
        at_us: u64,
        /// The request.
        exchange: u64,
        /// Bytes of the body that were written.
        body_bytes: u64,
        /// False where the client did not take all of it.
        complete: bool,
    },
    /// A request for something else; answered with 404 and never counted.
    Other {
        /// The stamp.
        at_us: u64,
        /// The connection it came on.
        connection: u64,
        /// The method.
        method: String,
        /// The request target.
        target: String,
    },
    /// Bytes that are no HTTP/1.1 request, or one beyond the limits.
    Rejected {
        /// The stamp.
        at_us: u64,
        /// The connection it came on.
        connection: u64,
        /// What was wrong with it.
        problem: String,
    },
    /// The runner itself was late: its ticker woke up long after it wanted to.
    Lag {
        /// When it woke up.
        at_us: u64,
        /// How late that was.
        late_us: u64,
    },
    /// A limit of the engine was reached; it stopped recording requests.
    Flood {
        /// The stamp.
        at_us: u64,
        /// Attempts recorded until then.
        attempts: u64,
    },
    /// What the client did when it was not given the hint.
    Control {
        /// The gaps before its attempts from the second, in microseconds.
        gaps_us: Vec<u64>,
    },
    /// The client ended.
    Exit {
        /// The stamp.
        at_us: u64,
        /// Its exit code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<i32>,
        /// The signal that ended it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal: Option<i32>,
        /// What the runner makes of it.
        meaning: ExitMeaning,
    },
    /// The observation ended.
    End {
        /// The stamp.
        at_us: u64,
        /// Something in the runner went wrong.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        harness_error: Option<String>,
    },
}

impl Event {
    /// One line of JSON, without its end.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Every field is a number, a string, or a list of those.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// What the end of a client means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitMeaning {
    /// It ended by itself, content or not.
    Fine,
    /// It says that it cannot do what the case needs (exit code 77).
    Unsupported,
    /// It broke.
    Crash,
    /// The runner ended it after the observation.
    EndedByRunner,
}
